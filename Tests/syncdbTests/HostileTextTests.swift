import Foundation
import Sync
import Testing

@Suite("Control characters from outside")
struct HostileTextTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Self.prepared() }

    private static func prepared() throws -> Sandbox {
        let sandbox = try Sandbox.withUsers()
        let text = try HostileText.json
        _ = try sandbox.file(
            "payload.json",
            #"[{"id": 1, \#(text): 1, "company_id": 4040, "first_name": \#(text)}, {"id": \#(text)}, {"id": 2, "age": \#(text)}]"#
        )
        _ = try sandbox.file("keyed.json", #"{\#(text): 1}"#)
        _ = try sandbox.file("invalid.json", "[{\"id\": 1, \"a\": \(HostileText.text)")
        _ = try sandbox.file(
            "model.json",
            #"{"entities": {"User": {"attributes": {"id": "integer", "age": \#(text), "a\u202eb": "string"}}}}"#)
        _ = try sandbox.file(
            "names.json",
            #"{"entities": {"Us\u202eer": {"attributes": {"id": "integer", "a\u202eb": {"type": "string", "remoteKey": \#(text)}}}}}"#
        )
        _ = try sandbox.file(
            "scenario.json",
            #"{"name": \#(text), "model": {"entities": {"User": {"attributes": {"id": "integer"}}}}, "steps": [{"sync": \#(text)}]}"#
        )
        return sandbox
    }

    /// A database with the payload, created once for all tests.
    private static let imported = Result {
        let sandbox = try prepared()
        _ = try sandbox.run(["import", "payload.json", "--delta", "--quiet"] + user)
        let files = try sandbox.databaseBytes()
        try #require(files.count == 1)
        return try #require(files["app.sqlite"])
    }

    private func importPayload() throws {
        try Self.imported.get().write(to: sandbox.folder.appendingPathComponent("app.sqlite"))
    }

    private static let user = ["--entity", "User", "--database", "app.sqlite"]

    static let commands: [[String]] = [
        ["import", "payload.json", "--delta"] + user,
        ["import", "payload.json", "--delta", "--verbose", "--color", "never"] + user,
        ["import", "payload.json", "--delta", "--strict"] + user,
        ["import", "payload.json", "--delta", "--evolve"] + user,
        ["import", "invalid.json"] + user,
        ["import", "keyed.json", "--key", "x"] + user,
        ["import", "payload.json", "--entity", "User", "--database", "new.sqlite"],
        ["diff", "payload.json", "--delta"] + user,
        ["diff", "payload.json", "--delta", "--evolve"] + user,
        ["doctor", "payload.json"] + user,
        ["doctor", "payload.json", "--entity", HostileText.text, "--database", "app.sqlite"],
        ["doctor", "--model", "names.json"],
        ["query", "User", "--database", "app.sqlite"],
        ["query", HostileText.text, "--database", "app.sqlite"],
        ["query", "User", "--database", HostileText.text],
        ["query", "User", "--database", "app.sqlite", "--where", HostileText.text],
        ["query", "User", "--database", "app.sqlite", "--order-by", HostileText.text],
        ["query", "User", "--database", "app.sqlite", "--limit", HostileText.text],
        ["query", HostileText.text],
        [HostileText.text],
        ["export", "User", "--database", "app.sqlite", "--time-zone", HostileText.text],
        ["export", "User", "--database", "app.sqlite", "--output", HostileText.text + "/a"],
        ["schema", "show", "--model", "names.json"],
        ["schema", "diagram", "--model", "names.json"],
        ["schema", "diagram", "--model", "names.json", "--format", "dot"],
        ["schema", "convert", "model.json"],
        ["schema", "infer", "payload.json", "--entity", "User"],
        ["schema", "migrate", "--database", "app.sqlite", "--model", "names.json", "--dry-run"],
        ["verify", "scenario.json"], ["verify", "scenario.json", "--verbose"], ["verify", HostileText.text],
    ]

    @Test("Control characters from outside are escaped in text for people", arguments: commands)
    func textIsEscaped(command: [String]) throws {
        try importPayload()
        // `schema infer` prints JSON, which is not escaped.
        let run = try sandbox.run(command)
        let people = command.contains("infer") ? Program.Run(status: run.status, output: "", errors: run.errors) : run
        HostileText.expectSafe(people, "\(command)")
    }

    @Test("Control characters from outside stay unchanged in JSON and exports")
    func jsonIsNotEscaped() throws {
        try importPayload()
        struct Row: Decodable {
            let firstName: String?
            let first_name: String?
        }
        for command in [["query"], ["export"]] {
            let json = command + ["User", "--database", "app.sqlite", "--where", "id == 1"]
            let run = try sandbox.run(json + (command == ["query"] ? ["--json"] : []))
            let row = try #require(try JSONDecoder().decode([Row].self, from: Data(run.output.utf8)).first)
            #expect((row.firstName ?? row.first_name) == HostileText.text)
        }
        let result = try sandbox.syncdb(
            "diff", "payload.json", "--delta", "--json", "--entity", "User", "--database", "app.sqlite")
        let unmapped = try JSONDecoder().decode(SyncResult.self, from: Data(result.output.utf8)).unmappedKeys
        #expect(unmapped.map(\.path).contains(HostileText.text))
    }

    @Test(
        "JSON and exports on a terminal escape control characters and stay equal", .enabled(if: Typescript.isThere))
    func jsonIsEscapedOnATerminal() throws {
        try importPayload()
        let commands: [([String], [String])] = [
            (["export", "User"], []), (["query", "User", "--json"], []),
            // The terminal under its other names.
            (["export", "User"], ["--output", "/dev/stdout"]), (["export", "User"], ["--output", "/dev/stderr"]),
            (["export", "User"], ["--output", "/dev/tty"]), (["export", "User"], ["--output", "/dev/fd/1"]),
        ]
        for (command, output) in commands {
            let arguments = command + ["--database", "app.sqlite"]
            let piped = try sandbox.run(arguments).output
            let seen = try Typescript.run(arguments + output, in: sandbox.folder).output
                .replacingOccurrences(of: "\r\n", with: "\n")
            #expect(!HostileText.isSafe(piped))
            #expect(HostileText.isSafe(seen))
            let (left, right) = (Data(piped.utf8), Data(seen.utf8))
            #expect(
                try JSONDecoder().decode(JSONValue.self, from: left)
                    == JSONDecoder().decode(JSONValue.self, from: right))
        }
    }
}
