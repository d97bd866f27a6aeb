import GRDB
import SyncCore
import SyncStore

/// Compares the tables of an app with those that a model needs. Reads only.
struct AdoptionCheck {
    let layout: StoreLayout
    let db: Database
    /// Whether the values that are stored are looked at, which reads all rows.
    let readsValues: Bool
    /// The tables of entities that are there.
    private(set) var tables: [TableID: AppTable] = [:]
    private var problems: [TableProblems.Found] = []
    /// Those of tables whose remedies look values up in the others.
    private var lookups: [TableProblems.Found] = []
    private let isMended: (AppTable, String?) -> Bool

    /// - Throws: ``SyncError`` `unsuitableTables` with everything that does not fit.
    static func check(_ model: SyncModel, in db: Database, readsValues: Bool) throws {
        let found = try problems(model, in: db, readsValues: readsValues).map(\.problem)
        guard !found.isEmpty else { return }
        throw SyncError(
            .unsuitableTables,
            "the tables do not fit the model; change them in a migration of the app's, as the SQL below does, "
                + "or the model",
            problems: found)
    }

    /// Everything that does not fit.
    ///
    /// - Parameter isMended: Whether SQL is wanted for what concerns a column of a table, or all of it.
    static func problems(
        _ model: SyncModel, in db: Database, readsValues: Bool,
        mending isMended: @escaping (AppTable, String?) -> Bool = { _, _ in true }
    ) throws -> [TableProblems.Found] {
        let layout = StoreLayout(model.compiled, isAdopted: true)
        var check = AdoptionCheck(layout, db, readsValues, isMended)
        for tree in model.compiled.trees { check.tables[tree.id] = try AppTable(layout[tree.id].name, in: db) }
        for tree in model.compiled.trees { try check.look(at: tree) }
        for link in model.compiled.links where link.storage == .joinTable { try check.look(atJoinTableOf: link) }
        return check.problems + check.lookups
    }

    private init(
        _ layout: StoreLayout, _ db: Database, _ readsValues: Bool, _ isMended: @escaping (AppTable, String?) -> Bool
    ) {
        (self.layout, self.db, self.readsValues, self.isMended) = (layout, db, readsValues, isMended)
    }

    // MARK: Entities

    private mutating func look(at tree: EntityTree) throws {
        let names = layout[tree.id]
        guard let table = tables[tree.id] else {
            let plain = StoreLayout(layout.model)
            let sql = TableSQL(tree, plain)
            return note(names.name, "there is no such table", ([sql.table] + sql.indexes))
        }
        guard let table = usable(table) else { return }
        var found = TableProblems(table)
        checkAll(&found)
        try checkKey(tree, &found)
        try checkColumns(tree, &found)
        for id in tree.foreignKeys { try check(layout.model[id], &found) }
        let foreignKeys = layout.foreignKeyColumns(of: tree).map(\.column.foldedForSQL)
        checkUnknownForeignKeys(Set(foreignKeys), &found)
        try checkMissingTargets(&found)
        checkUnknownColumns(knownColumns(of: tree), &found)
        try checkTriggers(&found)
        try add(found)
    }

    /// Nil for what only looks like a table.
    private mutating func usable(_ table: AppTable) -> AppTable? {
        if table.kind == "table" { return table }
        note(table.name, "it is a \(table.kind == "view" ? "view" : "virtual table"), which has no rows of its own")
        return nil
    }

    private mutating func add(_ found: TableProblems) throws {
        let all = try found.problems(db, isMended)
        if found.hasLookups { lookups += all } else { problems += all }
    }

    mutating func note(_ table: String, _ message: String, _ statements: [String] = []) {
        let sql = statements.isEmpty ? nil : statements.map { $0 + ";" }.joined(separator: "\n")
        problems.append(
            .init(table: table, column: nil, problem: .init(path: "tables.\(table)", message: message, sql: sql)))
    }

    /// The columns that a sync writes, as SQLite compares names.
    func knownColumns(of tree: EntityTree) -> Set<String> {
        let names = layout[tree.id]
        var known = names.columns + (names.hasEntityColumn ? [TableLayout.entityColumn] : [])
        for (column, order) in layout.foreignKeyColumns(of: tree) { known += [column] + [order].compactMap(\.self) }
        return Set(known.map(\.foldedForSQL))
    }

    // MARK: Join tables

    private mutating func look(atJoinTableOf link: Link) throws {
        guard case .joinTable(let name, let first, let second, let firstOrder, let secondOrder) = layout[link.id]
        else { return }
        guard let table = try AppTable(name, in: db) else {
            return note(
                name, "there is no such table", JoinTableSQL.statements(link.id, StoreLayout(layout.model)))
        }
        guard let table = usable(table) else { return }
        var found = TableProblems(table)
        checkAll(&found)
        for (column, side) in [(first, link.first), (second, link.second)] {
            try check(column, to: side.table, .joinTable, &found)
        }
        if !table.isUnique([first, second]) {
            found.note(
                "a pair of \(first) and \(second) could be there twice", .statement(unique([first, second], of: table)))
        }
        for order in [firstOrder, secondOrder].compactMap(\.self) { checkPlace(order, &found) }
        let known = [first, second, firstOrder, secondOrder].compactMap(\.self).map(\.foldedForSQL)
        checkUnknownForeignKeys([first.foldedForSQL, second.foldedForSQL], &found)
        try checkMissingTargets(&found)
        checkUnknownColumns(Set(known), &found)
        try checkTriggers(&found)
        try add(found)
    }

    func unique(_ columns: [String], of table: AppTable) -> String {
        let name = ([table.name] + columns + ["key"]).joined(separator: "_")
        let list = columns.map(\.quoted).joined(separator: ", ")
        return "CREATE UNIQUE INDEX \(name.quoted) ON \(table.name.quoted) (\(list));"
    }
}
