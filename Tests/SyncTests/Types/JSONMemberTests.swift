import Foundation
import GRDB
import Sync
import Testing

@Suite("Conditions on members of JSON")
struct JSONMemberTests {
    struct Home: Codable, Hashable, Sendable {
        var city: String?
        var floor: Int?
    }

    struct Person: SyncEntity {
        var id: Int
        var home: Home

        static let entityName = "Person"
        static var syncEntity: SyncModel.Entity {
            SyncModel.Entity(
                entityName, attributes: [.init("id", Int.self, isKey: true), .init("home", Home.self)])
        }
        static var syncProperties: [PartialKeyPath<Person>: SyncProperty] { [\.id: "id", \.home: "home"] }
    }

    private static func ids(_ stack: DataStack, _ condition: RowPredicate) async throws -> [Int64] {
        try await stack.fetch("Person", where: condition).compactMap { $0["id"]?.int }
    }

    @Test("Members of a Codable type are compared with constants")
    func members() async throws {
        let stack = try DataStack.inMemory(SyncModel(Person.self))
        try await Sync.changes(
            Data(#"[{"id": 1, "home": {"city": "Rome", "floor": 2}}, {"id": 2, "home": {"city": "Bern"}}]"#.utf8),
            inEntity: "Person", stack: stack)
        #expect(try await Self.ids(stack, "home.city == 'Rome'") == [1])
        #expect(try await Self.ids(stack, "home.city BEGINSWITH 'B'") == [2])
        #expect(try await Self.ids(stack, "home.floor > 1.5") == [1])
        #expect(try await Self.ids(stack, "home.floor == nil") == [2])
        #expect(try await Self.ids(stack, "NOT home.floor > 1") == [2])
    }

    @Test("A member that is absent, null or of another type equals no value")
    func missingMembers() async throws {
        let stack = try DataStack.inMemory(SyncModel(Person.self))
        try await Sync.changes(
            Data(#"[{"id": 1, "home": {"city": "Rome"}}]"#.utf8), inEntity: "Person", stack: stack)
        try await stack.write { db in
            for (id, json) in [(2, "{}"), (3, #"{"city": null}"#), (4, #"{"city": "1"}"#), (5, "[1]"), (6, "no JSON")] {
                try db.execute(sql: "INSERT INTO Person (id, home) VALUES (?, ?)", arguments: [id, json])
            }
        }
        #expect(try await Self.ids(stack, "home.city == 1") == [])
        #expect(try await Self.ids(stack, "home.city == '1'") == [4])
        #expect(try await Self.ids(stack, "home.city != '1'") == [1, 2, 3, 5, 6])
        #expect(try await Self.ids(stack, "home.city == nil") == [2, 3, 5, 6])
        #expect(try await Self.ids(stack, "home.city < 5") == [])
    }

    @Test("A property of a Codable type in a Foundation predicate is an error that names the attribute")
    func untranslatableProperty() throws {
        let error = #expect(throws: SyncError.self) {
            try RowPredicate(#Predicate<Person> { $0.home.city == "Rome" })
        }
        #expect(error?.code == .invalidPredicate)
        #expect(error?.message.contains("this property of the attribute 'home' is not supported") == true)
        #expect(error?.message.hasSuffix("a text condition can use it, for example \"home.name == 'x'\"") == true)
    }
}
