import Foundation
import Sync

/// A folder for one test, which removes it at its end.
struct TemporaryFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("sync-tests-\(UUID().uuidString)")

    init() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    func remove() { try? FileManager.default.removeItem(at: url) }

    var database: URL { url.appendingPathComponent("app.sqlite") }

    /// Imports the first day of the sample into the database and closes it.
    func importDay1() async throws {
        let stack = try DataStack(model: Fixtures.model("company"), at: database)
        try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack)
        try stack.close()
    }
}
