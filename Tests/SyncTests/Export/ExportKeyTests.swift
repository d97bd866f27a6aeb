import Foundation
import Sync
import Testing

/// Attributes and relationships that have one place in the exported JSON.
@Suite("Exported keys that collide")
struct ExportKeyTests {
    private func exported(_ model: SyncModel, _ entity: String, _ payload: JSONValue) async throws -> JSONValue? {
        let stack = try DataStack.inMemory(model)
        try await Sync.changes([payload], inEntity: entity, stack: stack)
        let records = try await stack.export(entity)
        try await RoundTrip.expectNoChange(stack, "\(entity)")
        return records.first
    }

    @Test("A key of two attributes is exported once, and an attribute that no key fills is left out")
    func remoteKeyIsExportedOnce() async throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "Word",
                attributes: [
                    SyncModel.Attribute("id", .integer), SyncModel.Attribute("title", .string),
                    SyncModel.Attribute("heading", .string, remoteKey: "title"),
                ])
        ])
        let record = try await exported(model, "Word", ["id": 1, "title": "a", "heading": "b"])
        #expect(record == ["id": 1, "title": "a"])
    }

    @Test("A value and an attribute inside it are exported under different keys")
    func valueAndPartHaveTwoKeys() async throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "Word",
                attributes: [
                    SyncModel.Attribute("id", .integer), SyncModel.Attribute("city", .string, remoteKey: "place.city"),
                    SyncModel.Attribute("place", .json),
                ])
        ])
        let record = try await exported(model, "Word", ["id": 1, "place": ["city": "Oslo", "zip": 1]])
        #expect(record == ["id": 1, "place": ["city": "Oslo", "zip": 1], "city": "Oslo"])
    }

    @Test("An attribute inside the object of a relationship is exported under its own name")
    func attributeInRelationship() async throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "User",
                attributes: [
                    SyncModel.Attribute("id", .integer),
                    SyncModel.Attribute("firm", .string, remoteKey: "company.name"),
                ],
                relationships: [SyncModel.Relationship("company", to: "Company")]),
            SyncModel.Entity(
                "Company", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("name", .string)]),
        ])
        let linked = try await exported(model, "User", ["id": 1, "company": ["id": 5, "name": "X"]])
        #expect(linked == ["id": 1, "firm": "X", "company": ["id": 5, "name": "X"]])
        #expect(try await exported(model, "User", ["id": 1, "firm": "X"]) == ["id": 1, "firm": "X"])
    }

    @Test("Dotted keys of attributes and relationships share objects, and empty objects are left out")
    func dottedKeysShareObjects() async throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "User",
                attributes: [
                    SyncModel.Attribute("id", .integer),
                    SyncModel.Attribute("email", .string, remoteKey: "meta.mail.address"),
                ],
                relationships: [
                    SyncModel.Relationship("company", to: "Company", remoteKey: "meta.company"),
                    SyncModel.Relationship("boss", to: "User", remoteKey: "links.boss"),
                ]),
            SyncModel.Entity("Company", attributes: [SyncModel.Attribute("id", .integer)]),
        ])
        let payload: JSONValue = ["id": 1, "meta": ["mail": ["address": "a"], "company": ["id": 2]]]
        #expect(try await exported(model, "User", payload) == payload)
        #expect(
            try await exported(model, "User", ["id": 1]) == ["id": 1, "meta": ["mail": ["address": nil]]])
    }

    @Test("A subentity does not export a key that its parent entity reads as another attribute")
    func keyOfTheParentEntity() async throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "Animal", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("name", .string)]),
            SyncModel.Entity(
                "Dog", parent: "Animal", attributes: [SyncModel.Attribute("nick", .string, remoteKey: "name")]),
        ])
        let stack = try DataStack.inMemory(model)
        try await Sync.changes([["id": 1, "nick": "Rex"]], inEntity: "Dog", stack: stack)
        #expect(try await stack.export("Animal") == [["id": 1, "name": nil, "nick": "Rex"]])
        try await RoundTrip.expectNoChange(stack, "Animal and Dog")
    }

    @Test("A null attribute whose key is the ID key of a relationship is left out, as null would unlink")
    func nullIDIsLeftOut() async throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "User", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("companyID", .integer)],
                relationships: [SyncModel.Relationship("company", to: "Company")]),
            SyncModel.Entity(
                "Company", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: [SyncModel.Relationship("boss", to: "User")]),
        ])
        let circle: JSONValue = ["id": 1, "company": ["id": 7, "boss": 1]]
        #expect(try await exported(model, "User", circle) == ["id": 1, "company": ["id": 7]])
        #expect(
            try await exported(model, "Company", ["id": 7, "boss": ["id": 1, "company": ["id": 7]]])
                == ["id": 7, "boss": ["id": 1]])
        let byID: JSONValue = ["id": 7, "boss": ["id": 1, "company_id": 7]]
        #expect(try await exported(model, "Company", byID) == byID)
    }
}
