import Foundation
import Sync
import Testing

@testable import SyncService

/// `Docs/engine-configuration.schema.json`, which editors read, against what the library reads.
@Suite("The schema of configurations")
struct ConfigurationSchemaTests {
    private static let schema = Result {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try JSONValue(
            parsing: Data(contentsOf: root.appendingPathComponent("Docs/engine-configuration.schema.json")))
    }

    /// The names of the members that an object of the schema has.
    private func members(_ path: [String]) throws -> Set<String> {
        let place = path + ["properties"]
        guard case .object(let members)? = try Self.schema.get().value(at: place) else {
            throw ServerFailure(text: "the schema has no \(place)")
        }
        return Set(members.map(\.key))
    }

    /// The words that a member of the schema may be.
    private func choices(_ path: [String]) throws -> Set<String> {
        guard case .array(let words)? = try Self.schema.get().value(at: path + ["enum"]) else {
            throw ServerFailure(text: "the schema has no choice at \(path)")
        }
        return Set(words.compactMap { if case .string(let word) = $0 { word } else { nil } })
    }

    /// What the error about a member that nobody knows says there is instead.
    private func known(_ text: String) -> Set<String> {
        let error = #expect(throws: SyncError.self) { try EngineConfiguration(Data(text.utf8), environment: [:]) }
        let list = error?.message.components(separatedBy: "there are ").last ?? ""
        return Set(
            list.components(separatedBy: ", ").map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "'")) })
    }

    private func configuration(_ service: String, _ members: String, entity: String = "{}") -> String {
        """
        {"service": "\(service)", "url": "https://a.example", "entities": {"Task": \(entity)}\(members)}
        """
    }

    @Test(
        "has the members of each section that are read, and no others",
        arguments: [
            ("rest", #", "rest": {"zzz": 1}"#, ["properties", "rest"]),
            ("kinto", #", "kinto": {"zzz": 1}"#, ["properties", "kinto"]),
            ("pocketbase", #", "pocketbase": {"zzz": 1}"#, ["properties", "pocketbase"]),
            (
                "pocketbase", #", "pocketbase": {"login": {"identity": "a", "password": "b", "zzz": 1}}"#,
                ["properties", "pocketbase", "properties", "login"]
            ),
            ("parse", #", "parse": {"applicationID": "a", "zzz": 1}"#, ["properties", "parse"]),
            ("changes", #", "changes": {"zzz": 1}"#, ["properties", "changes"]),
            ("rest", #", "credentials": {"command": ["a"], "zzz": 1}"#, ["properties", "credentials"]),
            ("rest", #", "zzz": 1"#, []),
        ])
    func sections(_ service: String, _ members: String, _ path: [String]) throws {
        #expect(known(configuration(service, members)) == (try self.members(path)))
    }

    @Test("has the members of an entity that are read")
    func entities() throws {
        let read = known(configuration("rest", "", entity: #"{"zzz": 1}"#))
        #expect(read == (try members(["properties", "entities", "additionalProperties"])))
    }

    @Test("has the choices that there are")
    func words() throws {
        #expect(try choices(["properties", "service"]) == Set(EngineConfiguration.Kind.allCases.map(\.rawValue)))
        #expect(try choices(["$defs", "policy"]) == Set(ConflictPolicy.allCases.map(\.rawValue)))
        #expect(try choices(["$defs", "deleteConflicts"]) == Set(DeleteConflictPolicy.allCases.map(\.rawValue)))
        let entity = ["properties", "entities", "additionalProperties", "properties"]
        #expect(try choices(entity + ["cascades"]) == Set(SyncedEntity.Cascades.allCases.map(\.rawValue)))
        let rest = ["properties", "rest", "properties"]
        #expect(try choices(rest + ["update"]) == Set(RESTOptions.Update.allCases.map(\.rawValue)))
        #expect(try choices(rest + ["ids"]) == Set(ServiceCapabilities.IDs.allCases.map(\.rawValue)))
    }

    @Test(
        "has the members that each style of paging has",
        arguments: ["page", "offset", "link", "next", "cursor", "none"])
    func paging(_ style: String) throws {
        guard case .array(let forms)? = try Self.schema.get().value(at: ["$defs", "paging", "oneOf"]),
            case .object(let members)? = forms.first(where: {
                $0.value(at: ["properties", "style", "const"]) == .string(style)
            })?["properties"]
        else {
            Issue.record("the schema has no style \(style)")
            return
        }
        let needed = ["next", "cursor"].contains(style) ? #", "next": "n""# : ""
        let text = configuration("rest", #", "rest": {"paging": {"style": "\#(style)"\#(needed), "zzz": 1}}"#)
        #expect(known(text) == Set(members.map(\.key)))
        #expect(try choices(["$defs", "paging", "properties", "style"]).contains(style))
    }
}
