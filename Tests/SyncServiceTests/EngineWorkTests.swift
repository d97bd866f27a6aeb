import Foundation
import GRDB
import Sync
import SyncTesting
import TestSize
import TestWork
import Testing

@testable import SyncService

/// The growth of the engine's work, as counted by SQLite.
@Suite("Counted work of the engine")
struct EngineWorkTests {
    /// Tasks export their lists; projects do not.
    private static let schema = """
        {"entities": {
          "Project": {"attributes": {"remoteID": {"type": "integer"}, "name": {"type": "string"}},
            "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "project", "export": false}}},
          "Task": {"attributes": {"remoteID": {"type": "integer"}, "title": {"type": "string"}},
            "relationships": {"project": {"entity": "Project", "inverse": "tasks"},
              "tags": {"entity": "Tag", "many": true, "ordered": true, "inverse": "tasks"}}},
          "Tag": {"attributes": {"remoteID": {"type": "integer"}, "name": {"type": "string"}},
            "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "tags", "export": false}}}
        }}
        """

    private static let tree = """
        {"entities": {
          "Node": {"attributes": {"remoteID": {"type": "integer"}, "title": {"type": "string"}},
            "relationships": {"parent": {"entity": "Node", "inverse": "children"},
              "children": {"entity": "Node", "many": true, "inverse": "parent", "export": false}}}
        }}
        """

    private static let sizes = (small: LongTests.count(40, many: 60), large: LongTests.count(160, many: 240))
    /// The factor that fourfold data may cost besides fourfold work.
    private static let tolerance = 1.2

    /// Returns a service with one change in a request, like REST, unless a test states otherwise.
    private func service(batchSize: Int = 1, pageSize: Int = 20, marker: String? = nil) -> InMemoryService {
        InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: .tombstones,
                createIdempotency: marker.map { .markerField($0) } ?? .idempotencyKey, supportsPreconditions: true,
                providesModificationTimes: true,
                maxBatchSize: batchSize), pageSize: pageSize)
    }

    private func device(
        _ service: InMemoryService, _ schema: String = EngineWorkTests.schema,
        _ entities: [SyncedEntity] = ["Project", "Tag", "Task"]
    ) throws -> Device {
        try Device(service, schema: schema, entities: entities)
    }

    /// Compares the work of a sync with that of a sync of four times the data.
    private func expectLinear(
        _ prepare: (_ count: Int) async throws -> Device, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        var counted: [CountedWork] = []
        for count in [Self.sizes.small, Self.sizes.large] {
            let device = try await prepare(count)
            counted.append(try await device.stack.counting { try await device.engine.sync() })
            #expect(counted.last.map { $0.statements > count } == true, sourceLocation: sourceLocation)
        }
        let (small, large) = (counted[0], counted[1])
        let factor = Double(Self.sizes.large / Self.sizes.small) * Self.tolerance
        let grown = large.stepsByStatement.filter {
            $0.value > 1000 && Double($0.value) > factor * Double(small.stepsByStatement[$0.key] ?? 0)
        }
        #expect(
            Double(large.steps) <= Double(small.steps) * factor, "\(small.steps) \(large.steps), most in \(grown)",
            sourceLocation: sourceLocation)
    }

    // MARK: Pushing

    @Test("The work to push changed lists grows linearly", arguments: [1, 50])
    func changedLists(batchSize: Int) async throws {
        try await expectLinear { count in
            let service = service(batchSize: batchSize)
            for id in 1...5 { await service.set("Tag", JSONValue(id), ["name": "g"]) }
            for id in 1...count { await service.set("Task", JSONValue(id), ["title": "t", "tag_ids": [1, 2, 3]]) }
            let device = try device(service)
            try await device.engine.sync()
            try await device.write("DELETE FROM Tag_tasks WHERE tagID = 2")
            return device
        }
    }

    @Test("The work to push new rows with lists of other new rows grows linearly")
    func newLists() async throws {
        try await expectLinear { count in
            let device = try device(service())
            for id in 1...count {
                try await device.write(
                    """
                    INSERT INTO Tag (remoteID, name) VALUES (\(Int.min + id), 'g');
                    INSERT INTO Task (remoteID, title) VALUES (\(Int.min + id), 't');
                    INSERT INTO Tag_tasks (tagID, taskID) VALUES (\(Int.min + id), \(Int.min + id));
                    """)
            }
            return device
        }
    }

    @Test(
        "The work to push deletions grows linearly in a table that references itself",
        arguments: ["tree", "list", "chain"])
    func deletions(shape: String) async throws {
        try await expectLinear { count in
            let service = service(batchSize: 50)
            for id in 1...count {
                let parent = shape == "tree" ? id / 3 : shape == "list" ? 1 : id - 1
                await service.set(
                    "Node", JSONValue(id),
                    ["title": "t", "parent_id": id == 1 || parent == 0 ? .null : JSONValue(parent)])
            }
            let device = try device(service, Self.tree, ["Node"])
            try await device.engine.sync()
            try await device.write("DELETE FROM Node")
            return device
        }
    }

    @Test("The work to push a chain of new rows grows linearly")
    func chain() async throws {
        try await expectLinear { count in
            let device = try device(service(batchSize: 50), Self.tree, ["Node"])
            // Each row references the next one, so only the last can be sent first.
            for id in 1...count {
                try await device.write(
                    """
                    INSERT INTO Node (remoteID, title, parentID)
                    VALUES (\(Int.min + count - id), 't', \(id == 1 ? "NULL" : "\(Int.min + count - id + 1)"))
                    """)
            }
            return device
        }
    }

    @Test("The work to push beside changes that await a blocked row grows linearly")
    func awaitingBlockedRow() async throws {
        try await expectLinear { count in
            let service = service(batchSize: 50)
            await service.set("Project", 1, ["name": "p"])
            let device = try device(service)
            try await device.engine.sync()
            await service.setFault { request, _ in
                guard case .push(let operations) = request, operations.contains(where: { $0.entity == "Project" })
                else { return nil }
                return .refuse
            }
            try await device.write("INSERT INTO Project (remoteID, name) VALUES (\(Int.min), 'refused')")
            for id in 1...(2 * count) {
                try await device.write(
                    """
                    INSERT INTO Task (remoteID, title, projectID) VALUES (\(Int.min + id), 'waits', \(Int.min));
                    INSERT INTO Task (remoteID, title, projectID) VALUES (\(Int.min + 10_000 + id), 'goes', 1);
                    """)
            }
            return device
        }
    }

    /// Counts the work of `body` for `rows` more rows: the fixed work of a run is not counted.
    private func difference(
        _ rows: Int, _ body: (_ count: Int) async throws -> CountedWork
    ) async throws -> (statements: Int, compiled: Int) {
        let (less, more) = (try await body(rows), try await body(2 * rows))
        return (more.statements - less.statements, more.compiled - less.compiled)
    }

    @Test(
        "100 changed or deleted rows in a request need at most 60 statements, and SQLite compiles at most ten",
        arguments: ["UPDATE Project SET name = name || remoteID", "DELETE FROM Project"])
    func statementsOfPush(edit: String) async throws {
        let work = try await difference(100) { count in
            let service = service(batchSize: 100, pageSize: 1000)
            for id in 1...count { await service.set("Project", JSONValue(id), ["name": "p"]) }
            let device = try device(service, Self.schema, ["Project"])
            try await device.engine.sync()
            try await device.write(edit)
            let work = try await device.stack.counting { try await device.engine.push() }
            #expect(try await device.engine.pendingChangeCount() == 0)
            return work
        }
        #expect(work.statements <= 60 && work.compiled <= 10, "\(work)")
    }

    // MARK: Pulling

    @Test(
        "A page of 1,000 rows needs at most 250 statements, and SQLite compiles at most ten", arguments: [false, true])
    func statementsOfPull(isUnchanged: Bool) async throws {
        let work = try await difference(1000) { count in
            let service = service(pageSize: 1000)
            for id in 1...count { await service.set("Project", JSONValue(id), ["name": "p"]) }
            let device = try device(service, Self.schema, ["Project"])
            let first = try await device.stack.counting { try await device.engine.sync() }
            guard isUnchanged else { return first }
            try await device.engine.reset(.cursors)
            return try await device.stack.counting { try await device.engine.sync() }
        }
        #expect(work.statements <= 250 && work.compiled <= 10, "\(work)")
    }

    @Test("The work to pull referencing rows before referenced rows grows linearly")
    func childrenFirst() async throws {
        try await expectLinear { count in
            let service = service()
            for id in 1...5 {
                await service.set("Project", JSONValue(id), ["name": "p"])
                await service.set("Tag", JSONValue(id), ["name": "g"])
            }
            for id in 1...(4 * count) {
                await service.set(
                    "Task", JSONValue(id),
                    ["title": "t", "project_id": JSONValue(id % 5 + 1), "tag_ids": [1, JSONValue(id % 4 + 2)]])
            }
            return try device(service, Self.schema, ["Task", "Project", "Tag"])
        }
    }

    @Test("The work to match pulled records with new rows grows linearly", arguments: [false, true])
    func newRows(hasMarker: Bool) async throws {
        try await expectLinear { count in
            let service = service(marker: hasMarker ? "birth" : nil)
            for id in 1...(4 * count) { await service.set("Task", JSONValue(id), ["title": .string("there \(id)")]) }
            let device = try device(
                service, Self.schema, ["Project", "Tag", SyncedEntity("Task", naturalKey: ["title"])])
            for id in 1...count {
                try await device.write(
                    "INSERT INTO Task (remoteID, title) VALUES (\(Int.min + id), '\(id % 2 == 0 ? "there" : "here") \(id)')"
                )
            }
            return device
        }
    }

    @Test("A quarantined record multiplies the statements for its page by nine at most", arguments: [1, 5])
    func quarantined(count: Int) async throws {
        var statements: [Int] = []
        for refused in [0, count] {
            let service = service(pageSize: 1000)
            for id in 1...200 {
                await service.set(
                    "Task", JSONValue(id), ["title": .string(id > 100 && id <= 100 + refused ? "t1" : "t\(id)")])
            }
            let device = try device(service)
            try await device.write("CREATE UNIQUE INDEX mine ON Task (title)")
            let work = try await device.stack.counting { try await device.engine.sync() }
            #expect(try await device.engine.blockedChanges().count == refused)
            #expect(try await device.rows("SELECT count(*) FROM Task") == ["\(200 - refused)"])
            statements.append(work.statements)
        }
        #expect(statements[1] <= 9 * statements[0], "\(statements)")
    }
}
