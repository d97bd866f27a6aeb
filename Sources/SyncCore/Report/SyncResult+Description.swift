extension SyncResult: CustomStringConvertible {
    /// A line for each entity whose rows were written, and one for what else there is to say:
    ///
    ///     User: 2 inserted, 1 updated, 40 unchanged
    ///     Note: 1 deleted
    ///     3 links added; 1 diagnostic
    public var description: String {
        let changed = entities.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
        var lines = changed.map { name, changes in "\(name): \(changes)" }
        if lines.isEmpty {
            let unchanged = self[entity].unchangedCount
            lines.append(
                "\(entity.isEmpty ? "" : "\(entity): ")nothing changed" + (unchanged > 0 ? " of \(unchanged)" : ""))
        }
        let rest = [
            Self.count(linksAdded, "link", " added"), Self.count(linksRemoved, "link", " removed"),
            Self.count(contradictions, "contradiction"), Self.count(unresolved.count, "reference", " waiting"),
            Self.count(unmappedKeys.count, "unmapped key"),
            Self.count(diagnostics.count + omittedDiagnostics, "diagnostic"),
        ].compactMap(\.self)
        return (lines + (rest.isEmpty ? [] : [rest.joined(separator: "; ")])).joined(separator: "\n")
    }

    private static func count(_ number: Int, _ what: String, _ became: String = "") -> String? {
        number == 0 ? nil : "\(number) \(what)\(number == 1 ? "" : "s")\(became)"
    }
}

extension SyncResult.EntityChanges: CustomStringConvertible {
    /// `2 inserted, 1 updated, 40 unchanged`
    public var description: String {
        let counts = [
            (insertedCount, "inserted"), (updatedCount, "updated"), (deletedCount, "deleted"),
            (unchangedCount, "unchanged"),
        ]
        let said = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return said.isEmpty ? "nothing" : said.joined(separator: ", ")
    }
}
