import Foundation
import Sync

/// A printer of the result of a sync as text.
struct ResultPrinter {
    let result: SyncResult
    let model: SyncModel
    /// The largest number of rows or notes of one kind to print; nil for all.
    let limit: Int?
    var style = Style.plain

    /// A table with one line for each entity, then the numbers of links and of duplicate records.
    var summary: TerminalText {
        let rows: [TerminalText] = result.entities.isEmpty ? [] : [table]
        let changes = rows + linkLines
        return ((changes.isEmpty ? ["nothing to do"] : changes) + repeatLines).joined(separator: "\n")
    }

    /// The line about records that share a key; empty if there are none.
    private var repeatLines: [TerminalText] {
        let inconsistentRecordCount = result.inconsistentRecordCount
        let contrary: TerminalText =
            "\(inconsistentRecordCount) duplicate\(inconsistentRecordCount == 1 ? "" : "s") with different values"
        guard result.duplicateRecordCount > 0 else { return inconsistentRecordCount > 0 ? [contrary] : [] }
        let rows = result.recordCount - result.duplicateRecordCount
        let merged: TerminalText = "\(result.recordCount) records, \(rows) row\(rows == 1 ? "" : "s")"
        return [inconsistentRecordCount == 0 ? merged : merged + "; " + contrary]
    }

    /// One line for each changed row, then one line for each row and relationship whose links changed. See
    /// ``ChangePrinter``.
    var rows: TerminalText {
        let printer = ChangePrinter(style: style, names: names, limit: limit)
        let rows = entities.flatMap { name, changes in
            listed(indices(changes.inserted), of: changes.insertedCount) {
                printer.inserted(name, changes.inserted[$0], changes.insertedRows?[$0])
            }
                + listed(changes.updated, of: changes.updatedCount) { printer.updated(name, $0) }
                + listed(indices(changes.deleted), of: changes.deletedCount) {
                    printer.deleted(name, changes.deleted[$0], changes.deletedRows?[$0])
                }
        }
        let links = listed(LinkGroup.groups(of: result, toMany: isToMany)) {
            printer.links($0.owner, added: $0.added, removed: $0.removed)
        }
        return (rows + links).joined(separator: "\n")
    }

    private func indices(_ keys: [PrimaryKeyValue]) -> [Int] { Array(keys.indices) }

    /// The attributes and to-one relationships of each entity, without the primary key.
    private var names: [String: [String]] {
        var names: [String: [String]] = [:]
        for entity in model.compiled.entities {
            let attributes = entity.slots.filter { !entity.keySlots.contains($0) }.map {
                model.compiled[entity.table].attributes[$0].name
            }
            names[entity.name] = attributes + entity.relationships.filter { !$0.isToMany }.map(\.name)
        }
        return names
    }

    private func isToMany(_ entity: String, _ relationship: String) -> Bool {
        model.compiled.entityID(entity).flatMap { model.compiled.entities[$0].relationship(named: relationship) }?
            .isToMany ?? false
    }

    /// The synced entity, then the other entities by name.
    private var entities: [(key: String, value: SyncResult.EntityChanges)] {
        result.entities.sorted { left, right in
            (left.key == result.entity ? 0 : 1, left.key) < (right.key == result.entity ? 0 : 1, right.key)
        }
    }

    private var table: TerminalText {
        let counts = ["inserted", "updated", "deleted", "unchanged"].map {
            TablePrinter.Column(title: $0, isNumeric: true)
        }
        var table = TablePrinter([TablePrinter.Column(title: "entity")] + counts)
        table.style = style
        for (name, changes) in entities {
            let counts = [
                changes.insertedCount, changes.updatedCount, changes.deletedCount, changes.unchangedCount,
            ]
            table.add([name] + counts.map(String.init))
        }
        return table.text
    }

    private var linkLines: [TerminalText] {
        guard result.linksAdded > 0 || result.linksRemoved > 0 else { return [] }
        return ["links: \(result.linksAdded) added, \(result.linksRemoved) removed"]
    }

    /// Notes about diagnostics, pending references, unmapped keys and the next page.
    var notes: [TerminalText] {
        let isKept = { (diagnostic: SyncDiagnostic) in diagnostic.kind == .deletionsSkipped }
        let diagnostics = result.diagnostics.filter { !isKept($0) }
        let kept = result.diagnostics.filter(isKept).map { kept -> TerminalText in
            // Only an unreadable key has a path. The other cause is a page without an array.
            guard !kept.path.isEmpty else { return "not deleted: \(kept.message) (entity \(kept.entity ?? ""))" }
            return "not deleted: \(kept.message) (first unreadable record: \(kept.path), entity \(kept.entity ?? "")); "
                + "use --deletes-beside-unread to delete the omitted rows"
        }
        return kept
            + listed(diagnostics, of: diagnostics.count + result.omittedDiagnosticCount) {
                switch $0.kind {
                case .danglingLinks: "fixed: \($0.message) (entity \($0.entity ?? ""))"
                case .foreignKeyAction: "also: \($0.message) (entity \($0.entity ?? ""))"
                case .deniedDeletion: "denied: \($0.message) (entity \($0.entity ?? ""))"
                default: "not stored: \($0.path): \($0.message) (entity \($0.entity ?? ""))"
                }
            }
            + listed(result.pendingReferences) {
                "pending: \($0.entity) \($0.key): the row \($0.target), referenced by '\($0.relationship)', is not stored yet"
            }
            + listed(result.unmappedKeys) {
                "not in the model: key '\($0.path)' of \($0.entity ?? ""), in \($0.count) record\($0.count == 1 ? "" : "s")"
            }
            + (result.nextPage.map { ["next page: \($0)"] } ?? [])
    }

    private func listed<Element>(
        _ elements: [Element], of total: Int? = nil, _ line: (Element) -> TerminalText
    ) -> [TerminalText] {
        let list = TruncatedList(elements, upTo: limit, of: total)
        return list.lines(line, hint: list.shown.count < elements.count ? "use --all to list them" : nil)
    }
}

/// A result as JSON: its `Codable` format with sorted keys, so that two runs can be compared.
enum ResultJSON {
    /// Returns JSON on one line.
    static func line(_ result: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(result), as: UTF8.self)
    }

    static func text(_ result: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(result), as: UTF8.self)
    }
}

/// A printer of the change of a row on one line, with the values of the row if the result has them.
///
///     + User 9  firstName: "Barbara"  company: 4
///     ~ User 2  firstName: "Grace" → "Grace H."  company: 7 → nil
///     - User 6  firstName: "Linus"
///       User 2  tags: + 5, - 6
struct ChangePrinter {
    let style: Style
    /// The attributes and to-one relationships of each entity in the order of the model, without the primary key.
    let names: [String: [String]]
    /// The largest number of links of one row to print; nil to print all links and all fields.
    let limit: Int?
    /// The number of characters after which values are truncated.
    var maximumWidth = 40
    /// The largest number of fields of one row to print. Most entities have fewer.
    private static let maximumFields = 100

    func inserted(_ name: String, _ key: PrimaryKeyValue, _ row: SyncResult.Row?) -> TerminalText {
        style.green("+ \(name) \(Self.text(key))") + fields(name, row)
    }

    func deleted(_ name: String, _ key: PrimaryKeyValue, _ row: SyncResult.Row?) -> TerminalText {
        style.red("- \(name) \(Self.text(key))") + fields(name, row)
    }

    func updated(_ name: String, _ update: SyncResult.Update) -> TerminalText {
        let row = style.yellow("~ \(name) \(Self.text(update.key))")
        guard let values = update.values else {
            return update.changedAttributes.isEmpty ? row : "\(row): \(list(update.changedAttributes.map { "\($0)" }))"
        }
        let changed = update.changedAttributes.filter { values[$0] != nil }
        return changed.isEmpty
            ? "\(row)  (order)" : row + fields(changed) { name in values[name].map(text) ?? "" }
    }

    /// Returns the links of one row and relationship on one line.
    func links(_ owner: SyncResult.Link, added: [PrimaryKeyValue], removed: [PrimaryKeyValue]) -> TerminalText {
        let targets = added.map { style.green("+ \(Self.text($0))") } + removed.map { style.red("- \(Self.text($0))") }
        return "  \(owner.entity) \(Self.text(owner.key))  \(owner.relationship): \(list(targets))"
    }

    private func fields(_ name: String, _ row: SyncResult.Row?) -> TerminalText {
        guard let row else { return "" }
        let known = (names[name] ?? row.values.keys.sorted()).filter { row.values[$0] != nil }
        return fields(known) { name in row.values[name].map(text) ?? "" }
    }

    private func fields(_ names: [String], _ value: (String) -> TerminalText) -> TerminalText {
        let fields = TruncatedList(names, upTo: limit == nil ? nil : Self.maximumFields)
        let rest: TerminalText = fields.omittedCount > 0 ? "  and \(fields.omittedCount) more" : ""
        return fields.shown.map { "  \($0): \(value($0))" }.joined(separator: "") + rest
    }

    private func list(_ entries: [TerminalText]) -> TerminalText {
        TruncatedList(entries, upTo: limit).text(between: ", ")
    }

    /// Returns both values. The common beginning of long values is omitted.
    private func text(_ change: SyncResult.ValueChange) -> TerminalText {
        let (old, new) = (Self.line(change.old), Self.line(change.new))
        let alike = Self.lengthOfBeginning(old, new)
        guard max(old.utf8.count, new.utf8.count) > maximumWidth, alike > maximumWidth / 2 else {
            return "\(old, upTo: maximumWidth) → \(new, upTo: maximumWidth)"
        }
        let shown = [old, new].map {
            TerminalText(String(decoding: $0.utf8.dropFirst(alike), as: UTF8.self), upTo: maximumWidth)
        }
        return "…\(shown[0]) → …\(shown[1]) (after \(ByteAmount.text(alike)) unchanged)"
    }

    /// Returns the number of bytes in the common beginning, in whole characters. Does not count the last ten bytes,
    /// which are shown as context.
    private static func lengthOfBeginning(_ left: String, _ right: String) -> Int {
        var count = 0
        for (l, r) in zip(left.utf8, right.utf8) {
            guard l == r else { break }
            count += 1
        }
        var start = left.utf8.index(left.startIndex, offsetBy: max(0, count - 10))
        while start.samePosition(in: left.unicodeScalars) == nil { start = left.utf8.index(before: start) }
        return left.utf8.distance(from: left.startIndex, to: start)
    }

    private func text(_ value: JSONValue) -> TerminalText { TerminalText(Self.line(value), upTo: maximumWidth) }

    private static func line(_ value: JSONValue) -> String { value == .null ? "nil" : JSONLine.text(of: value) }

    private static func text(_ key: PrimaryKeyValue) -> TerminalText { TerminalText(key.description, upTo: 60) }
}

/// The added and removed links of one row and relationship.
struct LinkGroup {
    let owner: SyncResult.Link
    private(set) var added: [PrimaryKeyValue] = []
    private(set) var removed: [PrimaryKeyValue] = []

    /// Returns the links that the lines about rows do not show: links of to-many relationships, except those of deleted
    /// rows.
    static func groups(of result: SyncResult, toMany: (String, String) -> Bool) -> [LinkGroup] {
        var groups: [LinkGroup] = []
        var places: [SyncResult.Link: Int] = [:]
        let links =
            (result.addedLinks ?? []).map { ($0, true) } + (result.removedLinks ?? []).map { ($0, false) }
        let deleted = result.entities.mapValues { Set($0.deleted) }
        for (link, isAdded) in links
        where toMany(link.entity, link.relationship) && deleted[link.entity]?.contains(link.key) != true {
            var owner = link
            owner.target = link.key
            let place = places[owner] ?? groups.count
            places[owner] = place
            if place == groups.count { groups.append(LinkGroup(owner: owner)) }
            if isAdded { groups[place].added.append(link.target) } else { groups[place].removed.append(link.target) }
        }
        return groups.sorted { $0.owner < $1.owner }
    }
}

/// The changes between two reads of the same rows.
struct SnapshotDifference {
    /// The identity of a row. A row whose entity changes counts as another row.
    private struct Identity: Hashable {
        let entity: String
        let key: PrimaryKeyValue

        init(_ row: SnapshotRow) {
            entity = row.entity
            key = row.row.key
        }
    }

    private var entities: [String: SyncResult.EntityChanges] = [:]

    init(from old: [SnapshotRow], to new: [SnapshotRow]) {
        var before = Dictionary(old.map { (Identity($0), $0) }, uniquingKeysWith: { first, _ in first })
        for row in new {
            if let earlier = before.removeValue(forKey: Identity(row)) {
                compare(row, with: earlier)
            } else {
                change(row.entity) { changes in
                    changes.inserted.append(row.row.key)
                    changes.insertedRows?.append(row.row)
                    changes.insertedCount += 1
                }
            }
        }
        for row in old where before[Identity(row)] != nil {
            change(row.entity) { changes in
                changes.deleted.append(row.row.key)
                changes.deletedRows?.append(row.row)
                changes.deletedCount += 1
            }
        }
    }

    func result(of entity: String) -> SyncResult {
        var result = SyncResult(entity: entity)
        result.entities = entities
        return result
    }

    private mutating func compare(_ row: SnapshotRow, with earlier: SnapshotRow) {
        let (old, new) = (earlier.row.values, row.row.values)
        let changed = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }.sorted()
        guard !changed.isEmpty else { return }
        let values = changed.map { ($0, SyncResult.ValueChange(old: old[$0] ?? .null, new: new[$0] ?? .null)) }
        change(row.entity) { changes in
            changes.updated.append(
                SyncResult.Update(
                    key: row.row.key, changedAttributes: changed, values: Dictionary(uniqueKeysWithValues: values)))
            changes.updatedCount += 1
        }
    }

    private mutating func change(_ entity: String, _ body: (inout SyncResult.EntityChanges) -> Void) {
        var none = SyncResult.EntityChanges()
        (none.insertedRows, none.deletedRows) = ([], [])
        body(&entities[entity, default: none])
    }
}
