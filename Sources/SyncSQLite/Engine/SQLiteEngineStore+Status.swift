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
            let ledger = EngineLedger(db)
            try ledger.deleteFinishedValues()
            for table in finished { try ledger.setSynced(table, at: Self.now) }
            try ledger.setBackoff(notBefore: notBefore, attempts: attempts)
            try LeaseStore.free(lease, in: db)
        }
    }

    package func pendingChangeCount(of entities: [String]) async throws -> Int {
        let numbers = try entities.map { try table($0).number }
        return try await reading { db in try EngineLedger(db).pendingCount(of: numbers) }
    }

    package func observePendingChangeCount() -> AsyncThrowingStream<Int, any Error> {
        let numbers = tables.map(\.number)
        let names = Set(tables.flatMap { [$0.table.name] + $0.joinTables.map(\.name) }).sorted()
        let counts = StoreObservation(
            stack,
            fetch: { db in
                // Syncs and single rows notify GRDB only about the tables of the model, whose triggers write the outbox.
                for name in names { _ = try Row.fetchOne(db, sql: "SELECT * FROM \(name.quoted) LIMIT 0") }
                return try EngineLedger(db).pendingCount(of: numbers)
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
            let ledger = EngineLedger(db)
            return try tables.map { table in
                let (last, isComplete) = try ledger.syncDate(of: table)
                let conflicts = try ConflictLog(db).openCounts(of: table)
                return EntityStatus(
                    entity: table.entity.name, pendingChanges: try ledger.pendingCount(of: [table.number]),
                    blockedChanges: try ledger.blockedChanges(of: table).count
                        + QuarantinedRecords.count(of: table, in: db),
                    openConflicts: conflicts.rows, conflictingValues: conflicts.fields,
                    lastSyncDate: last.map { Date(timeIntervalSince1970: Double($0) / 1000) },
                    isInitialSyncComplete: isComplete)
            }
        }
    }

    package func conflicts() async throws -> [SyncConflict] {
        return try await reading { [self] db in
            let logged = tables.map { ($0.number, (table: $0, values: ConflictLogValues(self, $0, db))) }
            let tables = Dictionary(logged) { first, _ in first }
            return try ConflictLog(db).all().compactMap { row in
                guard let (table, values) = try tables[row.decode(atIndex: 0)] else { return nil }
                func json(_ index: Int) throws -> JSONValue {
                    try values.json(row[index], field: row.decode(atIndex: 2))
                }
                let winner = SyncConflict.Side(rawValue: try row.decode(atIndex: 6))
                let date = Date(timeIntervalSince1970: Double(try row.decode(Int64.self, atIndex: 9)) / 1000)
                return SyncConflict(
                    entity: table.entity.name, key: try table.recordKey(row[1], in: db),
                    field: try table.displayName(ofField: row.decode(atIndex: 2)),
                    base: try json(3), local: try json(4), remote: try json(5),
                    outcome: .init(
                        winner: winner, reason: try .init(code: row.decode(atIndex: 7)),
                        isRestored: try row.decode(atIndex: 8), date: date))
            }
        }
    }

    /// Returns the blocked changes and the quarantined records, each with its reason.
    package func blockedChanges() async throws -> [BlockedChange] {
        let tables = tables
        return try await reading { db in
            try tables.flatMap { table in
                let rejected = try EngineLedger(db).blockedChanges(of: table).map {
                    (key: try table.recordKey($0.key, in: db), reason: $0.reason)
                }
                let quarantined = try QuarantinedRecords.reasons(of: table, in: db).map {
                    (key: table.key.rowKey($0.id)?.recordKey(table.key.type) ?? .text($0.id.text), reason: $0.reason)
                }
                return (rejected + quarantined).map {
                    BlockedChange(entity: table.entity.name, key: $0.key, reason: $0.reason)
                }
            }
        }
    }

    package func reset(_ kind: EngineReset, of entities: [String], holder: String) async throws {
        let tables = try entities.map { try table($0) }
        try await transaction { [self] db, _ in
            let lease = try LeaseStore.acquire(holder, in: db)
            for table in tables where kind != .localData { try reset(kind, table, in: db) }
            if kind == .localData { try RowRemoval(self, db).remove() }
            try EngineLedger(db).setBackoff(notBefore: nil, attempts: 0)
            try LeaseStore.free(lease, in: db)
        }
    }

    private func reset(_ kind: EngineReset, _ table: TrackedTable, in db: Database) throws {
        let ledger = EngineLedger(db)
        if kind == .cursors {
            // Requests stay, since the service may have carried them out.
            try ledger.clearVersions(of: table)
        } else {
            try ledger.deleteServiceEntries(of: table.number)
            try ledger.deleteJoinEdits(of: table)
            try ConflictLog(db).closeAll(of: table)
            try ledger.insertAll(table)
        }
        try ledger.deletePullEntries(of: table.number)
    }
}
