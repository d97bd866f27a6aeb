import GRDB
import SyncCore
import SyncStore

/// The columns and join tables of an entity that hold what the server has, or a noted edit of that: those that were
/// pulled whole while triggers were in place. One that the model got since says nothing yet: nobody edited it.
struct ColumnsInStep {
    private let table: EngineTable
    private let db: Database

    init(_ table: EngineTable, _ db: Database) {
        self.table = table
        self.db = db
    }

    private var current: [String] { (table.columns.map(\.name) + table.pairs.map(\.name)).sorted() }

    func names() throws -> Set<String> {
        let statement = try db.cachedStatement(sql: "SELECT columns FROM sync_entity WHERE e = ?")
        let text = try String.fetchOne(statement, arguments: [table.number]) ?? ""
        return Set(text.split(separator: "\n").map(String.init))
    }

    /// All of it was pulled: from now on all columns are in step.
    func notePulled() throws {
        let all = current.joined(separator: "\n")
        try db.executeCached(
            sql: "UPDATE sync_entity SET columns = ? WHERE e = ? AND columns <> ?", arguments: [all, table.number, all])
        guard db.changesCount > 0 else { return }
        // Of rows that could not be stored nothing was compared.
        try db.executeCached(
            sql: "UPDATE sync_known SET whole = 0 WHERE e = ? AND whole = 2", arguments: [table.number])
    }

    /// Has all be pulled if there are columns that are not in step.
    func pullNew() throws {
        let names = try names()
        guard !current.allSatisfy(names.contains) else { return }
        try db.execute(
            sql: "UPDATE sync_cursor SET cursor = NULL, next = NULL WHERE e = ?", arguments: [table.number])
        try db.execute(sql: "UPDATE sync_known SET whole = 0 WHERE e = ? AND whole = 1", arguments: [table.number])
    }
}
