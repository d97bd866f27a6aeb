import Foundation
import GRDB
import Sync
import Testing

/// A type whose primary key is optional, for rows that the app creates.
private struct Draft: EntityRecord, Equatable {
    var id: Int?
    var title: String

    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName, attributes: [.init("id", Int?.self, isKey: true), .init("title", String.self)])
    }
    static var syncProperties: [PartialKeyPath<Draft>: SyncProperty] { [\.id: "id", \.title: "title"] }
    typealias SyncKey = Int
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(id: Int? = nil, title: String) { (self.id, self.title) = (id, title) }
    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        title = try row.value("title")
    }
    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        try row.set("title", to: title)
    }
}

/// A type with both default names of a key. The model takes `id`.
private struct Both: EntityRecord, Equatable {
    var remoteID: Int
    var id: Int

    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(entityName, attributes: [.init("remoteID", Int.self), .init("id", Int.self)])
    }
    static var syncProperties: [PartialKeyPath<Both>: SyncProperty] { [\.id: "id", \.remoteID: "remoteID"] }
    typealias SyncKey = Int
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(id: Int, remoteID: Int) { (self.id, self.remoteID) = (id, remoteID) }
    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        remoteID = try row.value("remoteID")
    }
    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        try row.set("remoteID", to: remoteID)
    }
}

private struct Owner: EntityRecord, Equatable {
    var id: Int

    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(entityName, attributes: [.init("id", Int.self, isKey: true)])
    }
    static var syncProperties: [PartialKeyPath<Owner>: SyncProperty] { [\.id: "id"] }
    typealias SyncKey = Int
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(id: Int) { self.id = id }
    init(entityRow row: EntityRowDecoder) throws { id = try row.value("id") }
    func encode(into row: inout EntityRowEncoder) throws { try row.set("id", to: id) }
}

/// A type with a to-one relationship, as `@Entity` generates it.
private struct Pet: EntityRecord, Equatable {
    var id: Int
    var _owner = RelatedRows<Owner>()
    var ownerID: Int?
    var owner: Owner? {
        get { _owner.rows?.first }
        set {
            _owner.rows = newValue.map { [$0] } ?? []
            ownerID = newValue?.syncKey
        }
    }

    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName, attributes: [.init("id", Int.self, isKey: true)],
            relationships: [.init("owner", to: Owner.self)])
    }
    static var syncProperties: [PartialKeyPath<Pet>: SyncProperty] {
        [\.id: "id", \.owner: SyncProperty("owner", to: Owner.self)]
    }
    typealias SyncKey = Int
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(id: Int, owner: Owner? = nil, ownerID: Int? = nil) {
        self.id = id
        _owner = RelatedRows(owner.map { [$0] })
        self.ownerID = owner?.id ?? ownerID
    }
    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        ownerID = try row.value("ownerID")
    }
    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        row.setForeignKey("owner", to: ownerID, in: "ownerID")
        row.setRelated("owner", to: _owner.rows)
    }
    mutating func setRelated(_ rows: [any EntityRecord], for relationship: String) { _owner.load(rows) }
}

@Suite("Saved values")
struct SavingTests {
    private let stack: DataStack

    init() throws { stack = try DataStack.inMemory(SyncModel(Job.self, Chore.self, Scrap.self, Draft.self)) }

    @Test("A property that the model does not have is an error, and nothing is written")
    func unknownProperty() async throws {
        let model = try SyncModel(
            schemaData: Data(#"{"entities": {"Job": {"attributes": {"id": "integer"}}}}"#.utf8))
        let stack = try DataStack.inMemory(model)
        for write in [
            { try await stack.save(Job(id: 1)) }, { try await stack.insert(Job(id: 1)) },
            { try await Sync.changes([Job(id: 1)], stack: stack) },
        ] as [() async throws -> SyncResult] {
            let error = await #expect(throws: SyncError.self) { _ = try await write() }
            #expect(error?.code == .unknownAttribute)
            #expect(error?.message.contains("which is no attribute of Job") == true)
        }
        #expect(try await stack.count("Job") == 0)
    }

    private func job(_ id: Int, _ stage: Stage? = nil, chores: [Int]? = nil) -> Job {
        var job = Job(id: id)
        job.stage = stage
        job.tasks = RelatedRows(chores.map { $0.map { Chore(job: id, number: $0) } })
        return job
    }

    @Test("A saved value is inserted, then updated, and other rows stay")
    func savesOneValue() async throws {
        try await stack.save([job(1), job(2)])
        let changed = try await stack.save(job(1, .done))
        #expect(changed["Job"].updated.map(\.key) == [.integer(1)])
        #expect(changed["Job"].deletedCount == 0)
        #expect(try await stack.save(job(1, .done)).isEmpty)
        #expect(try await stack.fetch(Job.self) == [job(1, .done), job(2)])
    }

    @Test("Loaded related rows are saved and linked, and omitted rows stay; a sync of the value replaces the links")
    func savesRelatedRows() async throws {
        func numbers() async throws -> [Int]? {
            try await stack.fetch(Job.self, id: 1, including: \.tasks)?.tasks.rows?.map(\.number)
        }
        try await stack.save(job(1, chores: [1, 2]))
        try await stack.save(job(1, .open))
        #expect(try await numbers() == [1, 2])
        let result = try await stack.save(job(1, .open, chores: [2, 3]))
        #expect(result["Chore"].deletedCount == 0)
        #expect(try await numbers() == [1, 2, 3])
        try await Sync.changes([job(1, .open, chores: [2, 3])], stack: stack)
        #expect(try await numbers() == [2, 3])
    }

    @Test("A to-one relationship that is set to nil loses its link, and one that is not loaded keeps it")
    func unlinks() async throws {
        let stack = try DataStack.inMemory(SyncModel(Owner.self, Pet.self))
        try await stack.save(Pet(id: 1, owner: Owner(id: 7)))
        try await stack.save(Pet(id: 1, ownerID: 7))
        #expect(try await stack.fetch(Pet.self, id: 1)?.ownerID == 7)
        var pet = try #require(try await stack.fetch(Pet.self, id: 1, including: \.owner))
        pet.owner = nil
        try await stack.save(pet)
        #expect(try await stack.fetch(Pet.self, id: 1)?.ownerID == nil)
        #expect(try await stack.count(Owner.self) == 1)
    }

    @Test("Several values are saved in one transaction, and an error writes none of them")
    func savesAllOrNothing() async throws {
        try await stack.save(job(7))
        let error = await #expect(throws: SyncError.self) { try await stack.insert([job(1), job(7, .done)]) }
        #expect(error?.code == .duplicateKey)
        let contradiction = await #expect(throws: SyncError.self) {
            try await stack.save([job(1, .open), job(1, .done)])
        }
        #expect(contradiction?.code == .inconsistentRecords)
        #expect(try await stack.fetch(Job.self) == [job(7)])
        try await stack.insert(job(1))
        #expect(try await stack.count(Job.self) == 2)
    }

    @Test("A deleted value deletes its row by the delete rules; a missing row changes nothing")
    func deletesValues() async throws {
        try await stack.save([job(1, chores: [1]), job(2)])
        let result = try await stack.delete([job(1), job(5)])
        #expect(result["Job"].deleted == [.integer(1)])
        #expect(try await stack.fetch(Job.self).map(\.id) == [2])
        try await stack.delete(job(2))
        #expect(try await stack.count(Job.self) == 0)
        let error = await #expect(throws: SyncError.self) { try await stack.delete(Scrap(text: "a")) }
        #expect(error?.code == .keylessEntity)
    }

    @Test("A value without a primary key becomes a new row with a temporary key")
    func savesWithoutKey() async throws {
        let first = try await stack.save([Draft(title: "a"), Draft(title: "a")])
        #expect(first["Draft"].insertedCount == 2)
        try await stack.insert(Draft(id: 4, title: "b"))
        let drafts = try await stack.fetch(Draft.self, orderedBy: "title")
        #expect(drafts.last?.id == 4)
        #expect(Set(drafts.prefix(2).compactMap(\.id)).count == 2 && drafts.prefix(2).allSatisfy { ($0.id ?? 0) < 0 })
        var fetched = try #require(drafts.first)
        fetched.title = "c"
        #expect(try await stack.save(fetched)["Draft"].updatedCount == 1)
        #expect(try await stack.count(Draft.self) == 3)
        let error = await #expect(throws: SyncError.self) { try await stack.delete(Draft(title: "a")) }
        #expect(error?.code == .primaryKeyMissing)
    }

    @Test("An update changes the stored value, and other changes of the row stay")
    func updatesStoredValue() async throws {
        let saved = try await stack.save(Draft(title: "a"))
        let key = try #require(saved["Draft"].inserted.first?.json)
        // Another writer changes the row in between.
        try await Sync.update(id: key, with: ["title": "b"], inEntity: "Draft", stack: stack)
        let result = try await stack.update(Draft.self, id: key) { $0.title += "c" }
        #expect(result?["Draft"].updated.map(\.key.json) == [key])
        #expect(try await stack.fetch(Draft.self, id: key)?.title == "bc")
        #expect(try await stack.update(Draft.self, id: key) { _ in }?.isEmpty == true)
        #expect(try await stack.update(Draft.self, id: 99) { $0.title = "z" } == nil)
        #expect(try await stack.count(Draft.self) == 1)
        // A condition finds the row by its temporary key, but a sync with this condition does not delete it.
        let condition = RowPredicate.where("id == %@", key.int)
        #expect(try await stack.count(Draft.self, where: condition) == 1)
        let synced = try await Sync.changes([], as: Draft.self, stack: stack, predicate: condition)
        #expect(synced.isEmpty)
    }

    @Test("An update writes no attribute that it does not change")
    func updatesOneAttribute() async throws {
        let place: JSONValue = ["street": "Elm", "zip": "1234"]
        let json: JSONValue = [["id": 1, "level": 1, "place": place, "tasks": [["number": 1]]]]
        try await Sync.changes(json, inEntity: "Job", stack: stack)
        try await stack.update(Job.self, id: 1) { $0.level = 2 }
        try await stack.update(Chore.self, id: [1, 1] as JSONValue) { $0.text = "t" }
        #expect(try await stack.fetch("Job", id: 1)?["place"]?.json?["zip"] == "1234")
        #expect(try await stack.fetch(Chore.self).map(\.text) == ["t"])
        #expect(try await stack.fetch(Job.self, id: 1)?.level == 2)
        #expect(try await stack.update(Job.self, id: 1) { $0.place?.street = "Oak" }?["Job"].updatedCount == 1)
        #expect(try await stack.count(Chore.self) == 1)
    }

    @Test("An update that fails, or that changes the primary key, writes nothing")
    func updateThatFails() async throws {
        struct Failure: Error {}
        try await stack.save(Job(id: 1))
        let error = await #expect(throws: SyncError.self) { try await stack.update(Job.self, id: 1) { $0.id = 2 } }
        #expect(error?.code == .invalidOption && error?.entity == "Job")
        await #expect(throws: Failure.self) { try await stack.update(Job.self, id: 1) { _ in throw Failure() } }
        try await stack.write { [stack] db in
            let missing = try stack.update(Job.self, id: 2, in: db) { $0.id = 3 }
            #expect(missing == nil)
        }
        #expect(try await stack.fetch(Job.self).map(\.id) == [1])
    }

    @Test("Values saved in the caller's transaction are rolled back with it")
    func savesInTransaction() async throws {
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await stack.write { [stack] db in
                try stack.save([job(1)], in: db)
                try stack.insert([job(2)], in: db)
                #expect(try stack.count("Job", in: db) == 2)
                try stack.delete([job(1)], in: db)
                #expect(try stack.count("Job", in: db) == 1)
                throw Stop()
            }
        }
        #expect(try await stack.count(Job.self) == 0)
    }

    @Test("Each save publishes its result")
    func publishesResults() async throws {
        var results = stack.syncResults.makeAsyncIterator()
        try await stack.save(job(1))
        try await stack.delete(job(1))
        #expect(await results.next()?["Job"].inserted == [.integer(1)])
        #expect(await results.next()?["Job"].deleted == [.integer(1)])
    }
}

@Suite("Syncs of values")
struct ValueSyncTests {
    private let stack: DataStack

    init() throws { stack = try DataStack.inMemory(SyncModel(Job.self, Chore.self)) }

    @Test("Values are a delta, unless the caller states that they are a snapshot")
    func valuesAreDelta() async throws {
        try await Sync.changes((1...3).map { Job(id: $0) }, stack: stack)
        let delta = try await Sync.changes([Job(id: 4)], stack: stack)
        #expect(delta["Job"].insertedCount == 1 && delta["Job"].deletedCount == 0)
        let snapshot = try await Sync.changes(
            [Job(id: 4)], stack: stack, options: SyncOptions(payloadKind: .snapshot))
        #expect(snapshot["Job"].deleted == [.integer(1), .integer(2), .integer(3)])
    }

    @Test("Loaded rows of a to-many relationship that the operations exclude are reported")
    func reportsIgnoredRelationships() async throws {
        var job = Job(id: 1)
        job.tasks = RelatedRows([Chore(job: 1, number: 1), Chore(job: 1, number: 2)])
        let result = try await Sync.changes([job], stack: stack, operations: [.insert])
        #expect(result.diagnostics.map(\.kind) == [.ignoredRelationship])
        #expect(result.diagnostics.first?.path == "tasks" && result.diagnostics.first?.count == 2)
        #expect(try await stack.count(Chore.self) == 0)
        let all = try await Sync.changes([job], stack: stack, operations: .allButDelete)
        #expect(all.diagnostics.isEmpty && all["Chore"].insertedCount == 2)
    }

    @Test("The operations .allButDelete delete no rows and remove no links")
    func keepsRows() async throws {
        try await Sync.changes(
            [["id": 1, "tasks": [["number": 1], ["number": 2]]], ["id": 2]], inEntity: "Job", stack: stack)
        try await Sync.changes(
            [["id": 1, "tasks": [["number": 3]]]], inEntity: "Job", stack: stack, operations: .allButDelete)
        #expect(try await stack.count("Job") == 2)
        #expect(try await stack.count("Chore") == 3)
    }

    @Test("By default a sync deletes at most half of the rows of an entity with more than 10 rows")
    func defaultDeletionLimit() async throws {
        let many = JSONValue.array((1...20).map { ["id": JSONValue($0)] })
        let few: JSONValue = [["id": 1]]
        try await Sync.changes(many, inEntity: "Job", stack: stack)
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(few, inEntity: "Job", stack: stack)
        }
        #expect(error?.code == .deletionLimitExceeded)
        #expect(try await stack.count("Job") == 20)
        try await Sync.changes(few, inEntity: "Job", stack: stack, options: SyncOptions(deletionLimit: nil))
        #expect(try await stack.count("Job") == 1)
    }

    @Test("A value with both 'id' and 'remoteID' is updated by 'id', which is the key of the model")
    func keyOfBothNames() async throws {
        let stack = try DataStack.inMemory(SyncModel(Both.self))
        try await stack.save([Both(id: 1, remoteID: 2), Both(id: 2, remoteID: 1)])
        try await stack.write { db in try Both(id: 1, remoteID: 7).update(db) }
        #expect(try await stack.fetch(Both.self) == [Both(id: 1, remoteID: 7), Both(id: 2, remoteID: 1)])
    }
}
