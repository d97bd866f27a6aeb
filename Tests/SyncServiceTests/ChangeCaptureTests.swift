import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Change capture for edits of every origin.
@Suite("Change capture")
struct ChangeCaptureTests {
    private let service = InMemoryService()

    private func known() async throws -> Device {
        for id in 1...3 { await service.set("Task", JSONValue(id), ["title": .string("t\(id)"), "points": 0]) }
        let device = try Device(service)
        try await device.engine.sync()
        await service.deleteRequests()
        return device
    }

    private func sent() async -> [String] {
        await service.requests.flatMap { request -> [String] in
            guard case .push(let operations) = request else { return [] }
            return operations.map { "\($0.kind) \($0.id ?? .null) \($0.record)" }
        }
    }

    @Test("A row that REPLACE removes through a unique index of the app is deleted on the service")
    func replace() async throws {
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(Device.schema.utf8)))
        try await stack.write { db in try db.execute(sql: "CREATE UNIQUE INDEX mine ON Task (title)") }
        for id in 1...3 { await service.set("Task", JSONValue(id), ["title": .string("t\(id)"), "points": 0]) }
        let device = try Device(stack, service)
        try await device.engine.sync()
        await service.deleteRequests()
        // SQLite removes the row with the title 't1' without firing a trigger.
        try await device.write("INSERT OR REPLACE INTO Task (remoteID, title, points) VALUES (3, 't1', 9)")
        try await device.engine.sync()
        #expect(Set(await sent()) == ["update 3 {\"title\":\"t1\",\"points\":9}", "delete 1 {}"])
        #expect(await service.contents(of: "Task").count == 2)
        #expect(try await device.leftovers() == [])
    }

    @Test("An upsert or REPLACE of a row sends only the changed columns")
    func upsert() async throws {
        let device = try await known()
        try await device.write(
            """
            INSERT INTO Task (remoteID, title, points) VALUES (1, 't1', 5) ON CONFLICT DO UPDATE SET points = excluded.points;
            REPLACE INTO Task (remoteID, title, points) VALUES (2, 't2', 7);
            INSERT OR IGNORE INTO Task (remoteID, title) VALUES (3, 'no')
            """)
        try await device.engine.sync()
        #expect(Set(await sent()) == ["update 1 {\"points\":5}", "update 2 {\"points\":7}"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A row that is inserted and deleted before a push is not sent")
    func insertedAndDeleted() async throws {
        let device = try await known()
        try await device.stack.insert("Task", values: ["title": "new"])
        try await device.write("DELETE FROM Task WHERE title = 'new'")
        try await device.engine.push()
        #expect(await sent() == [])
        #expect(try await device.leftovers() == [])
    }

    @Test("Rows that a cascade deletes are deleted on the service")
    func cascade() async throws {
        await service.set("Project", 7, ["name": "p"])
        for id in 1...3 { await service.set("Task", JSONValue(id), ["title": "t", "project_id": 7]) }
        let device = try Device(service)
        try await device.engine.sync()
        await service.deleteRequests()
        try await device.write("DELETE FROM Project")
        try await device.engine.sync()
        #expect(await sent() == ["delete 1 {}", "delete 2 {}", "delete 3 {}", "delete 7 {}"])
        #expect(await service.contents(of: "Task").isEmpty)
    }

    @Test("Edits made while triggers were missing are sent")
    func audit() async throws {
        let device = try await known()
        try await device.removeTriggers()
        try await device.write("UPDATE Task SET points = 8 WHERE remoteID = 1")
        try await device.write("DELETE FROM Task WHERE remoteID = 2")
        try await device.write("INSERT INTO Task (remoteID, title) VALUES (99, 'made')")
        let again = try Device(device.stack, service)
        try await again.engine.sync()
        let tasks = await service.contents(of: "Task")
        #expect(tasks[1]?["points"] == 8)
        #expect(tasks[2] == nil)
        #expect(tasks.values.contains { $0["title"] == "made" })
        #expect(try await again.leftovers() == [])
        #expect(try await again.engine.sync().isEmpty)
    }

    @Test("An edit without triggers to a row that the service deleted is logged as a conflict")
    func auditedDeletion() async throws {
        let device = try await known()
        try await device.removeTriggers()
        try await device.write("UPDATE Task SET title = 'mine' WHERE remoteID = 1")
        let again = try Device(device.stack, service)
        await service.remove("Task", 1)
        try await again.engine.sync()
        #expect(try await again.rows("SELECT 1 FROM Task WHERE remoteID = 1") == [])
        let line = try await again.engine.conflicts().first { $0.field == "title" }
        #expect(line?.local == "mine")
        #expect(line?.why == "deleted by the service; possibly edited while change capture was off")
        #expect(try await again.leftovers() == [])
    }

    @Test("A row that takes another row's key with REPLACE is sent as an update of that row", arguments: [true, false])
    func replacedByKey(_ isNew: Bool) async throws {
        let service = InMemoryService()
        for id in 1...3 { await service.set("Task", JSONValue(id), ["title": .string("t\(id)"), "points": 1]) }
        let device = try Device(service)
        try await device.engine.sync()
        if isNew { try await device.write("INSERT INTO Task (remoteID, title, points) VALUES (50, 'mine', 5)") }
        try await device.write("UPDATE OR REPLACE Task SET remoteID = 2 WHERE remoteID = \(isNew ? 50 : 1)")
        for _ in 0..<2 { try await device.engine.sync() }
        let rows = await service.contents(of: "Task")
        #expect(rows.count == (isNew ? 3 : 2))
        #expect(rows[2]?["title"] == (isNew ? "mine" : "t1"))
        #expect(try await device.rows("SELECT title FROM Task WHERE remoteID = 2") == [isNew ? "mine" : "t1"])
        #expect(try await device.leftovers() == [])
    }

    /// - Parameter how: The SQL that replaces the row 1.
    @Test(
        "Replacing a row removes its old links, and links that the service added stay",
        arguments: [
            "UPDATE OR REPLACE Task SET remoteID = 1 WHERE remoteID = 50",
            "INSERT OR REPLACE INTO Task (remoteID, title) VALUES (1, 'mine')",
            "DELETE FROM Task WHERE remoteID = 1; INSERT INTO Task (remoteID, title) VALUES (1, 'mine')",
        ], [false, true])
    func listMadeAnew(_ how: String, _ isOrdered: Bool) async throws {
        let service = InMemoryService()
        for id in 1...4 { await service.set("Tag", JSONValue(id), ["name": "g"]) }
        await service.set("Task", 1, ["title": "t", "tag_ids": [1, 2]])
        let many = "\"Tag\", \"many\": true"
        let schema = Device.schema.replacingOccurrences(of: many, with: isOrdered ? "\(many), \"ordered\": true" : many)
        let device = try Device(service, schema: schema)
        try await device.engine.sync()
        if how.hasPrefix("UPDATE") { try await device.write("INSERT INTO Task (remoteID, title) VALUES (50, 'mine')") }
        try await device.write("\(how); INSERT INTO Tag_tasks (tagID, taskID) VALUES (3, 1), (2, 1)")
        await service.set("Task", 1, ["tag_ids": [1, 2, 4]])
        for _ in 0..<2 { try await device.engine.sync() }
        guard case .array(let list)? = await service.contents(of: "Task")[1]?["tag_ids"] else {
            Issue.record("no list")
            return
        }
        #expect(Set(list) == [2, 3, 4])
        #expect(try await device.rows("SELECT tagID, taskID FROM Tag_tasks ORDER BY 1") == ["2 1", "3 1", "4 1"])
        #expect(await service.contents(of: "Task")[1]?["title"] == "mine")
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "Capture continues after a migration of the app rebuilds tables",
        arguments: [false, true])
    func rebuilt(_ hasPairs: Bool) async throws {
        let service = InMemoryService()
        await service.set("Project", 1, ["name": "p"])
        await service.set("Task", 1, ["title": "t", "project_id": 1])
        let schema = """
            {"entities": {"Project": {"attributes": {"remoteID": "integer", "name": "string"}},
              "Task": {"attributes": {"remoteID": "integer", "title": "string"},
                "relationships": {"project": {"entity": "Project"}}}}}
            """
        let names: [SyncedEntity] = hasPairs ? ["Project", "Task", "Tag"] : ["Project", "Task"]
        let device = try Device(service, schema: hasPairs ? Device.schema : schema, entities: names)
        try await device.engine.sync()
        for table in ["Task", "Project"] {
            try await device.stack.writer.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = \(hasPairs ? "ON" : "OFF")")
                try db.inTransaction {
                    let sql = try String.fetchOne(
                        db, sql: "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", arguments: [table])
                    try db.execute(
                        sql: (sql ?? "").replacingOccurrences(of: "TABLE \"\(table)\"", with: "TABLE \"made\""))
                    try db.execute(
                        sql:
                            "INSERT INTO made SELECT * FROM \(table); DROP TABLE \(table); ALTER TABLE made RENAME TO \(table)"
                    )
                    return .commit
                }
                try db.execute(sql: "PRAGMA foreign_keys = ON; PRAGMA legacy_alter_table = OFF")
            }
        }
        try await device.write("UPDATE Task SET title = 'mine'; UPDATE Project SET name = 'mine'")
        let again = try Device(device.stack, service, entities: names)
        for _ in 0..<2 { try await again.engine.sync() }
        #expect(await service.contents(of: "Task")[1]?["title"] == "mine")
        #expect(await service.contents(of: "Project")[1]?["name"] == "mine")
    }

    @Test("A row that REPLACE removes through an index created since the last run is deleted on the service")
    func laterIndex() async throws {
        let device = try await known()
        let title = try #require(try await device.rows("SELECT title FROM Task WHERE remoteID = 1").first)
        try await device.write("UPDATE Task SET title = 'a title of its own' || remoteID WHERE remoteID <> 1")
        try await device.engine.sync()
        let before = await service.contents(of: "Task").count
        try await device.write("CREATE UNIQUE INDEX of_the_app ON Task (title)")
        try await device.write("INSERT OR REPLACE INTO Task (remoteID, title, points) VALUES (-1, '\(title)', 99)")
        let again = try Device(device.stack, service)
        try await again.engine.sync()
        let tasks = await service.contents(of: "Task")
        #expect(tasks[1] == nil)
        #expect(tasks.count == before)
        #expect(try await again.engine.blockedChanges().isEmpty)
        #expect(try await again.leftovers() == [])
    }

    @Test("A new row that references itself and changes its key is sent once")
    func selfReference() async throws {
        let schema = """
            {"entities": {"Node": {"attributes": {"remoteID": {"type": "integer"}, "name": {"type": "string"}},
              "relationships": {"parent": {"entity": "Node", "inverse": "children"},
                "children": {"entity": "Node", "many": true, "inverse": "parent"}}}}}
            """
        let device = try Device(service, schema: schema, entities: ["Node"])
        try await device.write("INSERT INTO Node (remoteID, name) VALUES (900, 'n')")
        try await device.write("UPDATE Node SET parentID = 900")
        try await device.write("UPDATE Node SET remoteID = 901")
        try await device.engine.sync()
        #expect(await sent().first?.hasPrefix("create") == true)
        #expect(await service.contents(of: "Node").count == 1)
        let (id, row) = try #require(await service.contents(of: "Node").first)
        #expect(row["parent_id"] == id)
        #expect(try await device.leftovers() == [])
    }

    @Test("An UPDATE of a join row sends the changed list")
    func updatedJoinRow() async throws {
        for id in 1...2 { await service.set("Tag", JSONValue(id), ["name": "g"]) }
        await service.set("Task", 1, ["title": "t", "tag_ids": [1]])
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write("UPDATE Tag_tasks SET tagID = 2")
        try await device.engine.sync()
        #expect(await service.contents(of: "Task")[1]?["tag_ids"] == [2])
        #expect(try await device.leftovers() == [])
    }

    @Test("Deleting rows that reference each other in a cycle deletes them on the service")
    func deletedCycle() async throws {
        let schema = """
            {"entities": {"Node": {"attributes": {"remoteID": {"type": "integer"}, "name": {"type": "string"}},
              "relationships": {"next": {"entity": "Node", "inverse": "previous"},
                "previous": {"entity": "Node", "many": true, "inverse": "next"}}}}}
            """
        for id in 1...3 { await service.set("Node", JSONValue(id), ["name": "n", "next_id": JSONValue(id % 3 + 1)]) }
        let device = try Device(service, schema: schema, entities: ["Node"])
        try await device.engine.sync()
        try await device.write("DELETE FROM Node")
        try await device.engine.sync()
        #expect(await service.contents(of: "Node").isEmpty)
        #expect(try await device.leftovers() == [])
    }

    @Test("Many changes that await a blocked row do not keep later changes from being sent")
    func changesBehindBlockedRow() async throws {
        let device = try Device(service)
        try await device.write(
            """
            INSERT INTO Project (remoteID, name) VALUES (-1, 'refused');
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1100)
            INSERT INTO Task (remoteID, title, projectID) SELECT -i - 10, 'waits', -1 FROM n;
            INSERT INTO Task (remoteID, title) VALUES (-9000, 'goes')
            """)
        try await device.write(
            """
            UPDATE sync_outbox SET state = 'blocked', reason = 'rejected',
              rejections = 2 WHERE k = -1
            """)
        try await device.engine.push()
        #expect(await service.contents(of: "Task").values.compactMap { $0["title"] } == ["goes"])
    }

    @Test("A change with a value that JSON lacks is blocked, and other changes are sent")
    func noJSONValue() async throws {
        let schema = """
            {"entities": {"Task": {"attributes": {"remoteID": {"type": "integer"}, "title": {"type": "string"},
              "token": {"type": "double"}}}}}
            """
        let device = try Device(service, schema: schema, entities: ["Task"])
        try await device.write(
            "INSERT INTO Task (remoteID, title, token) VALUES (-5, 'bad', 9e999), (-6, 'good', NULL)")
        let report = try await device.engine.sync()
        #expect(report.total.pushedInserts == 1)
        #expect(await service.contents(of: "Task").values.compactMap { $0["title"] } == ["good"])
        let parked = try await device.engine.blockedChanges()
        #expect(parked.count == 1)
        #expect(parked.first?.reason.contains("token") == true)
    }

    @Test("An import does not delete rows with pending changes that its list lacks")
    func pendingRowsSurviveImport() async throws {
        let device = try await known()
        try await device.write("UPDATE Task SET points = 1 WHERE remoteID = 1")
        try await device.stack.insert("Task", values: ["title": "new"])
        let list: JSONValue = [["id": 3, "title": "t3", "points": 0]]
        let result = try await Sync.changes(list, inEntity: "Task", stack: device.stack)
        #expect(result.entities["Task"]?.deleted == [.integer(2)])
        #expect(try await device.rows("SELECT title FROM Task ORDER BY title") == ["new", "t1", "t3"])
    }

    @Test("Dropping the rows of a store records no pending changes")
    func drop() async throws {
        let device = try await known()
        try device.stack.deleteAllRows()
        try await device.engine.sync()
        #expect(await sent() == [])
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["3"])
    }

    @Test("Rows that the engine imports are not recorded as pending changes")
    func importedRows() async throws {
        let device = try await known()
        try await device.write("UPDATE Task SET title = 'mine' WHERE remoteID = 1")
        try await device.engine.apply(
            [["id": 1, "title": "t1", "points": 4], ["id": 5, "title": "t5"]], inEntity: "Task")
        #expect(
            try await device.rows("SELECT title, points FROM Task WHERE remoteID IN (1, 5)") == ["mine 4", "t5 nil"])
        try await device.engine.push()
        #expect(await sent() == ["update 1 {\"title\":\"mine\"}"])
    }

    @Test(
        "A row deleted with triggers and inserted again without them is sent as an update",
        arguments: [false, true])
    func insertedAgain(_ isChangedThere: Bool) async throws {
        for id in 1...3 { await service.set("Tag", JSONValue(id), ["name": "g"]) }
        for id in 1...2 { await service.set("Task", JSONValue(id), ["title": "t", "points": 0, "tag_ids": [1, 2]]) }
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write("DELETE FROM Task WHERE remoteID = 1")
        try await device.removeTriggers()
        let columns = try await device.rows(
            "SELECT name FROM pragma_table_info('Tag_tasks') ORDER BY name LIKE '%tag%'")
        try await device.write(
            """
            INSERT INTO Task (remoteID, title, points) VALUES (1, 'back', 7);
            INSERT INTO Tag_tasks ("\(columns[0])", "\(columns[1])") VALUES (1, 1), (1, 3);
            """)
        if isChangedThere { await service.set("Task", 1, ["done": true]) }
        let again = try Device(device.stack, service)
        for _ in 0..<2 { try await again.engine.sync() }
        let tasks = await service.contents(of: "Task")
        #expect(tasks.count == 2)
        #expect(tasks[1]?["title"] == "back" && tasks[1]?["points"] == 7)
        #expect(try await again.rows("SELECT title, points FROM Task WHERE remoteID = 1") == ["back 7"])
        let tags = try await again.rows(
            "SELECT \"\(columns[1])\" FROM Tag_tasks WHERE \"\(columns[0])\" = 1 ORDER BY 1")
        #expect(tasks[1]?["tag_ids"] == .array(tags.compactMap { Int($0).map { JSONValue($0) } }))
        if !isChangedThere { #expect(tags == ["1", "3"]) }
        #expect(try await again.leftovers() == [])
    }

    @Test("A link removed with triggers and added again without them sends nothing")
    func pairedAgain() async throws {
        for id in 1...2 { await service.set("Tag", JSONValue(id), ["name": "g"]) }
        await service.set("Task", 1, ["title": "t", "tag_ids": [1]])
        let device = try Device(service)
        try await device.engine.sync()
        await service.deleteRequests()
        let columns = try await device.rows(
            "SELECT name FROM pragma_table_info('Tag_tasks') ORDER BY name LIKE '%tag%'")
        try await device.write("DELETE FROM Tag_tasks")
        try await device.write("INSERT INTO Tag_tasks (\"\(columns[0])\", \"\(columns[1])\") VALUES (1, 2)")
        try await device.removeTriggers()
        try await device.write("UPDATE Tag_tasks SET \"\(columns[1])\" = 1")
        let again = try Device(device.stack, service)
        try await again.engine.sync()
        #expect(await sent() == [])
        #expect(try await again.rows("SELECT \"\(columns[1])\" FROM Tag_tasks") == ["1"])
        #expect(try await again.leftovers() == [])
    }

    // MARK: Relinking

    @Test(
        "A relink before the next run sends or logs edits made without triggers")
    func relinkedAudit() async throws {
        let device = try await known()
        try await device.removeTriggers()
        try await device.write("UPDATE Task SET points = 8 WHERE remoteID < 3")
        await service.set("Task", 2, ["points": 9])
        let again = try Device(device.stack, service)
        try await again.engine.reset(.cursors)
        try await again.engine.sync()
        #expect(await service.contents(of: "Task")[1]?["points"] == 8)
        #expect(try await again.rows("SELECT points FROM Task ORDER BY remoteID") == ["8", "9", "0"])
        let log = try await again.engine.conflicts().map {
            "\($0.key) \($0.field) \($0.local) \($0.remote) \($0.winner)"
        }
        #expect(log == ["2 points 8 9 remote"])
        #expect(try await again.leftovers() == [])
    }
}
