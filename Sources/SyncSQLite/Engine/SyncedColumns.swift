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
        Set(PulledColumn.all(in: try EngineLedger(db).pulledColumns(of: table.number)))
    }

    /// Records that all rows were pulled, so that all columns are synced.
    func insertPulled() throws {
        guard try insert(current) else { return }
        try EngineLedger(db).setCaptured(table)
    }

    /// Requests a full pull if some columns are not synced and no such pull was requested before.
    func pullNew() throws {
        let noted = try recorded()
        let next = current.map { noted.contains($0) ? $0 : $0.notPulled }
        guard !noted.isSuperset(of: next) else { return }
        _ = try insert(next)
        try EngineLedger(db).clearCursor(of: table)
        try EngineLedger(db).recheckAll(of: table)
    }

    /// Records columns.
    ///
    /// - Returns: Whether the recorded columns changed.
    private func insert(_ columns: [PulledColumn]) throws -> Bool {
        try EngineLedger(db).setPulledColumns(PulledColumn.text(columns), of: table.number)
    }
}
