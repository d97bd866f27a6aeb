import Foundation
import GRDB
import SyncCore
import SyncStore

/// Writes pulled rows into the store, inside a transaction. It merges the rows with local edits, records their
/// versions, and quarantines records that cannot be stored.
struct PageWriter {
    let engine: SQLiteEngineStore
    let table: TrackedTable
    let db: Database
    var options = PageMerge.Options()
    private(set) var outcome = SyncReport()
    private var ledger: EngineLedger { EngineLedger(db) }
    private let clock: Int64
    private let serverTime: Int64?

    init(_ engine: SQLiteEngineStore, _ table: TrackedTable, _ serverTime: Int64?, _ db: Database) throws {
        (self.engine, self.table, self.db, self.serverTime) = (engine, table, db, serverTime)
        let known = try EngineLedger(db).clockOffset()
        let difference = try serverTime.map { try $0 - db.now() } ?? known
        // Ignore differences up to two seconds, since the `Date` of a response is in whole seconds.
        if difference.clampedSubtracting(known).magnitude > 2000 {
            try EngineLedger(db).setClockOffset(difference)
            clock = difference
        } else {
            clock = known
        }
    }

    mutating func apply(_ page: PulledPage) throws {
        let entries = try entries(of: page.rows)
        let rows = page.acceptsOlderVersions ? page.rows : try current(page.rows, entries)
        options.keepsVersions = page.keepsVersions
        guard let pull = page.pull else { return try apply(rows, entries) }
        let hasUnreadableIDs = try !page.acceptsOlderVersions && rows.contains { try isNewAndWithoutKey($0) }
        try apply(rows.filter { $0.record != nil }, entries)
        if entries.facts.hasTombstones || rows.contains(where: { $0.record == nil }) {
            // Rows with a tombstone are deleted after the whole pull, since later pages may move rows that reference
            // them.
            for row in rows {
                if row.record != nil {
                    try ledger.deleteTombstone(row.id, of: table)
                } else {
                    try insertTombstone(row.id, .reported, time: row.time)
                }
            }
        }
        if pull.isFullListing {
            let listed = page.rows.filter { $0.record != nil }
            try ledger.insertListed(listed.map { try QuarantinedRecords.listed($0.id, table, in: db) }, table)
        }
        try recordEnd(of: pull, page, hasUnreadableIDs: hasUnreadableIDs)
    }

    /// Writes rows that are not a page of a pull.
    mutating func apply(_ rows: [RemoteRecord]) throws { try apply(rows, entries(of: rows)) }

    /// Writes rows that are not a page of a pull, except rows in an older version than the known version.
    mutating func applyCurrent(_ rows: [RemoteRecord]) throws {
        let entries = try entries(of: rows)
        try apply(current(rows, entries), entries)
    }

    private func entries(of rows: [RemoteRecord]) throws -> RowEntries {
        try RowEntries(merging: rows, table, isTogether: engine.registration.handlesRowsTogether, db)
    }

    /// Returns whether the ID of a record is not a valid key and the same record is not quarantined yet. The service
    /// may have meant another row, which only a pull of all rows returns.
    private func isNewAndWithoutKey(_ row: RemoteRecord) throws -> Bool {
        guard let record = row.record, table.key.rowKey(row.id) == nil else { return false }
        return try !QuarantinedRecords(engine, table, db).contains(row.id, record)
    }

    /// Returns the rows. If versions are ordered, omits rows in an older version than the known version, which come
    /// from a stale replica.
    private func current(_ rows: [RemoteRecord], _ entries: RowEntries) throws -> [RemoteRecord] {
        guard engine.registration.ordersVersions else { return rows }
        let now = try db.now()
        return try rows.filter { row in
            guard let key = try table.key.engineKey(of: row.id, in: db) else { return true }
            return try !engine.isBehind(row, entries.known(key, table), at: now, serverTime)
        }
    }

    /// Writes rows together. If a row cannot be stored, writes each half separately, and finally quarantines the record
    /// of that row.
    private mutating func apply(_ rows: [RemoteRecord], _ entries: RowEntries) throws {
        guard let first = rows.first else { return }
        do {
            try attempt(rows, entries)
        } catch {
            guard Self.isRefusal(error) else { throw error }
            guard rows.count > 1 else {
                return try setAside(first, (error as? DatabaseError).map(DatabaseErrorMapper.text) ?? "\(error)")
            }
            let half = rows.count / 2
            try apply(Array(rows[..<half]))
            try apply(Array(rows[half...]))
        }
    }

    /// Writes rows in a savepoint. A foreign key that the rows leave dangling is an error here, where the record can be
    /// quarantined. Otherwise the commit would fail in this run and in every later one.
    private mutating func attempt(_ rows: [RemoteRecord], _ entries: RowEntries) throws {
        var merge = PageMerge(engine, table, options, clock: clock, entries, db)
        let wereBroken = DeferredForeignKeys.areBroken(db)
        try engine.muted(in: db) {
            try merge.apply(rows)
            guard wereBroken || !DeferredForeignKeys.areBroken(db) else {
                throw DatabaseError(
                    resultCode: .SQLITE_CONSTRAINT_FOREIGNKEY, message: "FOREIGN KEY constraint failed")
            }
        }
        outcome.add(merge.outcome)
        for (row, reason) in merge.refused { try setAside(row, reason) }
    }

    // MARK: Deletions

    /// Records the tombstone of a row. `time`: when the service deleted the row, in milliseconds since 1970; nil if not
    /// known.
    func insertTombstone(_ id: JSONValue, _ source: EngineLedger.Tombstone.Source, time: Int64? = nil) throws {
        try QuarantinedRecords(engine, table, db).remove(id)
        try ledger.insertTombstone(id, of: table, source, time: time)
    }

    // MARK: Quarantine

    /// Returns whether a single row caused the error, so that other rows can be written.
    static func isRefusal(_ error: any Error) -> Bool {
        if let error = error as? DatabaseError { return error.resultCode == .SQLITE_CONSTRAINT }
        guard let error = error as? SyncError else { return false }
        switch error.code {
        case .databaseBusy, .databaseReadOnly, .modelMismatch, .incompatibleConnection: return false
        case .databaseError: return isConstraint(error)
        default: return true
        }
    }

    private static func isConstraint(_ error: SyncError) -> Bool {
        if let error = error.underlyingError as? DatabaseError { return error.resultCode == .SQLITE_CONSTRAINT }
        return error.message == DatabaseErrorMapper.constraint(DatabaseError()).message
    }

    private mutating func setAside(_ row: RemoteRecord, _ reason: String) throws {
        try QuarantinedRecords(engine, table, db).insert(row, reason)
        outcome[table.entity.name].blockedChanges += 1
    }

    // MARK: Pull progress

    /// Records where the pull continues. `hasUnreadableIDs`: whether a record that is not quarantined yet has an ID
    /// that is not a valid key. The next pull then gets all rows. It returns the row that was meant, and quarantined
    /// records that it lacks are removed.
    private func recordEnd(of pull: PullPage, _ page: PulledPage, hasUnreadableIDs: Bool) throws {
        var (cursor, next) = (pull.nextPage == nil ? pull.cursor : nil, pull.nextPage)
        if next == nil { try SyncedColumns(table, db).insertPulled() }
        if try hasUnreadableIDs || !page.acceptsOlderVersions && ledger.isCursorCleared(of: table) {
            (cursor, next) = (nil, nil)
        }
        try ledger.setPullState(
            of: table, cursor: cursor, next: next, filter: engine.registration.filters[table.entity.name] ?? "")
    }
}

extension JSONValue {
    /// The value as JSON text in canonical form. See ``CanonicalJSON``.
    var text: String { String(decoding: CanonicalJSON.bytes(self), as: UTF8.self) }
}

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
        try table.key.engineKey(of: id, in: db) ?? Data(id.text.utf8).databaseValue
    }

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
            round.options.keepsVersions = true
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
            writer.options.keepsVersions = true
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
            let key = try table.key.engineKey(of: row.id, in: db),
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
