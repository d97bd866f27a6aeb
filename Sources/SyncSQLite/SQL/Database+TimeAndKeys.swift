import Foundation
import GRDB
import SyncCore

/// The time and the random keys of a connection. The SQL of triggers uses the same functions of SQLite.
extension Database {
    /// The SQL expression of the current time, in milliseconds since 1970.
    static let nowSQL = "CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER)"

    /// Returns the current time, in milliseconds since 1970.
    func now() throws -> Int64 {
        guard let time = try first(Int64.self, "SELECT \(Self.nowSQL)") else {
            throw SyncError(.databaseError, "SQLite returned no time")
        }
        return time
    }

    /// Returns a random UUID, of version 4.
    func randomUUID() throws -> UUID {
        guard var bytes = try first(UUID.self, "SELECT randomblob(16)")?.uuid else {
            throw SyncError(.databaseError, "SQLite returned no random bytes")
        }
        bytes.6 = bytes.6 & 0x0F | 0x40
        bytes.8 = bytes.8 & 0x3F | 0x80
        return UUID(uuid: bytes)
    }
}
