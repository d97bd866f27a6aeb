import Foundation
import GRDB
package import SyncCore
package import SyncStore

extension SQLiteEngineStore {
    package func finish(_ entities: [String], notBefore: Int64?, attempts: Int, _ lease: EngineLease) async throws {
        let finished = try entities.map { try table($0) }
        try await writing(lease) { [self] db in
            try ConflictLog(db).closeResolved(tables)
            let ledger = EngineLedger(db)
            try ledger.deleteFinishedValues()
            for table in finished { try ledger.setSynced(table, at: db.now()) }
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
        return observe { db in try EngineLedger(db).pendingCount(of: numbers) }
    }

    package func observeStatus() -> AsyncThrowingStream<[EntityStatus], any Error> { observe(status) }

    /// Observes a value of the engine's tables. Each transaction of an engine notifies observations of the outbox.
    private func observe<Value: Sendable & Equatable>(
        _ value: @escaping @Sendable (Database) throws -> Value
    ) -> AsyncThrowingStream<Value, any Error> {
        let names = Set(tables.flatMap { [$0.table.name] + $0.joinTables.map(\.name) }).sorted()
        let values = StoreObservation(
            stack,
            fetch: { db in
                // Syncs and single rows notify GRDB only about the tables of the model, whose triggers write the outbox.
                try EngineTableCheck.located(in: db) {
                    try checkIdentity(in: db)
                    for name in names { _ = try Row.fetchOne(db, sql: "SELECT * FROM \(name.quoted) LIMIT 0") }
                    return try value(db)
                }
            }, value: { $0 })
        return AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task {
                do {
                    for try await value in values { continuation.yield(value) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    package func status() async throws -> [EntityStatus] { try await reading(status) }

    @Sendable private func status(_ db: Database) throws -> [EntityStatus] {
        let ledger = EngineLedger(db)
        return try tables.map { table in
            let (last, isComplete) = try ledger.syncDate(of: table)
            let conflicts = try ConflictLog(db).openCounts(of: table)
            return EntityStatus(
                entity: table.entity.name, pendingChanges: try ledger.pendingCount(of: [table.number]),
                blockedChanges: try ledger.blockedChanges(of: table).count
                    + QuarantinedRecords.count(of: table, in: db),
                openConflicts: conflicts.rows, conflictingValues: conflicts.fields,
                lastSyncDate: last.map(Date.init(milliseconds:)), isInitialSyncComplete: isComplete)
        }
    }

    package func conflicts() async throws -> [SyncConflict] {
        return try await reading { [self] db in
            let tables = Dictionary(tables.map { ($0.number, $0) }) { first, _ in first }
            return try ConflictLog(db).all().compactMap { row in
                guard let table = try tables[row.decode(atIndex: 0)] else { return nil }
                let field = try row.decode(String.self, atIndex: 2)
                func json(_ index: Int) throws -> JSONValue { try self.json(row[index], of: field, table, in: db) }
                let reason = try SyncConflict.Reason(code: row.decode(atIndex: 7))
                let note = String.fromDatabaseValue(row[10])
                return SyncConflict(
                    entity: table.entity.name, key: try table.recordKey(row[1], in: db),
                    field: table.displayName(ofField: field), base: try json(3), local: try json(4),
                    remote: try json(5),
                    outcome: .init(
                        winner: .init(rawValue: try row.decode(atIndex: 6)), reason: reason,
                        mergedValue: reason == .merged ? note.flatMap { try? JSONValue(parsing: $0) } : nil,
                        isRestored: try row.decode(atIndex: 8), date: Date(milliseconds: try row.decode(atIndex: 9))))
            }
        }
    }

    /// Returns a value of the conflict log as JSON. Attributes that the model can read have the form of an export.
    /// `field` is the field name in the engine's tables; empty if the value is a whole record.
    private func json(
        _ value: DatabaseValue, of field: String, _ table: TrackedTable, in db: Database
    ) throws -> JSONValue {
        guard !value.isNull else { return .null }
        if let joinTable = table.joinTables.first(where: { $0.field == field }) {
            return .array(try LinkedRowList.keys(value).map { try id($0, of: joinTable.destination, in: db) })
        }
        guard let column = table.columns.first(where: { $0.name == field }) else {
            guard field.isEmpty, case .string(let text) = value.storage else { return value.json }
            return (try? JSONValue(parsing: text)) ?? value.json
        }
        switch column.field {
        case .attribute(let slot):
            let attribute = model.compiled[table.entity.table].attributes[slot]
            let stored = ColumnValue.storedValue(value, as: attribute.type)
            // If the model cannot read the value, show it unchanged.
            return stored.isNull
                ? value.json : ExportValues().json(stored, model.conversion(of: attribute)) ?? value.json
        case .kind: return value.json
        case .toOne, .joinRows: return try id(value, of: column.destination, in: db)
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
            if kind == .localData { try removeRows(in: db) }
            try EngineLedger(db).setBackoff(notBefore: nil, attempts: 0)
            try LeaseStore.free(lease, in: db)
        }
    }

    private func reset(_ kind: EngineReset, _ table: TrackedTable, in db: Database) throws {
        let ledger = EngineLedger(db)
        if kind == .cursors {
            // Requests stay, since the service may have carried them out.
            try ledger.clearVersions(of: table)
            // The service may have been restored from a backup without the rows that it accepted.
            try ledger.setAcceptedUncertain(of: table)
        } else {
            try ledger.deleteServiceEntries(of: table.number)
            try ledger.deleteJoinEdits(of: table)
            try ConflictLog(db).closeAll(of: table)
            try ledger.insertAll(table)
        }
        try ledger.deletePullEntries(of: table.number)
    }
}
