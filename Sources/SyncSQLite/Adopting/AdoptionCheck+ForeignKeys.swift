import GRDB
import SyncCore
import SyncStore

extension AdoptionCheck {
    /// What a column that leads to rows is part of.
    enum ForeignKeyUse {
        case relationship(Link)
        case joinTable

        /// What may happen to the rows that lead to a deleted one. A sync takes links from rows, or deletes them,
        /// itself.
        var actions: [String] {
            switch self {
            case .relationship(let link) where !link.cascades: ["SET NULL", "NO ACTION"]
            case .relationship, .joinTable: ["CASCADE", "NO ACTION"]
            }
        }
    }

    /// The foreign key of a to-one relationship.
    func check(_ link: Link, _ found: inout TableProblems) throws {
        guard case .foreignKey(_, let name, let order) = layout[link.id] else { return }
        if let order { checkPlace(order, &found) }
        try check(name, to: link.second.table, .relationship(link), &found)
        guard let column = found.table.column(name), column.isNotNull, !link.isKeyPart else { return }
        let relationship = link.first.relationship?.name ?? ""
        if link.first.relationship?.isOptional ?? true {
            found.note(
                name,
                "is NOT NULL, and the relationship '\(relationship)' may lead nowhere; "
                    + "say \"optional\": false, or let the column be NULL",
                .definition { $0.dropClauses("NOT", of: name) })
        } else if !link.cascades, link.second.relationship?.deleteRule != .deny {
            found.note(
                name,
                "is NOT NULL, so that a row it leads to cannot go alone; the relationship that leads back needs "
                    + "the deleteRule cascade or deny, or let the column be NULL",
                .definition { $0.dropClauses("NOT", of: name) })
        }
    }

    func check(_ name: String, to target: TableID, _ use: ForeignKeyUse, _ found: inout TableProblems) throws {
        let tree = layout.model[target]
        let type = tree.keySlot.map { tree.attributes[$0].type } ?? .integer
        let declared = SchemaSQL.columnType(type)
        guard let key = targetColumn(target) else {
            return found.note(
                name, "leads to rows of \(layout[target].name), which has no INTEGER PRIMARY KEY for a foreign key",
                .none)
        }
        let clause =
            "REFERENCES \(layout[target].name.quoted) (\(key.quoted)) ON UPDATE CASCADE "
            + "ON DELETE \(use.actions[0]) DEFERRABLE INITIALLY DEFERRED"
        guard let column = found.table.column(name) else {
            return found.note(name, "there is no such column", .column("\(name.quoted) \(declared) \(clause)"))
        }
        if column.isGenerated {
            return found.note(name, "its values are generated, so that none can be written", .none)
        }
        let keeps = check(name, type, declared, &found)
        if keeps, readsValues { try checkValues(of: name, type, isKey: true, &found) }
        if let message = problem(withForeignKeysOf: name, to: target, key, use, found.table) {
            found.note(name, message, .definition { $0.setReferences(clause, of: name) })
        }
    }

    /// The column that foreign keys to a table lead to.
    private func targetColumn(_ target: TableID) -> String? {
        guard layout[target].hasHiddenKey else { return layout[target].keyColumn }
        return tables[target].map(\.rowIDColumn) ?? TableLayout.hiddenKeyColumn
    }

    private func problem(
        withForeignKeysOf name: String, to target: TableID, _ key: String, _ use: ForeignKeyUse, _ table: AppTable
    ) -> String? {
        let keys = table.foreignKeys.filter { $0.columns.map(\.foldedForSQL) == [name.foldedForSQL] }
        let place = "\(layout[target].name).\(key)"
        if keys.isEmpty { return "is no foreign key; it has to lead to \(place)" }
        for found in keys {
            let targets = found.targets.isEmpty ? tables[target]?.primaryKey ?? [] : found.targets
            guard found.table.foldedForSQL == layout[target].name.foldedForSQL,
                targets.map(\.foldedForSQL) == [key.foldedForSQL]
            else { return "leads to \(found.table).\(targets.joined(separator: ", ")) and not to \(place)" }
            if !use.actions.contains(found.onDelete) {
                return "ON DELETE \(found.onDelete) is not what the model says, which is "
                    + use.actions.joined(separator: " or ")
            }
        }
        return nil
    }

    /// SQLite refuses writes to a table that refers to one that is not there.
    func checkMissingTargets(_ found: inout TableProblems) throws {
        for key in found.table.foreignKeys where try !db.tableExists(key.table, in: "main") {
            let message = "leads to the table '\(key.table)', which is not there, so that nothing can be written"
            if let column = key.columns.first, key.columns.count == 1 {
                found.note(column, message, .definition { $0.dropReferences(of: column) })
            } else {
                found.note(key.columns.joined(separator: ", "), message, .none)
            }
        }
    }

    /// A foreign key between the tables of the model that is no relationship of it changes rows that a sync does not
    /// know of.
    func checkUnknownForeignKeys(_ known: Set<String>, _ found: inout TableProblems) {
        let own = Set(layout.tables.map(\.name.foldedForSQL))
        for key in found.table.foreignKeys where own.contains(key.table.foldedForSQL) {
            if key.columns.count == 1, known.contains(key.columns[0].foldedForSQL) { continue }
            guard ["CASCADE", "SET NULL", "SET DEFAULT"].contains(key.onDelete) else { continue }
            let names = key.columns.joined(separator: ", ")
            let message = "ON DELETE \(key.onDelete) changes rows when some of \(key.table) go; make it a relationship"
            if let column = key.columns.first, key.columns.count == 1 {
                found.note(column, message, .definition { $0.dropReferences(of: column) })
            } else {
                found.note(names, message, .none)
            }
        }
    }
}

extension Link {
    /// Whether the rows that lead to a row of the second end go with it.
    fileprivate var cascades: Bool { second.relationship?.deleteRule == .cascade || isKeyPart }
}
