extension SyncResult {
    /// The most diagnostics that a result lists.
    package static let diagnosticLimit = 10_000

    private static func joined(_ links: [Link]?, _ later: [Link]?) -> [Link]? {
        links == nil && later == nil ? nil : ((links ?? []) + (later ?? [])).sorted(by: <)
    }

    /// Adds the changes of a later page or chunk, so that each row is counted once, with its final change.
    ///
    /// If keys are not collected, a row that two pages changed is counted twice.
    package mutating func merge(_ later: SyncResult) {
        if entity.isEmpty { entity = later.entity }
        root.inserted += later.root.inserted
        root.matched += later.root.matched
        root.deleted += later.root.deleted
        records += later.records
        repeatedRecords += later.repeatedRecords
        contradictions += later.contradictions
        for (name, changes) in later.entities { entities[name, default: EntityChanges()].merge(changes) }
        linksAdded += later.linksAdded
        linksRemoved += later.linksRemoved
        addedLinks = Self.joined(addedLinks, later.addedLinks)
        removedLinks = Self.joined(removedLinks, later.removedLinks)
        var room = max(0, Self.diagnosticLimit - diagnostics.count)
        for diagnostic in later.diagnostics {
            // A diagnostic about omitted deletions concerns whole rows, so it is never dropped.
            if room > 0 || diagnostic.kind == .deletionsSkipped {
                diagnostics.append(diagnostic)
                room -= 1
            } else {
                omittedDiagnostics += 1
            }
        }
        omittedDiagnostics += later.omittedDiagnostics
        if !later.unresolved.isEmpty {
            let known = Set(unresolved)
            unresolved += later.unresolved.filter { !known.contains($0) }
        }
        addUnmappedKeys(later.unmappedKeys)
        nextPage = later.nextPage
    }

    /// Adds the counts of unmapped keys, so that each key is listed once.
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

    /// Updates inserted rows with later values, and gives deleted rows the values from before the first change.
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
    /// Adds a later update of the same row. Each value keeps its first old value and its last new value.
    fileprivate mutating func merge(_ later: SyncResult.Update) {
        changed += later.changed.filter { !changed.contains($0) }
        values?.merge(later.values ?? [:]) { .init(old: $0.old, new: $1.new) }
    }
}

extension SyncResult.Row {
    /// Returns the row with some values replaced. Null removes a value.
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
    /// Results with the number of payloads each one covers. Two neighbors of equal count are merged at once, so each
    /// list is merged a logarithmic number of times.
    private var parts: [(count: Int, result: SyncResult)] = []

    package init() {}

    package var isEmpty: Bool { parts.isEmpty }
    package var unresolvedCount: Int { parts.reduce(0) { $0 + $1.result.unresolved.count } }

    package mutating func add(_ result: SyncResult) {
        parts.append((1, result))
        while parts.count > 1, parts[parts.count - 2].count == parts[parts.count - 1].count { mergeLast() }
    }

    /// Returns the merged result; nil if there is none.
    package mutating func merged() -> SyncResult? {
        while parts.count > 1 { mergeLast() }
        return parts.first?.result
    }

    package mutating func preservePending(
        _ kept: ([SyncResult.Link]) throws -> [SyncResult.Link]
    ) rethrows {
        for index in parts.indices { parts[index].result.unresolved = try kept(parts[index].result.unresolved) }
    }

    private mutating func mergeLast() {
        let last = parts.removeLast()
        parts[parts.count - 1].count += last.count
        parts[parts.count - 1].result.merge(last.result)
    }
}
