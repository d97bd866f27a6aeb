import GRDB
import SyncCore
import SyncStore

/// The columns and join tables of an entity that were pulled for all rows, from the key paths that the model uses now.
///
/// Columns that are new in the model, or that have other key paths now, are not included. Their differences are not
/// edits.
struct SyncedColumns {
    private let table: TrackedTable
    private let db: Database

    init(_ table: TrackedTable, _ db: Database) {
        self.table = table
        self.db = db
    }

    /// The columns as they are recorded after all rows were pulled.
    private var current: [PulledColumn] {
        let columns = table.columns.map { ($0.name, $0.field) }
        let joinTable = table.joinTables.map { ($0.name, OutgoingSchema.Field.joinRows($0.link, $0.end)) }
        return (columns + joinTable).map { name, field in
            PulledColumn(name: name, members: table.members(of: field), isPulled: true)
        }.sorted { $0.name < $1.name }
    }

    func names() throws -> Set<String> {
        let pulled = try recorded()
        return Set(current.filter(pulled.contains).map(\.name))
    }

    private func recorded() throws -> Set<PulledColumn> {
        let statement = try db.cachedStatement(sql: "SELECT columns FROM sync_entity WHERE e = ?")
        return Set(PulledColumn.all(in: try String.fetchOne(statement, arguments: [table.number]) ?? ""))
    }

    /// Records that all rows were pulled, so that all columns are synced.
    func insertPulled() throws {
        guard try insert(current) else { return }
        // Rows that the pull could not store still have `whole` 2. Reset it, since edits are captured again.
        try db.executeCached(
            sql: "UPDATE sync_known SET whole = 0 WHERE e = ? AND whole = 2", arguments: [table.number])
    }

    /// Requests a full pull if some columns are not synced and no such pull was requested before.
    func pullNew() throws {
        let noted = try recorded()
        let next = current.map { noted.contains($0) ? $0 : $0.notPulled }
        guard !noted.isSuperset(of: next) else { return }
        _ = try insert(next)
        try db.execute(
            sql: "UPDATE sync_cursor SET cursor = NULL, next = NULL WHERE e = ?", arguments: [table.number])
        try db.execute(sql: "UPDATE sync_known SET whole = 0 WHERE e = ? AND whole = 1", arguments: [table.number])
    }

    /// Records columns.
    ///
    /// - Returns: Whether the recorded columns changed.
    private func insert(_ columns: [PulledColumn]) throws -> Bool {
        let text = PulledColumn.text(columns)
        try db.executeCached(
            sql: "UPDATE sync_entity SET columns = ? WHERE e = ? AND columns <> ?",
            arguments: [text, table.number, text])
        return db.changesCount > 0
    }
}
