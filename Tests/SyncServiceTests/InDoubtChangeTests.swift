import Foundation
import Sync
import SyncTesting
import TestSize
import Testing

@testable import SyncService

/// A request is carried out, its answer is lost, and the row is edited or deleted locally before the engine learns the
/// outcome. The value on the service comes from this device and not from another one.
@Suite("In-doubt changes")
struct InDoubtChangeTests {
    private static let schema = """
        {"entities": {
          "Task": {"attributes": {"remoteID": {"type": "integer"}, "title": {"type": "string"}, "points": {"type": "integer"}},
            "relationships": {"project": {"entity": "Project", "inverse": "tasks"},
              "tags": {"entity": "Tag", "many": true, "ordered": true, "inverse": "tasks"}}},
          "Tag": {"attributes": {"remoteID": {"type": "integer"}, "name": {"type": "string"}},
            "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "tags", "export": false}}},
          "Project": {"attributes": {"remoteID": {"type": "integer"}, "name": {"type": "string"}},
            "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "project", "export": false}}}
        }}
        """

    /// The behaviour of services before a row is pulled.
    enum Kind: CaseIterable {
        case preconditions, none, wholeRows, together
    }

    /// The fields of a row.
    enum Domains: CaseIterable {
        case columns, group, row
    }

    private static func service(_ kind: Kind) -> InMemoryService {
        InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: .tombstones, createIdempotency: .idempotencyKey,
                supportsPreconditions: kind != .none,
                providesModificationTimes: true, maxBatchSize: 10, pushesAtomically: kind == .together,
                requiresCompleteRecords: kind == .wholeRows))
    }

    private static func entities(
        _ policy: ConflictPolicy, _ deletes: DeleteConflictPolicy = .deleteWins, _ domains: Domains = .columns
    ) -> [SyncedEntity] {
        ["Project", "Tag"].map { SyncedEntity($0) } + [
            SyncedEntity(
                "Task", conflictPolicy: policy, deleteConflictPolicy: deletes, mergesWholeRow: domains == .row,
                fieldGroups: domains == .group ? [["title", "points"]] : [])
        ]
    }

    /// Returns a device that has synced one task.
    private static func device(_ service: InMemoryService, _ entities: [SyncedEntity]) async throws -> Device {
        for id in 1...4 { await service.set("Tag", JSONValue(id), ["name": "g"]) }
        for id in 1...2 { await service.set("Project", JSONValue(id), ["name": "p"]) }
        await service.set("Task", 1, ["title": "t", "points": 1, "project_id": 1, "tag_ids": [1, 2]])
        let device = try Device(service, schema: schema, entities: entities)
        try await device.engine.sync()
        return device
    }

    /// Edits rows, sends the edit and loses the answer.
    private static func lose(
        _ sql: String, _ device: Device, _ service: InMemoryService, _ entities: [SyncedEntity]
    ) async throws {
        try await device.write(sql)
        let loss = LostAnswer()
        await service.setFault { request, _ in loss.fault(request) }
        await #expect(throws: (any Error).self) {
            try await Device(device.stack, service, entities: entities, Device.impatient).engine.sync()
        }
        await service.setFault(nil)
    }

    @Test(
        "An in-doubt change is the base of later edits with each policy", arguments: ConflictPolicy.allCases,
        Kind.allCases)
    func edited(_ policy: ConflictPolicy, _ kind: Kind) async throws {
        let edits = [
            ("title = 'second'", "second 1 1"), ("title = 't'", "t 1 1"), ("points = 2", "first 2 1"),
            ("title = NULL, projectID = NULL", "nil 1 nil"), ("projectID = 2", "first 1 2"),
        ]
        let cases = edits.flatMap { edit in Domains.allCases.map { (edit.0, edit.1, $0) } }
        for (later, expected, domains) in LongTests.some(
            cases, every: 5, of: LongTests.number(policy) + LongTests.number(kind))
        {
            let (service, entities) = (Self.service(kind), Self.entities(policy, .deleteWins, domains))
            let device = try await Self.device(service, entities)
            try await Self.lose("UPDATE Task SET title = 'first'", device, service, entities)
            try await device.write("UPDATE Task SET \(later)")
            try await device.engine.sync()
            #expect(try await device.rows("SELECT title, points, projectID FROM Task") == [expected], "\(domains)")
            let row = await service.contents(of: "Task")[1]
            let there = ["title", "points", "project_id"].map { row?[$0]?.description ?? "nil" }
                .map { $0 == "null" ? "nil" : $0.replacingOccurrences(of: "\"", with: "") }
            #expect(there.joined(separator: " ") == expected, "\(domains)")
            #expect(try await device.engine.conflicts().isEmpty, "\(later) \(domains)")
            #expect(try await device.leftovers() == [])
        }
    }

    @Test("An in-doubt change is sent beside a change of another entity with the same key", arguments: Kind.allCases)
    func sameKeys(_ kind: Kind) async throws {
        let (service, entities) = (Self.service(kind), Self.entities(.clientWins))
        let device = try await Self.device(service, entities)
        try await Self.lose("UPDATE Task SET title = 'first'", device, service, entities)
        try await device.write("UPDATE Task SET points = 2; UPDATE Project SET name = 'mine'")
        await service.set("Task", 1, ["title": "there", "points": 1, "project_id": 1, "tag_ids": [1, 2]])
        try await device.engine.push()
        try await device.engine.sync()
        #expect(try await device.rows("SELECT points FROM Task") == ["2"])
        #expect(await service.contents(of: "Task")[1]?["points"] == 2)
        #expect(await service.contents(of: "Project")[1]?["name"] == "mine")
        #expect(try await device.leftovers() == [])
    }

    /// A service that answers updates without a record.
    private struct SilentService: InMemoryWrapper {
        let memory: InMemoryService

        func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
            try await memory.push(operations).map { if case .applied = $0 { .applied(nil) } else { $0 } }
        }
    }

    @Test(
        "A change whose row is deleted during its request is no edit of another device",
        arguments: [Kind.preconditions, .none])
    func deletedWhileSent(_ kind: Kind) async throws {
        let service = Self.service(kind)
        let entities = Self.entities(.serverWins, .editWins)
        let stack = try await Self.device(service, entities).stack
        let device = try Device(stack, SilentService(memory: service), entities: entities)
        try await device.write("UPDATE Task SET points = 9")
        await service.onRequest { request in
            if case .push = request { try? await device.write("DELETE FROM Task") }
        }
        try await device.engine.push()
        await service.onRequest(nil)
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await service.contents(of: "Task").isEmpty)
        #expect(try await device.rows("SELECT 1 FROM Task").isEmpty)
        #expect(try await device.engine.conflicts().isEmpty)
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "In-doubt changes of links and order are the base of later edits", arguments: Kind.allCases)
    func lists(_ kind: Kind) async throws {
        func list(_ tags: [Int]) -> String {
            "DELETE FROM Tag_tasks;"
                + tags.enumerated().map { place, tag in
                    "INSERT INTO Tag_tasks (taskID, tagID, \(Device.place)) VALUES (1, \(tag), \(place));"
                }.joined()
        }
        let cases: [([Int], [Int])] = [
            ([1, 2, 3], [1, 2]), ([2], [1, 2]), ([1, 2, 3], [1, 2, 3, 4]), ([1, 3], [1, 2]), ([2, 1], [1, 2]),
            ([2, 1, 3], [1, 3, 2]), ([], [1, 2]), ([], [4, 3]), ([3, 1, 2], []),
        ]
        for (first, second) in LongTests.some(cases, every: 3, of: LongTests.number(kind)) {
            let (service, entities) = (Self.service(kind), Self.entities(.serverWins))
            let device = try await Self.device(service, entities)
            try await Self.lose(list(first), device, service, entities)
            try await device.write(list(second))
            try await device.engine.sync()
            let here = try await device.rows("SELECT tagID FROM Tag_tasks ORDER BY \(Device.place)")
            #expect(here == second.map(String.init), "\(first)")
            #expect(
                await service.contents(of: "Task")[1]?["tag_ids"] == .array(second.map { JSONValue($0) }), "\(first)")
            #expect(try await device.engine.conflicts().isEmpty)
            #expect(try await device.leftovers() == [])
        }
    }

    @Test(
        "An in-doubt change does not conflict with a later deletion of the row",
        arguments: DeleteConflictPolicy.allCases, Kind.allCases)
    func deleted(_ policy: DeleteConflictPolicy, _ kind: Kind) async throws {
        let cases = [
            "UPDATE Task SET title = 'first'", "UPDATE Task SET projectID = 2, points = NULL",
            "INSERT INTO Tag_tasks (taskID, tagID, \(Device.place)) VALUES (1, 3, 9)",
            "DELETE FROM Tag_tasks WHERE tagID = 1",
        ]
        for first in LongTests.some(cases, every: 2, of: LongTests.number(policy) + LongTests.number(kind)) {
            let (service, entities) = (Self.service(kind), Self.entities(.clientWins, policy))
            let device = try await Self.device(service, entities)
            try await Self.lose(first, device, service, entities)
            try await device.write("DELETE FROM Task")
            try await device.engine.sync()
            #expect(try await device.rows("SELECT count(*) FROM Task") == ["0"], "\(first)")
            #expect(await service.contents(of: "Task").isEmpty, "\(first)")
            #expect(try await device.engine.conflicts().isEmpty, "\(first)")
            #expect(try await device.leftovers() == [])
        }
    }

    @Test(
        "An in-doubt change does not hide later changes of another device", arguments: ["title", "points", "tag_ids"])
    func theirs(_ member: String) async throws {
        let (service, entities) = (Self.service(.preconditions), Self.entities(.serverWins, .editWins))
        let device = try await Self.device(service, entities)
        try await Self.lose("UPDATE Task SET title = 'first'", device, service, entities)
        let value: JSONValue = member == "title" ? "theirs" : member == "points" ? 7 : [2, 3]
        await service.set("Task", 1, [member: value].asJSON)
        try await device.write("UPDATE Task SET title = 'second'")
        try await device.engine.sync()
        let row = await service.contents(of: "Task")[1]
        #expect(row?[member] == value)
        #expect(row?["title"] == (member == "title" ? "theirs" : "second"))
        #expect(try await device.engine.conflicts().map(\.field) == (member == "title" ? ["title"] : []))
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "After an in-doubt change, a deleted row comes back if another device changed it",
        arguments: ["title", "points", "tag_ids"])
    func theirsOfDeleted(_ member: String) async throws {
        let (service, entities) = (Self.service(.preconditions), Self.entities(.serverWins, .editWins))
        let device = try await Self.device(service, entities)
        try await Self.lose("UPDATE Task SET title = 'first'", device, service, entities)
        let value: JSONValue = member == "title" ? "theirs" : member == "points" ? 7 : [2, 3]
        await service.set("Task", 1, [member: value].asJSON)
        try await device.write("DELETE FROM Task")
        try await device.engine.sync()
        #expect(await service.contents(of: "Task")[1]?[member] == value)
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["1"])
        #expect(try await device.leftovers() == [])
    }

    private static let ways: [ServiceCapabilities.CreateIdempotency] = [
        .idempotencyKey, .markerField("marker"), .matchByContent, .clientID,
    ]

    @Test(
        "An in-doubt create is the base of later edits of the row", arguments: ConflictPolicy.allCases, ways.indices)
    func createdRow(_ policy: ConflictPolicy, _ place: Int) async throws {
        let way = Self.ways[place]
        let cases = [
            ("UPDATE Task SET title = 'second' WHERE title = 'first'", ["second", "1 2"]),
            ("UPDATE Task SET points = 2 WHERE title = 'first'", ["first", "1 2"]),
            ("DELETE FROM Tag_tasks WHERE tagID = 2 AND taskID <> 1", ["first", "1"]),
        ]
        for (later, expected) in LongTests.some(cases, every: 3, of: LongTests.number(policy) + place) {
            let service = InMemoryService(
                ServiceCapabilities(
                    idAssignment: way == .clientID ? .client : .server, deletionDetection: .tombstones,
                    createIdempotency: way,
                    supportsPreconditions: true, providesModificationTimes: true, maxBatchSize: 10))
            let entities = Self.entities(policy)
            let device = try await Self.device(service, entities)
            try await Self.lose(
                """
                INSERT INTO Task (remoteID, title) VALUES (70, 'first');
                INSERT INTO Tag_tasks (taskID, tagID, \(Device.place)) VALUES (70, 1, 1), (70, 2, 2);
                """, device, service, entities)
            try await device.write(later)
            try await device.engine.sync()
            let rows = await service.contents(of: "Task").filter { $0.key != 1 }
            #expect(rows.count == 1, "\(later)")
            #expect(rows.values.first?["title"] == .string(expected[0]), "\(later)")
            let tags = try await device.rows("SELECT tagID FROM Tag_tasks WHERE taskID <> 1 ORDER BY \(Device.place)")
            #expect(tags.joined(separator: " ") == expected[1], "\(later)")
            #expect(rows.values.first?["tag_ids"] == .array(try tags.map { try JSONValue(parsing: $0) }), "\(later)")
            #expect(try await device.engine.conflicts().isEmpty, "\(later)")
            #expect(try await device.leftovers() == [])
        }
    }
}

extension [String: JSONValue] {
    /// The dictionary as an object.
    fileprivate var asJSON: JSONValue { .object(map { JSONValue.Member($0.key, $0.value) }) }
}
