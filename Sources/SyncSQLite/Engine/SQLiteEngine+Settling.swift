import GRDB
import SyncCore
package import SyncStore

extension SQLiteEngine {
    package func retryParked(_ entities: [String], _ lease: EngineLease) async throws -> Int {
        let tables = try entities.map { try table($0) }
        return try await writing(lease) { db in
            try tables.reduce(0) { count, table in
                try db.execute(
                    sql: "UPDATE sync_change SET state = 'ready' WHERE e = ? AND state = 'parked' AND attempts = 1",
                    arguments: [table.number])
                return count + db.changesCount
            }
        }
    }

    package func settle(
        _ replies: [SettledRequest], serverTime: Int64?, _ lease: EngineLease
    ) async throws -> PageOutcome {
        try await writing(lease) { [self] db in
            var outcome = PageOutcome()
            var answers: [RequestSettlement.Answer] = []
            try db.execute(sql: "UPDATE sync_engine SET seq = seq + 1")
            for reply in replies {
                var settlement = try RequestSettlement(self, reply, serverTime, db)
                try settlement.settle()
                outcome.add(settlement.outcome)
                if let answer = settlement.answer { answers.append(answer) }
            }
            outcome.add(try write(answers, serverTime, db))
            return outcome
        }
    }

    /// Merges what the server has of rows that were sent: by table, as pages that were pulled.
    private func write(
        _ answers: [RequestSettlement.Answer], _ serverTime: Int64?, _ db: Database
    ) throws -> PageOutcome {
        var outcome = PageOutcome()
        for table in tables { try KeyAdoption(self, table, db).adoptFreed() }
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
