import GRDB
import SyncCore
import SyncStore

extension TableCompatibilityCheck {
    /// The purpose of a foreign key column: a to-one relationship, or an end of a join table.
    enum ForeignKeyUse {
        case relationship(CompiledAssociation)
        case joinTable

        /// The allowed `ON DELETE` actions. A sync removes links and deletes referencing rows itself.
        var actions: [String] {
            switch self {
            case .relationship(let link) where !link.cascadesToFirst: ["SET NULL", "NO ACTION"]
            case .relationship, .joinTable: ["CASCADE", "NO ACTION"]
            }
        }
    }

    /// Checks the foreign key of a to-one relationship.
    func check(_ link: CompiledAssociation, _ found: inout TableIncompatibilities) throws {
        guard case .foreignKey(_, let name, let order) = layout[link.id] else { return }
        if let order { checkPositionColumn(order, &found) }
        try check(name, to: link.second.table, .relationship(link), &found)
        guard let column = found.table.column(name), column.isNotNull, !link.isKeyPart else { return }
        let relationship = link.first.relationship?.name ?? ""
        if link.first.relationship?.isOptional ?? true {
            found.add(
                name,
                "is NOT NULL, but the relationship '\(relationship)' is optional; "
                    + "set \"optional\": false, or allow NULL in the column",
                .definition { $0.dropClauses("NOT", of: name) })
        } else if !link.cascadesToFirst, link.second.relationship?.deleteRule != .deny {
            found.add(
                name,
                "is NOT NULL, so the referenced row cannot be deleted alone; set the deleteRule of the inverse to "
                    + "cascade or deny, or allow NULL in the column",
                .definition { $0.dropClauses("NOT", of: name) })
        }
    }

    func check(_ name: String, to target: TableID, _ use: ForeignKeyUse, _ found: inout TableIncompatibilities) throws {
        let hierarchy = layout.model[target]
        let type = hierarchy.keySlot.map { hierarchy.attributes[$0].type } ?? .integer
        let declared = SchemaSQL.columnType(type)
        guard let key = targetColumn(target) else {
            return found.add(
                name, "references \(layout[target].name), which has no INTEGER PRIMARY KEY to reference",
                .none)
        }
        let clause =
            "REFERENCES \(layout[target].name.quoted) (\(key.quoted)) ON UPDATE CASCADE "
            + "ON DELETE \(use.actions[0]) DEFERRABLE INITIALLY DEFERRED"
        guard let column = found.table.column(name) else {
            return found.addMissing(name, "\(name.quoted) \(declared) \(clause)")
        }
        if column.isGenerated {
            return found.add(name, "is a generated column and cannot be written", .none)
        }
        let keeps = check(name, type, declared, &found)
        checkCollation(of: name, &found)
        let problem = problem(withForeignKeysOf: name, to: target, key, use, found.table)
        if let problem {
            let (message, tableFix) = try fix(problem, of: found.table, name, to: target, key, clause)
            found.add(name, message, tableFix)
            // The stored values are not keys of the referenced table yet.
            if case .otherColumn = problem.kind { return }
        }
        if keeps, readsValues { try checkValues(of: name, type, isKey: true, &found) }
    }

    /// Returns the column that foreign keys to a table must reference; nil if the table has no such column.
    private func targetColumn(_ target: TableID) -> String? {
        guard layout[target].hasSurrogateKey else { return layout[target].keyColumn }
        return tables[target].map(\.rowIDColumn) ?? TableLayout.surrogateKeyColumn
    }

    // MARK: Problems

    /// A problem of the foreign keys of a column.
    private struct ForeignKeyProblem {
        enum Kind {
            /// A foreign key of the column references the right key. Its `ON DELETE` action, or another foreign key of
            /// the column, is wrong.
            case clause
            /// The column references the right table by a column other than the key.
            case otherColumn(String)
            case otherTable
            case noForeignKey
        }

        let kind: Kind
        let message: String
    }

    private func problem(
        withForeignKeysOf name: String, to target: TableID, _ key: String, _ use: ForeignKeyUse, _ table: ExistingTable
    ) -> ForeignKeyProblem? {
        let keys = table.foreignKeys.filter { $0.columns.map(\.foldedForSQL) == [name.foldedForSQL] }
        let place = "\(layout[target].name).\(key)"
        if keys.isEmpty {
            return ForeignKeyProblem(kind: .noForeignKey, message: "is not a foreign key; it must reference \(place)")
        }
        var found: ForeignKeyProblem?
        var leadsToKey = false
        for foreignKey in keys {
            let targets = foreignKey.targets.isEmpty ? tables[target]?.primaryKey ?? [] : foreignKey.targets
            let isTable = foreignKey.table.foldedForSQL == layout[target].name.foldedForSQL
            guard isTable, targets.map(\.foldedForSQL) == [key.foldedForSQL] else {
                found =
                    found
                    ?? ForeignKeyProblem(
                        kind: isTable && targets.count == 1 ? .otherColumn(targets[0]) : .otherTable,
                        message: "references \(foreignKey.table).\(targets.joined(separator: ", ")), not \(place)")
                continue
            }
            leadsToKey = true
            if !use.actions.contains(foreignKey.onDelete) {
                found =
                    found
                    ?? ForeignKeyProblem(
                        kind: .clause,
                        message: "has ON DELETE \(foreignKey.onDelete); the model requires "
                            + use.actions.joined(separator: " or "))
            }
        }
        return found.map { ForeignKeyProblem(kind: leadsToKey ? .clause : $0.kind, message: $0.message) }
    }

    // MARK: Fixes

    /// Returns a message and a fix that preserves which rows the column references. The fix is `none` if these rows are
    /// unknown, or if a value has no new key.
    private func fix(
        _ problem: ForeignKeyProblem, of table: ExistingTable, _ name: String, to target: TableID, _ key: String,
        _ clause: String
    ) throws -> (message: String, TableIncompatibilities.Fix) {
        let message = problem.message
        let change: (inout TableDefinition) -> Void = { $0.setReferences(clause, of: name) }
        let there = layout[target].name
        let column = name.quoted
        let values = "SELECT count(*) FROM \(table.name.quoted) WHERE \(column) IS NOT NULL"
        if case .clause = problem.kind { return (message, .definition(change)) }
        let count = try Int.fetchOne(db, sql: values) ?? 0
        guard count > 0 else { return (message, .definition(change)) }
        switch problem.kind {
        case .clause: return (message, .definition(change))
        case .otherColumn(let old):
            guard let app = tables[target], app.column(old) != nil, app.column(key) != nil else {
                return ("\(message), and its \(CountText.count(count, "value")) cannot be converted", .none)
            }
            let lookup = KeyLookup(table: table.name, column: name, target: app.name, oldKey: old, newKey: key)
            let lost = try lookup.lostCount(db)
            guard lost == 0 else {
                return (
                    "\(message); \(CountText.count(lost, "value")) \(lost == 1 ? "references" : "reference") no row with a "
                        + "value for \(key)",
                    .none
                )
            }
            return (
                message,
                .lookup(lookup) {
                    change(&$0)
                    // The default value also references a row by the old column.
                    $0.dropClauses("DEFAULT", of: name)
                }
            )
        case .otherTable: return ("\(message), and its \(CountText.count(count, "value")) cannot be converted", .none)
        case .noForeignKey:
            guard let other = try otherReading(of: name, in: table, to: target, key, count) else {
                return (message, .definition(change))
            }
            return (
                "\(message), but its \(CountText.count(count, "value")) may reference \(there).\(other); declare a foreign key "
                    + "to one of the two columns",
                .none
            )
        }
    }

    /// Returns another unique column that the values may reference; nil if there is none. At least as many values match
    /// this column as match the key, and some of them match a different row.
    private func otherReading(
        of name: String, in table: ExistingTable, to target: TableID, _ key: String, _ count: Int
    ) throws -> String? {
        guard let app = tables[target], app.column(key) != nil else { return nil }
        let from = "FROM \(table.name.quoted) JOIN \(app.name.quoted) AS \("sync_target".quoted) ON"
        let value = "\(table.name.quoted).\(name.quoted)"
        func found(by column: String, where condition: String = "1") throws -> Int {
            let there = "\("sync_target".quoted).\(column.quoted)"
            return try Int.fetchOne(
                db, sql: "SELECT count(*) \(from) \(there) = \(value) WHERE \(condition)") ?? 0
        }
        let asKeys = try found(by: key)
        let differs = "\("sync_target".quoted).\(key.quoted) IS NOT \(value)"
        return try app.uniqueKeys.first { columns in
            guard columns.count == 1, columns[0].foldedForSQL != key.foldedForSQL else { return false }
            return try found(by: columns[0]) >= asKeys && found(by: columns[0], where: differs) > 0
        }?.first
    }

    /// Checks that all referenced tables exist. Otherwise SQLite rejects writes to the table.
    func checkMissingTargets(_ found: inout TableIncompatibilities) throws {
        for key in found.table.foreignKeys where try !db.tableExists(key.table, in: "main") {
            let message = "references the table '\(key.table)', which does not exist, so SQLite rejects every write"
            if let column = key.columns.first, key.columns.count == 1 {
                found.add(column, message, .definition { $0.dropReferences(of: column) })
            } else {
                found.add(key.columns.joined(separator: ", "), message, .none)
            }
        }
    }

    /// Checks foreign keys between tables of the model that are not relationships. Their `ON DELETE` actions would
    /// change rows without the knowledge of the sync.
    func checkUnknownForeignKeys(_ known: Set<String>, _ found: inout TableIncompatibilities) {
        let own = Set(layout.tables.map(\.name.foldedForSQL))
        for key in found.table.foreignKeys where own.contains(key.table.foldedForSQL) {
            if key.columns.count == 1, known.contains(key.columns[0].foldedForSQL) { continue }
            guard ["CASCADE", "SET NULL", "SET DEFAULT"].contains(key.onDelete) else { continue }
            let names = key.columns.joined(separator: ", ")
            let message =
                "has ON DELETE \(key.onDelete), which changes rows when rows of \(key.table) are deleted; "
                + "make it a relationship"
            if let column = key.columns.first, key.columns.count == 1 {
                found.add(column, message, .definition { $0.dropReferences(of: column) })
            } else {
                found.add(names, message, .none)
            }
        }
    }
}

/// Converts references from one column of the referenced table to another column: replaces each value that matches
/// `oldKey` by the `newKey` of the matching row.
struct KeyLookup {
    /// The table and the column with the values.
    let table: String
    let column: String
    /// The referenced table, the column that the values match, and the column with the new values.
    let target: String
    let oldKey: String
    let newKey: String

    /// The SQL expression for the new value of a row of the table.
    var expression: String {
        let alias = "sync_target"
        return "(SELECT \(alias.quoted).\(newKey.quoted) FROM \(target.quoted) AS \(alias.quoted) "
            + "WHERE \(alias.quoted).\(oldKey.quoted) = \(table.quoted).\(column.quoted))"
    }

    private var lost: String {
        "SELECT count(*) FROM \(table.quoted) WHERE \(table.quoted).\(column.quoted) IS NOT NULL AND \(expression) IS NULL"
    }

    /// Returns the number of values that reference no row, or a row without a new value.
    func lostCount(_ db: Database) throws -> Int { try Int.fetchOne(db, sql: lost) ?? 0 }

    /// The statements that fail if a value would be lost. The app may run the SQL on another database than the checked
    /// one.
    var guardStatements: [String] {
        let name = "temp.\("sync_lost_links".quoted)"
        let constraint = "every_\(column)_must_reference_a_\(newKey)".quoted
        return [
            "DROP TABLE IF EXISTS \(name)",
            "CREATE TABLE \(name) (\("count".quoted) CONSTRAINT \(constraint) CHECK (\("count".quoted) = 0))",
            "INSERT INTO \(name) \(lost)",
            "DROP TABLE \(name)",
        ]
    }
}
