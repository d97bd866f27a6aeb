import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Foreign keys of tables that are not in the model, to rows whose keys the engine replaces.
@Suite("References from tables of the app")
struct AppReferenceTests {
    private static let actions = [
        "", "ON DELETE SET NULL", "ON DELETE CASCADE", "ON UPDATE CASCADE", "DEFERRABLE INITIALLY DEFERRED",
    ]

    private func device(_ service: InMemoryService, _ column: String) async throws -> Device {
        let device = try Device(service)
        try await device.write("CREATE TABLE draft (id INTEGER PRIMARY KEY, text TEXT, task \(column))")
        return device
    }

    private func drafts(_ device: Device) async throws -> [String] {
        try await device.rows(
            "SELECT draft.text, Task.title, Task.remoteID = draft.task FROM draft LEFT JOIN Task ON remoteID = task "
                + "ORDER BY draft.id")
    }

    @Test("A reference of the app follows the ID that the service assigns", arguments: actions)
    func assignedID(_ action: String) async throws {
        let service = InMemoryService()
        for id in 1...3 { await service.set("Task", JSONValue(id), ["title": "theirs"]) }
        let device = try await device(service, "INTEGER REFERENCES Task (remoteID) \(action)")
        try await device.write(
            """
            INSERT INTO Task (remoteID, title) VALUES (500, 'offline');
            INSERT INTO draft (text, task) VALUES ('a', 500), ('b', NULL);
            """)
        try await device.engine.sync()
        #expect(try await drafts(device) == ["a offline 1", "b nil nil"])
        #expect(try await device.rows("SELECT count(*) FROM Task WHERE remoteID = 500") == ["0"])
        #expect(try await device.engine.blockedChanges().isEmpty)
        #expect(try await device.leftovers() == [])
    }

    @Test("A reference of the app stays at its row if a pulled record has the key of that row", arguments: actions)
    func takenKey(_ action: String) async throws {
        let service = InMemoryService()
        let device = try await device(service, "INTEGER REFERENCES Task \(action)")
        await service.set("Task", 22, ["title": "theirs"])
        try await device.write(
            "INSERT INTO Task (remoteID, title) VALUES (22, 'offline'); INSERT INTO draft (text, task) VALUES ('a', 22)"
        )
        try await device.engine.sync()
        #expect(try await drafts(device) == ["a offline 1"])
        #expect(try await device.rows("SELECT title FROM Task WHERE remoteID = 22") == ["theirs"])
        #expect(try await device.leftovers() == [])
    }

    @Test("References of the app to two rows that are one row lead to that row", arguments: actions)
    func unitedRows(_ action: String) async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: .tombstones, createIdempotency: .markerField("client_ref"),
                supportsPreconditions: true, providesModificationTimes: true))
        let device = try await device(service, "INTEGER REFERENCES Task (remoteID) \(action)")
        await service.set("Task", 9, ["title": "mine"])
        try await device.engine.sync()
        let new = try await device.stack.insert("Task", values: ["title": "mine"])
        try await device.write("INSERT INTO draft (text, task) VALUES ('a', 9), ('b', \(new.key))")
        let id = try #require(try await device.rows("SELECT creation_id FROM sync_outbox").first)
        await service.set("Task", 9, ["title": "mine", "client_ref": .string(id)])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID FROM Task") == ["9"])
        #expect(try await drafts(device) == ["a mine 1", "b mine 1"])
        #expect(try await device.leftovers() == [])
    }

    @Test("References to tables of the app that reference the row follow too, also through join tables")
    func chains() async throws {
        let service = InMemoryService()
        for id in 1...3 { await service.set("Task", JSONValue(id), ["title": "theirs"]) }
        await service.set("Tag", 1, ["name": "g"])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write(
            """
            CREATE TABLE side (task INTEGER PRIMARY KEY REFERENCES Task (remoteID), text TEXT);
            CREATE TABLE line (id INTEGER PRIMARY KEY, side INTEGER REFERENCES side);
            CREATE TABLE word (id INTEGER PRIMARY KEY, line INTEGER REFERENCES line, side INTEGER REFERENCES line (side));
            CREATE UNIQUE INDEX line_side ON line (side);
            CREATE TABLE mark (task INTEGER, tag INTEGER, FOREIGN KEY (task, tag) REFERENCES Tag_tasks (taskID, tagID));
            INSERT INTO Task (remoteID, title) VALUES (500, 'offline');
            INSERT INTO side VALUES (500, 's'); INSERT INTO line VALUES (1, 500); INSERT INTO word VALUES (1, 1, 500);
            INSERT INTO Tag_tasks (taskID, tagID) VALUES (500, 1); INSERT INTO mark VALUES (500, 1);
            """)
        try await device.engine.sync()
        let key = try #require(try await device.rows("SELECT remoteID FROM Task WHERE title = 'offline'").first)
        #expect(key != "500")
        #expect(try await device.rows("SELECT task FROM side") == [key])
        #expect(try await device.rows("SELECT side FROM line") == [key])
        #expect(try await device.rows("SELECT side FROM word") == [key])
        #expect(try await device.rows("SELECT task, tag FROM mark") == ["\(key) 1"])
        #expect(try await device.rows("SELECT count(*) FROM pragma_foreign_key_check") == ["0"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A foreign key that a trigger of the app violates blocks the row, with the name of the table")
    func violatedForeignKey() async throws {
        let service = InMemoryService()
        let device = try await device(service, "INTEGER REFERENCES Task (remoteID) DEFERRABLE INITIALLY DEFERRED")
        await service.set("Task", 1, ["title": "t"])
        try await device.engine.sync()
        try await device.write(
            "CREATE TRIGGER app AFTER UPDATE ON Task BEGIN INSERT INTO draft (text, task) VALUES ('x', 999); END")
        await service.set("Task", 1, ["title": "new"])
        try await device.engine.sync()
        let blocked = try await device.engine.blockedChanges()
        #expect(blocked.count == 1 && blocked[0].reason.contains("dangling links: draft row 1"), "\(blocked)")
        #expect(try await device.rows("SELECT title FROM Task") == ["t"])
        try await device.write("DROP TRIGGER app")
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title FROM Task") == ["new"])
    }

    @Test("A change of a key by the app moves the references of the app")
    func changedKey() async throws {
        let device = try await device(InMemoryService(), "INTEGER UNIQUE REFERENCES Task (remoteID)")
        try await device.write(
            "INSERT INTO Task (remoteID, title) VALUES (5, 't'); INSERT INTO draft (text, task) VALUES ('a', 5)")
        try await Sync.update(id: 5, with: ["id": 6], inEntity: "Task", stack: device.stack)
        #expect(try await drafts(device) == ["a t 1"])
        #expect(try await device.rows("SELECT task FROM draft") == ["6"])
    }
}
