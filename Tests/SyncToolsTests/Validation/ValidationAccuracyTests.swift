import Foundation
import Sync
import SyncTools
import Testing

/// Every finding of a validation is true, and every loss has a finding.
@Suite("Accuracy of payload validation")
struct ValidationAccuracyTests {
    private func findings(
        _ model: String, _ json: String, _ entity: String = "Item", _ options: SyncOptions = SyncOptions()
    ) async throws -> [SyncDiagnostic] {
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(model.utf8)), transformers: .optional)
        return try await Sync.validate(Data(json.utf8), inEntity: entity, stack: stack, options: options)
            .filter(\.kind.losesData)
    }

    @Test("Values inside of a json attribute are kept, even if a remote key leads there too")
    func jsonAttributesKeepTheirValues() async throws {
        let model = """
            {"entities": {"Item": {"attributes": {
              "id": "integer", "a": "json", "b": {"type": "string", "remoteKey": "a.b"},
              "deep": {"type": "string", "remoteKey": "a.c.d"}, "other": {"type": "string", "remoteKey": "o.p"}}}}}
            """
        let found = try await findings(
            model, #"[{"id": 1, "a": {"b": "x", "c": {"d": "y", "e": 1}, "f": {"g": [1]}}, "o": {"p": "z", "q": 1}}]"#)
        #expect(found.map(\.path) == ["[0].o.q"])
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(model.utf8)))
        let json = Data(#"[{"id": 1, "a": {"b": "x", "z": 1}, "o": {"q": 1}}]"#.utf8)
        let result = try await Sync.changes(json, inEntity: "Item", stack: stack)
        #expect(result.unmappedKeys.map(\.path) == ["o.q"])
    }

    @Test("A remote key into the attribute's own object loses only the other members")
    func remoteKeysIntoOwnObject() async throws {
        let model = """
            {"entities": {"Item": {"primaryKey": "id", "attributes": {
              "id": {"type": "string", "remoteKey": "id.videoId"}, "title": {"type": "string", "remoteKey": "title.rendered"}}}}}
            """
        let json =
            #"[{"id": {"kind": "video", "videoId": "a"}, "title": {"rendered": "x"}}, {"id": "b", "title": "y"}]"#
        #expect(try await findings(model, json).map(\.path) == ["[0].id.kind"])
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(model.utf8)))
        let strict = SyncOptions(isStrict: true)
        let result = try await Sync.changes(Data(json.utf8), inEntity: "Item", stack: stack, options: strict)
        #expect(result.diagnostics.isEmpty)
        #expect(try await stack.fetch("Item").compactMap { $0["title"]?.string } == ["x", "y"])
    }

    @Test("Two keys are reported if they reference different rows, and not if they agree")
    func reportsDisagreeingKeys() async throws {
        let model = """
            {"entities": {
              "Item": {"attributes": {"id": "integer"}, "relationships": {"user": {"entity": "User"}}},
              "User": {"attributes": {"id": "integer"}}}}
            """
        let found = try await findings(
            model,
            """
            [{"id": 1, "user": {"id": 5}, "user_id": "5"}, {"id": 2, "user": {"id": 5}, "user_id": 6},
             {"id": 3, "user_id": 6, "user": {"id": 7}}, {"id": 4, "user_id": 6, "user": null}]
            """)
        #expect(found.map(\.kind) == [.duplicateKeys, .duplicateKeys])
        #expect(found.map(\.path) == ["[1].user_id", "[2].user"])
        let keyless = """
            {"entities": {
              "Item": {"attributes": {"id": "integer"}, "relationships": {"parts": {"entity": "Part", "many": true}}},
              "Part": {"attributes": {"name": "string"}}}}
            """
        let inverses = try SyncModel(schemaData: Data(keyless.utf8)).validate()
        #expect(!inverses.contains { $0.kind == .missingInverse })
    }

    private static let kinds = """
        {"entities": {
          "Item": {"attributes": {"id": "integer"}, "relationships": {"subject": {"entity": "Subject"}}},
          "Subject": {"abstract": true, "attributes": {"id": "integer"},
            "discriminator": {"key": "meta.kind", "values": {"post": "Post", "photo": "Photo"}}},
          "Post": {"parent": "Subject", "attributes": {"text": "string"}},
          "Photo": {"parent": "Subject", "attributes": {"width": "integer"}}}}
        """

    @Test("A discriminator beside a reference is no loss, and lost values beside one are reported")
    func checksDiscriminators() async throws {
        let beside = try await findings(
            Self.kinds,
            #"[{"id": 1, "subject_type": "post", "subject": {"id": 7, "text": "t", "meta": {"kind": "post"}}}]"#)
        #expect(beside == [])
        let lost = try await findings(
            Self.kinds, #"[{"id": 1, "meta": {"kind": "post", "author": "x"}, "text": "t", "width": 1}]"#, "Subject")
        #expect(Set(lost.map(\.path)) == ["[0].meta.author", "[0].width"])
        let unknown = try await findings(
            Self.kinds, #"[{"id": 1, "meta": {"kind": "film"}, "length": 2}, {"id": 2, "meta": {"kind": "post"}}]"#,
            "Subject")
        #expect(unknown.map(\.kind) == [.unknownDiscriminatorValue])
    }

    @Test(
        "An inherited attribute without values is reported once, at the entity that declares it",
        arguments: [
            (#"[{"id": 1, "type": "q", "n": "a"}, {"id": 2, "type": "r"}]"#, ["Q.x"]),
            (#"[{"id": 1, "type": "q", "x": 1}, {"id": 2, "type": "r"}]"#, ["P.n"]),
            (#"[{"id": 1, "type": "r"}, {"id": 2}]"#, ["P.n"]),
        ])
    func reportsInheritedAttributesOnce(json: String, expected: [String]) async throws {
        let model = """
            {"entities": {
              "P": {"attributes": {"id": "integer", "n": "string"},
                "discriminator": {"key": "type", "values": {"q": "Q", "r": "R"}}},
              "Q": {"parent": "P", "attributes": {"x": "integer"}}, "R": {"parent": "P"}}}
            """
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(model.utf8)))
        let found = try await Sync.validate(Data(json.utf8), inEntity: "P", stack: stack)
            .filter { $0.kind == .unusedAttribute }
        let names = expected.map { $0.split(separator: ".") }
        #expect(found.map(\.path) == names.map { "entities.\($0[0]).attributes.\($0[1])" })
        #expect(found.map(\.message) == expected.map { "no record has a value for \($0)" })
    }

    @Test("Members that belong to the payload format are not reported")
    func ignoresMembersOfFormat() async throws {
        let model = """
            {"entities": {"Item": {"type": "items", "attributes": {"id": "integer", "name": "string"},
              "relationships": {"parts": {"entity": "Part", "many": true}}},
              "Part": {"type": "parts", "attributes": {"id": "integer"}}}}
            """
        var options = SyncOptions()
        options.format = .jsonAPI
        let document = """
            {"jsonapi": {"version": "1.1"}, "meta": {"total": 1}, "links": {"self": "/items"}, "data": [{
              "type": "items", "id": "1", "links": {"self": "/items/1"}, "attributes": {"name": "a"},
              "relationships": {"parts": {"links": {"related": "/x"}, "data": [{"type": "parts", "id": "2"}]}}}],
             "included": [{"type": "parts", "id": "2", "links": {"self": "/parts/2"}}]}
            """
        #expect(try await findings(model, document, "Item", options) == [])
        options.format = .graphQL
        let answer = """
            {"data": {"items": {"pageInfo": {"hasNextPage": false}, "edges": [{"cursor": "a", "node": {
              "__typename": "Item", "id": 1, "parts": {"totalCount": 1, "nodes": [{"__typename": "Part", "id": 2}]}}}]}}}
            """
        #expect(try await findings(model, answer, "Item", options) == [])
    }

    @Test("Advice does not suggest a name that another key fills")
    func suggestsOnlyFreeNames() async throws {
        let model = """
            {"entities": {"Item": {"attributes": {"id": "integer", "name": "string", "title": "string"}}}}
            """
        let taken = try await findings(model, #"[{"id": 1, "names": "a"}, {"id": 2, "name": "b"}]"#)
        #expect(taken.map(\.path) == ["[0].names"])
        #expect(taken.first?.suggestion?.contains("did you mean") == false)
        let free = try await findings(model, #"[{"id": 1, "name": "a", "tittle": "b"}]"#)
        #expect(free.first?.suggestion?.contains("did you mean 'title'") == true)
    }

    @Test("Several entities of one payload are validated together")
    func validatesSeveralEntities() async throws {
        let model = """
            {"entities": {
              "User": {"attributes": {"id": "integer"}, "relationships": {"company": {"entity": "Company"}}},
              "Company": {"attributes": {"id": "integer", "name": "string"}}}}
            """
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(model.utf8)))
        let json = """
            {"users": [{"id": 1, "company_id": 7}, {"id": 2, "x": 1}, {"company_id": 9}],
             "companies": [{"id": 7, "name": "a"}, {"id": 7, "name": "b"}], "page": 1}
            """
        let found = try await Sync.validate(
            Data(json.utf8), inEntities: ["users": "User", "companies": "Company"], stack: stack
        )
        let losses = found.filter(\.kind.losesData)
        #expect(Set(losses.map(\.kind)) == [.unmappedKey, .missingPrimaryKey, .inconsistentRecords])
        #expect(Set(losses.map(\.path)) == ["users[1].x", "users[2]", "companies[1]"])
        #expect(!found.contains { $0.kind == .pendingReference && $0.message.contains("names 7") })
    }
}
