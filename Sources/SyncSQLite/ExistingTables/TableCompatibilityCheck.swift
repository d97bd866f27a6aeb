import GRDB
import SyncCore
import SyncStore

/// Checks the existing tables of an app against the tables that a model needs. It writes nothing.
struct TableCompatibilityCheck {
    let layout: StoreLayout
    let db: Database
    /// Whether stored values are checked, which reads all rows.
    let readsValues: Bool
    /// The existing tables of entities.
    private(set) var tables: [TableID: ExistingTable] = [:]
    private var problems: [TableIncompatibilities.Found] = []
    /// The problems of tables whose fixes look values up in other tables. They are reported last.
    private var lookups: [TableIncompatibilities.Found] = []

    /// - Throws: ``SyncError`` `incompatibleTables` with all incompatibilities.
    static func check(_ model: SyncModel, in db: Database, readsValues: Bool) throws {
        let found = try problems(model, in: db, readsValues: readsValues).map(\.problem)
        guard !found.isEmpty else { return }
        let hasSQL = found.contains { $0.fixSQL != nil }
        throw SyncError(
            .incompatibleTables,
            "the tables do not fit the model; \(hasSQL ? "run the SQL below" : "change the tables as listed") "
                + "in a migration of the app, or change the model",
            problems: found)
    }

    /// Returns all incompatibilities.
    static func problems(
        _ model: SyncModel, in db: Database, readsValues: Bool
    ) throws -> [TableIncompatibilities.Found] {
        let layout = StoreLayout(model.compiled, hasExistingTables: true)
        var check = TableCompatibilityCheck(layout, db, readsValues)
        for hierarchy in model.compiled.hierarchies {
            check.tables[hierarchy.id] = try ExistingTable(layout[hierarchy.id].name, in: db)
        }
        for hierarchy in model.compiled.hierarchies { try check.check(tableOf: hierarchy) }
        for link in model.compiled.links where link.storage == .joinTable { try check.check(joinTableOf: link) }
        return check.problems + check.lookups
    }

    private init(_ layout: StoreLayout, _ db: Database, _ readsValues: Bool) {
        (self.layout, self.db, self.readsValues) = (layout, db, readsValues)
    }

    // MARK: Entities

    private mutating func check(tableOf hierarchy: EntityHierarchy) throws {
        let names = layout[hierarchy.id]
        guard let table = tables[hierarchy.id] else {
            if let meant = try SimilarName.nearest(to: names.name, among: unusedTables()) {
                return add(
                    names.name, "the table does not exist; if the model means '\(meant)', set \"table\": \"\(meant)\"")
            }
            let plain = StoreLayout(layout.model)
            let sql = TableSQL(hierarchy, plain)
            return add(names.name, "the table does not exist", ([sql.table] + sql.indexes))
        }
        guard let table = usable(table) else { return }
        let known = knownColumns(of: hierarchy)
        var found = TableIncompatibilities(table, known: known)
        checkAll(&found)
        try checkKey(hierarchy, &found)
        try checkColumns(hierarchy, &found)
        for id in hierarchy.foreignKeys { try check(layout.model[id], &found) }
        let foreignKeys = layout.foreignKeyColumns(of: hierarchy).map(\.column.foldedForSQL)
        checkUnknownForeignKeys(Set(foreignKeys), &found)
        try checkMissingTargets(&found)
        checkUnknownColumns(known, &found)
        try checkTriggers(&found)
        try add(found)
    }

    /// Returns the tables of the database that the model does not use.
    private func unusedTables() throws -> [String] {
        let used = Set((layout.tables.map(\.name) + layout.joinTables).map(\.foldedForSQL))
        return try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
            .filter { !used.contains($0.foldedForSQL) }
    }

    /// Returns the table; adds a problem and returns nil for a view or virtual table.
    private mutating func usable(_ table: ExistingTable) -> ExistingTable? {
        if table.kind == "table" { return table }
        add(table.name, "it is a \(table.kind == "view" ? "view" : "virtual table"), not a table")
        return nil
    }

    private mutating func add(_ found: TableIncompatibilities) throws {
        let all = try found.problems(db)
        if found.hasLookups { lookups += all } else { problems += all }
    }

    mutating func add(_ table: String, _ message: String, _ statements: [String] = []) {
        let sql = statements.isEmpty ? nil : statements.map { $0 + ";" }.joined(separator: "\n")
        problems.append(
            .init(
                table: table, column: nil,
                problem: .init(.incompatibleTable, path: "tables.\(table)", message: message, fixSQL: sql)))
    }

    /// Returns the columns that a sync writes, in folded case.
    func knownColumns(of hierarchy: EntityHierarchy) -> Set<String> {
        let names = layout[hierarchy.id]
        var known = names.columns + (names.hasEntityColumn ? [TableLayout.entityColumn] : [])
        for (column, order) in layout.foreignKeyColumns(of: hierarchy) {
            known += [column] + [order].compactMap(\.self)
        }
        return Set(known.map(\.foldedForSQL))
    }

    // MARK: Join tables

    private mutating func check(joinTableOf link: CompiledAssociation) throws {
        guard case .joinTable(let name, let first, let second, let firstOrder, let secondOrder) = layout[link.id]
        else { return }
        guard let table = try ExistingTable(name, in: db) else {
            return add(
                name, "the table does not exist", JoinTableSQL.statements(link.id, StoreLayout(layout.model)))
        }
        guard let table = usable(table) else { return }
        let known = [first, second, firstOrder, secondOrder].compactMap(\.self).map(\.foldedForSQL)
        var found = TableIncompatibilities(table, known: Set(known))
        checkAll(&found)
        for (column, side) in [(first, link.first), (second, link.second)] {
            try check(column, to: side.table, .joinTable, &found)
        }
        if !table.isUnique([first, second]) {
            found.add(
                "the columns \(first) and \(second) are not unique together",
                .statement(unique([first, second], of: table)))
        }
        for order in [firstOrder, secondOrder].compactMap(\.self) { checkPositionColumn(order, &found) }
        checkUnknownForeignKeys([first.foldedForSQL, second.foldedForSQL], &found)
        try checkMissingTargets(&found)
        checkUnknownColumns(Set(known), &found)
        try checkTriggers(&found)
        try add(found)
    }

    func unique(_ columns: [String], of table: ExistingTable) -> String {
        let name = ([table.name] + columns + ["key"]).joined(separator: "_")
        let list = columns.map(\.quoted).joined(separator: ", ")
        return "CREATE UNIQUE INDEX \(name.quoted) ON \(table.name.quoted) (\(list));"
    }
}

// MARK: - Columns

extension TableCompatibilityCheck {
    /// Checks the conflict clauses of the table.
    func checkAll(_ found: inout TableIncompatibilities) {
        let words = SQLTokens(found.table.sql).texts.map { $0.uppercased() }
        for (index, word) in words.enumerated() where word == "CONFLICT" && index + 1 < words.count {
            guard ["REPLACE", "IGNORE", "ROLLBACK"].contains(words[index + 1]) else { continue }
            found.add(
                "ON CONFLICT \(words[index + 1]) changes the writes of a sync",
                .definition { $0.dropConflictClauses() })
            break
        }
    }

    // MARK: Attributes

    func checkColumns(_ hierarchy: EntityHierarchy, _ found: inout TableIncompatibilities) throws {
        let names = layout[hierarchy.id]
        let root = layout.model.entities[hierarchy.root]
        for (slot, attribute) in hierarchy.attributes.enumerated() {
            let name = names.columns[slot]
            let type = SchemaSQL.columnType(attribute.type)
            guard let column = found.table.column(name) else {
                found.addMissing(name, columnSQL(slot, hierarchy))
                continue
            }
            if column.isGenerated {
                found.add(
                    name, "is a generated column and cannot be written; remove the attribute", .none)
                continue
            }
            let keeps = check(name, attribute.type, type, &found)
            if root.keySlots.contains(slot) { checkCollation(of: name, &found) }
            let isRequired = !attribute.isOptional && root.slots.contains(slot)
            if column.isNotNull, !isRequired, !root.keySlots.contains(slot) {
                found.add(
                    name,
                    "is NOT NULL, but the attribute '\(attribute.name)' is optional; "
                        + "set \"optional\": false, or allow NULL in the column",
                    .definition { $0.dropClauses("NOT", of: name) })
            }
            if keeps, readsValues {
                try checkValues(of: name, attribute.type, isKey: slot == hierarchy.keySlot, &found)
            }
        }
    }

    private func columnSQL(_ slot: Int, _ hierarchy: EntityHierarchy) -> String {
        let attribute = hierarchy.attributes[slot]
        let value = attribute.defaultValue.flatMap {
            ColumnValue.literal(ColumnValue.databaseValue($0, as: attribute.type))
        }
        let column = "\(layout[hierarchy.id].columns[slot].quoted) \(SchemaSQL.columnType(attribute.type))"
        return column + (value.map { " DEFAULT \($0)" } ?? "")
    }

    /// Checks the type of a column.
    ///
    /// - Returns: Whether the column keeps the values of a type unchanged.
    @discardableResult
    func check(_ name: String, _ type: AttributeType, _ declared: String, _ found: inout TableIncompatibilities) -> Bool
    {
        guard let column = found.table.column(name) else { return false }
        let keeps = found.table.preserves(type, in: column)
        if !keeps {
            let now = column.declaredType.isEmpty ? "without a type" : "\(column.declaredType)"
            found.add(
                name, "is \(now), which does not store values of type \(type.rawValue) unchanged",
                .definition { $0.setType(declared, of: name) })
        }
        return keeps
    }

    /// Checks the collation of a key or foreign key column. A sync finds rows by the bytes of their keys.
    func checkCollation(of name: String, _ found: inout TableIncompatibilities) {
        guard let column = found.table.column(name), column.collation != "BINARY" else { return }
        found.add(
            name, "has the collation \(column.collation), but a key requires BINARY",
            .definition { $0.dropClauses("COLLATE", of: name) })
    }

    /// Checks the column of positions in an ordered list.
    func checkPositionColumn(_ name: String, _ found: inout TableIncompatibilities) {
        if found.table.column(name) == nil {
            found.add(
                name, "the column for positions in an ordered relationship does not exist",
                .column("\(name.quoted) INTEGER"))
        } else {
            check(name, .integer, "INTEGER", &found)
        }
    }

    /// Checks that a row can be inserted without a value for columns that the model does not have.
    func checkUnknownColumns(_ known: Set<String>, _ found: inout TableIncompatibilities) {
        for column in found.table.columns where !known.contains(column.name.foldedForSQL) {
            guard column.isNotNull, column.defaultValue == nil, !column.isGenerated,
                column.name != found.table.rowIDColumn
            else { continue }
            found.add(
                column.name,
                "is NOT NULL without a default and not in the model, so no row can be inserted",
                .definition { $0.dropClauses("NOT", of: column.name) })
        }
    }

    // MARK: Keys

    func checkKey(_ hierarchy: EntityHierarchy, _ found: inout TableIncompatibilities) throws {
        let (names, table) = (layout[hierarchy.id], found.table)
        if names.hasEntityColumn { checkEntityColumn(hierarchy, &found) }
        guard names.hasSurrogateKey else {
            guard let column = table.column(names.keyColumn) else { return }
            if !table.isUnique([column.name]) {
                found.add(
                    column.name, "is the key of the entity, but neither the primary key nor unique",
                    .statement(unique([column.name], of: table)))
            }
            let isNeverNull =
                column.isNotNull || table.rowIDColumn == column.name || !table.hasRowID && column.keyPosition > 0
            if !isNeverNull {
                let count = try Int.fetchOne(
                    db, sql: "SELECT count(*) FROM \(table.name.quoted) WHERE \(column.name.quoted) IS NULL")
                if let count, count > 0 {
                    found.add(
                        column.name,
                        "is the key of the entity, but allows NULL; \(count) "
                            + "row\(count == 1 ? " has" : "s have") no key: "
                            + "assign \(count == 1 ? "one" : "keys"), or delete the row\(count == 1 ? "" : "s")", .none)
                } else {
                    found.add(
                        column.name, "is the key of the entity, but allows NULL",
                        .definition { $0.add("NOT NULL", to: column.name) })
                }
            }
            return
        }
        if names.hasEntityColumn {
            return found.add(
                "entities of one inheritance hierarchy have different keys, which existing tables do not support; use "
                    + "one key for all",
                .none)
        }
        try checkSurrogateKey(hierarchy, &found)
    }

    /// Checks the rowid, which identifies the rows of an entity without a single-column key.
    private func checkSurrogateKey(_ hierarchy: EntityHierarchy, _ found: inout TableIncompatibilities) throws {
        let table = found.table
        if !table.hasRowID {
            found.add(
                "is WITHOUT ROWID, but a table of this entity needs the rowid", .definition { $0.dropWithoutRowID() })
        }
        if let column = table.column("rowid"), column.name != table.rowIDColumn {
            found.add(column.name, "hides the rowid, which the table of this entity needs; rename the column", .none)
        }
        if let column = table.rowIDColumn, knownColumns(of: hierarchy).contains(column.foldedForSQL) {
            found.add(
                column, "is the rowid, which SQLite assigns; remove the attribute from the model", .none)
        }
        guard let key = KeyColumns(layout.model.entities[hierarchy.root], layout) else {
            if table.rowIDColumn == nil {
                let message = "has no INTEGER PRIMARY KEY, which the table of a keyless entity needs"
                // A new primary key would change the meaning of foreign keys that do not name the referenced column.
                if let other = try tableLeadingToPrimaryKey(of: table) {
                    return found.add(
                        "\(message); a foreign key of \(other) references the primary key without naming its "
                            + "column: name it first",
                        .none)
                }
                found.add(
                    message,
                    .definition { definition in
                        definition.makePrimaryKeyUnique()
                        definition.add(column: "\(TableLayout.surrogateKeyColumn.quoted) INTEGER PRIMARY KEY")
                    })
            }
            return
        }
        if !table.isUnique(key.columns) {
            let list = key.columns.joined(separator: ", ")
            found.add(
                "the key of the entity, \(list), is neither the primary key nor unique",
                .statement(unique(key.columns, of: table)))
        }
    }

    private func tableLeadingToPrimaryKey(of table: ExistingTable) throws -> String? {
        try String.fetchOne(
            db,
            sql: """
                SELECT s.name FROM main.sqlite_schema AS s, pragma_foreign_key_list(s.name) AS k
                WHERE s.type = 'table' AND k."table" = ? COLLATE NOCASE AND k."to" IS NULL ORDER BY 1
                """, arguments: [table.name])
    }

    private func checkEntityColumn(_ hierarchy: EntityHierarchy, _ found: inout TableIncompatibilities) {
        let name = TableLayout.entityColumn
        guard found.table.column(name) == nil else { return }
        let root = layout.model.entities[hierarchy.root]
        let message = "the column for the entity of a row does not exist"
        guard !root.isAbstract else {
            return found.add(name, "\(message); add it and set it in every row", .none)
        }
        found.add(name, message, .column("\(name.quoted) TEXT NOT NULL DEFAULT \(root.name.literal)"))
    }
}
