import Foundation
import Sync
import SyncTools
import Testing

@Suite("Validation of the children of a parent")
struct ValidatedParentTests {
    /// A parent with required values, one with a composite key, and an abstract one with a subentity.
    static let schema = """
        { "entities": {
            "Owner": { "attributes": {
                "id": "integer", "name": { "type": "string", "optional": false }, "code": { "type": "uuid", "optional": false },
                "since": { "type": "date", "optional": false }, "isOpen": { "type": "boolean", "optional": false },
                "site": { "type": "url", "optional": false }, "rest": { "type": "json", "optional": false },
                "photo": { "type": "binary", "optional": false }, "price": { "type": "decimal", "optional": false } } },
            "Place": { "primaryKey": ["owner", "number"], "attributes": { "number": "integer" },
                "relationships": { "owner": { "entity": "Owner" } } },
            "Shop": { "abstract": true, "primaryKey": "code", "attributes": { "code": "string" } },
            "Kiosk": { "parent": "Shop" },
            "Visit": { "primaryKey": ["place", "day"], "attributes": { "day": "string", "note": "string" },
                "relationships": { "place": { "entity": "Place" } } },
            "Sale": { "primaryKey": ["shop", "day"], "attributes": { "day": "string", "note": "string" },
                "relationships": { "shop": { "entity": "Shop" } } },
            "Thing": { "primaryKey": ["owner", "day"], "attributes": { "day": "string", "note": "string" },
                "relationships": { "owner": { "entity": "Owner" } } } } }
        """

    static let parents: [(entity: String, parent: String, id: JSONValue)] = [
        ("Thing", "Owner", .string("7")),
        ("Visit", "Place", .array([.string("7"), JSONValue(5)])),
        ("Visit", "Place", .object([.init("number", JSONValue(5)), .init("owner", JSONValue(7))])),
        ("Visit", "Place", .object([.init("number", .string("5")), .init("owner_id", JSONValue(7))])),
        ("Sale", "Shop", .string("x")),
    ]

    @Test("Children of a parent that is not stored have only their own findings", arguments: parents)
    func childrenHaveOwnFindingsOnly(entity: String, parent: String, id: JSONValue) async throws {
        let model = try SyncModel(schemaData: Data(Self.schema.utf8))
        let json = Data(#"[{"day": "mon", "note": "a"}, {"day": "tue", "note": "b", "x": 1}, {"note": "c"}]"#.utf8)
        let found = try await Sync.validate(json, inEntity: entity, model: model, parent: SyncParent(parent, id: id))
        #expect(found.filter(\.kind.losesData).map(\.path) == ["[1].x", "[2]"], "\(found)")
        let alone = try await Sync.validate(json, inEntity: entity, model: model)
        let advice = alone.filter { $0.kind == .missingPrimaryKey }.compactMap(\.suggestion)
        #expect(advice.count == 3 && advice.allSatisfy { $0.contains("--parent \(parent):id") }, "\(advice)")
    }

    @Test("A parent is suggested only if the owner of a record is missing")
    func suggestsMissingParent() async throws {
        let model = try SyncModel(
            schemaData: Data(
                """
                {"entities": {
                  "Owner": {"attributes": {"id": "string"},
                    "relationships": {"issues": {"entity": "Issue", "many": true, "inverse": "owner"}}},
                  "Issue": {"primaryKey": ["owner", "number"], "attributes": {"number": "integer"},
                    "relationships": {"owner": {"entity": "Owner"}}}}}
                """.utf8))
        func isAdvised(_ json: String, _ entity: String = "Issue", parent: SyncParent? = nil) async throws -> Bool {
            let found = try await Sync.validate(Data(json.utf8), inEntity: entity, model: model, parent: parent)
            let advice = try #require(found.first { $0.kind == .missingPrimaryKey }, "\(found)").suggestion ?? ""
            return advice.contains("--parent Owner:id")
        }
        #expect(try await isAdvised(#"[{"number": 1}]"#))
        #expect(try await isAdvised(#"[{"n": 2}, {"owner_id": "a", "number": 1}]"#))
        #expect(try await !isAdvised(#"[{"owner": "a"}, {"owner": "a", "number": 1}]"#))
        #expect(try await !isAdvised(#"[{"n": 2}, {"number": 1}]"#, parent: SyncParent("Owner", id: "a")))
        #expect(try await !isAdvised(#"[{"id": "a", "issues": [{"number": 1}, {"n": 2}]}]"#, "Owner"))
    }

    @Test("An invalid parent is rejected as in a sync")
    func rejectsInvalidParent() async throws {
        let model = try SyncModel(schemaData: Data(Self.schema.utf8))
        let json = Data(#"[{"day": "mon"}]"#.utf8)
        for (parent, code) in [
            (SyncParent("Owner", id: "seven"), SyncError.Code.typeMismatch),
            (SyncParent("Visit", id: "a"), .unknownRelationship),
            (SyncParent("Place", id: [1]), .unknownRelationship), (SyncParent("Nobody", id: 1), .unknownEntity),
        ] {
            let error = await #expect(throws: SyncError.self) {
                try await Sync.validate(json, inEntity: "Thing", model: model, parent: parent)
            }
            #expect(error?.code == code, "\(parent)")
        }
        let short = await #expect(throws: SyncError.self) {
            try await Sync.validate(json, inEntity: "Visit", model: model, parent: SyncParent("Place", id: [1]))
        }
        #expect(short?.code == .typeMismatch)
    }
}
