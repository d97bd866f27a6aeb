import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Decisions of the app or the user: conflict rules, restored rows, and the owner of a database.
@Suite("Decisions")
struct ConflictDecisionTests {
    private let service = InMemoryService()

    @Test("A conflict names the attribute, also if its column has another name")
    func renamedColumn() async throws {
        let schema = """
            {"entities": {"Task": {"attributes": {"remoteID": "integer",
              "title": {"type": "string", "column": "heading"}}}}}
            """
        var configuration = Device.configuration
        configuration.conflictPolicy = .manual
        await service.set("Task", 1, ["title": "t"])
        let device = try Device(service, schema: schema, entities: ["Task"], configuration)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET heading = 'here'")
        await service.set("Task", 1, ["title": "there"])
        try await device.engine.sync()
        #expect(try await device.engine.conflicts().map(\.field) == ["title"])
        try await device.engine.resolve("Task", key: 1, field: "title", keeping: .local)
        try await device.engine.sync()
        #expect(await service.contents(of: "Task")[1]?["title"] == .string("here"))
    }

    @Test(
        "An invalid deletion limit is an error when the engine is created",
        arguments: [
            DeletionLimit.fraction(2), .rows(-1),
        ])
    func invalidDeletionLimit(_ limit: DeletionLimit) throws {
        var configuration = Device.configuration
        configuration.deletionLimit = limit
        let error = #expect(throws: SyncError.self) { try Device(service, configuration) }
        #expect(error?.code == .invalidOption)
    }

    @Test("The resolver of an app may pick a side or return a new value")
    func resolver() async throws {
        await service.set("Task", 1, ["title": "t", "points": 10, "done": false])
        var configuration = Device.configuration
        configuration.conflictResolver = { conflict in
            guard conflict.entity == "Task", conflict.key == .integer(1) else { return .usePolicy }
            switch (conflict.field, conflict.base, conflict.local, conflict.remote) {
            // A counter: the increments of both sides are added.
            case ("points", .number(let base), .number(let local), .number(let remote)):
                return .merged(JSONValue((Int(local) ?? 0) + (Int(remote) ?? 0) - (Int(base) ?? 0)))
            case ("title", _, _, _): return .remote
            case ("done", _, _, _): return .local
            default: return .usePolicy
            }
        }
        let device = try Device(service, configuration)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET points = 13, title = 'here'")
        await service.set("Task", 1, ["points": 15, "title": "there"])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title, points FROM Task") == ["there 18"])
        #expect(await service.contents(of: "Task")[1]?["points"] == 18)
        let log = try await device.engine.conflicts()
        #expect(
            Set(log.map { "\($0.field): \($0.outcome.map(\.description) ?? "")" }) == [
                "title: remote wins (resolver)", "points: 18 wins (merged by the resolver)",
            ])
        #expect(log.first { $0.field == "points" }?.outcome?.mergedValue == 18)
        #expect(try await device.leftovers() == [])
    }

    @Test("A merged value that does not fit its attribute leaves the conflict open, and is neither stored nor sent")
    func unfitMergedValue() async throws {
        await service.set("Task", 1, ["title": "t", "points": 10])
        var configuration = Device.configuration
        configuration.conflictResolver = { conflict in .merged(conflict.field == "points" ? "many" : .null) }
        let device = try Device(service, configuration)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET points = 13")
        await service.set("Task", 1, ["points": 15])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT points FROM Task") == ["13"])
        #expect(await service.contents(of: "Task")[1]?["points"] == 15)
        #expect(try await device.engine.status().first { $0.entity == "Task" }?.openConflicts == 1)
        #expect(try await device.engine.conflicts().map(\.why) == ["resolver"])
    }

    @Test(
        "A merged value that is no ID for a reference, or no text for a string, leaves the conflict open",
        arguments: [
            ("project", "M"), ("project", ["x": 1]), ("project", [2]), ("project", 1.5), ("title", ["x": 1]),
            ("title", [1]),
        ] as [(String, JSONValue)])
    func unfitMergedField(_ field: String, _ value: JSONValue) async throws {
        for id in 1...3 { await service.set("Project", JSONValue(id), ["name": "p"]) }
        await service.set("Task", 1, ["title": "t", "project_id": 1])
        await service.set("Task", 2, ["title": "other"])
        var configuration = Device.configuration
        configuration.conflictResolver = { _ in .merged(value) }
        let device = try Device(service, configuration)
        try await device.engine.sync()
        try await device.write(
            field == "title"
                ? "UPDATE Task SET title = 'here' WHERE remoteID = 1"
                : "UPDATE Task SET projectID = 2 WHERE remoteID = 1")
        await service.set("Task", 1, field == "title" ? ["title": "there"] : ["project_id": 3])
        await service.set("Task", 2, ["title": "changed"])
        try await device.engine.sync()
        let rows = try await device.rows("SELECT title, projectID FROM Task ORDER BY remoteID")
        #expect(rows == [field == "title" ? "here 1" : "t 2", "changed nil"])
        #expect(try await device.engine.conflicts().map(\.isOpen) == [true])
        #expect(try await device.engine.blockedChanges().isEmpty)
    }

    @Test("A resolver receives and returns the ID of a referenced row")
    func mergedReference() async throws {
        for id in 1...4 { await service.set("Project", JSONValue(id), ["name": "p"]) }
        await service.set("Task", 1, ["title": "t", "project_id": 1])
        var configuration = Device.configuration
        configuration.conflictResolver = { conflict in
            (conflict.base, conflict.local, conflict.remote) == (1, 2, 3) ? .merged("4") : .manual
        }
        let device = try Device(service, configuration)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET projectID = 2")
        await service.set("Task", 1, ["project_id": 3])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT projectID FROM Task") == ["4"])
        #expect(await service.contents(of: "Task")[1]?["project_id"] == 4)
        #expect(try await device.leftovers() == [])
    }

    @Test("The resolver of an app may leave a conflict open")
    func resolverLeavesOpen() async throws {
        await service.set("Task", 1, ["title": "t"])
        var configuration = Device.configuration
        configuration.conflictResolver = { _ in .manual }
        let device = try Device(service, configuration)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'here'")
        await service.set("Task", 1, ["title": "there"])
        try await device.engine.sync()
        #expect(try await device.engine.status().first { $0.entity == "Task" }?.openConflicts == 1)
        try await device.engine.resolve("Task", key: 1, keeping: .local)
        try await device.engine.sync()
        #expect(await service.contents(of: "Task")[1]?["title"] == "here")
    }

    @Test(
        "An edit during an open conflict updates the conflict and the log",
        arguments: [true, false])
    func editedWhileOpen(_ runs: Bool) async throws {
        await service.set("Task", 1, ["title": "t"])
        let device = try Device(service, entities: [SyncedEntity("Task", conflictPolicy: .manual)])
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'mine 1'")
        await service.set("Task", 1, ["title": "theirs"])
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'mine 2, a long text'")
        if runs {
            try await device.engine.sync()
            #expect(try await device.engine.conflicts().map(\.local) == ["mine 2, a long text"])
        }
        try await device.engine.resolve("Task", key: 1, keeping: .remote)
        try await device.engine.sync()
        let log = try await device.engine.conflicts()
        #expect(log.map(\.local) == ["mine 2, a long text"])
        #expect(log.map(\.winner) == ["remote"])
        #expect(try await device.rows("SELECT title FROM Task") == ["theirs"])
        #expect(try await device.leftovers() == [])
    }

    @Test("An open conflict ends when the row is edited to the remote value, also if that value then changes")
    func editedDuringPull() async throws {
        await service.set("Task", 1, ["title": "t"])
        let device = try Device(service, entities: [SyncedEntity("Task", conflictPolicy: .manual)])
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'here'")
        await service.set("Task", 1, ["title": "there"])
        try await device.engine.sync()
        await service.set("Task", 1, ["title": "there 2"])
        await service.onRequest { _ in try? await device.write("UPDATE Task SET title = 'there'") }
        try await device.engine.sync()
        #expect(try await device.engine.conflicts().map(\.winner) == ["remote"])
        #expect(try await device.rows("SELECT title FROM Task") == ["there 2"])
        #expect(try await device.leftovers() == [])
    }

    @Test("An open conflict ends when the service applies an earlier edit of the same device")
    func earlierEdit() async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: .tombstones, createIdempotency: .idempotencyKey,
                supportsPreconditions: false, providesModificationTimes: true, maxBatchSize: 10))
        await service.set("Task", 1, ["title": "t"])
        let device = try Device(
            service, entities: [SyncedEntity("Task", conflictPolicy: .manual)], Device.impatient)
        try await device.engine.sync()
        await service.setFault { request, _ in if case .push = request { .appliesLate(5) } else { nil } }
        try await device.write("UPDATE Task SET title = 'here'")
        await #expect(throws: SyncError.self) { try await device.engine.push() }
        await service.setFault(nil)
        await service.set("Task", 1, ["title": "there"])
        try await device.engine.pull()
        #expect(try await device.engine.conflicts().map(\.isOpen) == [true])
        try await device.write("UPDATE Task SET title = 'here 2'")
        try await device.engine.sync()
        #expect(try await device.engine.conflicts().map(\.winner) == ["local"])
        #expect(await service.contents(of: "Task")[1]?["title"] == "here 2")
        #expect(try await device.leftovers() == [])
    }

    @Test("A new row deleted with its parent is logged and can be restored")
    func restored() async throws {
        await service.set("Project", 1, ["name": "p"])
        await service.set("Task", 1, ["title": "t", "points": 1, "project_id": 1])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write("INSERT INTO Task (remoteID, title, points, projectID) VALUES (77, 'new', 5, 1)")
        try await device.write("UPDATE Task SET title = 'edited' WHERE remoteID = 1")
        await service.remove("Project", 1)
        await service.remove("Task", 1)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["0"])
        try await device.engine.restoreDeleted("Task", key: 77)
        try await device.engine.restoreDeleted("Task", key: 1)
        #expect(
            try await device.rows("SELECT title, points, projectID FROM Task ORDER BY title")
                == ["edited 1 nil", "new 5 nil"])
        let report = try await device.engine.sync()
        #expect(report.total.pushedInserts == 2)
        #expect(await service.contents(of: "Task").count == 2)
        #expect(try await device.leftovers() == [])
        await #expect {
            try await device.engine.restoreDeleted("Task", key: 1)
        } throws: {
            ($0 as? SyncError)?.code == .rowNotFound
        }
    }

    @Test("The database of another user is rejected until the engine is removed", arguments: [true, false])
    func userMismatch(_ deletingRows: Bool) async throws {
        await service.set("Task", 1, ["title": "his"])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'not sent'")
        var configuration = Device.configuration
        configuration.userID = "somebody else"
        #expect {
            try Device(device.stack, service, configuration)
        } throws: {
            ($0 as? SyncError)?.code == .userMismatch
        }
        try await device.stack.removeSyncState(deletingRows: deletingRows)
        #expect(try await device.rows("SELECT count(*) FROM Task") == [deletingRows ? "0" : "1"])
        #expect(try await device.rows("SELECT count(*) FROM sqlite_schema WHERE name GLOB 'sync_outbox_*'") == ["0"])
        await service.deleteRequests()
        let other = try Device(device.stack, service, configuration)
        try await other.engine.sync()
        #expect(try await other.rows("SELECT title FROM Task") == ["his"])
        let pushes = await service.requests.filter { if case .push = $0 { true } else { false } }
        #expect(pushes.isEmpty)
    }

    @Test("The engine reports its last sync, the initial sync and the number of pending changes")
    func syncState() async throws {
        await service.set("Task", 1, ["title": "t"])
        let device = try Device(service)
        #expect(try await device.engine.lastSyncDate == nil)
        #expect(try await !device.engine.isInitialSyncComplete)
        try await device.engine.sync()
        #expect(try await device.engine.lastSyncDate != nil)
        #expect(try await device.engine.isInitialSyncComplete)
        try await device.write("UPDATE Task SET title = 'new'")
        #expect(try await device.engine.pendingChangeCount() == 1)
    }
}
