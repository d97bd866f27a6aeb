import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// A store whose model changes while changes are pending.
@Suite("Model changes with pending changes")
struct EngineMigrationTests {
    private static let schema = """
        {"entities": {
          "Project": {"attributes": {"id": "integer", "name": "string"}},
          "Tag": {"attributes": {"id": "integer", "name": "string"},
            "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "tags", "export": false}}},
          "Task": {"attributes": {"id": "integer", "title": "string", "points": "integer"},
            "relationships": {"project": {"entity": "Project"},
              "tags": {"entity": "Tag", "many": true, "ordered": true, "inverse": "tasks"}}}}}
        """

    private let service = InMemoryService()

    private func put() async {
        for id in 1...3 {
            await service.set("Project", JSONValue(id), ["name": .string("p\(id)")])
            await service.set("Tag", JSONValue(id), ["name": .string("g\(id)")])
            await service.set(
                "Task", JSONValue(id), ["title": .string("t\(id)"), "points": 1, "project_id": 1, "tag_ids": [1, 2]])
        }
    }

    /// Opens one store with several models in turn.
    private func withStore(
        _ body: (_ open: (String, [String], MigrationPolicy) throws -> Device) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("model-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        await put()
        try await body { schema, names, policy in
            let model = try SyncModel(schemaData: Data(schema.utf8))
            let stack = try DataStack(
                model: model, at: folder.appendingPathComponent("store.sqlite"), migration: policy)
            return try Device(
                stack, service, entities: names.map { SyncedEntity($0, conflictPolicy: .serverWins) },
                Device.configuration)
        }
    }

    private static let names = ["Project", "Tag", "Task"]

    private static func edit(_ device: Device) async throws {
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'mine', points = 11, projectID = 2 WHERE id = 1")
        try await device.write("DELETE FROM Task WHERE id = 2")
        try await device.write("INSERT INTO Task (title, projectID) VALUES ('new', 3)")
        try await device.write("INSERT INTO Tag_tasks (tagID, taskID, \(Device.place)) VALUES (3, 1, -1)")
        try await device.write("DELETE FROM Tag_tasks WHERE tagID = 2 AND taskID = 1")
        try await device.write("UPDATE Tag_tasks SET \(Device.place) = 3 - tagID WHERE taskID = 3")
    }

    private func expectSent(_ device: Device, _ entity: String = "Task", hasFractions: Bool = false) async throws {
        let rows = await service.contents(of: entity)
        #expect(rows[1]?["title"] == "mine")
        #expect(rows[1]?["points"] == (hasFractions ? .number("11.0") : 11))
        #expect(rows[1]?["project_id"] == 2)
        #expect(rows[1]?["tag_ids"] == [3, 1])
        #expect(rows[2] == nil)
        #expect(rows[3]?["tag_ids"] == [2, 1])
        let new = rows.values.filter { $0["title"] == "new" }
        #expect(new.map { $0["project_id"] } == [3])
        #expect(rows.count == 3)
        #expect(await service.contents(of: "Project").count == 3)
        #expect(await service.contents(of: "Tag").count == 3)
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.conflicts().filter { $0.winner != "local" }.isEmpty)
        #expect(try await device.engine.sync().isEmpty)
        #expect(try await device.rows("PRAGMA foreign_key_check") == [])
    }

    @Test(
        "Pending changes are sent after attributes, relationships or columns are renamed or change type",
        arguments: [
            (
                "\"project\": {\"entity\": \"Project\"}",
                "\"owner\": {\"entity\": \"Project\", \"renamedFrom\": \"project\", \"remoteKey\": \"project_id\"}"
            ),
            (
                "\"title\": \"string\"",
                "\"words\": {\"type\": \"string\", \"renamedFrom\": \"title\", \"remoteKey\": \"title\"}"
            ),
            ("\"title\": \"string\"", "\"title\": {\"type\": \"string\", \"column\": \"words\"}"),
            ("\"points\": \"integer\"", "\"points\": \"double\""),
            ("\"tags\": {\"entity\"", "\"labels\": {\"renamedFrom\": \"tags\", \"remoteKey\": \"tag_ids\", \"entity\""),
        ])
    func renamed(_ old: String, _ new: String) async throws {
        try await withStore { open in
            try await Self.edit(open(Self.schema, Self.names, .keepingData))
            var schema = Self.schema.replacingOccurrences(of: old, with: new)
            if new.contains("labels") {
                schema = schema.replacingOccurrences(of: "\"inverse\": \"tags\"", with: "\"inverse\": \"labels\"")
            }
            let device = try open(schema, Self.names, .keepingData)
            try await device.engine.sync()
            try await expectSent(device, hasFractions: new.contains("double"))
        }
    }

    /// Edits a row after a migration gave its attribute another JSON key, and before the next engine is created. Then
    /// syncs, and calls `check`.
    private func editBeforeEngine(
        _ meanwhile: () async -> Void, _ check: (Device) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("model-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func stack(_ attribute: String) throws -> DataStack {
            let schema = #"{"entities": {"Task": {"attributes": {"id": "integer", "note": "string", \#(attribute)}}}}"#
            return try DataStack(
                model: SyncModel(schemaData: Data(schema.utf8)), at: folder.appendingPathComponent("store.sqlite"),
                migration: .keepingData)
        }
        for id in 1...3 {
            await service.set("Task", JSONValue(id), ["due": .string("2026-11-2\(id)T12:00:00Z"), "note": "n"])
        }
        try await Device(stack(#""due": "date""#), service, entities: ["Task"]).engine.sync()
        let migrated = try stack(#""start": {"type": "date", "renamedFrom": "due"}"#)
        try await migrated.write { db in
            try db.execute(sql: "UPDATE Task SET start = '2026-12-01 00:00:00.000' WHERE id = 1")
        }
        await meanwhile()
        let device = try Device(migrated, service, entities: ["Task"])
        try await device.engine.sync()
        try await check(device)
    }

    @Test("An edit of an attribute with another JSON key, made before the next engine, is sent, and no other row")
    func editedBeforeEngine() async throws {
        try await editBeforeEngine({}) { device in
            let rows = await service.contents(of: "Task")
            #expect(rows[1]?["start"] == "2026-12-01T00:00:00Z")
            #expect(rows[2]?["start"] == nil && rows[3]?["start"] == nil)
            let (conflicts, leftovers) = (try await device.engine.conflicts(), try await device.leftovers())
            #expect(conflicts.isEmpty)
            #expect(leftovers == [])
            let report = try await device.engine.sync()
            #expect(report.isEmpty)
        }
    }

    @Test("An edit of an attribute with another JSON key is logged if the service changed the row")
    func editedOnBothSidesBeforeEngine() async throws {
        try await editBeforeEngine({ await service.set("Task", 1, ["note": "m"]) }) { device in
            let log = try await device.engine.conflicts()
            #expect(log.map { "\($0.field) \($0.local)" }.contains(#"start "2026-12-01T00:00:00Z""#))
            #expect(await service.contents(of: "Task")[1]?["start"] == nil)
        }
    }

    @Test("Pending changes are sent after the inverse that names the join table is renamed")
    func inverse() async throws {
        try await withStore { open in
            try await Self.edit(open(Self.schema, Self.names, .keepingData))
            let schema = Self.schema
                .replacingOccurrences(of: "\"tasks\": {", with: "\"todos\": {\"renamedFrom\": \"tasks\", ")
                .replacingOccurrences(of: "\"inverse\": \"tasks\"", with: "\"inverse\": \"todos\"")
            let device = try open(schema, Self.names, .keepingData)
            #expect(try await device.rows("SELECT name FROM sqlite_schema WHERE name = 'Tag_todos'") == ["Tag_todos"])
            try await device.engine.sync()
            try await expectSent(device)
        }
    }

    @Test("A list that is no longer ordered loses its order without an error, and its links are sent")
    func unordered() async throws {
        try await withStore { open in
            let first = try open(Self.schema, Self.names, .keepingData)
            try await Self.edit(first)
            let schema = Self.schema.replacingOccurrences(of: "\"ordered\": true, ", with: "")
            let device = try open(schema, Self.names, .keepingData)
            try await device.engine.sync()
            let rows = await service.contents(of: "Task")
            #expect(rows[1]?["tag_ids"] == [1, 3])
            #expect(rows[3]?["tag_ids"] == [1, 2])
            #expect(try await device.leftovers() == [])
        }
    }

    @Test("Pending changes are sent after the entity is renamed")
    func entity() async throws {
        try await withStore { open in
            try await Self.edit(open(Self.schema, Self.names, .keepingData))
            let schema = Self.schema
                .replacingOccurrences(of: "\"Task\": {", with: "\"Todo\": {\"renamedFrom\": \"Task\", ")
                .replacingOccurrences(of: "\"entity\": \"Task\"", with: "\"entity\": \"Todo\"")
            let device = try open(schema, ["Project", "Tag", "Todo"], .keepingData)
            #expect(try await device.rows("SELECT name FROM sync_entity ORDER BY 1") == ["Project", "Tag", "Todo"])
            // The service keeps the path that the configuration has.
            for (id, row) in await service.contents(of: "Task") { await service.set("Todo", id, row) }
            try await device.engine.sync()
            try await expectSent(device, "Todo")
        }
    }

    @Test("Pending changes are sent after keys become text, and the service keeps its numeric IDs")
    func keys() async throws {
        try await withStore { open in
            try await Self.edit(open(Self.schema, Self.names, .keepingData))
            let schema = Self.schema.replacingOccurrences(of: "\"id\": \"integer\"", with: "\"id\": \"string\"")
            let device = try open(schema, Self.names, .keepingData)
            try await device.engine.sync()
            try await expectSent(device)
        }
    }

    @Test("Logged edits and unreadable values are kept under the new names of their attributes")
    func asides() async throws {
        try await withStore { open in
            var configuration = Device.configuration
            configuration.deleteConflictPolicy = .editWins
            let entities: [SyncedEntity] = ["Project", "Tag", .mergingWholeRow("Task")]
            await service.set("Task", 3, ["points": "a lot"])
            let first = try Device(
                open(Self.schema, Self.names, .keepingData).stack, service, entities: entities, configuration)
            try await first.engine.sync()
            try await first.write("UPDATE Task SET title = 'mine' WHERE id = 2")
            try await first.write("DELETE FROM Task WHERE id = 2")
            try await first.write("UPDATE Task SET title = 'sent' WHERE id = 3")
            await service.set("Task", 2, ["points": 5])
            let schema = Self.schema
                .replacingOccurrences(
                    of: "\"title\": \"string\"",
                    with: "\"words\": {\"type\": \"string\", \"renamedFrom\": \"title\", \"remoteKey\": \"title\"}"
                )
                .replacingOccurrences(
                    of: "\"points\": \"integer\"",
                    with: "\"score\": {\"type\": \"integer\", \"renamedFrom\": \"points\", \"remoteKey\": \"points\"}")
            let second = try open(schema, Self.names, .keepingData).stack
            #expect(
                try await second.read { db in try String.fetchAll(db, sql: "SELECT field FROM sync_unreadable") } == [
                    "score"
                ])
            let device = try Device(second, service, entities: entities, configuration)
            try await device.engine.sync()
            let log = try await device.engine.conflicts().filter { !$0.field.isEmpty }
            #expect(log.map { "\($0.key) \($0.field) \($0.local) \($0.remote)" } == ["2 words \"mine\" \"t2\""])
            let rows = await service.contents(of: "Task")
            #expect(rows[3]?["title"] == "sent")
            #expect(rows[3]?["points"] == "a lot")
            #expect(try await device.leftovers() == [])
        }
    }

    @Test("Removing an attribute with pending values is an error, or logs the base and the local values")
    func removed() async throws {
        try await withStore { open in
            let first = try open(Self.schema, Self.names, .keepingData)
            try await Self.edit(first)
            try await first.write("INSERT INTO Task (title, points) VALUES ('unsent', 7)")
            let schema = Self.schema.replacingOccurrences(of: ", \"points\": \"integer\"", with: "")
            do {
                _ = try open(schema, Self.names, .keepingData)
                Issue.record("it was opened")
            } catch let error as SyncError {
                #expect(
                    error.problems.map(\.message).contains(
                        "an edit is still pending: 1 edit would be lost"))
            }
            let device = try open(schema, Self.names, .allowingDataLoss)
            try await device.engine.sync()
            let rows = await service.contents(of: "Task")
            #expect(rows[1]?["title"] == "mine")
            #expect(rows[1]?["points"] == 1)
            let logged = try await device.engine.conflicts()
            #expect(Set(logged.map { "\($0.field) \($0.base) \($0.local)" }) == ["points 1 11", "points null 7"])
            #expect(logged.allSatisfy { $0.outcome?.reason == .fieldRemoved })
            #expect(try await device.leftovers() == [])
        }
    }

    @Test(
        "Dropping links that were not sent is a loss, except for the links of a deleted row",
        arguments: [false, true])
    func linksOfDeleted(_ isOwner: Bool) async throws {
        try await withStore { open in
            let device = try open(Self.schema, Self.names, .keepingData)
            try await device.engine.sync()
            if isOwner {
                try await device.write("DELETE FROM Task WHERE id = 2")
            } else {
                try await device.write(
                    "DELETE FROM Tag_tasks WHERE tagID = 2 AND taskID = 2; DELETE FROM Project WHERE id = 2")
            }
            let without = """
                {"entities": {
                  "Project": {"attributes": {"id": "integer", "name": "string"}},
                  "Tag": {"attributes": {"id": "integer", "name": "string"}},
                  "Task": {"attributes": {"id": "integer", "title": "string", "points": "integer"},
                    "relationships": {"project": {"entity": "Project"}}}}}
                """
            let error = #expect(throws: SyncError.self) { try open(without, Self.names, .keepingData) }
            let problems = error?.problems.map { "\($0)" } ?? []
            #expect(problems.contains { $0.contains("changes of links are still pending") } == !isOwner)
        }
    }

    @Test("The deletion of a row's former keys uses an index")
    func aliasIndex() async throws {
        let device = try Device(service)
        let plan = try await device.rows("EXPLAIN QUERY PLAN DELETE FROM sync_former_key WHERE e = 1 AND k = 2")
        #expect(plan.joined().contains("sync_former_key_now"))
    }

    @Test("An entity that reuses the number of a removed entity has none of its engine rows")
    func numberGivenAgain() async throws {
        try await withStore { open in
            let first = try open(Self.schema, Self.names, .keepingData)
            try await first.engine.sync()
            // A former key, a row that the deletion limit keeps, and a quarantined record.
            let former = try await first.stack.insert("Task", values: ["title": "new"]).key.json
            try await first.engine.sync()
            let number = try await first.rows("SELECT e FROM sync_entity WHERE name = 'Task'").joined()
            try await first.write(
                """
                INSERT INTO sync_tombstone (e, id, source) VALUES (\(number), '1', 'missing');
                INSERT INTO sync_quarantine (e, k, body, message) VALUES (\(number), '2', '{}', 'refused');
                UPDATE Task SET title = 'edited' WHERE id = 3
                """)
            #expect(try await first.rows("SELECT k > 0 FROM sync_former_key WHERE e = \(number)") == ["1"])
            let without = """
                {"entities": {"Project": {"attributes": {"id": "integer", "name": "string"}},
                  "Tag": {"attributes": {"id": "integer", "name": "string"}}}}
                """
            let second = try open(without, ["Project", "Tag"], .allowingDataLoss)
            let tables = try await second.rows(
                """
                SELECT m.name FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c ON c.name = 'e'
                WHERE m.type = 'table' AND m.name GLOB 'sync_*' ORDER BY 1
                """)
            #expect(tables.contains("sync_former_key") && tables.contains("sync_tombstone"))
            for table in tables {
                #expect(try await second.rows("SELECT * FROM \(table) WHERE e = \(number)") == [], "\(table)")
            }
            // The state of a database from an earlier version.
            try await second.write("INSERT INTO sync_former_key (e, old, k) VALUES (\(number), \(former), 1)")
            for id in 1...3 { await service.set("Label", JSONValue(id), ["name": "l"]) }
            let other = without.replacingOccurrences(
                of: "\"Tag\": {",
                with: "\"Label\": {\"attributes\": {\"id\": \"integer\", \"name\": \"string\"}}, \"Tag\": {")
            let third = try open(other, ["Project", "Tag", "Label"], .keepingData)
            #expect(try await third.rows("SELECT name FROM sync_entity WHERE e = \(number)") == ["Label"])
            try await third.engine.sync()
            #expect(try await third.rows("SELECT id FROM Label ORDER BY 1") == ["1", "2", "3"])
            #expect(try await third.stack.fetch("Label", id: former) == nil)
            #expect(try await third.leftovers() == [])
        }
    }
}
