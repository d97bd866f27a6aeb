import SyncStore

// Where keys are hidden, a row that is gone is known by its name: its key may be given anew.
extension ChangeCaptureTriggers {
    /// A key that is made of another row's changes with that, and no column of the row itself does.
    var hasOtherName: [String] {
        guard table.key.isHidden, table.key.hasParts else { return [] }
        let name = table.key.name(of: "NEW")
        return [
            "EXISTS (SELECT 1 FROM \"sync_known\" WHERE \(isRow("NEW")) AND \"name\" IS NOT \(name))",
            // It has the name of one that is gone.
            "EXISTS (SELECT 1 FROM \"sync_known\" WHERE \"e\" = \(table.number) AND \"name\" = \(name) AND \"k\" IS NOT NEW.\(key))",
        ]
    }

    /// Has the rows that are told apart by this one be looked at.
    var changedBelow: [String] {
        guard table.key.isHidden else { return [] }
        return dependents.map { table, column in
            let column = column.quoted
            return "UPDATE \(table.quoted) SET \(column) = \(column) WHERE \(column) = NEW.\(key)"
        }
    }

    /// Where keys are hidden, what is said of a row is moved to another one.
    ///
    /// - Parameter condition: Which, by the name of the column with their keys.
    func moves(to k: String, where condition: (String) -> String) -> [String] {
        guard table.key.isHidden else { return [] }
        // The names are looked up in the table that is the last.
        return named.owners(to: k, where: condition)
            + HiddenKeys.tables.map { name in
                "UPDATE OR REPLACE \(name.quoted) SET \"k\" = \(k) WHERE \"e\" = \(table.number) AND \(condition("\"k\""))"
            }
    }

    /// The name of a row that is gone. One that the service does not know has none that anybody asks for, and what its key was
    /// made of may be gone before it.
    var goneName: String {
        """
        coalesce((SELECT "name" FROM "sync_known" WHERE \(isRow("OLD"))),
          'gone ' || OLD.\(key) || ' ' || (SELECT "seq" FROM "sync_engine"))
        """
    }

    /// A hidden key may have been that of another row; and what is said of a row that is inserted again is said of it.
    var takenBack: [String] {
        guard table.key.isHidden else { return [] }
        let name = table.key.name(of: "NEW")
        let other = "(SELECT \"name\" FROM \"sync_known\" WHERE \(isRow("NEW")) AND \"name\" IS NOT \(name))"
        let known = "(SELECT \"k\" FROM \"sync_known\" WHERE \"e\" = \(table.number) AND \"name\" = \(name))"
        func isOther(_ k: String) -> String { "\(k) = +NEW.\(key) AND \(other) IS NOT NULL" }
        func isSame(_ k: String) -> String { "\(k) IN (\(name), \(known)) AND \(k) IS NOT NEW.\(key)" }
        return named.others(to: other, where: isOther) + moves(to: other, where: isOther)
            + named.others(to: "NEW.\(key)", where: isSame) + moves(to: "NEW.\(key)", where: isSame)
    }
}
