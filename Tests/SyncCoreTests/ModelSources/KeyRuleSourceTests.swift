import Foundation
import Testing

@testable import SyncCore

@Suite("Key and value rules in model files")
struct KeyRuleSourceTests {
    static let schema = #"""
        { "keys": "camelCase", "ignore": ["*Url", "meta.?"],
          "entities": {
            "Page": {
              "keys": "kebab-case", "ignore": ["node-id"],
              "attributes": {
                "id": "integer", "title": { "type": "string", "transformer": ["trimmed", "Own"] },
                "text": { "type": "string", "transformer": ["Own"] },
                "day": { "type": "date", "format": "dd.MM.yyyy" }, "at": { "type": "date", "format": "unix-seconds" } } } } }
        """#

    @Test(
        "A string literal is the date format that has this text in a schema file",
        arguments: [
            ("unix-seconds", .unixSeconds), ("unix-milliseconds", .unixMilliseconds),
            ("unix-microseconds", .unixMicroseconds), ("unix-nanoseconds", .unixNanoseconds), ("iso8601", .iso8601),
            ("dd.MM.yyyy", .pattern("dd.MM.yyyy")),
        ] as [(AttributeFormat, AttributeFormat)])
    func formatLiterals(literal: AttributeFormat, format: AttributeFormat) {
        #expect(literal == format)
        #expect(AttributeFormat(format.text) == literal)
    }

    @Test("An invalid format as a string literal is reported as in a schema file", arguments: ["unix-days", ""])
    func reportsInvalidFormatLiterals(text: String) throws {
        let attributes: [SyncModel.Attribute] = [
            .init("id", .integer), .init("x", Date?.self, format: AttributeFormat(stringLiteral: text)),
        ]
        let error = try #require(throws: SyncError.self) {
            try SyncModel(entities: [SyncModel.Entity("A", attributes: attributes)])
        }
        #expect(error.problems.map(\.path) == ["entities.A.attributes.x.format"])
        #expect(error.problems[0].message.hasPrefix("'\(text)' is neither a date pattern ("))
    }

    @Test("Key and value rules survive a schema file")
    func schemaFileKeepsRules() throws {
        let model = try SyncModel(schemaData: Data(Self.schema.utf8))
        #expect(model.keyCase == .camel)
        #expect(model.ignoredKeys == ["*Url", "meta.?"])
        let page = try #require(model.entity(named: "Page"))
        #expect(page.keyCase == .kebab)
        #expect(page.ignoredKeys == ["node-id"])
        #expect(page.attributes.map(\.transformers) == [[], ["trimmed", "Own"], ["Own"], [], []])
        #expect(page.attributes.map(\.format) == [nil, nil, nil, .pattern("dd.MM.yyyy"), .unixSeconds])
        let written = String(decoding: model.schemaFile(), as: UTF8.self)
        #expect(try SyncModel(schemaData: Data(written.utf8)) == model)
        #expect(written.contains(#""text": { "type": "string", "transformer": "Own" }"#))
        let bare = try model.replacing(entities: [SyncModel.Entity("A")])
        #expect(bare.keyCase == .camel && bare.ignoredKeys == model.ignoredKeys)
        #expect(try bare != SyncModel(entities: [SyncModel.Entity("A")]))
    }

    @Test("Key and value rules are read from the user info of a Core Data model")
    func coreDataModelHasRules() throws {
        let xml = """
            <model><userInfo><entry key="sync.keys" value="PascalCase"/><entry key="sync.ignore" value="*Url, node-id"/></userInfo>
              <entity name="Page"><attribute name="id" attributeType="Integer 64"/>
                <attribute name="title" attributeType="String"><userInfo><entry key="sync.valueTransformer" value="trimmed, Own"/></userInfo></attribute>
                <attribute name="day" attributeType="Date"><userInfo><entry key="sync.format" value="dd.MM.yyyy"/></userInfo></attribute>
                <userInfo><entry key="sync.keys" value="exact"/><entry key="hyper.ignore" value="meta.*"/></userInfo>
              </entity></model>
            """
        let model = try SyncModel(coreDataModel: Data(xml.utf8))
        #expect(model.keyCase == .pascal)
        #expect(model.ignoredKeys == ["*Url", "node-id"])
        let page = try #require(model.entity(named: "Page"))
        #expect(page.keyCase == .exact)
        #expect(page.ignoredKeys == ["meta.*"])
        #expect(page.attributes.map(\.transformers) == [[], ["trimmed", "Own"], []])
        #expect(page.attributes.map(\.format) == [nil, nil, .pattern("dd.MM.yyyy")])
        #expect(try SyncModel(schemaData: model.schemaFile()).rules == model.rules)
    }

    @Test(
        "Invalid key and value rules are reported with their path",
        arguments: [
            (
                #"{"keys": "snake", "entities": {}}"#,
                "keys: unknown key case 'snake'; use one of snake_case, camelCase, PascalCase, kebab-case, exact"
            ),
            (#"{"keys": 1, "entities": {}}"#, "keys: expected a string, found a number"),
            (#"{"ignore": "x", "entities": {}}"#, "ignore: expected an array of strings, found a string"),
            (#"{"ignore": [1], "entities": {}}"#, "ignore: expected strings in the array, found a number"),
            (#"{"ignore": [""], "entities": {}}"#, "ignore: expected strings in the array, found an empty string"),
            (#"{"ignore": ["a..b"], "entities": {}}"#, "ignore: 'a..b' has an empty key before or after a dot"),
            (
                #"{"entities": {"A": {"ignore": [".a"]}}}"#,
                "entities.A.ignore: '.a' has an empty key before or after a dot"
            ),
            (
                #"{"entities": {"A": {"keys": "SHOUT"}}}"#,
                "entities.A.keys: unknown key case 'SHOUT'; use one of snake_case, camelCase, PascalCase, kebab-case, exact"
            ),
            (
                #"{"entities": {"A": {"attributes": {"x": {"type": "string", "transformer": 1}}}}}"#,
                "entities.A.attributes.x.transformer: expected a string or an array of strings, found a number"
            ),
            (
                #"{"entities": {"A": {"attributes": {"x": {"type": "string", "transformer": ["trimmed", "commaSeparated"]}}}}}"#,
                "entities.A.attributes.x.transformer: 'commaSeparated' returns a list; use the type json"
            ),
            (
                #"{"entities": {"A": {"attributes": {"x": {"type": "string", "format": "yyyy"}}}}}"#,
                "entities.A.attributes.x.format: only a date can have a format; the type is string"
            ),
            (
                #"{"entities": {"A": {"attributes": {"x": {"type": "date", "format": "unix-days"}}}}}"#,
                "entities.A.attributes.x.format: 'unix-days' is neither a date pattern (unknown field 'u'; use one of y yy yyyy M MM MMM MMMM d dd E EEEE H HH h hh a m mm s ss S…SSSSSSSSS X XX XXX x xx xxx Z ZZZZZ z) nor one of unix-seconds, unix-milliseconds, unix-microseconds, unix-nanoseconds, iso8601"
            ),
        ])
    func reportsInvalidRules(schema: String, problem: String) throws {
        let error = try #require(throws: SyncError.self) { try SyncModel(schemaData: Data(schema.utf8)) }
        #expect(error.problems.map { "\($0.path): \($0.message)" } == [problem])
    }
}
