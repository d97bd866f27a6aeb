import Sync
import Testing

@Test func syncsUsersWithCompaniesNotesAndTags() async throws {
    let model = try Model(entities: [
        Entity("User", attributes: [Attribute("remoteID", .integer), Attribute("name", .string), Attribute("joinedAt", .date)],
            relationships: [
                Relationship("company", to: "Company", inverse: "users"),
                Relationship("notes", to: "Note", many: true, inverse: "user", deleteRule: .cascade),
                Relationship("tags", to: "Tag", many: true, inverse: "users"),
            ]),
        Entity("Company", attributes: [Attribute("remoteID", .integer), Attribute("name", .string)],
            relationships: [Relationship("users", to: "User", many: true, inverse: "company")]),
        Entity("Note", attributes: [Attribute("remoteID", .string), Attribute("text", .string)],
            relationships: [Relationship("user", to: "User", inverse: "notes")]),
        Entity("Tag", attributes: [Attribute("remoteID", .integer)],
            relationships: [Relationship("users", to: "User", many: true, inverse: "tags")]),
    ])
    let stack = try DataStack.inMemory(model)
    let json: JSONValue = [["id": 1, "name": "Ada", "joined_at": "2024-02-29T23:59:59.9999+05:30", "company": ["id": 7, "name": "A"], "notes": [["id": "a", "text": "x"], ["id": "b"]], "tags": [["id": 1], ["id": 2]]], ["id": 2, "company": ["id": 7]]]
    var result = try await Sync.changes(json, inEntity: "User", stack: stack)
    print(result)
    result = try await Sync.changes(json, inEntity: "User", stack: stack)
    print(result)
    #expect(result.isEmpty)
    result = try await Sync.changes([["id": 2, "company_id": nil, "name": "x", "tags_ids": [2, 9]]] as JSONValue, inEntity: "User", stack: stack)
    print(result)
    let rows = try await stack.fetch("User")
    print(rows)
    result = try await Sync.changes([["id": 9], ["id": 2], ["id": 1]] as JSONValue, inEntity: "Tag", stack: stack)
    print(result)
}
