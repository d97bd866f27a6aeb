import GRDB
import SyncCore
package import SyncStore

extension SQLiteEngineStore {
    package func retryBlocked(_ entities: [String], _ lease: EngineLease) async throws -> Int {
        let tables = try entities.map { try table($0) }
        return try await writing(lease) { db in
            try tables.reduce(0) { count, table in
                try db.execute(
                    sql: """
                        UPDATE sync_change SET state = 'ready', reason = \(CascadeMarker.preserved)
                        WHERE e = ? AND state = 'parked' AND attempts = 1
                        """,
                    arguments: [table.number])
                return count + db.changesCount
            }
        }
    }

    package func retryBelow(_ entities: [String], _ lease: EngineLease) async throws -> Int {
        let tables = try entities.map { try table($0) }
        return try await writing(lease) { [self] db in
            guard try db.finds(sql: "SELECT 1 FROM sync_change WHERE state = 'parked'", arguments: []) else { return 0 }
            // The next push determines whether the rows still form a cycle.
            try db.executeCached(
                sql: """
                    UPDATE sync_change SET state = 'ready', reason = \(CascadeMarker.preserved)
                    WHERE state = 'parked' AND substr(reason, 1, \(OutgoingRequestBuilder.cycle.count)) = ?
                    """, arguments: [OutgoingRequestBuilder.cycle])
            return try tables.reduce(db.changesCount) { count, table in
                try table.columns.reduce(count) { count, column in
                    let above = self.tables.filter { $0.entity.table == column.destination }.map { "\($0.number)" }
                    guard !above.isEmpty else { return count }
                    try db.execute(
                        sql: """
                            UPDATE sync_change SET state = 'ready', reason = \(CascadeMarker.preserved)
                            WHERE e = ? AND state = 'parked' AND attempts > 0 AND kind <> 'delete' AND EXISTS (
                              SELECT 1 FROM \(table.table.name.quoted) AS r JOIN sync_known AS n
                                ON n.e IN (\(above.joined(separator: ", "))) AND n.k = +r.\(column.name.quoted)
                              WHERE r.\(table.table.keyColumn.quoted) = +sync_change.k AND n.seq >= sync_change.seq)
                            """, arguments: [table.number])
                    return count + db.changesCount
                }
            }
        }
    }

    package func complete(
        _ replies: [RequestOutcome], serverTime: Int64?, _ lease: EngineLease
    ) async throws -> AppliedChanges {
        try await writing(lease, keepsMemory: true) { [self] db in
            var outcome = AppliedChanges()
            var answers: [RequestCompletion.Answer] = []
            try db.execute(sql: "UPDATE sync_engine SET seq = seq + 1")
            for reply in replies {
                var completion = try RequestCompletion(self, reply, serverTime, db)
                let keys = [completion.key]
                try completion.complete()
                for key in (keys + [completion.key]).compactMap(\.self) {
                    memory.outboxScan.requeue(OutgoingRequestBuilder.RowName(table: completion.table.number, key: key))
                }
                outcome.add(completion.outcome)
                if let answer = completion.answer { answers.append(answer) }
            }
            outcome.add(try write(answers, serverTime, db))
            return outcome
        }
    }

    /// Merges the service's versions of sent rows, like the rows of a page.
    private func write(
        _ answers: [RequestCompletion.Answer], _ serverTime: Int64?, _ db: Database
    ) throws -> AppliedChanges {
        var outcome = AppliedChanges()
        for table in tables { try KeyReplacement(self, table, db).assignFreedKeys() }
        for table in parentsFirst {
            for isSame in [false, true] {
                let rows = answers.filter { $0.table.number == table.number && $0.isSame == isSame }.map(\.row)
                guard !rows.isEmpty else { continue }
                var writer = try PageWriter(self, table, serverTime, db)
                writer.isSame = isSame
                try writer.apply(writer.current(rows))
                outcome.add(writer.outcome)
            }
        }
        return outcome
    }
}
