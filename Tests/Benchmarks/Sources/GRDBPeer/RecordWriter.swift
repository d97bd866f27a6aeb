import GRDB

enum WayOfWriting: String {
    case upsert, compare
}

/// A stored row. The types of the workloads are as short as the ones an app would have.
typealias StoredRecord = Codable & Equatable & FetchableRecord & Identifiable & PersistableRecord

/// Writes records one by one.
struct RecordWriter {
    let db: Database
    let way: WayOfWriting

    func put<Record: StoredRecord>(_ record: Record) throws where Record.ID: DatabaseValueConvertible {
        guard way == .compare else { return try record.upsert(db) }
        guard let stored = try Record.fetchOne(db, id: record.id) else { return try record.insert(db) }
        if stored != record { try record.update(db) }
    }

    /// Deletes the rows whose keys the payload does not have.
    func deleteMissing<Record: StoredRecord>(_: Record.Type, except kept: Set<Record.ID>) throws
    where Record.ID: DatabaseValueConvertible & StatementColumnConvertible {
        let stored = try Record.ID.fetchSet(db, sql: "SELECT id FROM \(Record.databaseTableName)")
        try Record.deleteAll(db, ids: stored.subtracting(kept))
    }
}
