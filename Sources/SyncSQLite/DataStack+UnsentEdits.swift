import GRDB

extension DataStack {
    /// How many rows have edits, new ones and deleted ones among them, that a service was never sent or has refused; 0 in a
    /// database without an engine. No engine has to be made for it.
    public func unsentEdits() async throws -> Int {
        try await reading { db in
            guard try EngineSchema.isThere(in: db) else { return 0 }
            return try Int.fetchOne(db, sql: "SELECT count(*) FROM sync_change") ?? 0
        }
    }
}
