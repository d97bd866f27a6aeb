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

    func put<SyncRecord: StoredRecord>(_ record: SyncRecord) throws where SyncRecord.ID: DatabaseValueConvertible {
        guard way == .compare else { return try record.upsert(db) }
        guard let stored = try SyncRecord.fetchOne(db, id: record.id) else { return try record.insert(db) }
        if stored != record { try record.update(db) }
    }

    /// Deletes the rows whose keys the payload does not have.
    func deleteMissing<SyncRecord: StoredRecord>(_: SyncRecord.Type, except kept: Set<SyncRecord.ID>) throws
    where SyncRecord.ID: DatabaseValueConvertible & StatementColumnConvertible {
        let stored = try SyncRecord.ID.fetchSet(db, sql: "SELECT id FROM \(SyncRecord.databaseTableName)")
        try SyncRecord.deleteAll(db, ids: stored.subtracting(kept))
    }
}
