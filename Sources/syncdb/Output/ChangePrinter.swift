import Sync

/// One row's change on one line, with its values if the result has them.
///
///     + User 9  firstName: "Barbara"  company: 4
///     ~ User 2  firstName: "Grace" → "Grace H."  company: 7 → nil
///     - User 6  firstName: "Linus"
///       User 2  tags: + 5, - 6
struct ChangePrinter {
    let style: Style
    /// Entity name → its attributes and to-one relationships in the order of the model, the key left out.
    let names: [String: [String]]
    /// How many links of one row are shown; nil for all, and for all fields.
    let limit: Int?
    /// Longer values are cut.
    var maximumWidth = 40
    /// More fields than people give their entities.
    private static let maximumFields = 100

    func inserted(_ name: String, _ key: RecordKey, _ row: SyncResult.Row?) -> VisibleText {
        style.green("+ \(name) \(Self.text(key))") + fields(name, row)
    }

    func deleted(_ name: String, _ key: RecordKey, _ row: SyncResult.Row?) -> VisibleText {
        style.red("- \(name) \(Self.text(key))") + fields(name, row)
    }

    func updated(_ name: String, _ update: SyncResult.Update) -> VisibleText {
        let row = style.yellow("~ \(name) \(Self.text(update.key))")
        guard let values = update.values else {
            return update.changed.isEmpty ? row : "\(row): \(list(update.changed.map { "\($0)" }))"
        }
        let changed = update.changed.filter { values[$0] != nil }
        return changed.isEmpty
            ? "\(row)  (order)" : row + fields(changed) { name in values[name].map(text) ?? "" }
    }

    /// The links of one row through one relationship, all on one line.
    func links(_ owner: SyncResult.Link, added: [RecordKey], removed: [RecordKey]) -> VisibleText {
        let targets = added.map { style.green("+ \(Self.text($0))") } + removed.map { style.red("- \(Self.text($0))") }
        return "  \(owner.entity) \(Self.text(owner.key))  \(owner.relationship): \(list(targets))"
    }

    private func fields(_ name: String, _ row: SyncResult.Row?) -> VisibleText {
        guard let row else { return "" }
        let known = (names[name] ?? row.values.keys.sorted()).filter { row.values[$0] != nil }
        return fields(known) { name in row.values[name].map(text) ?? "" }
    }

    private func fields(_ names: [String], _ value: (String) -> VisibleText) -> VisibleText {
        let fields = ShortList(names, upTo: limit == nil ? nil : Self.maximumFields)
        let rest: VisibleText = fields.omittedCount > 0 ? "  and \(fields.omittedCount) more" : ""
        return fields.shown.map { "  \($0): \(value($0))" }.joined(separator: "") + rest
    }

    private func list(_ entries: [VisibleText]) -> VisibleText {
        ShortList(entries, upTo: limit).text(between: ", ")
    }

    /// Both values; of long ones the part in which they differ.
    private func text(_ change: SyncResult.ValueChange) -> VisibleText {
        let (old, new) = (Self.line(change.old), Self.line(change.new))
        let alike = Self.lengthOfBeginning(old, new)
        guard max(old.utf8.count, new.utf8.count) > maximumWidth, alike > maximumWidth / 2 else {
            return "\(old, upTo: maximumWidth) → \(new, upTo: maximumWidth)"
        }
        let shown = [old, new].map {
            VisibleText(String(decoding: $0.utf8.dropFirst(alike), as: UTF8.self), upTo: maximumWidth)
        }
        return "…\(shown[0]) → …\(shown[1]) (after \(ByteAmount.text(alike)) that stay)"
    }

    /// How many bytes both begin with, in whole characters, but for the last ten: they show the place.
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

    private func text(_ value: JSONValue) -> VisibleText { VisibleText(Self.line(value), upTo: maximumWidth) }

    private static func line(_ value: JSONValue) -> String { value == .null ? "nil" : JSONLine.text(of: value) }

    private static func text(_ key: RecordKey) -> VisibleText { VisibleText(key.description, upTo: 60) }
}
