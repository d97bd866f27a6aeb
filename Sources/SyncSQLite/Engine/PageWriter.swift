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
    /// Whether a locally created row with the key of a pulled row is that row.
    var isSame = false
    /// Whether the service lacks the rows without a record. If false, the service reported these rows as deleted.
    var isMissing = false
    /// Whether a row keeps its known version if its record has none. See ``PageMerge/keepsVersions``.
    var keepsVersions = false
    private(set) var outcome = AppliedChanges()
    private let clock: Int64
    private let serverTime: Int64?

    init(_ engine: SQLiteEngineStore, _ table: TrackedTable, _ serverTime: Int64?, _ db: Database) throws {
        self.engine = engine
        self.table = table
        self.db = db
        self.serverTime = serverTime
        let known = try Int64.fetchOne(db.cachedStatement(sql: "SELECT clock FROM sync_engine")) ?? 0
        let difference = serverTime.map { $0 - SQLiteEngineStore.now } ?? known
        // Ignore differences up to two seconds, since the `Date` of a response is in whole seconds.
        if difference.clampedSubtracting(known).magnitude > 2000 {
            try db.execute(sql: "UPDATE sync_engine SET clock = ?", arguments: [difference])
            clock = difference
        } else {
            clock = known
        }
    }

    mutating func apply(_ page: PulledPage) throws {
        let rows = page.acceptsOlderVersions ? page.rows : try current(page.rows)
        keepsVersions = page.keepsVersions
        if case .none = page.end { return try apply(rows) }
        let hasUnreadableIDs = try !page.acceptsOlderVersions && rows.contains { try isNewAndWithoutKey($0) }
        try apply(rows.filter { $0.record != nil })
        for row in rows { try record(row) }
        if page.isListing { try insertListed(page.rows) }
        try recordEnd(page, hasUnreadableIDs: hasUnreadableIDs)
    }

    /// Returns whether the ID of a record is not a valid key and the same record is not quarantined yet. The service
    /// may have meant another row, which only a pull of all rows returns.
    private func isNewAndWithoutKey(_ row: PulledPage.Record) throws -> Bool {
        guard let record = row.record, table.key.rowKey(row.id) == nil else { return false }
        return try !db.finds(
            sql: "SELECT 1 FROM sync_inbound WHERE e = ? AND k = ? AND body = ?",
            arguments: [table.number, row.id.text, record.text])
    }

    /// Returns the rows. If versions are ordered, omits rows in an older version than the known version, which come
    /// from a stale replica.
    func current(_ rows: [PulledPage.Record]) throws -> [PulledPage.Record] {
        guard engine.registration.ordersVersions else { return rows }
        return try rows.filter { try !engine.isBehind($0, table, serverTime, in: db) }
    }

    /// Writes rows together. If a row cannot be stored, writes each half separately, and finally quarantines the record
    /// of that row.
    mutating func apply(_ rows: [PulledPage.Record]) throws {
        guard let first = rows.first else { return }
        do {
            try attempt(rows)
        } catch {
            guard Self.isRefusal(error) else { throw error }
            guard rows.count > 1 else { return try setAside(first, Self.reason(error)) }
            let half = rows.count / 2
            try apply(Array(rows[..<half]))
            try apply(Array(rows[half...]))
        }
    }

    private mutating func attempt(_ rows: [PulledPage.Record]) throws {
        var merge = PageMerge(engine, table, clock: clock, db)
        merge.isSame = isSame
        merge.isMissing = isMissing
        merge.keepsVersions = keepsVersions
        try engine.muted(in: db) { try merge.apply(rows) }
        outcome.add(merge.outcome)
        for (row, reason) in merge.refused { try setAside(row, reason) }
    }

    // MARK: Deletions

    /// Adds a deleted row to `sync_gone`, or removes an existing row from it. Rows in `sync_gone` are deleted after the
    /// whole pull, since later pages may move rows that reference them.
    private func record(_ row: PulledPage.Record) throws {
        guard row.record != nil else { return try insertTombstone(row.id, isLimited: false, time: row.time) }
        try db.cachedStatement(sql: "DELETE FROM sync_gone WHERE e = ? AND id = ?").execute(
            arguments: [table.number, row.id.text])
    }

    /// Records in `sync_gone` that the service deleted or lacks a row.
    ///
    /// - Parameters:
    ///   - isLimited: Whether the deletion limit applies, because the service lacks the row and did not report it as
    ///     deleted.
    ///   - time: When the service deleted the row, in milliseconds since 1970; nil if not known.
    func insertTombstone(_ id: JSONValue, isLimited: Bool, time: Int64? = nil) throws {
        try QuarantinedRecords(engine, table, db).remove(id)
        try db.cachedStatement(
            sql: """
                INSERT INTO sync_gone (e, id, guarded, time) VALUES (?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET guarded = min(guarded, excluded.guarded), time = coalesce(excluded.time, time)
                """
        ).execute(arguments: [table.number, id.text, isLimited, time])
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

    private static func reason(_ error: any Error) -> String {
        (error as? DatabaseError).map(DatabaseErrorMapper.text) ?? "\(error)"
    }

    private mutating func setAside(_ row: PulledPage.Record, _ reason: String) throws {
        try db.executeCached(
            sql: """
                INSERT INTO sync_inbound (e, k, body, version, time, reason) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET body = excluded.body, version = excluded.version, time = excluded.time,
                  reason = excluded.reason
                """,
            arguments: [
                table.number, row.id.text, (row.record ?? .null).text, row.version, row.time, reason,
            ])
        outcome[table.entity.name].blocked += 1
    }

    // MARK: Pull progress

    private func insertListed(_ rows: [PulledPage.Record]) throws {
        let statement = try db.cachedStatement(
            sql: "INSERT INTO sync_seen (e, k) VALUES (?, ?) ON CONFLICT DO NOTHING")
        for row in rows where row.record != nil {
            try statement.execute(arguments: [table.number, QuarantinedRecords.listed(row.id, table, in: db)])
        }
    }

    /// Records where the pull continues.
    ///
    /// - Parameter hasUnreadableIDs: Whether a record that is not quarantined yet has an ID that is not a valid key.
    ///   The next pull then gets all rows. It returns the row that was meant, and quarantined records that it lacks are
    ///   removed.
    private func recordEnd(_ page: PulledPage, hasUnreadableIDs: Bool) throws {
        var (cursor, next): (String?, String?)
        switch page.end {
        case .none: return
        case .anew:
            return try db.execute(sql: "UPDATE sync_cursor SET next = NULL WHERE e = ?", arguments: [table.number])
        case .more(let page): (cursor, next) = (nil, page)
        case .last(let word):
            (cursor, next) = (word, nil)
            try SyncedColumns(table, db).insertPulled()
        }
        let isForgotten = "SELECT 1 FROM sync_cursor WHERE e = ? AND cursor IS NULL"
        if try hasUnreadableIDs || !page.acceptsOlderVersions && db.finds(sql: isForgotten, arguments: [table.number]) {
            (cursor, next) = (nil, nil)
        }
        let fingerprint = engine.registration.filters[table.entity.name] ?? ""
        let isSame = try Bool.fetchOne(
            db.cachedStatement(
                sql: "SELECT cursor IS ? AND next IS ? AND fingerprint = ? FROM sync_cursor WHERE e = ?"),
            arguments: [cursor, next, fingerprint, table.number])
        if isSame == true { return }
        let keepsCursor = next != nil
        try db.execute(
            sql: """
                INSERT INTO sync_cursor (e, cursor, fingerprint, next) VALUES (?, ?, ?, ?)
                ON CONFLICT DO UPDATE SET cursor = \(keepsCursor ? "cursor" : "excluded.cursor"),
                  fingerprint = excluded.fingerprint, next = excluded.next
                """,
            arguments: [table.number, cursor, fingerprint, next])
    }
}

extension JSONValue {
    /// The value as JSON text in canonical form. See ``CanonicalJSON``.
    var text: String { String(decoding: CanonicalJSON.bytes(self), as: UTF8.self) }
}
