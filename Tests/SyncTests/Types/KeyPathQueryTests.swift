import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

private struct Memo: EntityRecord, Equatable {
    var id: Int
    var title: String
    var stars: Int

    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName,
            attributes: [
                .init("id", Int.self, isKey: true), .init("title", String.self), .init("stars", Int.self),
            ])
    }
    static var syncProperties: [PartialKeyPath<Memo>: SyncProperty] {
        [\.id: "id", \.title: "title", \.stars: "stars"]
    }
    typealias SyncKey = Int
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(id: Int, title: String, stars: Int) { (self.id, self.title, self.stars) = (id, title, stars) }
    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        title = try row.value("title")
        stars = try row.value("stars")
    }
    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        try row.set("title", to: title)
        try row.set("stars", to: stars)
    }
}

/// Queries and engines that name entities by Swift types, and attributes by key paths.
@Suite("Types and key paths instead of names")
struct KeyPathQueryTests {
    private static let memos = [
        Memo(id: 1, title: "b", stars: 5), Memo(id: 2, title: "a", stars: 1), Memo(id: 3, title: "c", stars: 4),
    ]

    private func stack() async throws -> DataStack {
        let stack = try DataStack.inMemory(SyncModel(Memo.self))
        try await stack.save(Self.memos)
        return stack
    }

    @Test("Rows are fetched by a predicate of Foundation, in the order of a key path")
    func fetch() async throws {
        let stack = try await stack()
        func ids(_ memos: [Memo]) -> [Int] { memos.map(\.id) }
        #expect(ids(try await stack.fetch(Memo.self, orderedBy: \.title)) == [2, 1, 3])
        #expect(ids(try await stack.fetch(Memo.self, orderedBy: \.stars, ascending: false)) == [1, 3, 2])
        #expect(ids(try await stack.fetch(Memo.self, where: #Predicate { $0.stars > 3 })) == [1, 3])
        #expect(
            ids(try await stack.fetch(Memo.self, where: #Predicate { $0.stars > 3 }, orderedBy: \.stars, limit: 1))
                == [3])
        // The forms with texts stay as they are.
        #expect(ids(try await stack.fetch(Memo.self)) == [1, 2, 3])
        #expect(ids(try await stack.fetch(Memo.self, where: "stars > 3", orderedBy: "-title")) == [3, 1])
        #expect(ids(try await stack.fetch(Memo.self, orderedBy: "-stars, title")) == [1, 3, 2])
    }

    @Test("Rows are counted and observed by a predicate of Foundation")
    func observe() async throws {
        let stack = try await stack()
        #expect(try await stack.count(Memo.self, where: #Predicate { $0.stars > 3 }) == 2)
        var counts = try stack.observeCount(Memo.self, where: #Predicate { $0.stars > 3 }).makeAsyncIterator()
        var titles = try stack.observe(Memo.self, where: #Predicate { $0.stars > 3 }, orderedBy: \.title)
            .makeAsyncIterator()
        #expect(try await counts.next() == 2)
        #expect(try await titles.next()?.map(\.title) == ["b", "c"])
        try await stack.save(Memo(id: 4, title: "a", stars: 9))
        #expect(try await counts.next() == 3)
        #expect(try await titles.next()?.map(\.title) == ["a", "b", "c"])
    }

    @Test("Rows are fetched and counted by a predicate of Foundation inside a transaction")
    func transaction() async throws {
        let stack = try await stack()
        let (ids, first, count) = try await stack.read { db in
            (
                try stack.fetch(Memo.self, where: #Predicate { $0.stars > 3 }, orderedBy: \.title, in: db).map(\.id),
                try stack.fetch(Memo.self, orderedBy: \.stars, ascending: false, limit: 1, in: db).map(\.id),
                try stack.count(Memo.self, where: #Predicate { $0.stars > 3 }, in: db)
            )
        }
        #expect(ids == [1, 3])
        #expect(first == [1])
        #expect(count == 2)
    }

    @Test("A predicate without a translation ends an observation")
    func untranslatablePredicate() async throws {
        let stack = try await stack()
        var memos = try stack.observe(Memo.self, where: #Predicate { $0.title.count > 3 }).makeAsyncIterator()
        let error = await #expect(throws: SyncError.self) { try await memos.next() }
        #expect(error?.code == .invalidPredicate)
    }

    @Test("A key path that is no attribute is an error")
    func unknownKeyPath() async throws {
        let stack = try await stack()
        let error = await #expect(throws: SyncError.self) {
            try await stack.fetch(Memo.self, orderedBy: \.title.count)
        }
        #expect(error?.code == .unknownAttribute || error?.code == .invalidPredicate, "\(error?.description ?? "")")
    }

    @Test("An engine, its runs and its reports name entities by types")
    func engine() async throws {
        let service = InMemoryService()
        let engine = try await SyncEngine(stack: stack(), service: service, entities: [Memo.self])
        try await engine.push(only: [Memo.self])
        await service.set("Memo", 9, ["title": "new", "stars": 2])
        let report = try await engine.pull(only: [Memo.self])
        #expect(report[Memo.self].pulledInserts == 1)
        #expect(try await engine.sync(only: [Memo.self])[Memo.self] == SyncReport().total)
    }

    @Test("Conflicts and the sync status are those of types, and a key path names the field of a conflict")
    func conflicts() async throws {
        let service = InMemoryService()
        await service.set("Memo", 1, ["title": "a", "stars": 1])
        let stack = try DataStack.inMemory(SyncModel(Memo.self))
        var configuration = SyncEngine.Configuration()
        configuration.conflictPolicy = .manual
        let engine = try SyncEngine(
            stack: stack, service: service, entities: [Memo.self], configuration: configuration)
        try await engine.sync()
        try await stack.save(Memo(id: 1, title: "mine", stars: 1))
        await service.set("Memo", 1, ["title": "theirs", "stars": 1])
        try await engine.sync()
        #expect(try await engine.conflicts(only: [Memo.self]).map(\.field) == ["title"])
        #expect(try await engine.status(only: [Memo.self]).map(\.entity) == ["Memo"])
        #expect(try await engine.blockedChanges(only: [Memo.self]).isEmpty)
        let error = await #expect(throws: SyncError.self) {
            try await engine.resolve(Memo.self, key: 1, field: \.title.count, keeping: .remote)
        }
        #expect(error?.code == .invalidOption)
        try await engine.resolve(Memo.self, key: 1, field: \.title, keeping: .remote)
        #expect(try await stack.fetch(Memo.self, id: 1)?.title == "theirs")
    }

    @Test("The natural key of an entity can be given as key paths")
    func naturalKey() async throws {
        let service = InMemoryService()
        await service.set("Memo", 9, ["title": "same", "stars": 2])
        let stack = try DataStack.inMemory(SyncModel(Memo.self))
        let engine = try SyncEngine(
            stack: stack, service: service, entities: [SyncedEntity(Memo.self, naturalKey: [\.title])])
        try await stack.insert("Memo", values: ["title": "same", "stars": 2])
        try await engine.sync()
        #expect(try await stack.fetch(Memo.self).map(\.id) == [9])
        let error = #expect(throws: SyncError.self) {
            try SyncEngine(
                stack: stack, service: service, entities: [SyncedEntity(Memo.self, naturalKey: [\.title.count])])
        }
        #expect(error?.code == .unknownAttribute)
    }
}
