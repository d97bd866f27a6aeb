import GRDB
import SyncCore
package import SyncStore

extension SQLiteEngine {
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
