import GRDB

enum WayOfWriting: String {
    case upsert, compare
}

/// A stored row. The record types of the workloads are as short as in an app.
typealias StoredRecord = Codable & Equatable & FetchableRecord & Identifiable & PersistableRecord

/// Writes records one by one.
struct RecordWriter {
    let db: Database
    let way: WayOfWriting

    func put<SyncRow: StoredRecord>(_ record: SyncRow) throws where SyncRow.ID: DatabaseValueConvertible {
        guard way == .compare else { return try record.upsert(db) }
        guard let stored = try SyncRow.fetchOne(db, id: record.id) else { return try record.insert(db) }
        if stored != record { try record.update(db) }
    }

    /// Deletes the rows whose keys the payload does not contain.
    func deleteMissing<SyncRow: StoredRecord>(_: SyncRow.Type, except kept: Set<SyncRow.ID>) throws
    where SyncRow.ID: DatabaseValueConvertible & StatementColumnConvertible {
        let stored = try SyncRow.ID.fetchSet(db, sql: "SELECT id FROM \(SyncRow.databaseTableName)")
        try SyncRow.deleteAll(db, ids: stored.subtracting(kept))
    }
}
