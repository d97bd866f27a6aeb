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
    /// Longer values are cut, with `…` for the rest.
    var maximumWidth = 40

    func inserted(_ name: String, _ key: RecordKey, _ row: SyncResult.Row?) -> String {
        style.green("+ \(name) \(Self.text(key))") + fields(name, row)
    }

    func deleted(_ name: String, _ key: RecordKey, _ row: SyncResult.Row?) -> String {
        style.red("- \(name) \(Self.text(key))") + fields(name, row)
    }

    func updated(_ name: String, _ update: SyncResult.Update) -> String {
        let row = style.yellow("~ \(name) \(Self.text(update.key))")
        guard let values = update.values else {
            return row + (update.changed.isEmpty ? "" : ": " + update.changed.joined(separator: ", "))
        }
        let changes = update.changed.compactMap { name in
            values[name].map { "  \(name): " + text($0) }
        }
        return row + (changes.isEmpty ? "  (order)" : changes.joined())
    }

    /// The links of one row through one relationship, all on one line.
    func links(_ owner: SyncResult.Link, added: [RecordKey], removed: [RecordKey]) -> String {
        let targets = added.map { style.green("+ \(Self.text($0))") } + removed.map { style.red("- \(Self.text($0))") }
        return "  \(owner.entity) \(Self.text(owner.key))  \(owner.relationship): " + targets.joined(separator: ", ")
    }

    private func fields(_ name: String, _ row: SyncResult.Row?) -> String {
        guard let row else { return "" }
        let known = names[name] ?? row.values.keys.sorted()
        return known.compactMap { name in row.values[name].map { "  \(name): \(text($0))" } }.joined()
    }

    /// Both values; of long ones the part in which they differ.
    private func text(_ change: SyncResult.ValueChange) -> String {
        var (old, new) = (Self.line(change.old), Self.line(change.new))
        let common = zip(old, new).prefix { $0 == $1 }.count
        if max(old.count, new.count) > maximumWidth, common > maximumWidth / 2 {
            (old, new) = ("…" + old.dropFirst(common - 10), "…" + new.dropFirst(common - 10))
        }
        return TablePrinter.fitted(old, maximumWidth) + " → " + TablePrinter.fitted(new, maximumWidth)
    }

    private func text(_ value: JSONValue) -> String { TablePrinter.fitted(Self.line(value), maximumWidth) }

    private static func line(_ value: JSONValue) -> String { value == .null ? "nil" : JSONLine.text(of: value) }

    private static func text(_ key: RecordKey) -> String { TablePrinter.fitted(key.description, 60) }
}
