import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Local edits of one-to-one references to rows that the service links to other rows.
@Suite("Edits of one-to-one references")
struct OneToOneEditTests {
    private static let schema = """
        {"entities": {
          "Person": {"attributes": {"id": "integer", "name": "string"},
            "relationships": {"seat": {"entity": "Seat", "inverse": "person"},
              "mate": {"entity": "Person", "inverse": "mate"}}},
          "Seat": {"attributes": {"id": "integer", "row": "string"},
            "relationships": {"person": {"entity": "Person", "inverse": "seat"}}}
        }}
        """

    private let service = InMemoryService(pageSize: 50)

    /// Returns a device with the people 1 to 3 and the free seat 1.
    private func device(_ policy: ConflictPolicy = .clientWins) async throws -> Device {
        for id in 1...3 { await service.set("Person", JSONValue(id), ["name": "n"]) }
        await service.set("Seat", 1, ["row": "a"])
        var configuration = Device.configuration
        configuration.conflictPolicy = policy
        let device = try Device(service, schema: Self.schema, entities: ["Person", "Seat"], configuration)
        try await device.engine.sync()
        return device
    }

    private func people(_ device: Device, _ column: String) async throws -> [String] {
        try await device.rows("SELECT id, \(column) FROM Person WHERE \(column) IS NOT NULL ORDER BY id")
    }

    @Test(
        "If both sides link a row to different rows, the policy decides, and the conflict is logged",
        arguments: [ConflictPolicy.clientWins, .serverWins], [true, false])
    func bothSides(_ policy: ConflictPolicy, _ isNestedInSeat: Bool) async throws {
        let device = try await device(policy)
        try await Sync.update(id: 2, with: ["seat_id": 1], inEntity: "Person", stack: device.stack)
        if isNestedInSeat {
            await service.set("Seat", 1, ["person_id": 1])
        } else {
            await service.set("Person", 1, ["seat_id": 1])
        }
        try await device.engine.sync()
        #expect(try await people(device, "seatID") == (policy == .clientWins ? ["2 1"] : ["1 1"]))
        let conflicts = try await device.engine.conflicts()
        #expect(conflicts.map(\.key) == [.integer(2)])
        #expect(conflicts.map(\.field) == ["seat"])
        #expect(conflicts.map(\.local) == [1])
        #expect(try await device.leftovers() == [])
        guard policy == .clientWins else { return }
        let people = await service.contents(of: "Person")
        #expect(people[2]?["seat_id"] == 1)
        #expect(people[1]?["seat_id"] == .null)
    }

    @Test("A row that was moved locally stays moved when the service changes another field of its former partner")
    func otherField() async throws {
        let device = try await device()
        await service.set("Person", 1, ["seat_id": 1])
        try await device.engine.sync()
        try await Sync.update(id: 2, with: ["seat_id": 1], inEntity: "Person", stack: device.stack)
        await service.set("Person", 1, ["name": "there"])
        try await device.engine.sync()
        #expect(try await people(device, "seatID") == ["2 1"])
        #expect(await service.contents(of: "Person")[2]?["seat_id"] == 1)
        #expect(await service.contents(of: "Person")[1]?["seat_id"] == .null)
        #expect(try await device.engine.conflicts().isEmpty)
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "A new row and a pulled row that reference one row are a conflict",
        arguments: [ConflictPolicy.clientWins, .serverWins])
    func newRow(_ policy: ConflictPolicy) async throws {
        let device = try await device(policy)
        try await device.write("INSERT INTO Person (name, seatID) VALUES ('new', 1)")
        await service.set("Person", 1, ["seat_id": 1])
        try await device.engine.sync()
        let names = try await device.rows("SELECT name FROM Person WHERE seatID = 1")
        #expect(names == (policy == .clientWins ? ["new"] : ["n"]))
        #expect(try await device.engine.conflicts().map(\.field) == ["seat"])
        #expect(await service.contents(of: "Person").count == 4)
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "Both rows of a symmetric link are merged by the same policy",
        arguments: [ConflictPolicy.clientWins, .serverWins])
    func symmetric(_ policy: ConflictPolicy) async throws {
        let device = try await device(policy)
        try await Sync.update(id: 1, with: ["mate_id": 2], inEntity: "Person", stack: device.stack)
        await service.set("Person", 3, ["mate_id": 1])
        try await device.engine.sync()
        #expect(try await people(device, "mateID") == (policy == .clientWins ? ["1 2", "2 1"] : ["1 3", "3 1"]))
        #expect(try await !device.engine.conflicts().isEmpty)
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "An open conflict about a one-to-one reference ends with the side that the user keeps",
        arguments: SyncConflict.Side.allCases)
    func open(_ side: SyncConflict.Side) async throws {
        let device = try await device(.manual)
        try await Sync.update(id: 2, with: ["seat_id": 1], inEntity: "Person", stack: device.stack)
        await service.set("Person", 1, ["seat_id": 1])
        try await device.engine.sync()
        #expect(try await device.engine.conflicts().map(\.isOpen) == [true])
        try await device.engine.resolve("Person", key: 2, keeping: side)
        try await device.engine.sync()
        #expect(try await people(device, "seatID") == (side == .local ? ["2 1"] : ["1 1"]))
        let expected: JSONValue = side == .local ? .null : 1
        #expect(await service.contents(of: "Person")[1]?["seat_id"] == expected)
        #expect(try await device.leftovers() == [])
    }

    @Test("If both sides unlink a row, a decision for the remote side does not link it again")
    func unlinkedByBothSides() async throws {
        for id in 1...2 { await service.set("Person", JSONValue(id), ["name": "n"]) }
        await service.set("Seat", 1, ["row": "a"])
        await service.set("Person", 1, ["seat_id": 1])
        let person = SyncedEntity("Person", conflictPolicy: .manual, mergesWholeRow: true)
        let device = try Device(service, schema: Self.schema, entities: [person, "Seat"])
        try await device.engine.sync()
        try await device.write(
            """
            UPDATE Person SET seatID = NULL, name = 'here' WHERE id = 1;
            UPDATE Person SET seatID = 1 WHERE id = 2
            """)
        await service.set("Person", 1, ["name": "there"])
        try await device.engine.sync()
        #expect(try await Set(device.engine.conflicts().map(\.field)) == ["name", "seat"])
        await service.set("Person", 1, ["seat_id": .null])
        try await device.engine.sync()
        try await device.engine.resolve("Person", key: 1, keeping: .remote)
        try await device.engine.sync()
        #expect(try await people(device, "seatID") == ["2 1"])
        #expect(try await device.rows("SELECT name FROM Person WHERE id = 1") == ["there"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A conflict about a row that both sides link stays open when the service changes another field")
    func staysOpen() async throws {
        let device = try await device(.manual)
        try await Sync.update(id: 2, with: ["seat_id": 1], inEntity: "Person", stack: device.stack)
        await service.set("Person", 1, ["seat_id": 1])
        try await device.engine.sync()
        await service.set("Person", 2, ["name": "there"])
        try await device.engine.sync()
        #expect(try await device.engine.conflicts().map(\.isOpen) == [true])
        #expect(await service.contents(of: "Person")[2]?["seat_id"] == nil)
        try await device.engine.resolve("Person", key: 2, keeping: .remote)
        try await device.engine.sync()
        #expect(try await people(device, "seatID") == ["1 1"])
        #expect(try await device.leftovers() == [])
    }
}
