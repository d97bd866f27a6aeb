import GRDB
package import SyncCore
package import SyncStore

extension SQLiteEngineStore {
    package func retryBlocked(_ entities: [String], _ lease: EngineLease) async throws -> Int {
        let tables = try entities.map { try table($0) }
        return try await writing(lease) { db in
            try tables.reduce(0) { try $0 + EngineLedger(db).unblock(.rejectedOnce($1)) }
        }
    }

    package func retryRejected(_ entity: String, after edit: Int64, _ lease: EngineLease) async throws -> Int {
        let table = try table(entity)
        return try await writing(lease) { db in try EngineLedger(db).unblock(.rejected(table, after: edit)) }
    }

    package func retryBelow(_ entities: [String], _ lease: EngineLease) async throws -> Int {
        let tables = try entities.map { try table($0) }
        return try await writing(lease) { [self] db in
            let ledger = EngineLedger(db)
            guard try ledger.hasBlockedChanges() else { return 0 }
            return try tables.reduce(ledger.unblock(.cycle)) { count, table in
                try table.columns.reduce(count) { count, column in
                    let above = self.tables.filter { $0.entity.table == column.destination }.map(\.number)
                    return above.isEmpty ? count : try count + ledger.unblock(.referencing(table, column, above))
                }
            }
        }
    }

    package func complete(
        _ replies: [RequestOutcome], serverTime: Int64?, _ lease: EngineLease
    ) async throws -> SyncReport {
        try await writing(lease, keepsMemory: true) { [self] db in
            var outcome = SyncReport()
            var answers: [RequestCompletion.Answer] = []
            try EngineLedger(db).increaseEdit()
            var updates: [AppliedUpdates] = []
            var deletions: [AppliedDeletions] = []
            // A create may replace the keys in the values of other rows.
            let isTogether =
                registration.handlesRowsTogether && !replies.contains { $0.request.operation.kind == .create }
            for table in isTogether ? tables : [] {
                let own = replies.filter { $0.request.operation.entity == table.entity.name }
                guard own.count > 1 else { continue }
                updates.append(try AppliedUpdates(among: own, self, table, db))
                deletions.append(try AppliedDeletions(among: own, table, db))
            }
            let together = Set(updates.flatMap(\.requests) + deletions.flatMap(\.requests))
            for reply in replies where !together.contains(reply.request.id) {
                var completion = try RequestCompletion(self, reply, serverTime, db)
                let keys = [completion.key]
                try completion.complete()
                for key in (keys + [completion.key]).compactMap(\.self) {
                    memory.outboxScan.requeue(TrackedRow(completion.table, key))
                }
                outcome.add(completion.outcome)
                if let answer = completion.answer { answers.append(answer) }
            }
            for var update in updates {
                try update.complete()
                for key in update.keys {
                    memory.outboxScan.requeue(
                        TrackedRow(update.table, key), hasChange: update.changedKeys.contains(key.exact))
                }
                answers += update.answers
            }
            for deletion in deletions {
                try deletion.complete()
                for key in deletion.keys {
                    memory.outboxScan.requeue(TrackedRow(deletion.table, key), hasChange: false)
                }
            }
            outcome.add(try write(answers, serverTime, db))
            return outcome
        }
    }

    /// Merges the service's versions of sent rows, like the rows of a page.
    private func write(
        _ answers: [RequestCompletion.Answer], _ serverTime: Int64?, _ db: Database
    ) throws -> SyncReport {
        var outcome = SyncReport()
        for table in tables { try KeyReplacement(self, table, db).assignFreedKeys() }
        for table in parentsFirst {
            for isSame in [false, true] {
                let rows = answers.filter { $0.table.number == table.number && $0.isSame == isSame }.map(\.row)
                guard !rows.isEmpty else { continue }
                var writer = try PageWriter(self, table, serverTime, db)
                writer.options.isSame = isSame
                try writer.applyCurrent(rows)
                outcome.add(writer.outcome)
            }
        }
        return outcome
    }
}

extension SQLiteEngineStore {
    package func prepareRequests(
        _ limit: Int, of entities: [String], upTo edit: Int64?, _ lease: EngineLease
    ) async throws -> (requests: [OutgoingRequest], edit: Int64, blocked: [BlockedChange]) {
        try await writing(lease, keepsMemory: true) { [self] db in
            let last = try EngineLedger(db).edit()
            let tables = parentsFirst.filter { entities.contains($0.entity.name) }
            var builder = try OutgoingRequestBuilder(self, tables, upTo: edit ?? last, db)
            let requests = try builder.prepareRequests(limit)
            return (requests, edit ?? last, builder.blocked)
        }
    }

    package func inDoubtRequests(_ lease: EngineLease) async throws -> [OutgoingRequest] {
        try await reading { [self] db in
            try LeaseStore.checkHolder(of: lease, in: db)
            return try tables.flatMap { try EngineLedger(db).requests(of: $0) }
        }
    }

    /// The registered tables, referenced tables before referencing tables. In a cycle, one table precedes a table that
    /// it references.
    var parentsFirst: [TrackedTable] {
        var ordered: [TrackedTable] = []
        var visited: Set<Int> = []
        func visit(_ table: TrackedTable) {
            guard visited.insert(table.number).inserted else { return }
            let destinations = table.columns.compactMap(\.destination) + table.joinTables.map(\.destination)
            for other in tables where destinations.contains(other.entity.table) { visit(other) }
            ordered.append(table)
        }
        for table in tables { visit(table) }
        return ordered
    }
}

// MARK: - Applied changes

/// Completes the updates of one entity that the service applied, together. ``RequestCompletion`` completes all other
/// requests, and updates that need more than that: of rows that are not stored any more, and with changed lists.
struct AppliedUpdates {
    let table: TrackedTable
    private let db: Database
    private let ledger: EngineLedger
    private var updates: [Update] = []
    /// The service's versions of the rows, to be merged.
    private(set) var answers: [RequestCompletion.Answer] = []

    private struct Update {
        let request: OutgoingRequest
        let row: RemoteRecord?
        let key: DatabaseValue
        let sent: [SentField]
        let values: [String: DatabaseValue]
    }

    /// The requests that are completed together.
    var requests: Set<Int64> { Set(updates.map(\.request.id)) }
    /// The keys of the rows.
    var keys: [DatabaseValue] { updates.map(\.key) }
    /// The keys of the rows that still have a change. See ``complete()``.
    private(set) var changedKeys: Set<BinaryComparedValue> = []

    /// - Parameter replies: The outcomes of requests of the entity.
    init(among replies: [RequestOutcome], _ engine: SQLiteEngineStore, _ table: TrackedTable, _ db: Database) throws {
        (self.table, self.db, ledger) = (table, db, EngineLedger(db))
        guard !table.key.isSurrogate, !UnreadableValues(engine, table, db).areSent else { return }
        let applied = replies.compactMap { reply -> (OutgoingRequest, RemoteRecord?)? in
            guard reply.request.operation.kind == .update, case .applied(let row) = reply.outcome else { return nil }
            return (reply.request, row)
        }
        guard applied.count > 1 else { return }
        let ids = applied.map(\.0.id)
        let rows = try ledger.sentRows(ofRequests: ids)
        let sent = try ledger.sentFields(ofRequests: ids)
        let values = try table.fieldReader.values(of: rows.values.map(\.key), in: db)
        let lists = Set(table.joinTables.map(\.field))
        let unrecognized = UnrecognizedFields(table, engine.model, db)
        for (request, row) in applied {
            guard let key = rows[request.id]?.key, let values = values[key.exact],
                let sent = sent[request.id], !sent.contains(where: { lists.contains($0.name) }),
                try unrecognized.found(in: row?.record, of: key, sent: request.operation.record).isEmpty
            else { continue }
            updates.append(Update(request: request, row: row, key: key, sent: sent, values: values))
        }
    }

    mutating func complete() throws {
        guard !updates.isEmpty else { return }
        try ledger.deleteRequests(updates.map(\.request.id))
        try ledger.deleteAttemptedValues(of: keys, table)
        let entries = try updates.map { try EngineLedger.KnownEntry($0.key, $0.request, $0.row, table, in: db) }
        try ledger.insertKnown(entries, table, .sent(isCreated: false))
        // The keys of rows without later edits, by their sent fields.
        var finished: [Set<String>: [DatabaseValue]] = [:]
        for update in updates {
            let later = update.sent.filter { update.values[$0.name].map($0.value.isExactly) == false }
            for field in later { try ledger.setBase(field.value, of: field.name, update.key, table) }
            let names = Set(update.sent.map(\.name)).subtracting(later.map(\.name))
            finished[names, default: []].append(update.key)
        }
        for (fields, keys) in finished { try ledger.deleteBases(of: fields, keys, table) }
        changedKeys = try ledger.finishSent(keys, table)
        for update in updates {
            guard let row = update.row, row.record != nil else { continue }
            answers.append(RequestCompletion.Answer(table: table, row: row))
        }
    }
}

extension EngineLedger.KnownEntry {
    /// Creates the entry of a row whose request the service applied. `row` is the service's version; nil if the response
    /// has none.
    init(
        _ key: DatabaseValue, _ request: OutgoingRequest, _ row: RemoteRecord?, _ table: TrackedTable, in db: Database
    ) throws {
        var id = row?.id ?? request.operation.id
        // The service assigned the ID and returned no record, so the ID may come from a URL.
        if request.operation.id == nil, row?.record == nil { id = id.map(table.key.typed) }
        self.init(
            key: key, version: row?.version, time: row?.time,
            spelled: try id.flatMap { try table.spelling(of: $0, key, in: db) })
    }
}

/// Completes the deletions of one entity that the service applied, together. ``RequestCompletion`` completes the
/// deletions of rows that were inserted again since.
struct AppliedDeletions {
    let table: TrackedTable
    private let ledger: EngineLedger
    /// The requests that are completed together.
    let requests: Set<Int64>
    /// The keys of the rows.
    let keys: [DatabaseValue]

    /// - Parameter replies: The outcomes of requests of the entity.
    init(among replies: [RequestOutcome], _ table: TrackedTable, _ db: Database) throws {
        (self.table, ledger) = (table, EngineLedger(db))
        let ids = replies.compactMap { reply -> Int64? in
            guard reply.request.operation.kind == .delete, case .applied = reply.outcome else { return nil }
            return reply.request.id
        }
        let rows = ids.count > 1 ? try ledger.sentRows(ofRequests: ids) : [:]
        let changes = try ledger.changes(of: rows.values.map(\.key), table)
        let deleted = rows.filter { changes[$0.value.key.exact]?.kind ?? .delete == .delete }
        requests = Set(deleted.keys)
        keys = deleted.sorted { $0.key < $1.key }.map(\.value.key)
    }

    func complete() throws {
        guard !keys.isEmpty else { return }
        try ledger.deleteRequests(Array(requests))
        try ledger.deleteEntries(of: keys, table)
    }
}
