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
            try db.execute(sql: "UPDATE sync_engine SET seq = seq + 1")
            for reply in replies {
                var settlement = try RequestSettlement(self, reply, serverTime, db)
                try settlement.settle()
                outcome.add(settlement.outcome)
            }
            return outcome
        }
    }
}
