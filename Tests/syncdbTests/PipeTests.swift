import Foundation
import Testing

@Suite("Pipes")
struct PipeTests {
    private func sandbox() throws -> Sandbox { try .withUsers() }

    private static let model = "<(cat '\(Sandbox.model)')"
    private static let users = "<(cat '\(Sandbox.day1)')"

    @Test(
        "A pipe is read wherever a file is",
        arguments: [
            "import \(users) --entity User --database app.sqlite",
            "import \(users) --entity User --database new.sqlite --model \(model)",
            "import \(users) --entity User --database new.sqlite",
            "import \(users) --entity User --database app.sqlite --evolve",
            "import \(users) \(users) --entity User --database app.sqlite",
            "import <(gzip -c '\(Sandbox.day1)') --entity User --database app.sqlite",
            "diff \(users) --entity User --database app.sqlite --model \(model)",
            "diff <(echo '{\"a\": {\"b\":'; cat '\(Sandbox.day1)'; echo '}}') --key a.b --entity User --database app.sqlite",
            "doctor \(users) --entity User --database app.sqlite", "doctor \(users) --entity User --model \(model)",
            "doctor --model \(model)", "schema infer \(users) \(users) --entity User", "schema show --model \(model)",
            "schema convert \(model)", "schema diagram --model \(model)",
            "schema migrate --model \(model) --database app.sqlite",
        ])
    func pipesReplaceFiles(arguments: String) throws {
        let sandbox = try sandbox()
        let run = try sandbox.shell("\"$SYNCDB\" \(arguments)")
        #expect(run.status == 0, "\(run.errors)")
        let plain = arguments.replacingOccurrences(of: "<\\(cat '([^']*)'\\)", with: "$1", options: .regularExpression)
            .replacingOccurrences(of: "new.sqlite", with: "other.sqlite")
        #expect(try sandbox.shell("\"$SYNCDB\" \(plain)").output == run.output)
    }

    @Test("A named pipe is read, also compressed and in chunks")
    func namedPipesAreRead() throws {
        let sandbox = try sandbox()
        let lines = (1...20_000).map { #"{"id": \#($0), "name": "\#(String(repeating: "x", count: 50))"}"# }
        _ = try sandbox.file("tags.ndjson", lines.joined(separator: "\n"))
        let run = try sandbox.shell(
            """
            mkfifo a.ndjson b.ndjson.gz
            cat tags.ndjson > a.ndjson &
            "$SYNCDB" import a.ndjson --entity Tag --database app.sqlite --quiet --whole-up-to 100K || exit 1
            gzip -c tags.ndjson > b.ndjson.gz &
            "$SYNCDB" import b.ndjson.gz --entity Tag --database app.sqlite --whole-up-to 100K
            """)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("Tag            0        0        0      20000"), "\(run.output)")
    }

    @Test("A diff over the deletion limit reads its model once")
    func modelIsReadOnce() throws {
        let sandbox = try sandbox()
        let many = "[" + (100...130).map { "{\"id\": \($0)}" }.joined(separator: ",") + "]"
        #expect(try sandbox.importUsers(sandbox.file("many.json", many), "--max-delete", "100%").status == 0)
        let run = try sandbox.shell(
            "echo '[]' | timeout 60 \"$SYNCDB\" diff - --entity User --database app.sqlite --model \(Self.model)")
        #expect(run.status == 3, "\(run.errors)")
        #expect(run.output.contains("- User 100"))
    }

    @Test("A scenario from a pipe finds its files in the working folder")
    func scenarioFromAPipe() throws {
        let sandbox = try sandbox()
        try FileManager.default.copyItem(
            atPath: Sandbox.model, toPath: sandbox.folder.appendingPathComponent("model.json").path)
        let step = #"{"sync": [{"id": 1}], "entity": "User"}"#
        _ = try sandbox.file(
            "scenario.json",
            #"{"format": 1, "cases": [{"name": "a", "about": "b", "model": "model.json", "steps": [\#(step)]}]}"#)
        let run = try sandbox.shell("\"$SYNCDB\" verify <(cat scenario.json)")
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output == "1 passed, 0 failed, 0 skipped\n")
    }

    @Test(
        "A pipe as the database is an error",
        arguments: ["count User", "import users.json --entity User", "schema migrate --model m.json"])
    func pipeIsNoDatabase(arguments: String) throws {
        let sandbox = try Sandbox()
        try FileManager.default.copyItem(
            atPath: Sandbox.model, toPath: sandbox.folder.appendingPathComponent("m.json").path)
        _ = try sandbox.file("users.json", "[]")
        let run = try sandbox.shell("mkfifo db; timeout 60 \"$SYNCDB\" \(arguments) --database db")
        #expect(run.status == 1)
        #expect(run.errors.contains("is not a file"))
    }
}
