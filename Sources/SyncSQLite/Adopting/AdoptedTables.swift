import GRDB
import SyncCore

/// The tables that a model is worked out from, less and less of them until the model fits.
struct AdoptedTables {
    private let db: Database
    private var tables: [AppTable]
    /// By table, the columns that are left out.
    private var leftOut: [String: Set<String>] = [:]
    /// What was left out, and why.
    private(set) var remarks: [SyncError.Problem] = []

    init(_ names: [String], in db: Database) throws {
        self.db = db
        let known = try Row.fetchAll(
            db, sql: "SELECT name, type FROM pragma_table_list WHERE schema = 'main' ORDER BY name")
        let unknown = names.filter { name in !known.contains { ($0[0] as String).foldedForSQL == name.foldedForSQL } }
        guard unknown.isEmpty else {
            throw SyncError(
                .unsuitableTables,
                "the database has no table '\(unknown[0])'"
                    + SimilarName.hint(for: unknown[0], among: known.map { $0[0] as String }))
        }
        let wanted = Set(names.map(\.foldedForSQL))
        tables = []
        for row in known {
            let name: String = row[0]
            let isOurs = ["sqlite_", "sync_", "grdb_"].contains { name.foldedForSQL.hasPrefix($0) }
            guard wanted.isEmpty ? !isOurs : wanted.contains(name.foldedForSQL) else { continue }
            if row[1] == "table", let table = try AppTable(name, in: db) {
                add(table)
            } else if row[1] != "shadow" {
                let kind = row[1] == "view" ? "view" : "virtual table"
                remark("tables.\(name)", "the \(kind) is left out: it has no rows of its own")
            }
        }
    }

    /// Leaves out what a model has no names for.
    private mutating func add(_ table: AppTable) {
        if let problem = AdoptedNames.problem(with: table.name) {
            return remark("tables.\(table.name)", "the table is left out: \(problem)")
        }
        for column in table.columns {
            guard let problem = AdoptedNames.problem(with: column.name) else { continue }
            if column.keyPosition > 0 {
                return remark("tables.\(table.name).\(column.name)", "the table is left out: \(problem)")
            }
            leftOut[table.name, default: []].insert(column.name.foldedForSQL)
            remark("tables.\(table.name).\(column.name)", "the column is left out: \(problem)")
        }
        tables.append(table)
    }

    /// The model of all that fits.
    mutating func model() throws -> SyncModel {
        while !tables.isEmpty {
            var draft = AdoptedEntities(tables, leftOut)
            let entities = try draft.entities(db)
            for (path, message, sql) in draft.remarks { remark(path, message, sql) }
            if !draft.unfit.isEmpty {
                tables.removeAll { draft.unfit.contains($0.name) }
                continue
            }
            let model = try SyncModel(entities: entities)
            let keys = draft.keyColumns
            let problems = try AdoptionCheck.problems(model, in: db, readsValues: true) { table, column in
                Self.droppable(column, of: table, keys) == nil
            }
            if problems.isEmpty { return model }
            let before = leftOut
            for found in problems { leaveOut(found, keys, before) }
        }
        throw SyncError(
            .unsuitableTables, "the database has no table that can be adopted as it is", problems: remarks)
    }

    private mutating func remark(_ path: String, _ message: String, _ sql: String? = nil) {
        let problem = SyncError.Problem(path: path, message: message, sql: sql)
        if !remarks.contains(problem) { remarks.append(problem) }
    }

    /// A column that rows can do without; nil for another, or none.
    private static func droppable(
        _ name: String?, of table: AppTable, _ keys: [String: Set<String>]
    ) -> AppTable.Column? {
        guard let column = name.flatMap(table.column), table.foreignKey(of: column.name) == nil,
            !(keys[table.name]?.contains(column.name.foldedForSQL) ?? false),
            !column.isNotNull || column.defaultValue != nil
        else { return nil }
        return column
    }

    /// Leaves out a column that rows can do without, or else the table.
    private mutating func leaveOut(
        _ found: TableProblems.Found, _ keys: [String: Set<String>], _ before: [String: Set<String>]
    ) {
        guard let table = tables.first(where: { $0.name == found.table }) else { return }
        let column = found.column.flatMap(table.column)
        if let column, before[table.name]?.contains(column.name.foldedForSQL) != true,
            leftOut[table.name]?.contains(column.name.foldedForSQL) ?? false
        {
            // Left out for another problem just now.
            return
        }
        // What is said of a column begins with what it is.
        let subject = column == nil ? "" : "it "
        if let column = Self.droppable(found.column, of: table, keys) {
            leftOut[table.name, default: []].insert(column.name.foldedForSQL)
            remark(found.problem.path, "the column is left out: \(subject)\(found.problem.message)")
        } else {
            tables.removeAll { $0.name == table.name }
            remark(found.problem.path, "the table is left out: \(subject)\(found.problem.message)", found.problem.sql)
        }
    }
}
