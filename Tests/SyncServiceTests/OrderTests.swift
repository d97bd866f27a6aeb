import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// The order of an ordered many-to-many relationship, edited by plain SQL on both sides.
@Suite("Order of lists")
struct OrderTests {
    private static let schema = """
        {"entities": {
          "Task": {"attributes": {"remoteID": {"type": "integer"}, "title": {"type": "string"}},
            "relationships": {"tags": {"entity": "Tag", "many": true, "ordered": true, "inverse": "tasks"}}},
          "Tag": {"attributes": {"remoteID": {"type": "integer"}, "name": {"type": "string"}},
            "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "tags", "export": false}}}
        }}
        """

    private let service = InMemoryService()

    private func device(
        _ policy: ConflictPolicy = .clientWins, _ configuration: SyncEngine.Configuration = Device.configuration
    ) throws
        -> Device
    {
        try Device(
            service, schema: Self.schema,
            entities: ["Tag", "Task"].map { SyncedEntity($0, conflictPolicy: policy) }, configuration)
    }

    /// Returns devices that have synced a task with tags 1 to 4.
    private func devices(_ count: Int, _ policy: ConflictPolicy = .clientWins) async throws -> [Device] {
        for id in 1...6 { await service.set("Tag", JSONValue(id), ["name": .string("g\(id)")]) }
        await service.set("Task", 1, ["title": "t", "tag_ids": [1, 2, 3, 4]])
        var devices: [Device] = []
        for _ in 0..<count {
            devices.append(try device(policy))
            try await devices.last?.engine.sync()
        }
        await service.deleteRequests()
        return devices
    }

    private var listed: JSONValue? { get async { await service.contents(of: "Task")[1]?["tag_ids"] } }

    private var sent: [JSONValue] {
        get async {
            await service.requests.flatMap { request -> [JSONValue] in
                if case .push(let operations) = request { return operations.map(\.record) }
                return []
            }
        }
    }

    @Test("A changed order is sent")
    func moved() async throws {
        let devices = try await devices(2)
        try await devices[0].order([4, 1, 2, 3])
        try await devices[0].engine.sync()
        #expect(await sent == [["tag_ids": [4, 1, 2, 3]]])
        #expect(await listed == [4, 1, 2, 3])
        try await devices[1].engine.sync()
        for device in devices {
            #expect(try await device.order() == [4, 1, 2, 3])
            #expect(try await device.leftovers() == [])
            #expect(try await device.engine.sync().isEmpty)
        }
    }

    @Test(
        "An order changed by deleting and inserting, or replacing, the join rows is sent",
        arguments: ["DELETE", "REPLACE"])
    func joinRowsInsertedAgain(_ how: String) async throws {
        let device = try await devices(1)[0]
        if how == "DELETE" { try await device.write("DELETE FROM Tag_tasks") }
        for (place, tag) in [3, 2, 1, 4].enumerated() {
            try await device.write(
                "INSERT OR REPLACE INTO Tag_tasks (taskID, tagID, \(Device.place)) VALUES (1, \(tag), \(place))")
        }
        try await device.engine.sync()
        #expect(await sent == [["tag_ids": [3, 2, 1, 4]]])
        #expect(try await device.leftovers() == [])
    }

    @Test("An order that is restored is not sent, whatever the positions")
    func restoredOrder() async throws {
        let device = try await devices(1)[0]
        try await device.order([4, 1, 2, 3])
        try await device.write("UPDATE Tag_tasks SET \(Device.place) = 10 * tagID")
        #expect(try await device.engine.sync().isEmpty)
        #expect(await sent == [])
        #expect(try await device.leftovers() == [])
    }

    @Test("A changed order keeps remote additions and removals, each added row after its predecessor")
    func additions() async throws {
        let devices = try await devices(2)
        try await devices[0].order([4, 1, 2, 3])
        try await devices[0].write("INSERT INTO Tag_tasks (taskID, tagID, \(Device.place)) VALUES (1, 5, 9)")
        try await devices[1].write("DELETE FROM Tag_tasks WHERE tagID = 3")
        try await devices[1].write("UPDATE Tag_tasks SET \(Device.place) = 10 * tagID")
        try await devices[1].write("INSERT INTO Tag_tasks (taskID, tagID, \(Device.place)) VALUES (1, 6, 15)")
        try await devices[1].engine.sync()
        #expect(await listed == [1, 6, 2, 4])
        for device in devices + devices { try await device.engine.sync() }
        #expect(await listed == [4, 1, 6, 2, 5])
        for device in devices {
            #expect(try await device.order() == [4, 1, 6, 2, 5])
            #expect(try await device.leftovers() == [])
            #expect(try await device.engine.conflicts().isEmpty)
        }
    }

    @Test(
        "If both sides changed an order, the policy decides and the losing order is logged",
        arguments: [(ConflictPolicy.clientWins, [2, 1, 3, 4]), (.serverWins, [4, 1, 2, 3])])
    func bothMoved(_ policy: ConflictPolicy, _ winner: [Int]) async throws {
        let devices = try await devices(2, policy)
        try await devices[0].order([4, 1, 2, 3])
        try await devices[1].order([2, 1, 3, 4])
        for device in devices + devices { try await device.engine.sync() }
        for device in devices {
            #expect(try await device.order() == winner)
            #expect(try await device.leftovers() == [])
        }
        let logged = try #require(try await devices[1].engine.conflicts().first)
        #expect(logged.field == "tags")
        #expect((logged.base, logged.local, logged.remote) == ([1, 2, 3, 4], [2, 1, 3, 4], [4, 1, 2, 3]))
        #expect(logged.winner == (policy == .clientWins ? "local" : "remote"))
    }

    @Test(
        "With the policy manual, an order that both sides changed stays open until it is resolved",
        arguments: [SyncConflict.Side.remote, .local])
    func manual(_ side: SyncConflict.Side) async throws {
        let devices = try await devices(2, .manual)
        try await devices[0].order([4, 1, 2, 3])
        try await devices[1].order([2, 1, 3, 4])
        for device in devices + devices { try await device.engine.sync() }
        #expect(await listed == [4, 1, 2, 3])
        #expect(try await devices[1].order() == [2, 1, 3, 4])
        #expect(try await devices[1].engine.conflicts().map(\.winner) == ["open"])
        try await devices[1].engine.resolve("Task", key: 1, field: "tags", keeping: side)
        for device in devices + devices { try await device.engine.sync() }
        for device in devices {
            #expect(try await device.order() == (side == .remote ? [4, 1, 2, 3] : [2, 1, 3, 4]))
            #expect(try await device.leftovers() == [])
        }
    }

    @Test("A resolver may return a third order")
    func resolver() async throws {
        let first = try await devices(1)[0]
        var configuration = Device.configuration
        configuration.conflictResolver = { conflict in conflict.field == "tags" ? .merged([3, 4, 1, 2]) : .usePolicy }
        let second = try device(.clientWins, configuration)
        try await second.engine.sync()
        try await first.order([4, 1, 2, 3])
        try await second.order([2, 1, 3, 4])
        for device in [first, second, first] { try await device.engine.sync() }
        for device in [first, second] { #expect(try await device.order() == [3, 4, 1, 2]) }
    }

    @Test(
        "A merged list that is not an array of IDs leaves the conflict open",
        arguments: ["M", 5, .null, ["x": 1], ["z"], [["x": 1]]] as [JSONValue])
    func unfitList(_ value: JSONValue) async throws {
        let first = try await devices(1)[0]
        var configuration = Device.configuration
        configuration.conflictResolver = { _ in .merged(value) }
        let second = try device(.clientWins, configuration)
        try await second.engine.sync()
        try await first.order([4, 1, 2, 3])
        try await second.order([2, 1, 3, 4])
        for device in [first, second] { try await device.engine.sync() }
        #expect(try await second.order() == [2, 1, 3, 4])
        #expect(try await second.engine.conflicts().map(\.isOpen) == [true])
        #expect(await listed == [4, 1, 2, 3])
    }

    @Test("An order changed during its request is sent again, even if the answer is lost", arguments: [false, true])
    func meanwhile(_ isLost: Bool) async throws {
        let devices = try await devices(2)
        try await devices[0].order([4, 1, 2, 3])
        let (device, counter) = (devices[0], Counter())
        await service.onRequest { request in
            guard case .push = request, await counter.next() == 1 else { return }
            try? await device.order([3, 4, 1, 2])
        }
        if isLost {
            await service.setFault { request, _ in
                guard case .push = request else { return nil }
                return .failsAfterApply
            }
            _ = try? await Device(device.stack, service, entities: ["Tag", "Task"], Device.impatient).engine.sync()
            await service.setFault(nil)
        }
        for device in devices + devices { try await device.engine.sync() }
        #expect(await listed == [3, 4, 1, 2])
        for device in devices {
            #expect(try await device.order() == [3, 4, 1, 2])
            #expect(try await device.leftovers() == [])
        }
    }

    @Test("A new list keeps its order, also with new rows in it")
    func newList() async throws {
        let devices = try await devices(2)
        let stack = devices[0].stack
        let tag = try await stack.insert("Tag", values: ["name": "new"])
        let known = try await (stack.fetch("Tag", id: 3), stack.fetch("Tag", id: 1))
        try await stack.insert(
            "Task", values: ["title": "made"],
            relationships: ["tags": [try #require(known.0), tag, try #require(known.1)]])
        try await devices[0].order([2, 1, 3, 4])
        for device in devices + devices { try await device.engine.sync() }
        let names =
            "SELECT g.name FROM Tag_tasks p JOIN Tag g ON g.remoteID = p.tagID JOIN Task t ON t.remoteID = p.taskID"
        for device in devices {
            let made = try await device.rows("\(names) WHERE t.title = 'made' ORDER BY p.\(Device.place)")
            #expect(made == ["g3", "new", "g1"])
            #expect(try await device.leftovers() == [])
        }
    }

    @Test("Orders and links changed while triggers were missing are sent")
    func audit() async throws {
        let device = try await devices(1)[0]
        try await device.removeTriggers()
        try await device.order([4, 1, 2, 3])
        try await device.write("DELETE FROM Tag_tasks WHERE tagID = 2")
        try await device.write("INSERT INTO Tag_tasks (taskID, tagID, \(Device.place)) VALUES (1, 6, -1)")
        let again = try Device(device.stack, service, entities: ["Tag", "Task"])
        try await again.engine.sync()
        #expect(await listed == [6, 4, 1, 3])
        #expect(try await again.order() == [6, 4, 1, 3])
        #expect(try await again.leftovers() == [])
    }

    /// A counter.
    private actor Counter {
        private var count = 0
        func next() -> Int {
            count += 1
            return count
        }
    }

    @Test("References to rows not stored yet stay in a list when it is sent")
    func awaited() async throws {
        for id in 1...2 { await service.set("Tag", JSONValue(id), ["name": "g"]) }
        await service.set("Task", 1, ["title": "t", "tag_ids": [1, 9]])
        let device = try device()
        try await device.engine.sync()
        try await device.write("INSERT INTO Tag_tasks (taskID, tagID, \(Device.place)) VALUES (1, 2, 7)")
        try await device.engine.sync()
        #expect(await listed == [1, 9, 2])
        await service.set("Tag", 9, ["name": "late"])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Tag_tasks") == ["3"])
        #expect(await listed == [1, 9, 2])
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "Pending references follow their list to a new key, and end with the row's or the target's deletion")
    func awaitedElsewhere() async throws {
        await service.set("Tag", 1, ["name": "g"])
        for id in 1...3 { await service.set("Task", JSONValue(id), ["title": "t", "tag_ids": [1, 9]]) }
        let device = try device()
        try await device.engine.sync()
        try await device.write("UPDATE Task SET remoteID = 70 WHERE remoteID = 1")
        try await device.write("DELETE FROM Task WHERE remoteID = 3")
        try await device.engine.sync()
        try await device.write("INSERT INTO Task (remoteID, title) VALUES (3, 'another')")
        try await device.engine.sync()
        await service.setFault { request, _ in
            guard case .push(let operations) = request else { return nil }
            return operations.contains { $0.id == 2 } ? .refuse : nil
        }
        try await device.write("UPDATE Task SET title = 'mine' WHERE remoteID = 2")
        try await device.write("DELETE FROM Tag_tasks WHERE taskID = 2")
        try await device.engine.sync()
        let tasks = await service.contents(of: "Task")
        #expect(tasks.values.first { $0["title"] == "another" }?["tag_ids"] == [])
        #expect(tasks.values.filter { $0["tag_ids"] == [1, 9] }.count == 2)
        await service.setFault(nil)
        await service.set("Tag", 9, ["name": "late"])
        await service.remove("Tag", 9)
        try await device.engine.sync()
        #expect(await service.contents(of: "Task")[2]?["title"] == "mine")
        #expect(await service.contents(of: "Task")[2]?["tag_ids"] == [])
        #expect(try await device.leftovers() == [])
    }

    // MARK: Ordered lists of a one-to-many relationship

    private static func projects(_ more: String) -> String {
        Device.schema.replacingOccurrences(
            of: "\"many\": true, \"inverse\": \"project\"", with: "\"many\": true, \(more)\"inverse\": \"project\"")
    }

    @Test("Syncing an ordered one-to-many list is an error unless the list is not exported")
    func ofOneToMany() async throws {
        let service = InMemoryService()
        await service.set("Project", 1, ["name": "p"])
        let ordered = Self.projects("\"ordered\": true, ")
        let error = #expect(throws: SyncError.self) { try Device(service, schema: ordered) }
        #expect(error?.code == .invalidOption && error?.entity == "Project")
        #expect(error?.message.contains("'tasks'") == true, "\(error?.message ?? "")")
        // No list is sent by an import, by an engine of the entity of its rows alone, or if the model does not export
        // it.
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(ordered.utf8)))
        try await Sync.importPages(from: service, entity: "Project", stack: stack, configuration: Device.configuration)
        #expect(try await stack.count("Project") == 1)
        try await Device(service, schema: ordered, entities: ["Task", "Tag"]).engine.sync()
        try await Device(service, schema: Self.projects("\"ordered\": true, \"export\": false, ")).engine.sync()
        #expect(try Device(service, schema: Self.projects("")).stack.model.entities.count == 3)
    }
}

extension Device {
    /// Returns the tags of task 1 in order.
    func order() async throws -> [Int] {
        try await rows("SELECT tagID FROM Tag_tasks WHERE taskID = 1 ORDER BY \(Self.place) NULLS LAST, tagID")
            .compactMap(Int.init)
    }

    /// Sets the positions of the tags of task 1.
    func order(_ tags: [Int]) async throws {
        for (place, tag) in tags.enumerated() {
            try await write("UPDATE Tag_tasks SET \(Self.place) = \(place) WHERE taskID = 1 AND tagID = \(tag)")
        }
    }
}
