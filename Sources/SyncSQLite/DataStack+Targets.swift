public import GRDB
import SyncCore

extension DataStack {
    /// The rows a relationship leads to: in their order if it is ordered, else by key.
    ///
    /// A to-one relationship leads to one row or none.
    /// - Throws: ``SyncError`` `unknownRelationship` or `storeFailure`.
    public func targets(of record: SyncRecord, _ relationship: String) throws -> [SyncRecord] {
        try reading { db in try self.targets(of: record, relationship, in: db) }
    }

    /// The rows a relationship leads to: in their order if it is ordered, else by key.
    public func targets(of record: SyncRecord, _ relationship: String) async throws -> [SyncRecord] {
        try await reading { db in try self.targets(of: record, relationship, in: db) }
    }

    /// The rows a relationship leads to, inside ``read(_:)-(_)`` or ``write(_:)-(_)``.
    public func targets(of record: SyncRecord, _ relationship: String, in db: Database) throws -> [SyncRecord] {
        guard let relationship = record.type.relationship(named: relationship) else {
            throw StoreFailure.unknownRelationship(relationship, of: record.type)
        }
        let targets = TargetSQL(relationship, of: record.type, layout)
        let sql = "SELECT \(targets.select.columns) \(try targets.rest)"
        return try targets.select.fetch(db, sql, [record.rowKey])
    }
}
