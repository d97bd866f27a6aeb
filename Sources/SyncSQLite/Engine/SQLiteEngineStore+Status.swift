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

// MARK: - Resolution of conflicts

// Decisions of users: they resolve open conflicts, and restore rows that the service deleted.
extension SQLiteEngineStore {
    package func resolve(_ entity: String, key: JSONValue, field: String?, keeping side: SyncConflict.Side) async throws
    {
        let table = try table(entity)
        let own = try rowKey(key, table)
        let name = try field.map { try stored($0, table) }
        try await transaction { [self] db, _ in
            let key = try table.key.engineKey(of: own, in: db) ?? .null
            let log = ConflictLog(db)
            let conflicts = try log.open(of: key, table, name)
            guard !conflicts.isEmpty else { throw try nothingOpen(own, key, name, table, in: db) }
            for conflict in conflicts {
                if let here = try log.value(of: conflict.field, table, key) {
                    try log.show(here, in: conflict.id)
                    if side == .local { try unlinkOthers(from: here, conflict.field, key, table, in: db) }
                }
                if side == .remote { try setToRemote(conflict.remote, conflict.field, key, table, in: db) }
                try log.close(conflict.id, side == .local ? .local : .remote, .resolved)
            }
            try EngineLedger(db).endConflict(key, table)
        }
    }

    private func rowKey(_ key: JSONValue, _ table: TrackedTable) throws -> RowKey {
        guard let own = table.key.rowKey(key) else {
            let (name, form) = (table.entity.name, stack.model.compiled.keyDescription(of: table.entity))
            throw SyncError(.rowNotFound, "\(key) is not a valid key of \(name), \(form)", entity: name)
        }
        return own
    }

    private func nothingOpen(
        _ own: RowKey, _ key: DatabaseValue, _ field: String?, _ table: TrackedTable, in db: Database
    ) throws -> SyncError {
        let winner = try ConflictLog(db).lastWinner(of: key, table, field)
        let row = "\(table.entity.name) \(own.recordKey(table.key.type).description)"
        let what = winner.map { "is already resolved: the \($0 == "remote" ? "remote" : "local") value is kept" }
        return SyncError(
            .rowNotFound, what.map { "the conflict of \(row) \($0)" } ?? "no conflict of \(row)",
            entity: table.entity.name)
    }

    private func stored(_ field: String, _ table: TrackedTable) throws -> String {
        let columns = table.columns
        if let column = columns.first(where: { $0.displayName == field }) ?? columns.first(where: { $0.name == field })
        {
            return column.name
        }
        if let joinTable = table.joinTables.first(where: { $0.isOrdered && $0.relationship == field }) {
            return joinTable.field
        }
        throw SyncError(
            .invalidOption, "\(table.entity.name) has no synced field '\(field)'", entity: table.entity.name)
    }

    /// Clears the references of other rows to the row that a one-to-one reference of this row keeps. Triggers capture the
    /// changes as local edits.
    private func unlinkOthers(
        from target: DatabaseValue, _ field: String, _ key: DatabaseValue, _ table: TrackedTable, in db: Database
    ) throws {
        guard let column = table.columns.first(where: { $0.name == field }), case .toOne(let id) = column.field,
            model.compiled[id].isOneToOne, column.isOptional
        else { return }
        let name = column.sql
        try db.run(
            "UPDATE \(table.sql) SET \(name) = NULL WHERE \(name) = ? AND \(table.keySQL) <> ?", target, key)
    }

    /// Writes the service's value of a field and deletes the base value, so that the field is not sent.
    private func setToRemote(
        _ value: DatabaseValue, _ field: String, _ key: DatabaseValue, _ table: TrackedTable, in db: Database
    ) throws {
        if let joinTable = table.joinTables.first(where: { $0.field == field }) {
            let list = LinkedRowList(joinTable)
            let stored = try list.others(of: key, in: db)
            let merged = ListOrderMerge.merged(leader: try LinkedRowList.keys(value), follower: stored, of: stored)
            try muted(in: db) { try list.order(merged, of: key, in: db) }
        } else {
            let column = table.columns.first { $0.name == field }
            guard try column.map({ try isThere(value, $0, in: db) }) ?? true else {
                throw SyncError(
                    .rowNotFound, "the row that the service references by '\(field)' is not stored",
                    entity: table.entity.name)
            }
            try muted(in: db) {
                try table.table.set(field, to: value, ofRow: key, in: db)
                if let column { try setPendingReference(to: nil, in: column, of: key, table, db) }
            }
        }
        try EngineLedger(db).setBase(nil, of: field, key, table)
    }

    package func restore(_ entity: String, key: JSONValue) async throws {
        let table = try table(entity)
        let own = try rowKey(key, table)
        try await transaction { [self] db, _ in
            let lines = try ConflictLog(db).lastDeletion(table.key.engineKey(of: own, in: db), table)
            guard !lines.isEmpty else {
                throw SyncError(
                    .rowNotFound, "the conflict log has no row with this key that the service deleted", entity: entity)
            }
            let values = Dictionary(lines.map { ($0.field, $0.value) }) { first, _ in first }
            let free = try freeKey(own, table, in: db)
            let parts = try table.key.values(of: free, in: db)
            let rest = table.columns.filter { column in
                values[column.name] != nil && !parts.contains { $0.column == column.name }
            }
            let names = (parts.map(\.column) + rest.map(\.name)).map(\.quoted).joined(separator: ", ")
            var arguments = parts.map(\.value)
            for column in rest {
                let value = try currentReference(values[column.name] ?? .null, in: column, db)
                arguments.append(try isThere(value, column, in: db) ? value : .null)
            }
            try db.run(
                """
                INSERT INTO \(table.sql) (\(names))
                VALUES (\(arguments.map { _ in "?" }.joined(separator: ", ")))
                """, list: arguments)
            for joinTable in table.joinTables {
                try restore(
                    LinkedRowList.keys(values[joinTable.field] ?? .null), joinTable,
                    of: table.key.engineKey(of: free, in: db),
                    in: db)
            }
            if registration.clientAssignsIDs, free == own, let key = try table.key.engineKey(of: free, in: db) {
                let id = try table.json(key, in: db)
                // The row has the ID that the service deleted, so its create is marked as a restoration.
                try EngineLedger(db).setCreationID(CreationID(reviving: id, of: table), of: key, table)
            }
            try ConflictLog(db).setRestored(lines.map(\.id))
        }
    }

    /// Restores a list, without rows that are no longer stored.
    private func restore(
        _ others: [DatabaseValue], _ joinTable: TrackedTable.JoinTable, of key: DatabaseValue?, in db: Database
    ) throws {
        let destination = stack.layout[joinTable.destination]
        let others = try others.map { try currentElement($0, of: joinTable, db) }
        for other in others {
            try db.run(
                """
                INSERT OR IGNORE INTO \(joinTable.table.table) (\(joinTable.table.mine), \(joinTable.table.other))
                SELECT ?, \(destination.keySQL) FROM \(destination.sql)
                WHERE \(destination.keySQL) = ?
                """, key, other)
        }
        try LinkedRowList(joinTable).order(others, of: key ?? .null, in: db)
    }

    /// Returns the key for a restored row: its former key, or a temporary key if another row has the former key by now.
    /// Throws ``SyncError`` `rowNotFound` if another row has the former key, and the key is composite.
    private func freeKey(_ own: RowKey, _ table: TrackedTable, in db: Database) throws -> RowKey {
        guard let key = try table.key.engineKey(of: own, in: db), try table.isStored(key, in: db) else { return own }
        guard !table.key.hasParts, let free = try RowKey(stack.makeTemporaryKey(for: table.entity, in: db)) else {
            throw SyncError(.rowNotFound, "another row has this key now", entity: table.entity.name)
        }
        return free
    }

    /// Returns whether a column can have a value. A foreign key cannot if the referenced row is not stored.
    func isThere(_ value: DatabaseValue, _ column: TrackedTable.Column, in db: Database) throws -> Bool {
        guard let destination = column.destination, !value.isNull else { return true }
        return try stack.layout[destination].hasRow(value, in: db)
    }
}
