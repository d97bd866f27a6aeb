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
    private(set) var outcome = SyncReport()
    private var ledger: EngineLedger { EngineLedger(db) }
    private let clock: Int64
    private let serverTime: Int64?

    init(_ engine: SQLiteEngineStore, _ table: TrackedTable, _ serverTime: Int64?, _ db: Database) throws {
        (self.engine, self.table, self.db, self.serverTime) = (engine, table, db, serverTime)
        let known = try EngineLedger(db).clockOffset()
        let difference = serverTime.map { $0 - SQLiteEngineStore.now } ?? known
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
        keepsVersions = page.keepsVersions
        if case .none = page.end { return try apply(rows, entries) }
        let hasUnreadableIDs = try !page.acceptsOlderVersions && rows.contains { try isNewAndWithoutKey($0) }
        try apply(rows.filter { $0.record != nil }, entries)
        if entries.facts.hasTombstones || rows.contains(where: { $0.record == nil }) {
            for row in rows { try record(row) }
        }
        if page.isListing { try insertListed(page.rows) }
        try recordEnd(page, hasUnreadableIDs: hasUnreadableIDs)
    }

    /// Writes rows that are not a page of a pull.
    mutating func apply(_ rows: [RemoteRecord]) throws { try apply(rows, entries(of: rows)) }

    /// Writes rows that are not a page of a pull, except rows in an older version than the known version.
    mutating func applyCurrent(_ rows: [RemoteRecord]) throws {
        let entries = try entries(of: rows)
        try apply(current(rows, entries), entries)
    }

    private func entries(of rows: [RemoteRecord]) throws -> PageEntries {
        try PageEntries(of: rows, table, isTogether: engine.registration.handlesRowsTogether, db)
    }

    /// Returns whether the ID of a record is not a valid key and the same record is not quarantined yet. The service
    /// may have meant another row, which only a pull of all rows returns.
    private func isNewAndWithoutKey(_ row: RemoteRecord) throws -> Bool {
        guard let record = row.record, table.key.rowKey(row.id) == nil else { return false }
        return try !QuarantinedRecords(engine, table, db).contains(row.id, record)
    }

    /// Returns the rows. If versions are ordered, omits rows in an older version than the known version, which come
    /// from a stale replica.
    private func current(_ rows: [RemoteRecord], _ entries: PageEntries) throws -> [RemoteRecord] {
        guard engine.registration.ordersVersions else { return rows }
        return try rows.filter { row in
            guard let key = try table.key.k(of: row.id, in: db) else { return true }
            return try !engine.isBehind(row, entries.knownRow(key), serverTime)
        }
    }

    /// Writes rows together. If a row cannot be stored, writes each half separately, and finally quarantines the record
    /// of that row.
    private mutating func apply(_ rows: [RemoteRecord], _ entries: PageEntries) throws {
        guard let first = rows.first else { return }
        do {
            try attempt(rows, entries)
        } catch {
            guard Self.isRefusal(error) else { throw error }
            guard rows.count > 1 else { return try setAside(first, Self.reason(error)) }
            let half = rows.count / 2
            try apply(Array(rows[..<half]))
            try apply(Array(rows[half...]))
        }
    }

    private mutating func attempt(_ rows: [RemoteRecord], _ entries: PageEntries) throws {
        var merge = PageMerge(engine, table, clock: clock, entries, db)
        merge.isSame = isSame
        merge.isMissing = isMissing
        merge.keepsVersions = keepsVersions
        try engine.muted(in: db) { try merge.apply(rows) }
        outcome.add(merge.outcome)
        for (row, reason) in merge.refused { try setAside(row, reason) }
    }

    // MARK: Deletions

    /// Records the tombstone of a deleted row, or removes the tombstone of an existing row. Rows with a tombstone are
    /// deleted after the whole pull, since later pages may move rows that reference them.
    private func record(_ row: RemoteRecord) throws {
        guard row.record != nil else { return try insertTombstone(row.id, .reported, time: row.time) }
        try ledger.deleteTombstone(row.id, of: table)
    }

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

    private static func reason(_ error: any Error) -> String {
        (error as? DatabaseError).map(DatabaseErrorMapper.text) ?? "\(error)"
    }

    private mutating func setAside(_ row: RemoteRecord, _ reason: String) throws {
        try QuarantinedRecords(engine, table, db).insert(row, reason)
        outcome[table.entity.name].blockedChanges += 1
    }

    // MARK: Pull progress

    private func insertListed(_ rows: [RemoteRecord]) throws {
        let keys = try rows.filter { $0.record != nil }.map { try QuarantinedRecords.listed($0.id, table, in: db) }
        try ledger.insertListed(keys, table)
    }

    /// Records where the pull continues. `hasUnreadableIDs`: whether a record that is not quarantined yet has an ID
    /// that is not a valid key. The next pull then gets all rows. It returns the row that was meant, and quarantined
    /// records that it lacks are removed.
    private func recordEnd(_ page: PulledPage, hasUnreadableIDs: Bool) throws {
        var (cursor, next): (String?, String?)
        switch page.end {
        case .none: return
        case .anew:
            return try ledger.clearNextPage(of: table)
        case .more(let page): (cursor, next) = (nil, page)
        case .last(let word):
            (cursor, next) = (word, nil)
            try SyncedColumns(table, db).insertPulled()
        }
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
