import Foundation
import GRDB
import Sync

/// Files that tests share.
enum Fixtures {
    /// The `Fixtures` folder of the package.
    static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Fixtures")

    static func model(_ name: String) throws -> SyncModel {
        try SyncModel(contentsOf: folder.appendingPathComponent("Models/\(name).json"))
    }

    static func payload(_ name: String) throws -> Data {
        try Data(contentsOf: folder.appendingPathComponent("Payloads/\(name).json"))
    }
}

extension DataStack {
    /// Returns the number of rows written so far. If it stays the same, nothing was written.
    func changesWritten() async throws -> Int {
        try await write { db in try Int.fetchOne(db, sql: "SELECT total_changes()") ?? 0 }
    }
}
