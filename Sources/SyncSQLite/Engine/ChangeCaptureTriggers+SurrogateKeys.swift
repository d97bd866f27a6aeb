import SyncStore

// If a row with a surrogate key is deleted, its entries are kept under its name (see `TrackedKey`). SQLite may reuse
// the surrogate key.
extension ChangeCaptureTriggers {
    /// The SQL conditions that the key of a row changed although its own columns did not. One of them is sufficient.
    ///
    /// If the key of a row contains the key of another row, the two keys change together.
    var isRenamed: [String] {
        guard table.key.isSurrogate, table.key.hasParts else { return [] }
        let name = table.key.name(of: "NEW")
        return [
            "EXISTS (SELECT 1 FROM \"sync_known\" WHERE \(isRow("NEW")) AND \"name\" IS NOT \(name))",
            // Another known row, which is deleted, has the same name.
            "EXISTS (SELECT 1 FROM \"sync_known\" WHERE \"e\" = \(table.number) AND \"name\" = \(name) AND \"k\" IS NOT NEW.\(key))",
        ]
    }

    /// The statements that update rows whose key contains the key of this row, so that the triggers of those rows run.
    var dependentUpdates: [String] {
        guard table.key.isSurrogate else { return [] }
        return dependents.map { table, column in
            let column = column.quoted
            return "UPDATE \(table.quoted) SET \(column) = \(column) WHERE \(column) = NEW.\(key)"
        }
    }

    /// Returns statements that replace the key of a row in the engine's tables; none if the table has no surrogate key.
    /// See ``EntryMove/statements(from:to:if:)``.
    func moves(from old: String, to new: String, if condition: String = "true") -> [String] {
        guard table.key.isSurrogate else { return [] }
        // `sync_known` comes last in `SurrogateKeyRepair.tables`, because the other statements look up names in it.
        return named.owners(from: old, to: new, if: condition)
            + SurrogateKeyRepair.tables.flatMap { name in
                EntryMove.ofRow(in: name, table.number).statements(from: old, to: new, if: condition)
            }
    }

    /// The SQL of the name of a deleted row: its recorded name, or a placeholder if no name is recorded.
    ///
    /// The trigger cannot compute the name, since rows whose keys are part of it may already be deleted.
    var deletedName: String {
        """
        coalesce((SELECT "name" FROM "sync_known" WHERE \(isRow("OLD"))),
          'gone ' || OLD.\(key) || ' ' || (SELECT "seq" FROM "sync_engine"))
        """
    }

    /// The statements that correct entries when a row is inserted.
    ///
    /// If SQLite reused a surrogate key, they move the entries of the former row to its name. If a deleted row had the
    /// same name as the inserted row, they move its entries to the new surrogate key.
    var reinsertion: [String] {
        guard table.key.isSurrogate else { return [] }
        let name = table.key.name(of: "NEW")
        let other = "(SELECT \"name\" FROM \"sync_known\" WHERE \(isRow("NEW")) AND \"name\" IS NOT \(name))"
        let known =
            "coalesce((SELECT \"k\" FROM \"sync_known\" WHERE \"e\" = \(table.number) AND \"name\" = \(name)), \(name))"
        let (new, isOther) = ("+NEW.\(key)", "\(other) IS NOT NULL")
        return named.others(from: new, to: other, if: isOther) + moves(from: new, to: other, if: isOther)
            + named.others(from: known, to: new) + moves(from: known, to: new)
    }
}
