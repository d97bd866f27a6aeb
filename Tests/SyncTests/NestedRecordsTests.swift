import Foundation
import Sync
import Testing

@Suite("Nested records")
struct NestedRecordsTests {
    static func model() throws -> SyncModel {
        try SyncModel(entities: [
            SyncModel.Entity(
                "User",
                attributes: [
                    SyncModel.Attribute("remoteID", .integer), SyncModel.Attribute("name", .string),
                    SyncModel.Attribute("joinedAt", .date),
                ],
                relationships: [
                    SyncModel.Relationship("company", to: "Company", inverse: "users"),
                    SyncModel.Relationship("notes", to: "Note", many: true, inverse: "user", deleteRule: .cascade),
                    SyncModel.Relationship("tags", to: "Tag", many: true, inverse: "users"),
                ]),
            SyncModel.Entity(
                "Company",
                attributes: [SyncModel.Attribute("remoteID", .integer), SyncModel.Attribute("name", .string)],
                relationships: [SyncModel.Relationship("users", to: "User", many: true, inverse: "company")]),
            SyncModel.Entity(
                "Note", attributes: [SyncModel.Attribute("remoteID", .string), SyncModel.Attribute("text", .string)],
                relationships: [SyncModel.Relationship("user", to: "User", inverse: "notes")]),
            SyncModel.Entity(
                "Tag", attributes: [SyncModel.Attribute("remoteID", .integer)],
                relationships: [SyncModel.Relationship("users", to: "User", many: true, inverse: "tags")]),
        ])
    }

    static let users: JSONValue = [
        [
            "id": 1, "name": "Ada", "joined_at": "2024-02-29T23:59:59.9999+05:30", "company": ["id": 7, "name": "A"],
            "notes": [["id": "a", "text": "x"], ["id": "b"]], "tags": [["id": 1], ["id": 2]],
        ],
        ["id": 2, "company": ["id": 7]],
    ]

    @Test("Nested records are inserted as rows and linked to their owners")
    func nestedRecordsAreLinked() async throws {
        let stack = try DataStack.inMemory(Self.model())
        let result = try await Sync.changes(Self.users, inEntity: "User", stack: stack)
        #expect(result["User"].inserted == [.integer(1), .integer(2)])
        #expect(result["Company"].inserted == [.integer(7)])
        #expect(result["Note"].inserted == [.text("a"), .text("b")])
        #expect(result["Tag"].inserted == [.integer(1), .integer(2)])
        #expect(result.diagnostics == [])
        let users = try await stack.fetch("User", where: .where("company.name == 'A'"))
        #expect(Set(users.compactMap { $0["remoteID"]?.int }) == [1, 2])
        let ada = try #require(users.first { $0["name"]?.string == "Ada" })
        #expect(ada["joinedAt"]?.date == Date(timeIntervalSince1970: 1_709_231_399.999))
        #expect(try await stack.count("Note", where: .where("user.name == 'Ada'")) == 2)
        #expect(try await stack.count("Tag", where: .where("ANY users.name == 'Ada'")) == 2)
    }

    @Test("A second sync of nested records writes nothing")
    func secondSyncWritesNothing() async throws {
        let stack = try DataStack.inMemory(Self.model())
        try await Sync.changes(Self.users, inEntity: "User", stack: stack)
        let written = try await stack.changesWritten()
        let result = try await Sync.changes(Self.users, inEntity: "User", stack: stack)
        #expect(result.isEmpty)
        #expect(result["User"].unchangedCount == 2)
        #expect(try await stack.changesWritten() == written)
    }

    @Test("Rows of nested records are deleted with their owner if the delete rule is cascade")
    func cascadeDeletesNestedRows() async throws {
        let stack = try DataStack.inMemory(Self.model())
        try await Sync.changes(Self.users, inEntity: "User", stack: stack)
        let later: JSONValue = [["id": 2, "company_id": nil, "name": "x"]]
        let result = try await Sync.changes(later, inEntity: "User", stack: stack)
        #expect(result["User"].deleted == [.integer(1)])
        #expect(result["User"].updated == [.init(key: .integer(2), changedAttributes: ["name", "company"])])
        #expect(result["Note"].deleted == [.text("a"), .text("b")])
        #expect(result["Company"].isEmpty)
        #expect(try await stack.count("Company") == 1)
        #expect(try await stack.count("Tag") == 2)
    }

    @Test("A result counts each added or removed link once")
    func linksAreCountedOnce() async throws {
        let stack = try DataStack.inMemory(Self.model())
        let first = try await Sync.changes(Self.users, inEntity: "User", stack: stack)
        // Two to the company, two to notes, two to tags.
        #expect(first.linksAdded == 6)
        let one: JSONValue = [["id": 2]]
        let second = try await Sync.changes(one, inEntity: "User", stack: stack)
        #expect(second.linksAdded == 0)
        // The links of user 1, which is deleted with its notes: the company, two notes, two tags.
        #expect(second.linksRemoved == 5)
    }

    @Test("IDs of missing rows are linked when the rows arrive")
    func missingRowsAreLinkedLater() async throws {
        let stack = try DataStack.inMemory(Self.model())
        let users: JSONValue = [["id": 2, "tag_ids": [2, 9]]]
        let first = try await Sync.changes(users, inEntity: "User", stack: stack)
        #expect(first.pendingReferences.map(\.target) == [.integer(2), .integer(9)])
        #expect(first.linksAdded == 0)
        let tags: JSONValue = [["id": 9], ["id": 2], ["id": 1]]
        let second = try await Sync.changes(tags, inEntity: "Tag", stack: stack)
        #expect(second.linksAdded == 2)
        #expect(try await stack.count("Tag", where: .where("ANY users.remoteID == 2")) == 2)
    }
}
