import Foundation
import GRDB
package import SyncCore
package import SyncStore

extension SQLiteEngineStore {
    package func finish(
        _ entities: [String], notBefore: Int64?, attempts: Int, _ lease: EngineLease
    ) async throws {
        let finished = try entities.map { try table($0) }
        try await writing(lease) { [self] db in
            try ConflictLog(db).closeResolved(tables)
            try AttemptedValues.deleteAcknowledged(in: db)
            try LocalEditTimes.deleteAcknowledged(in: db)
            for table in finished {
                try db.executeCached(
                    sql: """
                        INSERT INTO sync_cursor (e, last_sync, initial) VALUES (?, ?, 1)
                        ON CONFLICT DO UPDATE SET last_sync = excluded.last_sync, initial = 1
                        """, arguments: [table.number, SQLiteEngineStore.now])
            }
            try db.executeCached(
                sql: "UPDATE sync_engine SET not_before = ?, attempts = ? WHERE not_before IS NOT ? OR attempts <> ?",
                arguments: [notBefore, attempts, notBefore, attempts])
            try LeaseStore.free(lease, in: db)
        }
    }

    package func pendingChangeCount(of entities: [String]) async throws -> Int {
        let numbers = try entities.map { try table($0).number }
        return try await reading { db in try OutboxCount.pending(of: numbers, in: db) }
    }

    package func observePendingChangeCount() -> AsyncThrowingStream<Int, any Error> {
        let numbers = tables.map(\.number)
        let names = Set(tables.flatMap { [$0.table.name] + $0.joinTables.map(\.name) }).sorted()
        let counts = StoreObservation(
            stack,
            fetch: { db in
                // Syncs and single rows notify GRDB only about the tables of the model, whose triggers write the outbox.
                for name in names { _ = try Row.fetchOne(db, sql: "SELECT * FROM \(name.quoted) LIMIT 0") }
                return try OutboxCount.pending(of: numbers, in: db)
            }, value: { $0 })
        return AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task {
                do {
                    for try await count in counts { continuation.yield(count) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    package func status() async throws -> [EntityStatus] {
        let tables = tables
        return try await reading { db in
            try tables.map { table in
                let row = try Row.fetchOne(
                    db,
                    sql: """
                        SELECT (\(OutboxCount.pending)),
                          (SELECT count(*) FROM sync_change WHERE e = :e AND state = 'parked')
                            + (SELECT count(*) FROM sync_inbound WHERE e = :e),
                          (SELECT count(DISTINCT k) FROM sync_conflict WHERE e = :e AND open = 1),
                          (SELECT count(*) FROM sync_conflict WHERE e = :e AND open = 1),
                          (SELECT last_sync FROM sync_cursor WHERE e = :e),
                          coalesce((SELECT initial FROM sync_cursor WHERE e = :e), 0)
                        """, arguments: ["e": table.number])
                let last: Int64? = try row?.decode(atIndex: 4)
                return EntityStatus(
                    entity: table.entity.name, pendingChanges: try row?.decode(atIndex: 0) ?? 0,
                    blockedChanges: try row?.decode(atIndex: 1) ?? 0, openConflicts: try row?.decode(atIndex: 2) ?? 0,
                    conflictingValues: try row?.decode(atIndex: 3) ?? 0,
                    lastSyncDate: last.map { Date(timeIntervalSince1970: Double($0) / 1000) },
                    isInitialSyncComplete: try row?.decode(atIndex: 5) == 1)
            }
        }
    }

    package func conflicts() async throws -> [SyncConflict] {
        return try await reading { [self] db in
            let logged = tables.map { ($0.number, (table: $0, values: ConflictLogValues(self, $0, db))) }
            let tables = Dictionary(logged) { first, _ in first }
            return try Row.fetchAll(
                db,
                sql: """
                    SELECT e, k, domain, base, local, remote, winner, why, at FROM sync_conflict ORDER BY open DESC, id
                    """
            ).compactMap { row in
                guard let (table, values) = try tables[row.decode(atIndex: 0)] else { return nil }
                func json(_ index: Int) throws -> JSONValue {
                    try values.json(row[index], field: row.decode(atIndex: 2))
                }
                let winner = SyncConflict.Side(rawValue: try row.decode(atIndex: 6))
                let date = Date(timeIntervalSince1970: Double(try row.decode(Int64.self, atIndex: 8)) / 1000)
                return SyncConflict(
                    entity: table.entity.name, key: try table.recordKey(row[1], in: db),
                    field: try table.displayName(ofField: row.decode(atIndex: 2)),
                    base: try json(3), local: try json(4), remote: try json(5),
                    outcome: .init(winner: winner, reason: try row.decode(atIndex: 7), date: date))
            }
        }
    }

    /// Returns the blocked changes and the quarantined records, each with its reason.
    package func blockedChanges() async throws -> [BlockedChange] {
        let tables = tables
        return try await reading { db in
            try tables.flatMap { table in
                let refusedThere = try Row.fetchAll(
                    db, sql: "SELECT k, reason FROM sync_change WHERE e = ? AND state = 'parked'",
                    arguments: [table.number]
                ).map {
                    (
                        key: try table.recordKey($0[0], in: db),
                        reason: try $0.decode(String?.self, atIndex: 1).map(CascadeMarker.shown)
                    )
                }
                let refusedHere = try Row.fetchAll(
                    db, sql: "SELECT k, reason FROM sync_inbound WHERE e = ?", arguments: [table.number]
                ).map { row in
                    let id = try EngineTableCheck.json(row.decode(atIndex: 0))
                    let key = table.key.rowKey(id)?.recordKey(table.key.type) ?? .text(id.text)
                    return (key: key, reason: try row.decode(String?.self, atIndex: 1))
                }
                return (refusedThere + refusedHere).map {
                    BlockedChange(entity: table.entity.name, key: $0.key, reason: $0.reason ?? "")
                }
            }
        }
    }

    package func reset(_ kind: EngineReset, of entities: [String], holder: String) async throws {
        let tables = try entities.map { try table($0) }
        try await transaction { [self] db in
            let lease = try LeaseStore.acquire(holder, in: db)
            for table in tables where kind != .localData { try reset(kind, table, in: db) }
            if kind == .localData { try RowRemoval(self, db).remove() }
            try db.execute(sql: "UPDATE sync_engine SET not_before = NULL, attempts = 0")
            try LeaseStore.free(lease, in: db)
        }
    }

    /// Deletes the join edits of an entity's rows. The join edits of stored rows of other entities in the same table
    /// stay.
    func removeLinks(of table: TrackedTable, in db: Database) throws {
        for joinTable in table.joinTables {
            try db.execute(
                sql: """
                    DELETE FROM sync_link WHERE link = ? AND NOT EXISTS (
                      SELECT 1 FROM \(table.table.name.quoted) AS r
                      WHERE r.\(table.table.keyColumn.quoted) = +owner AND NOT (true\(table.isOwn("r"))))
                    """, arguments: [joinTable.name])
        }
    }

    private func reset(_ kind: EngineReset, _ table: TrackedTable, in db: Database) throws {
        let isOwn = "WHERE e = \(table.number)"
        if kind == .cursors {
            // Requests stay, since the service may have carried them out. Versions of rows with `whole` 2 or more stay:
            // they are needed to find edits that were not captured. Rows known only from inside other records have no
            // version.
            try db.execute(
                sql: "UPDATE sync_known SET version = NULL, time = NULL, whole = 0 \(isOwn) AND whole < 2")
        } else {
            try db.execute(sql: "DELETE FROM sync_sent WHERE request IN (SELECT id FROM sync_request \(isOwn))")
            for name in ["sync_request", "sync_change", "sync_base", "sync_known", "sync_tried", "sync_made"] {
                try db.execute(sql: "DELETE FROM \(name) \(isOwn)")
            }
            let key = table.table.keyColumn.quoted
            try removeLinks(of: table, in: db)
            try db.execute(
                sql: "UPDATE sync_conflict SET open = 0, winner = 'local', why = 'reset' \(isOwn) AND open = 1")
            try db.execute(
                sql: """
                    INSERT INTO sync_change (e, k, kind, birth, seq)
                    SELECT \(table.number), \(key), 'create', lower(hex(randomblob(16))), 0
                    FROM \(table.table.name.quoted) AS r WHERE \(key) IS NOT NULL\(table.isOwn("r"))
                    """)
        }
        for name in ["sync_cursor", "sync_sweep", "sync_seen", "sync_gone", "sync_inbound"] {
            try db.execute(sql: "DELETE FROM \(name) \(isOwn)")
        }
    }
}

/// Counts the rows of the outbox.
private enum OutboxCount {
    /// The query for the number of rows of a table with pending changes that are not blocked.
    static let pending = "SELECT count(*) FROM sync_change WHERE e = :e AND state <> 'parked'"

    /// Returns the number of rows with pending changes that are not blocked.
    ///
    /// - Parameter tables: The numbers of the tables.
    static func pending(of tables: [Int], in db: Database) throws -> Int {
        try tables.reduce(0) { count, table in
            try count + (Int.fetchOne(db, sql: pending, arguments: ["e": table]) ?? 0)
        }
    }
}
