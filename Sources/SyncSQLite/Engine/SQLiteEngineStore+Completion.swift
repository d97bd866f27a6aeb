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
