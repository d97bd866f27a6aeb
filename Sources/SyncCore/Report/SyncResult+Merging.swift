extension SyncResult {
    /// The maximum number of diagnostics that a result lists.
    package static let diagnosticLimit = 10_000

    private static func joined(_ links: [Link]?, _ later: [Link]?) -> [Link]? {
        links == nil && later == nil ? nil : ((links ?? []) + (later ?? [])).sorted(by: <)
    }

    /// Adds the changes of a later page or chunk. If this result lists a row as inserted or updated, a later update of
    /// the row is not counted again.
    ///
    /// If the results list no keys, a later update of the row is counted again.
    package mutating func merge(_ later: SyncResult) {
        if entity.isEmpty { entity = later.entity }
        root.inserted += later.root.inserted
        root.matched += later.root.matched
        root.deleted += later.root.deleted
        recordCount += later.recordCount
        duplicateRecordCount += later.duplicateRecordCount
        inconsistentRecordCount += later.inconsistentRecordCount
        for (name, changes) in later.entities { entities[name, default: EntityChanges()].merge(changes) }
        linksAdded += later.linksAdded
        linksRemoved += later.linksRemoved
        addedLinks = Self.joined(addedLinks, later.addedLinks)
        removedLinks = Self.joined(removedLinks, later.removedLinks)
        var room = max(0, Self.diagnosticLimit - diagnostics.count)
        for diagnostic in later.diagnostics {
            // A diagnostic about skipped deletions concerns all rows of an entity, so it is always listed.
            if room > 0 || diagnostic.kind == .deletionsSkipped {
                diagnostics.append(diagnostic)
                room -= 1
            } else {
                omittedDiagnosticCount += 1
            }
        }
        omittedDiagnosticCount += later.omittedDiagnosticCount
        if !later.pendingReferences.isEmpty {
            let known = Set(pendingReferences)
            pendingReferences += later.pendingReferences.filter { !known.contains($0) }
        }
        addUnmappedKeys(later.unmappedKeys)
        nextPage = later.nextPage
    }

    /// Adds unmapped keys. The count of a key that is already listed grows.
    private mutating func addUnmappedKeys(_ keys: [SyncDiagnostic]) {
        var places = Dictionary(
            unmappedKeys.enumerated().map { ([$1.entity, $1.path], $0) }, uniquingKeysWith: { first, _ in first })
        for key in keys {
            if let place = places[[key.entity, key.path]] {
                unmappedKeys[place].count += key.count
            } else {
                places[[key.entity, key.path]] = unmappedKeys.count
                unmappedKeys.append(key)
            }
        }
    }
}

extension SyncResult.EntityChanges {
    fileprivate mutating func merge(_ later: SyncResult.EntityChanges) {
        let new = Set(inserted)
        mergeRows(later)
        insertedCount += later.insertedCount
        updatedCount += later.updatedCount
        deletedCount += later.deletedCount
        unchangedCount += later.unchangedCount
        inserted += later.inserted
        deleted += later.deleted
        var places = Dictionary(updated.enumerated().map { ($1.key, $0) }) { first, _ in first }
        for update in later.updated {
            if new.contains(update.key) {
                updatedCount -= 1
            } else if let place = places[update.key] {
                updatedCount -= 1
                updated[place].merge(update)
            } else {
                places[update.key] = updated.count
                updated.append(update)
            }
        }
        inserted.sort()
        updated.sort { $0.key < $1.key }
        deleted.sort()
    }

    /// Merges the lists of inserted and deleted rows. Inserted rows get the values of later updates, and deleted rows
    /// the values from before earlier updates.
    private mutating func mergeRows(_ later: SyncResult.EntityChanges) {
        let new = Dictionary(later.updated.map { ($0.key, $0.values?.mapValues(\.new)) }) { $1 }
        let old = Dictionary(updated.map { ($0.key, $0.values?.mapValues(\.old)) }) { $1 }
        insertedRows = Self.joined(insertedRows?.map { $0.with(new[$0.key] ?? nil) }, later.insertedRows)
        deletedRows = Self.joined(deletedRows, later.deletedRows?.map { $0.with(old[$0.key] ?? nil) })
    }

    private static func joined(_ rows: [SyncResult.Row]?, _ later: [SyncResult.Row]?) -> [SyncResult.Row]? {
        rows == nil && later == nil ? nil : ((rows ?? []) + (later ?? [])).sorted { $0.key < $1.key }
    }
}

extension SyncResult.Update {
    /// Adds a later update of the same row. Each changed value keeps its first old value and its last new value.
    fileprivate mutating func merge(_ later: SyncResult.Update) {
        changedAttributes += later.changedAttributes.filter { !changedAttributes.contains($0) }
        values?.merge(later.values ?? [:]) { .init(old: $0.old, new: $1.new) }
    }
}

extension SyncResult.Row {
    /// Returns the row with the given values replaced. A null removes the value.
    fileprivate func with(_ others: [String: JSONValue]?) -> SyncResult.Row {
        var row = self
        for (name, value) in others ?? [:] {
            if value == .null { row.values.removeValue(forKey: name) } else { row.values[name] = value }
        }
        return row
    }
}

/// Merges the results of consecutive pages or chunks.
package struct ResultAccumulator: Sendable {
    /// The results, each with the number of payloads that it covers. Two adjacent results with equal numbers are merged
    /// at once, so each list is merged only a logarithmic number of times.
    private var parts: [(count: Int, result: SyncResult)] = []

    package init() {}

    package var isEmpty: Bool { parts.isEmpty }
    package var unresolvedCount: Int { parts.reduce(0) { $0 + $1.result.pendingReferences.count } }

    package mutating func add(_ result: SyncResult) {
        parts.append((1, result))
        while parts.count > 1, parts[parts.count - 2].count == parts[parts.count - 1].count { mergeLast() }
    }

    /// Returns the merged result, or nil if no result was added.
    package mutating func merged() -> SyncResult? {
        while parts.count > 1 { mergeLast() }
        return parts.first?.result
    }

    package mutating func preservePending(
        _ kept: ([SyncResult.Link]) throws -> [SyncResult.Link]
    ) rethrows {
        for index in parts.indices {
            parts[index].result.pendingReferences = try kept(parts[index].result.pendingReferences)
        }
    }

    private mutating func mergeLast() {
        let last = parts.removeLast()
        parts[parts.count - 1].count += last.count
        parts[parts.count - 1].result.merge(last.result)
    }
}
