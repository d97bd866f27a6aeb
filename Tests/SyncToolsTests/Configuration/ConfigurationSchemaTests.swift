import Foundation
import Sync
import Testing

@testable import SyncService
@testable import SyncTools

/// Compares `Docs/engine-configuration.schema.json`, which editors use, with the reader.
@Suite("JSON Schema of configurations")
struct ConfigurationSchemaTests {
    /// An object of a configuration: its path in the schema, and a configuration with `?` for one more member.
    struct Place: Sendable, CustomTestStringConvertible {
        let path: [String]
        var style: String?
        let text: String
        var testDescription: String { (path + [style].compactMap(\.self)).joined(separator: ".") }

        init(_ path: String, style: String? = nil, service: String = "rest", _ section: String) {
            self.path = path.split(separator: ".").map(String.init)
            self.style = style
            let entities = section.contains("\"entities\"") ? "" : #", "entities": {"Task": {}}"#
            text = "{\"service\": \"\(service)\", \"url\": \"https://a.example\"\(entities), \(section)}"
        }
    }

    static let places = [
        Place("", "?"),
        Place("properties.entities.additionalProperties", #""entities": {"Task": {?}}"#),
        Place("properties.credentials", #""credentials": {"command": ["a"], ?}"#),
        Place("properties.rest", #""rest": {?}"#),
        Place("properties.kinto", service: "kinto", #""kinto": {?}"#),
        Place("properties.pocketbase", service: "pocketbase", #""pocketbase": {?}"#),
        Place(
            "properties.pocketbase.properties.login", service: "pocketbase",
            #""pocketbase": {"login": {"identity": "a", "password": "b", ?}}"#),
        Place("properties.parse", service: "parse", #""parse": {"applicationID": "a", ?}"#),
        Place("properties.changes", service: "changes", #""changes": {?}"#),
        Place("$defs.paging", style: "none", #""rest": {"paging": {"style": "none", ?}}"#),
        Place("$defs.paging", style: "page", #""rest": {"paging": {"style": "page", ?}}"#),
        Place("$defs.paging", style: "offset", #""rest": {"paging": {"style": "offset", ?}}"#),
        Place("$defs.paging", style: "link", #""rest": {"paging": {"style": "link", ?}}"#),
        Place("$defs.paging", style: "next", #""rest": {"paging": {"style": "next", "next": "a", ?}}"#),
        Place("$defs.paging", style: "cursor", #""rest": {"paging": {"style": "cursor", "next": "a", ?}}"#),
    ]

    private let schema: JSONValue

    init() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        schema = try JSONValue(
            parsing: Data(contentsOf: root.appendingPathComponent("Docs/engine-configuration.schema.json")))
    }

    private func object(_ place: Place) -> JSONValue {
        let object = place.path.reduce(schema) { $0[$1] ?? .null }
        guard let style = place.style, case .array(let styles)? = object["oneOf"] else { return object }
        return styles.first { $0["properties"]?["style"]?["const"] == .string(style) } ?? .null
    }

    private func keys(_ object: JSONValue?) -> Set<String> {
        guard case .object(let members)? = object else { return [] }
        return Set(members.map(\.key))
    }

    private func texts(_ list: JSONValue?) -> Set<String> {
        guard case .array(let elements)? = list else { return [] }
        return Set(elements.compactMap { if case .string(let text) = $0 { text } else { nil } })
    }

    @Test("The JSON Schema has the members that the reader knows, in every object", arguments: places)
    func hasMembersOfReader(_ place: Place) throws {
        let text = place.text.replacingOccurrences(of: "?", with: "\"qqqq\": 1")
        let error = #expect(throws: SyncError.self) { try ServiceConfigurationFile(Data(text.utf8), environment: [:]) }
        // "unknown member; use one of a, b and c"
        let list = try #require(error?.message.components(separatedBy: "use one of ").last)
        let known = list.replacingOccurrences(of: " and ", with: ", ").components(separatedBy: ", ")
        #expect(error?.path?.hasSuffix("qqqq") == true)
        let object = object(place)
        #expect(keys(object["properties"]) == Set(known))
        #expect(object["additionalProperties"] == false)
        // Required members are in the text, or belong to the whole configuration.
        for name in texts(object["required"]) { #expect(place.text.contains("\"\(name)\"")) }
    }

    @Test("The JSON Schema has no other objects")
    func hasNoOtherObjects() {
        func count(_ json: JSONValue) -> Int {
            switch json {
            case .object(let members):
                members.reduce(json["additionalProperties"] == false ? 1 : 0) { $0 + count($1.value) }
            case .array(let elements): elements.reduce(0) { $0 + count($1) }
            default: 0
            }
        }
        #expect(count(schema) == Self.places.count)
    }

    @Test("The JSON Schema has the values of every enumeration")
    func hasValuesOfEnumerations() {
        func words(_ path: String) -> Set<String> {
            texts(path.split(separator: ".").reduce(schema) { $0[String($1)] ?? .null }["enum"])
        }
        func names<Choice: CaseIterable & RawRepresentable<String>>(_ choice: Choice.Type) -> Set<String> {
            Set(choice.allCases.map(\.rawValue))
        }
        #expect(words("properties.service") == names(ServiceConfigurationFile.Kind.self))
        #expect(words("$defs.policy") == names(ConflictPolicy.self))
        #expect(words("$defs.deleteConflicts") == names(DeleteConflictPolicy.self))
        #expect(
            words("properties.entities.additionalProperties.properties.cascades") == names(SyncedEntity.Cascades.self))
        #expect(words("properties.rest.properties.update") == names(RESTOptions.Update.self))
        for section in ["rest", "parse"] {
            #expect(words("properties.\(section).properties.ids") == names(ServiceCapabilities.IDAssignment.self))
        }
        #expect(
            words("$defs.paging.properties.style") == Set(Self.places.compactMap(\.style)))
    }

    @Test("The JSON Schema requires the section of Parse, like the reader")
    func requiresParseSection() throws {
        #expect(schema["if"]?["properties"]?["service"]?["const"] == "parse")
        #expect(texts(schema["then"]?["required"]) == ["parse"])
        for kind in ServiceConfigurationFile.Kind.allCases where kind != .parse {
            let text = #"{"service": "\#(kind)", "url": "https://a.example", "entities": {"Task": {}}}"#
            #expect(try ServiceConfigurationFile(Data(text.utf8), environment: [:]).kind == kind)
        }
    }
}
