import GRDB
import SyncCore
import SyncStore

/// The columns and join tables of an entity that hold what the server has, or a noted edit of that: those that were
/// pulled whole while triggers were in place, from the members of records that the model has them read from. One that the model got
/// since, or reads from another member, says nothing yet: nobody edited it.
struct SyncedColumns {
    private let table: TrackedTable
    private let db: Database

    init(_ table: TrackedTable, _ db: Database) {
        self.table = table
        self.db = db
    }

    /// As they are once all was pulled.
    private var current: [PulledColumn] {
        let columns = table.columns.map { ($0.name, $0.domain) }
        let pairs = table.pairs.map { ($0.name, OutgoingSchema.Field.pairs($0.link, $0.end)) }
        return (columns + pairs).map { name, domain in
            PulledColumn(name: name, members: table.members(of: domain), isPulled: true)
        }.sorted { $0.name < $1.name }
    }

    func names() throws -> Set<String> {
        let pulled = try noted()
        return Set(current.filter(pulled.contains).map(\.name))
    }

    private func noted() throws -> Set<PulledColumn> {
        let statement = try db.cachedStatement(sql: "SELECT columns FROM sync_entity WHERE e = ?")
        return Set(PulledColumn.all(in: try String.fetchOne(statement, arguments: [table.number]) ?? ""))
    }

    /// All of it was pulled: from now on all columns are in step.
    func insertPulled() throws {
        guard try insert(current) else { return }
        // Of rows that could not be stored nothing was compared.
        try db.executeCached(
            sql: "UPDATE sync_known SET whole = 0 WHERE e = ? AND whole = 2", arguments: [table.number])
    }

    /// Has all be pulled if there are columns that are not in step, once.
    func pullNew() throws {
        let noted = try noted()
        let next = current.map { noted.contains($0) ? $0 : $0.awaited }
        guard !noted.isSuperset(of: next) else { return }
        _ = try insert(next)
        try db.execute(
            sql: "UPDATE sync_cursor SET cursor = NULL, next = NULL WHERE e = ?", arguments: [table.number])
        try db.execute(sql: "UPDATE sync_known SET whole = 0 WHERE e = ? AND whole = 1", arguments: [table.number])
    }

    /// - Returns: Whether anything else was noted before.
    private func insert(_ columns: [PulledColumn]) throws -> Bool {
        let text = PulledColumn.text(columns)
        try db.executeCached(
            sql: "UPDATE sync_entity SET columns = ? WHERE e = ? AND columns <> ?",
            arguments: [text, table.number, text])
        return db.changesCount > 0
    }
}
