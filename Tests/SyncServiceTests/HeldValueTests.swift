import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

private struct Owner: EntityRecord {
    var id: Int?
    var name: String

    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName, attributes: [.init("id", Int?.self, isKey: true), .init("name", String.self)],
            relationships: [.init("pets", to: Pet.self, many: true, inverse: "owner")])
    }
    static var syncProperties: [PartialKeyPath<Owner>: SyncProperty] { [\.id: "id", \.name: "name"] }
    typealias SyncKey = Int
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(name: String) { self.name = name }
    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        name = try row.value("name")
    }
    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        try row.set("name", to: name)
    }
    mutating func setRelated(_ rows: [any EntityRecord], for relationship: String) {}
}

private struct Pet: EntityRecord {
    var id: Int?
    var name: String
    var ownerID: Int?
    var owner = RelatedRows<Owner>()

    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName, attributes: [.init("id", Int?.self, isKey: true), .init("name", String.self)],
            relationships: [.init("owner", to: Owner.self)])
    }
    static var syncProperties: [PartialKeyPath<Pet>: SyncProperty] {
        [
            \.id: "id", \.name: "name", \.owner: SyncProperty("owner", to: Owner.self),
            \.ownerID: SyncProperty("owner"),
        ]
    }
    typealias SyncKey = Int
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(name: String) { self.name = name }
    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        name = try row.value("name")
        ownerID = try row.value("ownerID")
    }
    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        try row.set("name", to: name)
        row.setForeignKey("owner", to: ownerID, in: "ownerID")
        row.setRelated("owner", to: owner.rows)
    }
    mutating func setRelated(_ rows: [any EntityRecord], for relationship: String) { owner.load(rows) }
}

/// Values that an app read before the engine replaced their temporary keys.
@Suite("Values with replaced temporary keys")
struct HeldValueTests {
    private let service = InMemoryService()
    private let device: Device

    init() throws {
        let stack = try DataStack.inMemory(SyncModel(Owner.self, Pet.self))
        device = try Device(stack, service, entities: [SyncedEntity(Owner.self), SyncedEntity(Pet.self)])
    }

    /// Inserts an owner, pushes it, and returns the value with the key that it had before the push.
    private func pushedOwner() async throws -> Owner {
        var owner = Owner(name: "Ann")
        owner.id = try await device.stack.insert(owner)[Owner.self].inserted.first
        #expect(owner.id != nil)
        try await device.engine.sync()
        return owner
    }

    private func names(_ entity: String) async -> [JSONValue?] {
        await service.contents(of: entity).values.map { $0["name"] }
    }

    @Test("Saving the value updates the row with the current key")
    func saved() async throws {
        var owner = try await pushedOwner()
        owner.name = "Anne"
        let result = try await device.stack.save(owner)
        #expect(result[Owner.self].inserted.isEmpty && result[Owner.self].updated == [1])
        try await device.engine.sync()
        #expect(await names("Owner") == ["Anne"])
        #expect(try await device.stack.fetch(Owner.self).map(\.id) == [1])
    }

    @Test("A sync of the value updates the row with the current key")
    func synced() async throws {
        var owner = try await pushedOwner()
        owner.name = "Anne"
        let result = try await Sync.changes([owner], stack: device.stack)
        #expect(result[Owner.self].inserted.isEmpty && result[Owner.self].updated == [1])
        try await device.engine.sync()
        #expect(await names("Owner") == ["Anne"])
    }

    @Test("A sync of values without keys inserts rows with temporary keys, also related rows")
    func syncedWithoutKeys() async throws {
        var pet = Pet(name: "Rex")
        pet.owner.load([Owner(name: "Ann")])
        var results = device.stack.syncResults.makeAsyncIterator()
        let result = try await Sync.changes([pet], stack: device.stack)
        #expect(result["Pet"].insertedCount == 1 && result["Owner"].insertedCount == 1)
        #expect(await results.next() == result)
        #expect(result.diagnostics.isEmpty)
        try await device.engine.sync()
        #expect(await names("Owner") == ["Ann"])
        #expect(try await device.stack.fetch(Pet.self).map(\.ownerID) == [1])
        try await Sync.changes([Owner](), stack: device.stack)
        #expect(try await device.stack.count("Owner") == 1)
    }

    @Test("Inserting the value again fails, because its row is stored")
    func insertedAgain() async throws {
        let owner = try await pushedOwner()
        let error = await #expect(throws: SyncError.self) { try await device.stack.insert(owner) }
        #expect(error?.code == .duplicateKey)
        #expect(try await device.stack.fetch(Owner.self).count == 1)
    }

    @Test("A new row is linked to the row of a held value, by its key or as a loaded row", arguments: [false, true])
    func linked(isLoaded: Bool) async throws {
        let owner = try await pushedOwner()
        var pet = Pet(name: "Rex")
        if isLoaded { pet.owner.load([owner]) } else { pet.ownerID = owner.id }
        try await device.stack.save(pet)
        #expect(try await device.stack.fetch(Pet.self).map(\.ownerID) == [1])
        try await device.engine.sync()
        #expect(await names("Owner") == ["Ann"])
        #expect(await service.contents(of: "Pet").values.map { $0["owner_id"] ?? $0["owner"] } == [1])
    }

    @Test("The row of a deleted value is deleted, also at the service")
    func deleted() async throws {
        try await device.stack.delete(try await pushedOwner())
        try await device.engine.sync()
        #expect(await names("Owner").isEmpty)
    }
}
