import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Edits of references to rows that are not stored.
@Suite("Edits of pending references")
struct PendingReferenceEditTests {
    private let service = InMemoryService()

    private func value(_ member: String, ofTask id: JSONValue = 1) async -> JSONValue? {
        await service.contents(of: "Task")[id]?[member]
    }

    // MARK: SQL

    /// - Parameter sql: The SQL that replaces the row 1.
    @Test(
        "A reference that REPLACE writes overrides an older pending reference",
        arguments: [
            "INSERT OR REPLACE INTO Task (remoteID, title, projectID) VALUES (1, 'a', 8)",
            "INSERT OR REPLACE INTO Task (remoteID, title, projectID) VALUES (1, 'new', 8)",
            "UPDATE OR REPLACE Task SET remoteID = 1, projectID = 8 WHERE remoteID = 2",
        ], [false, true])
    func replaced(_ sql: String, _ syncsBefore: Bool) async throws {
        await service.set("Project", 8, [:])
        await service.set("Task", 1, ["title": "a", "project_id": 7])
        await service.set("Task", 2, ["title": "b"])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write(sql)
        if syncsBefore { try await device.engine.sync() }
        await service.set("Project", 7, [:])
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await value("project_id") == 8)
        #expect(try await device.rows("SELECT projectID FROM Task WHERE remoteID = 1") == ["8"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A row that takes a replaced row's key without a reference gets no reference of that row")
    func replacedWithout() async throws {
        await service.set("Task", 1, ["title": "a", "project_id": 7])
        await service.set("Task", 2, ["title": "b"])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write("UPDATE OR REPLACE Task SET remoteID = 1 WHERE remoteID = 2")
        try await device.engine.sync()
        await service.set("Project", 7, [:])
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await value("project_id") == .null)
        #expect(try await device.rows("SELECT projectID FROM Task WHERE remoteID = 1") == ["nil"])
        #expect(try await device.leftovers() == [])
    }
}
