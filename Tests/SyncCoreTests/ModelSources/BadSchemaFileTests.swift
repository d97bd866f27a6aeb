import SyncCore
import Testing

@Suite("Invalid schema files")
struct BadSchemaFileTests {
    /// Returns the error for an entity `A` with this content beside a valid entity `B`.
    private func refusal(_ content: String) throws -> SyncError {
        let text = #"{ "entities": { "A": { \#(content) }, "B": { "attributes": { "id": "integer" } } } }"#
        return try #require(throws: SyncError.self) { try SyncModel(schemaData: text) }
    }

    @Test(
        "A mistake in a schema file is reported with its path",
        arguments: [
            (#""colour": 1"#, "entities.A.colour", "unknown key; use one of primaryKey"),
            (#""primaryKey": 1"#, "entities.A.primaryKey", "expected a string, found a number"),
            (#""primaryKey": """#, "entities.A.primaryKey", "must not be empty"),
            (#""primaryKey": null"#, "entities.A.primaryKey", "expected a string, found null"),
            (#""primaryKey": "x""#, "entities.A.primaryKey", "no attribute or to-one relationship 'x'"),
            (#""parent": []"#, "entities.A.parent", "expected a string, found an array"),
            (#""parent": "C""#, "entities.A.parent", "unknown entity 'C'; the model has A, B"),
            (#""parent": "A""#, "entities.A.parent", "contains itself: A → A"),
            (#""abstract": "yes""#, "entities.A.abstract", "expected true or false, found a string"),
            (#""abstract": true, "abstract": true"#, "entities.A.abstract", "occurs twice"),
            (#""attributes": []"#, "entities.A.attributes", "expected an object, found an array"),
            (#""relationships": "B""#, "entities.A.relationships", "expected an object, found a string"),
            (#""attributes": { "x": "int" }"#, "entities.A.attributes.x", "unknown type 'int'; use one of integer"),
            (#""attributes": { "x": null }"#, "entities.A.attributes.x", "expected an object, found null"),
            (#""attributes": { "x": {} }"#, "entities.A.attributes.x.type", "is missing"),
            (
                #""attributes": { "x": { "type": "text" } }"#, "entities.A.attributes.x.type",
                "unknown value 'text' of 'type'"
            ),
            (#""attributes": { "x": { "type": 1 } }"#, "entities.A.attributes.x.type", "expected a string"),
            (#""attributes": { "x y": "int" }"#, #"entities.A.attributes["x y"]"#, "unknown type"),
            (
                #""attributes": { "x": { "type": "date", "nullable": true } }"#, "entities.A.attributes.x.nullable",
                "unknown key"
            ),
            (
                #""attributes": { "x": { "type": "date", "optional": 0 } }"#, "entities.A.attributes.x.optional",
                "expected true or false, found a number"
            ),
            (
                #""attributes": { "x": { "type": "integer", "default": 1.5 } }"#, "entities.A.attributes.x.default",
                "expected a value of type integer"
            ),
            (
                #""attributes": { "x": { "type": "date", "default": "2021-02-30" } }"#,
                "entities.A.attributes.x.default", "expected a value of type date"
            ),
            (
                #""attributes": { "x": { "type": "transformable", "default": "a" } }"#,
                "entities.A.attributes.x.default", "expected a value of type transformable"
            ),
            (#""attributes": { "x": "date", "x": "date" }"#, "entities.A.attributes.x", "declared twice"),
            (#""relationships": { "b": "B" }"#, "entities.A.relationships.b", "expected an object, found a string"),
            (#""relationships": { "b": {} }"#, "entities.A.relationships.b.entity", "is missing"),
            (
                #""relationships": { "b": { "entity": "C" } }"#, "entities.A.relationships.b.entity",
                "unknown entity 'C'"
            ),
            (
                #""relationships": { "b": { "entity": "B", "deleteRule": "drop" } }"#,
                "entities.A.relationships.b.deleteRule",
                "unknown value 'drop' of 'deleteRule'; use one of nullify, cascade, deny, noAction"
            ),
            (
                #""relationships": { "b": { "entity": "B", "toMany": true } }"#, "entities.A.relationships.b.toMany",
                "unknown key"
            ),
            (
                #""relationships": { "b": { "entity": "B", "inverse": "a" } }"#, "entities.A.relationships.b.inverse",
                "B has no relationship 'a'"
            ),
            (
                #""relationships": { "b": { "entity": "B", "ordered": true } }"#, "entities.A.relationships.b.ordered",
                "only a to-many relationship"
            ),
        ])
    func reportsPathOfMistake(content: String, path: String, message: String) throws {
        let error = try refusal(content)
        #expect(error.code == .invalidModel)
        #expect(error.problems.map(\.path) == [path])
        #expect(error.problems.first?.message.contains(message) ?? false, "\(error)")
    }

    @Test(
        "A file that is not an object with entities is rejected",
        arguments: [
            ("[]", "$"), ("7", "$"), ("{}", "entities"), (#"{ "entities": [] }"#, "entities"),
            (#"{ "entities": {}, "version": 1 }"#, "version"), (#"{ "entities": { "A": [] } }"#, "entities.A"),
            (#"{ "entities": { "A": {}, "A": {} } }"#, "entities.A"),
        ])
    func rejectsOtherRoots(text: String, path: String) throws {
        let error = try #require(throws: SyncError.self) { try SyncModel(schemaData: text) }
        #expect(error.code == .invalidModel)
        #expect(error.problems.map(\.path) == [path])
    }

    @Test("All mistakes of the file and of the model are reported together")
    func reportsAllMistakes() throws {
        let text = """
            { "entities": {
                "User": { "primaryKey": "nr",
                    "attributes": { "age": { "type": "int", "optional": 1 }, "name": "string" },
                    "relationships": { "company": { "entity": "Company", "inverse": "name" } } },
                "Company": { "abstrakt": true, "relationships": { "users": { "many": true } } } } }
            """
        let error = try #require(throws: SyncError.self) { try SyncModel(schemaData: text) }
        #expect(
            error.problems.map(\.path) == [
                "entities.User.attributes.age.type", "entities.User.attributes.age.optional",
                "entities.Company.abstrakt", "entities.Company.relationships.users.entity", "entities.User.primaryKey",
            ])
        #expect(error.message == "the model has 5 problems")
        #expect(
            "\(error)".contains("\n  entities.User.primaryKey: the entity has no attribute or to-one relationship 'nr'")
        )
    }

    @Test("Consequences of another mistake are not reported")
    func omitsConsequences() throws {
        let text = """
            { "entities": {
                "A": { "primaryKey": "id", "attributes": { "id": { "type": "int" } },
                       "relationships": { "b": { "entity": "B", "inverse": "a" } } },
                "B": { "relationships": { "a": { "inverse": "b" } } },
                "C": { "parent": "D", "primaryKey": "code" } } }
            """
        let error = try #require(throws: SyncError.self) { try SyncModel(schemaData: text) }
        #expect(
            error.problems.map(\.path)
                == ["entities.A.attributes.id.type", "entities.B.relationships.a.entity", "entities.C.parent"])
    }

    @Test("Malformed JSON is reported with its line and column")
    func reportsLocationOfMalformedJSON() throws {
        let error = try #require(throws: SyncError.self) {
            try SyncModel(schemaData: "{ \"entities\": {\n  \"A\": nil } }")
        }
        #expect(error.code == .unreadableModel)
        #expect(error.line == 2 && error.column == 8, "\(error)")
        let empty = try #require(throws: SyncError.self) { try SyncModel(schemaData: "") }
        #expect(empty.code == .unreadableModel)
        let deep = try #require(throws: SyncError.self) {
            try SyncModel(schemaData: String(repeating: "[", count: 100_000))
        }
        #expect(deep.code == .unreadableModel)
    }
}
