import Foundation
import GRDB
import Sync
import Testing

/// A type whose table has the foreign key: `Holder.pass` sorts before `Pass.holder`.
private struct Holder: EntityRecord, Equatable {
    var id: Int
    var passID: Int?
    var pass = RelatedRows<Pass>()

    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName, attributes: [.init("id", Int.self, isKey: true)],
            relationships: [.init("pass", to: Pass.self, inverse: "holder")])
    }
    static var syncProperties: [PartialKeyPath<Holder>: SyncProperty] {
        [\.id: "id", \.pass: SyncProperty("pass", to: Pass.self), \.passID: SyncProperty("pass")]
    }
    typealias SyncKey = Int
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(id: Int, passID: Int? = nil) { (self.id, self.passID) = (id, passID) }
    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        passID = try row.value("passID")
    }
    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        row.setForeignKey("pass", to: passID, in: "passID")
        row.setRelated("pass", to: pass.rows)
    }
    mutating func setRelated(_ rows: [any EntityRecord], for relationship: String) { pass.load(rows) }
}

/// The type at the other end.
private struct Pass: EntityRecord, Equatable {
    var id: Int
    var number: String?
    var holderID: Int?
    var holder = RelatedRows<Holder>()
    var syncFetchedRow = FetchedRow()

    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName, attributes: [.init("id", Int.self, isKey: true), .init("number", String?.self)],
            relationships: [.init("holder", to: Holder.self)])
    }
    static var syncProperties: [PartialKeyPath<Pass>: SyncProperty] {
        [
            \.id: "id", \.number: "number", \.holder: SyncProperty("holder", to: Holder.self),
            \.holderID: SyncProperty("holder"),
        ]
    }
    typealias SyncKey = Int
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(id: Int, number: String? = nil, holderID: Int? = nil) {
        (self.id, self.number, self.holderID) = (id, number, holderID)
    }
    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        number = try row.value("number")
        holderID = try row.value("holderID")
    }
    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        try row.set("number", to: number)
        row.setForeignKey("holder", to: holderID, in: "holderID")
        row.setRelated("holder", to: holder.rows)
    }
    mutating func setRelated(_ rows: [any EntityRecord], for relationship: String) { holder.load(rows) }
}

/// Types whose columns do not have the key of a related row.
@Suite("Records with keys of related rows that their table lacks")
struct OneToOneRecordTests {
    private func stack() async throws -> DataStack {
        let stack = try DataStack.inMemory(SyncModel(Holder.self, Pass.self))
        try await stack.save([Holder(id: 1), Holder(id: 2)])
        try await stack.save([Pass(id: 10, number: "a", holderID: 1), Pass(id: 20, number: "b")])
        return stack
    }

    private func links(_ stack: DataStack) async throws -> [Int?] {
        try await stack.fetch(Holder.self).map(\.passID)
    }

    @Test("A value at the end without the foreign key is saved and fetched with the key of its related row")
    func otherEndIsFetchedAndSaved() async throws {
        let stack = try await stack()
        #expect(try await links(stack) == [10, nil])
        #expect(try await stack.fetch(Pass.self).map(\.holderID) == [1, nil])
        #expect(try await stack.fetch(Pass.self, id: 10)?.holderID == 1)
        let loaded = try #require(try await stack.fetch(Holder.self, id: 1, including: \.pass))
        #expect(loaded.pass.rows?.map(\.holderID) == [1])
        try await stack.save(Pass(id: 10, number: "a", holderID: 2))
        #expect(try await links(stack) == [nil, 10])
        #expect(try await stack.fetch(Pass.self, where: #Predicate { $0.holderID == 2 }).map(\.id) == [10])
    }

    @Test("Saving what was fetched changes nothing, and nil at the end without the foreign key keeps the link")
    func nilKeepsTheLink() async throws {
        let stack = try await stack()
        #expect(try await stack.save(stack.fetch(Pass.self)).isEmpty)
        try await stack.save(Pass(id: 10, number: "c"))
        #expect(try await links(stack) == [10, nil])
        var pass = Pass(id: 10, number: "c")
        pass.holder.rows = []
        try await stack.save(pass)
        #expect(try await links(stack) == [nil, nil])
    }

    @Test("A key that was fetched and is set to nil at the end without the foreign key removes the link")
    func nilRemovesFetchedLink() async throws {
        let stack = try await stack()
        try await stack.update(Pass.self, id: 10) { $0.number = "c" }
        #expect(try await links(stack) == [10, nil])
        try await stack.update(Pass.self, id: 10) { $0.holderID = nil }
        #expect(try await links(stack) == [nil, nil])
    }

    @Test("GRDB reads and writes a record at the end without the foreign key, and does not change its link")
    func recordIsReadAndWritten() async throws {
        let stack = try await stack()
        try await stack.write { db in
            var pass = try #require(try Pass.fetchOne(db, key: 10))
            #expect(pass.holderID == nil)
            pass.number = "x"
            try pass.update(db)
            try Pass(id: 30, number: "new", holderID: 2).insert(db)
            #expect(try Pass.fetchAll(db).map(\.number) == ["x", "b", "new"])
            let error = #expect(throws: SyncError.self) { try Pass.fetchAll(db, sql: "SELECT id FROM Pass") }
            #expect(error?.path == "number")
        }
        #expect(try await links(stack) == [10, nil])
    }
}

private struct Animal: EntityRecord, Equatable {
    var id: Int

    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(entityName, attributes: [.init("id", Int.self, isPrimaryKey: true)])
    }
    static var syncProperties: [PartialKeyPath<Animal>: SyncProperty] { [\.id: "id"] }
    typealias SyncKey = Int
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(id: Int) { self.id = id }
    init(entityRow row: EntityRowDecoder) throws { id = try row.value("id") }
    func encode(into row: inout EntityRowEncoder) throws { try row.set("id", to: id) }
}

/// A subentity with a key of its own, so that the table has a surrogate key.
private struct Cat: EntityRecord, Equatable {
    var id: Int?
    var chip: String

    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName, parent: "Animal",
            attributes: [.init("id", Int?.self), .init("chip", String.self, isPrimaryKey: true)])
    }
    static var syncProperties: [PartialKeyPath<Cat>: SyncProperty] { [\.id: "id", \.chip: "chip"] }
    typealias SyncKey = String
    var syncKey: String? { chip }
    var syncID: JSONValue { Self.syncID(of: chip) }

    init(id: Int? = nil, chip: String) { (self.id, self.chip) = (id, chip) }
    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        chip = try row.value("chip")
    }
    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        try row.set("chip", to: chip)
    }
}

private struct Toy: EntityRecord, Equatable {
    var id: Int
    var catID: String?

    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName, attributes: [.init("id", Int.self, isKey: true)], relationships: [.init("cat", to: Cat.self)])
    }
    static var syncProperties: [PartialKeyPath<Toy>: SyncProperty] {
        [\.id: "id", \.catID: SyncProperty("cat", to: Cat.self)]
    }
    typealias SyncKey = Int
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(id: Int, catID: String?) { (self.id, self.catID) = (id, catID) }
    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        catID = try row.value("catID")
    }
    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        row.setForeignKey("cat", to: catID, in: "catID")
    }
}

extension OneToOneRecordTests {
    @Test("The key of a related row of a subentity with its own key is fetched and saved, not its surrogate key")
    func ownKeyOfSubentity() async throws {
        let stack = try DataStack.inMemory(SyncModel(Animal.self, Cat.self, Toy.self))
        try await stack.save([Animal(id: 1)])
        try await stack.save([Cat(id: 5, chip: "x"), Cat(id: 6, chip: "y")])
        try await stack.save([Toy(id: 1, catID: "y"), Toy(id: 2, catID: nil)])
        #expect(try await stack.fetch(Toy.self).map(\.catID) == ["y", nil])
        #expect(try await stack.save(stack.fetch(Toy.self)).isEmpty)
    }
}
