import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// A store with rows before the first run of an engine.
@Suite("Preexisting rows")
struct PreexistingRowTests {
    private let service = InMemoryService()

    /// Returns a store with rows that no engine captured.
    private func stack(_ sql: String, schema: String = Device.schema) async throws -> DataStack {
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(schema.utf8)))
        try await stack.write { db in try db.execute(sql: sql) }
        return stack
    }

    private func log(_ device: Device) async throws -> [String] {
        try await device.engine.conflicts().map {
            "\($0.key) \($0.field) \($0.local) \($0.remote) \($0.winner) \($0.why)"
        }
    }

    @Test("Preexisting rows take the values of the service, and their own values are logged")
    func overwritten() async throws {
        await service.set("Task", 1, ["title": "theirs", "points": 5, "done": true])
        let device = try Device(
            await stack("INSERT INTO Task (title, points) VALUES ('mine 1', 5), ('mine 2', 7)"), service)
        let report = try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID, title, points, done FROM Task") == ["1 theirs 5 1"])
        #expect(
            try await log(device).first
                == "1 title \"mine 1\" \"theirs\" remote preexisting row")
        #expect(report.entities["Task"]?.pulledDeletes == 1)
        #expect(report.total.conflicts == 2)
        #expect(await service.contents(of: "Task").count == 1)
        try await device.engine.restoreDeleted("Task", key: 2)
        try await device.engine.sync()
        #expect(await service.contents(of: "Task").values.contains { $0["title"] == "mine 2" && $0["points"] == 7 })
        #expect(try await device.leftovers() == [])
    }

    @Test("Links and orders of preexisting rows that the service replaces are logged", arguments: [false, true])
    func lists(_ isOrdered: Bool) async throws {
        for id in 1...2 { await service.set("Tag", JSONValue(id), ["name": "g"]) }
        await service.set("Task", 1, ["title": "t", "tag_ids": isOrdered ? [2, 1] : [2]])
        await service.set("Task", 2, ["title": "t", "tag_ids": [1, 2]])
        let many = "\"Tag\", \"many\": true"
        let place = isOrdered ? Device.place : "taskID"
        let device = try Device(
            await stack(
                """
                INSERT INTO Tag (remoteID, name) VALUES (1, 'g'), (2, 'g');
                INSERT INTO Task (remoteID, title) VALUES (1, 't'), (2, 't');
                INSERT INTO Tag_tasks (tagID, \(isOrdered ? "taskID, \(place)" : place))
                  SELECT tag.remoteID, task.remoteID\(isOrdered ? ", tag.remoteID - 1" : "") FROM Tag AS tag, Task AS task
                """,
                schema: isOrdered
                    ? Device.schema.replacingOccurrences(of: many, with: "\(many), \"ordered\": true") : Device.schema),
            service)
        let report = try await device.engine.sync()
        #expect(
            try await log(device) == ["1 tags [1,2] \(isOrdered ? "[2,1]" : "[2]") remote preexisting row"])
        #expect(report.total.conflicts == 1)
        #expect(try await device.leftovers() == [])
    }

    @Test("A preexisting row that is edited before its first pull keeps the edit, and its other values are logged")
    func editedOtherField() async throws {
        await service.set("Tag", 1, ["name": "g"])
        await service.set("Task", 1, ["title": "theirs", "points": 5, "tag_ids": []])
        let device = try Device(
            await stack(
                """
                INSERT INTO Tag (remoteID, name) VALUES (1, 'g'); INSERT INTO Task (remoteID, title) VALUES (1, 'mine');
                INSERT INTO Tag_tasks (tagID, taskID) VALUES (1, 1)
                """), service)
        try await device.write("UPDATE Task SET points = 7")
        let report = try await device.engine.sync()
        #expect(report.total.conflicts == 1)
        #expect(try await device.rows("SELECT title, points FROM Task") == ["theirs 7"])
        #expect(await service.contents(of: "Task")[1]?["points"] == 7)
        let log = try await log(device)
        #expect(log.contains("1 title \"mine\" \"theirs\" remote preexisting row"))
        #expect(log.contains("1 tags [1] [] remote preexisting row"))
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "With mergesWholeRow, a preexisting row that is edited before its first pull is not mixed with the record",
        arguments: [ConflictPolicy.clientWins, .serverWins])
    func editedAsOne(_ policy: ConflictPolicy) async throws {
        await service.set("Task", 1, ["title": "theirs", "points": 5, "done": true])
        let device = try Device(
            await stack("INSERT INTO Task (remoteID, title, done) VALUES (1, 'mine', 0)"), service,
            entities: ["Project", SyncedEntity("Task", conflictPolicy: policy, mergesWholeRow: true), "Tag"])
        try await device.write("UPDATE Task SET points = 7")
        try await device.engine.sync()
        let isLocal = policy == .clientWins
        #expect(try await device.rows("SELECT title, points, done FROM Task") == [isLocal ? "mine 7 0" : "theirs 5 1"])
        #expect(await service.contents(of: "Task")[1]?["title"] == (isLocal ? "mine" : "theirs"))
        #expect(await service.contents(of: "Task")[1]?["points"] == (isLocal ? 7 : 5))
        let log = try await device.engine.conflicts()
        #expect(log.map(\.field).sorted() == ["done", "points", "title"])
        #expect(log.allSatisfy { $0.winner == (isLocal ? "local" : "remote") })
        #expect(try await device.leftovers() == [])
    }

    @Test("Preexisting rows that the service lacks are deleted even with editWins, and can be restored")
    func missing() async throws {
        await service.set("Task", 1, ["title": "t"])
        var configuration = Device.configuration
        configuration.deleteConflictPolicy = .editWins
        let device = try Device(
            await stack("INSERT INTO Task (remoteID, title) VALUES (1, 't'), (2, 'only here')"), service, configuration)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title FROM Task") == ["t"])
        #expect(await service.creations == 0)
        let title = try #require(try await device.engine.conflicts().first { $0.field == "title" })
        #expect(title.local == "only here" && title.base == .null)
        try await device.engine.restoreDeleted("Task", key: 2)
        #expect(try await device.rows("SELECT title FROM Task ORDER BY 1") == ["only here", "t"])
    }

    @Test("Preexisting rows equal to the service's records leave no log entry")
    func equal() async throws {
        await service.set("Project", 1, ["name": "p"])
        for id in 1...5 { await service.set("Task", JSONValue(id), ["title": "t", "points": 1, "project_id": 1]) }
        let device = try Device(
            await stack(
                """
                INSERT INTO Project (remoteID, name) VALUES (1, 'p');
                INSERT INTO Task (remoteID, title, projectID) VALUES (1, 't', 1), (2, 't', 1), (3, 't', NULL), (4, 't', 1), (5, 't', 1)
                """), service)
        let report = try await device.engine.sync()
        #expect(report.total.conflicts == 0)
        #expect(try await log(device) == [])
        #expect(try await device.rows("SELECT count(*) FROM Task WHERE points = 1 AND projectID = 1") == ["5"])
        #expect(try await device.leftovers() == [])
    }

    @Test("Preexisting rows are reconciled after a first run that failed at a later entity", arguments: [true, false])
    func interrupted(_ clientAssignsIDs: Bool) async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: clientAssignsIDs ? .client : .server, deletionDetection: .tombstones,
                createIdempotency: clientAssignsIDs ? .clientID : .idempotencyKey, supportsPreconditions: true,
                providesModificationTimes: true, maxBatchSize: 10)
        )
        await service.set("Project", "p1", ["name": "theirs"])
        let schema = Device.schema.replacingOccurrences(
            of: "\"remoteID\": {\"type\": \"integer\"}", with: "\"remoteID\": {\"type\": \"string\"}")
        let device = try Device(
            await stack("INSERT INTO Project (remoteID, name) VALUES ('p7', 'mine')", schema: schema), service,
            Device.impatient)
        await service.setFault { request, _ in request == .pull("Task") ? .failsBeforeApply : nil }
        await #expect(throws: SyncError.self) { try await device.engine.sync() }
        await service.setFault(nil)
        try await Device(device.stack, service).engine.sync()
        #expect(await service.contents(of: "Project").count == (clientAssignsIDs ? 2 : 1))
        #expect(try await device.rows("SELECT count(*) FROM Project") == [clientAssignsIDs ? "2" : "1"])
        #expect(try await device.rows("SELECT count(*) FROM sync_sweep") == ["0"])
        #expect(try await device.leftovers() == [])
    }

    @Test("Records created after a listing that the deletion limit rejected are not deleted")
    func madeSince() async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: .tombstones, createIdempotency: .idempotencyKey,
                supportsPreconditions: true, providesModificationTimes: true,
                maxBatchSize: 10, hasSharedCursor: true), pageSize: 100)
        for id in 1...20 { await service.set("Task", JSONValue(id), ["title": "t"]) }
        var configuration = Device.configuration
        configuration.deletionLimit = .half
        let device = try Device(service, configuration)
        try await device.engine.sync()
        for id in 1...15 { await service.removeWithoutTombstone("Task", JSONValue(id)) }
        try await device.engine.reset(.cursors)
        await #expect(throws: SyncError.self) { try await device.engine.sync() }
        await service.set("Task", 50, ["title": "new"])
        await #expect(throws: SyncError.self) { try await device.engine.sync() }
        configuration.deletionLimit = nil
        try await Device(device.stack, service, configuration).engine.sync()
        #expect(try await device.rows("SELECT remoteID FROM Task ORDER BY 1") == ["16", "17", "18", "19", "20", "50"])
    }

    @Test("A preexisting row whose ID resembles a temporary key matches the record with that ID")
    func lookLocal() async throws {
        let id = "local-" + String(repeating: "z", count: 36)
        await service.set("Project", .string(id), ["name": "theirs"])
        let schema = Device.schema.replacingOccurrences(
            of: "\"remoteID\": {\"type\": \"integer\"}", with: "\"remoteID\": {\"type\": \"string\"}")
        let device = try Device(
            await stack("INSERT INTO Project (remoteID, name) VALUES ('\(id)', 'theirs')", schema: schema), service)
        #expect(try await device.engine.pendingChangeCount() == 0)
        try await device.engine.sync()
        #expect(await service.creations == 0)
        #expect(try await device.rows("SELECT remoteID, name FROM Project") == ["\(id) theirs"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A preexisting row that was edited and that the service lacks is created there if the client assigns IDs")
    func edited() async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .client, deletionDetection: .tombstones, createIdempotency: .clientID,
                supportsPreconditions: true, providesModificationTimes: true, maxBatchSize: 10))
        await service.set("Project", 9, ["name": "theirs"])
        let device = try Device(
            await stack("INSERT INTO Project (remoteID, name) VALUES (7, 'mine'), (8, 'other'), (9, 'mine')"), service)
        try await device.write("UPDATE Project SET name = 'edited' WHERE remoteID <> 8")
        try await device.engine.sync()
        let rows = try await device.rows("SELECT remoteID, name FROM Project ORDER BY 1")
        #expect(rows == ["7 edited", "8 other", "9 edited"])
        let names = await service.contents(of: "Project").mapValues { $0["name"] }
        #expect(names == [7: "edited", 8: "other", 9: "edited"])
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
    }

    @Test(
        "A preexisting row that the service returns only inside other records is confirmed", arguments: [true, false])
    func nested(_ outerFirst: Bool) async throws {
        await service.set("Task", 1, ["title": "t", "project": ["id": 7, "name": "theirs"]])
        let device = try Device(
            await stack("INSERT INTO Project (remoteID, name) VALUES (7, 'mine')"), service,
            entities: outerFirst ? ["Task", "Project"] : ["Project", "Task"])
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(try await device.rows("SELECT remoteID, name FROM Project") == ["7 theirs"])
        #expect(try await device.rows("SELECT projectID FROM Task") == ["7"])
        #expect(try await log(device) == ["7 name \"mine\" \"theirs\" remote preexisting row"])
        // A value that the service changes later is not logged as the value of a preexisting row.
        await service.set("Task", 1, ["project": ["id": 7, "name": "later"]])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT name FROM Project") == ["later"])
        #expect(try await log(device).count == 1)
        #expect(try await device.leftovers() == [])
    }
}
