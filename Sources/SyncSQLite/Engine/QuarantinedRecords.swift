import Foundation
import GRDB
import SyncCore
import SyncStore

/// The quarantined records of an entity. For each row, the last pulled record is kept.
struct QuarantinedRecords {
    private let engine: SQLiteEngineStore
    private let table: TrackedTable
    private let db: Database

    init(_ engine: SQLiteEngineStore, _ table: TrackedTable, _ db: Database) {
        (self.engine, self.table, self.db) = (engine, table, db)
    }

    /// Removes the record with an ID. Call this method when the record is stored or tried again, and when the service
    /// has deleted it or no longer lists it.
    func remove(_ id: JSONValue) throws {
        try db.run("DELETE FROM sync_quarantine WHERE e = ? AND k = ?", table.number, id.text)
    }

    func contains(_ id: JSONValue, _ record: JSONValue) throws -> Bool {
        try db.finds(
            "SELECT 1 FROM sync_quarantine WHERE e = ? AND k = ? AND body = ?", table.number, id.text, record.text)
    }

    /// Quarantines a record, in place of an earlier record of the row.
    func insert(_ row: RemoteRecord, _ reason: String) throws {
        try db.run(
            """
            INSERT INTO sync_quarantine (e, k, body, version, time, message) VALUES (?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET body = excluded.body, version = excluded.version, time = excluded.time,
              message = excluded.message
            """, table.number, row.id.text, (row.record ?? .null).text, row.version, row.time, reason)
    }

    static func reasons(of table: TrackedTable, in db: Database) throws -> [(id: JSONValue, reason: String)] {
        try db.rows("SELECT k, message FROM sync_quarantine WHERE e = ?", table.number).map {
            (try EngineTableCheck.json($0.decode(atIndex: 0)), try $0.decode(String?.self, atIndex: 1) ?? "")
        }
    }

    static func count(of table: TrackedTable, in db: Database) throws -> Int {
        try db.first(Int.self, "SELECT count(*) FROM sync_quarantine WHERE e = ?", table.number) ?? 0
    }

    /// Returns the value for a listed row in `sync_listed`: its key, or the bytes of an ID that is not a valid key.
    static func listed(_ id: JSONValue, _ table: TrackedTable, in db: Database) throws -> DatabaseValue {
        try table.key.k(of: id, in: db) ?? Data(id.text.utf8).databaseValue
    }

    /// Removes the records that a finished listing lacks.
    func removeUnlisted() throws {
        for row in try all() {
            let isListed = try EngineLedger(db).isListed(Self.listed(row.id, table, in: db), table)
            if !isListed { try remove(row.id) }
        }
    }

    /// Tries to write the records again. First writes all together, since one record may free a unique value that
    /// another needs. If a record is rejected, writes each separately, and repeats this while some succeed.
    func retry() throws -> SyncReport {
        var rows = try all()
        guard !rows.isEmpty else { return SyncReport() }
        if let outcome = try together(rows) { return outcome }
        var outcome = SyncReport()
        while true {
            var round = try PageWriter(engine, table, nil, db)
            round.keepsVersions = true
            for row in rows {
                try remove(row.id)
                try round.apply([row])
            }
            let left = try all()
            outcome.add(round.outcome)
            if left.isEmpty || left.count == rows.count { break }
            outcome[table.entity.name].blockedChanges -= left.count
            rows = left
        }
        return outcome
    }

    private func all() throws -> [RemoteRecord] {
        try db.rows("SELECT k, body, version, time FROM sync_quarantine WHERE e = ?", table.number).map { row in
            let record = try EngineTableCheck.json(row.decode(atIndex: 1))
            return RemoteRecord(
                id: try EngineTableCheck.json(row.decode(atIndex: 0)),
                record: record == .null ? JSONValue?.none : record, version: try row.decode(atIndex: 2),
                modifiedAt: try row.decode(Int64?.self, atIndex: 3).map(Date.init(milliseconds:)))
        }
    }

    // MARK: All records together

    /// Writes the records together. Returns the changes; nil if a record is rejected again, and then nothing is
    /// written.
    private func together(_ rows: [RemoteRecord]) throws -> SyncReport? {
        var outcome: SyncReport?
        try db.inSavepoint {
            var writer = try PageWriter(engine, table, nil, db)
            writer.keepsVersions = true
            for row in rows {
                try remove(row.id)
                try clearUniqueValues(row)
            }
            try writer.apply(rows)
            guard try all().isEmpty else { return .rollback }
            outcome = writer.outcome
            return .commit
        }
        return outcome
    }

    /// Replaces the unique values of a stored row that its quarantined record may change. Does nothing if the row has a
    /// pending change.
    private func clearUniqueValues(_ row: RemoteRecord) throws {
        guard let record = row.record, case .object = record,
            let key = try table.key.k(of: row.id, in: db),
            try EngineLedger(db).change(of: key, table) == nil
        else { return }
        let said = try AttributeMapper(record, of: table.entity, in: engine.model).values
        let unique = Set(try UniqueColumns(table.table, db).indexes.joined())
        let attributes = engine.model.compiled[table.entity.table].attributes
        for column in table.columns where unique.contains(column.name) {
            guard case .attribute(let slot) = column.field, let value = said[attributes[slot].name], value != .null,
                let position = Self.nothing(column, attributes[slot].type)
            else { continue }
            try engine.muted(in: db) {
                try db.run("UPDATE \(table.sql) SET \(column.sql) = \(position) WHERE \(table.keySQL) = ?", key)
            }
        }
    }

    /// Returns the SQL of a value that violates no unique index; nil if none can be generated for the column.
    private static func nothing(_ column: TrackedTable.Column, _ type: AttributeType) -> String? {
        if column.isOptional { return "NULL" }
        switch type {
        case .string: return "hex(randomblob(16))"
        case .integer: return "random()"
        default: return nil
        }
    }
}
