import SyncStore

// A deleted row with a surrogate key is identified by its name, since SQLite may reuse the surrogate key.
extension ChangeCaptureTriggers {
    /// Conditions that the key of a row changed although none of its columns did.
    ///
    /// A key that contains the key of another row changes with that key.
    var isRenamed: [String] {
        guard table.key.isSurrogate, table.key.hasParts else { return [] }
        let name = table.key.name(of: "NEW")
        return [
            "EXISTS (SELECT 1 FROM \"sync_known\" WHERE \(isRow("NEW")) AND \"name\" IS NOT \(name))",
            // The row has the name of a deleted row.
            "EXISTS (SELECT 1 FROM \"sync_known\" WHERE \"e\" = \(table.number) AND \"name\" = \(name) AND \"k\" IS NOT NEW.\(key))",
        ]
    }

    /// Statements that update the rows whose key contains the key of this row, so that their triggers run.
    var dependentUpdates: [String] {
        guard table.key.isSurrogate else { return [] }
        return dependents.map { table, column in
            let column = column.quoted
            return "UPDATE \(table.quoted) SET \(column) = \(column) WHERE \(column) = NEW.\(key)"
        }
    }

    /// Returns statements that move the engine's entries of a row to another key. Returns none if the table has no
    /// surrogate key.
    ///
    /// - Parameters:
    ///   - k: The SQL of the new key.
    ///   - condition: Returns the condition of the entries, given the name of their key column.
    func moves(to k: String, where condition: (String) -> String) -> [String] {
        guard table.key.isSurrogate else { return [] }
        // `HiddenKeys.tables` ends with `sync_known`, where the statements look up names.
        return named.owners(to: k, where: condition)
            + SurrogateKeyRepair.tables.map { name in
                "UPDATE OR REPLACE \(name.quoted) SET \"k\" = \(k) WHERE \"e\" = \(table.number) AND \(condition("\"k\""))"
            }
    }

    /// The SQL of the name of a deleted row: its recorded name, or a placeholder if the service does not know the row.
    ///
    /// The name cannot be computed at this point: the rows that the key contains may already be deleted.
    var deletedName: String {
        """
        coalesce((SELECT "name" FROM "sync_known" WHERE \(isRow("OLD"))),
          'gone ' || OLD.\(key) || ' ' || (SELECT "seq" FROM "sync_engine"))
        """
    }

    /// Statements for an inserted row whose surrogate key may be reused, or whose key a deleted row had.
    ///
    /// They move entries of the former row to its name, and entries under the name of the inserted row to its surrogate
    /// key.
    var reinsertion: [String] {
        guard table.key.isSurrogate else { return [] }
        let name = table.key.name(of: "NEW")
        let other = "(SELECT \"name\" FROM \"sync_known\" WHERE \(isRow("NEW")) AND \"name\" IS NOT \(name))"
        let known = "(SELECT \"k\" FROM \"sync_known\" WHERE \"e\" = \(table.number) AND \"name\" = \(name))"
        func isOther(_ k: String) -> String { "\(k) = +NEW.\(key) AND \(other) IS NOT NULL" }
        func isSame(_ k: String) -> String { "\(k) IN (\(name), \(known)) AND \(k) IS NOT NEW.\(key)" }
        return named.others(to: other, where: isOther) + moves(to: other, where: isOther)
            + named.others(to: "NEW.\(key)", where: isSame) + moves(to: "NEW.\(key)", where: isSame)
    }
}
