import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

@testable import SyncService

@Suite("Rows left by a connection without foreign keys")
struct OrphanTests {
    private static func schema(_ cascades: Bool) -> String {
        cascades ? Device.schema : Device.schema.replacingOccurrences(of: "\"cascade\"", with: "\"nullify\"")
    }

    private func deviceWithRows(_ schema: String, _ service: InMemoryService) async throws -> Device {
        await service.set("Project", 1, ["name": "p"])
        await service.set("Tag", 1, ["name": "t"])
        for id in 1...3 {
            await service.set(
                "Task", JSONValue(id), ["title": "t", "project_id": id < 3 ? 1 : .null, "tag_ids": id == 3 ? [1] : []])
        }
        let device = try Device(service, schema: schema)
        try await device.engine.sync()
        return device
    }

    private func writeWithoutForeignKeys(_ sql: String, _ device: Device) async throws {
        try await device.stack.writer.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA foreign_keys = OFF")
            defer { try? db.execute(sql: "PRAGMA foreign_keys = ON") }
            try db.execute(sql: sql)
        }
    }

    @Test("Rows with dangling links follow the delete rules in the next run, on both sides", arguments: [true, false])
    func rules(_ cascades: Bool) async throws {
        let service = InMemoryService()
        let device = try await deviceWithRows(Self.schema(cascades), service)
        try await writeWithoutForeignKeys("DELETE FROM Project; DELETE FROM Tag", device)
        #expect(try await device.rows("SELECT count(*) FROM Task WHERE projectID = 1") == ["2"])
        try await device.engine.sync()
        #expect(
            try await device.rows("SELECT remoteID, projectID FROM Task ORDER BY 1")
                == (cascades ? ["3 nil"] : ["1 nil", "2 nil", "3 nil"]))
        #expect(try await device.rows("SELECT count(*) FROM Tag_tasks") == ["0"])
        #expect(try await device.rows("PRAGMA foreign_key_check") == [])
        #expect(await service.contents(of: "Project").isEmpty)
        let tasks = await service.contents(of: "Task")
        #expect(tasks.count == (cascades ? 1 : 3))
        #expect(tasks.values.allSatisfy { [.null, nil].contains($0["project_id"]) && $0["tag_ids"] == [] })
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
    }

    @Test("Rows that reference a deleted row which was never sent follow the delete rules", arguments: [true, false])
    func unsent(_ cascades: Bool) async throws {
        let service = InMemoryService()
        let device = try await deviceWithRows(Self.schema(cascades), service)
        try await device.write("INSERT INTO Project (remoteID, name) VALUES (7, 'new')")
        try await device.write("UPDATE Task SET projectID = 7 WHERE remoteID = 3")
        try await device.write("INSERT INTO Task (remoteID, title, projectID) VALUES (8, 'made', 7)")
        try await writeWithoutForeignKeys("DELETE FROM Project WHERE remoteID = 7", device)
        try await device.engine.sync()
        #expect(try await device.rows("PRAGMA foreign_key_check") == [])
        let tasks = await service.contents(of: "Task")
        #expect(tasks.count == (cascades ? 2 : 4))
        #expect(tasks.values.allSatisfy { [.null, nil, 1].contains($0["project_id"]) })
        #expect(try await device.leftovers() == [])
    }

    @Test("Rows that reference a replaced row follow the delete rules", arguments: [true, false])
    func replaced(_ isSent: Bool) async throws {
        let service = InMemoryService()
        let first = try await deviceWithRows(Device.schema, service)
        try await first.write("CREATE UNIQUE INDEX app_name ON Project (name)")
        let device = try Device(first.stack, service)
        try await device.engine.sync()
        if !isSent {
            try await device.write("INSERT INTO Project (remoteID, name) VALUES (7, 'new')")
            try await device.write("UPDATE Task SET projectID = 7")
        }
        try await writeWithoutForeignKeys(
            "INSERT OR REPLACE INTO Project (remoteID, name) VALUES (50, '\(isSent ? "p" : "new")')", device)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID FROM Task") == (isSent ? ["3"] : []))
        #expect(await service.contents(of: "Task").count == (isSent ? 1 : 0))
        #expect(await service.contents(of: "Project").count == (isSent ? 1 : 2))
        #expect(try await device.rows("PRAGMA foreign_key_check") == [])
        #expect(try await device.leftovers() == [])
    }

    @Test("A dangling link set by an edit is restored or removed, and its value is logged")
    func dangling() async throws {
        let service = InMemoryService()
        let device = try await deviceWithRows(Device.schema, service)
        try await device.engine.sync()
        try await writeWithoutForeignKeys(
            """
            UPDATE Task SET projectID = 99 WHERE remoteID = 2;
            INSERT INTO Task (remoteID, title, projectID) VALUES (-1, 'made', 98);
            """, device)
        try await device.engine.sync()
        #expect(try await device.rows("PRAGMA foreign_key_check") == [])
        let tasks = await service.contents(of: "Task")
        #expect(tasks.count == 4)
        #expect(tasks[2]?["project_id"] == 1)
        #expect(tasks.values.first { $0["title"] == "made" }?["project_id"] == .null)
        let log = try await device.engine.conflicts()
        #expect(
            Set(log.map { "\($0.field) \($0.local) \($0.why)" }) == [
                "project 99 the referenced row does not exist", "project 98 the referenced row does not exist",
            ])
        #expect(try await device.leftovers() == [])
    }
}
