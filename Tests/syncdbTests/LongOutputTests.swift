import Foundation
import Sync
import Testing

@Suite("Long output")
struct LongOutputTests {
    private let sandbox: Sandbox
    private static let long = String(repeating: "k", count: 200_000)

    init() throws {
        sandbox = try Sandbox.withUsers()
    }

    @discardableResult
    private func run(_ arguments: String..., input: String = "") throws -> Program.Run {
        try sandbox.run(arguments + ["--database", "app.sqlite"], input: input)
    }

    private func expectCut(_ run: Program.Run, _ rest: String = "kB more)") {
        #expect(run.output.utf8.count + run.errors.utf8.count < 5_000)
        #expect((run.output + run.errors).contains(rest), "\((run.output + run.errors).prefix(500))")
    }

    @Test("A long unknown key is cut, with the size of the rest", arguments: ["import", "diff", "doctor"])
    func longKeyIsCut(command: String) throws {
        let delta = command == "doctor" ? [] : ["--delta"]
        let payload = #"[{"id": 1, "\#(Self.long)": 1}]"#
        let arguments = [command, "-", "--entity", "User", "--database", "app.sqlite"] + delta
        expectCut(try sandbox.run(arguments, input: payload))
        let json = try sandbox.run(arguments + ["--json"], input: payload).output
        #expect(json.contains(Self.long))
    }

    @Test("A long value is cut in tables and changes, and whole in JSON and exports")
    func longValueIsCut() throws {
        let payload = #"[{"id": 1, "first_name": "\#(Self.long)"}]"#
        expectCut(try run("diff", "-", "--entity", "User", "--delta", input: payload))
        try run("import", "-", "--entity", "User", "--delta", "--quiet", input: payload)
        // A pipe gets values whole.
        #expect(try run("query", "User").output.contains(Self.long))
        if Typescript.isThere {
            let seen = try Typescript.run(["query", "User", "--database", "app.sqlite"], in: sandbox.folder)
            #expect(seen.output.utf8.count < 5_000 && seen.output.contains("kkk…"))
            expectCut(
                try Typescript.run(
                    ["query", "User", "--database", "app.sqlite", "--format", "vertical", "--limit", "1"],
                    in: sandbox.folder))
        }
        #expect(try run("query", "User", "--json").output.contains(Self.long))
        #expect(try run("export", "User").output.contains(Self.long))
        // The common beginning is left out.
        let changed = try run(
            "diff", "-", "--entity", "User", "--delta", input: #"[{"id": 1, "first_name": "\#(Self.long)é"}]"#)
        #expect(changed.output.contains(#"kkkkkkkkké" (after 199 kB unchanged)"#), "\(changed.output.prefix(300))")
    }

    @Test("Long names are cut in errors, wherever they come from")
    func longNamesAreCut() throws {
        let name = String(Self.long.prefix(100_000))
        for run in [
            try run("count", name), try run("count", "User", "--where", name),
            try run("import", name, "--entity", "User"),
            try run("import", "-", "--entity", "User", "--key", "x", input: #"{"\#(Self.long)": 1}"#),
            try run("doctor", "-", "--entity", name, input: "[]"), try run("count", "User", "--" + name),
            try run(
                "import", "-", "--entity", "User", "--strict", "--delta", input: #"[{"id": 1, "age": "\#(Self.long)"}]"#
            ),
        ] {
            #expect(run.status != 0)
            #expect(run.output.utf8.count + run.errors.utf8.count < 5_000, "\(run.errors.prefix(500))")
        }
    }

    @Test("An error with many names lists the first ones and counts the others")
    func manyNamesAreCounted() throws {
        let entities = (1...3000).map { #""Entity\#($0)": {"attributes": {"id": "integer"}}"# }.joined(separator: ",")
        let model = try sandbox.file("model.json", "{\"entities\": {\(entities)}}")
        let run = try sandbox.syncdb("doctor", "-", "--entity", "Nobody", "--model", model, input: "[]")
        #expect(run.errors.contains(" and 2980 more"), "\(run.errors.prefix(500))")
        #expect(run.errors.utf8.count < 500)
    }

    @Test("An error with many problems lists the first ones and counts the others")
    func manyProblemsAreCounted() throws {
        let entities = (1...300).map { #""Entity\#($0)": {"attributes": {"id": "nothing"}}"# }.joined(separator: ",")
        let run = try sandbox.syncdb(
            "schema", "convert", try sandbox.file("model.json", "{\"entities\": {\(entities)}}"))
        #expect(run.errors.split(separator: "\n").count == 22)
        #expect(run.errors.contains("  and 280 more\n"), "\(run.errors)")
    }

    @Test("doctor lists 20 findings of a kind, and all of them with --all and in JSON")
    func manyFindingsAreCounted() throws {
        let keys = (1...100).map { #""unknown\#($0)": 1"# }.joined(separator: ",")
        let payload = "[{\"id\": 1, \(keys)}]"
        let short = try run("doctor", "-", "--entity", "User", input: payload).output
        #expect(short.contains("'unknown20'") && !short.contains("'unknown21'"))
        #expect(short.contains("  and 80 more (use --all to list them)\n"))
        #expect(short.contains("100 errors, "))
        #expect(try run("doctor", "-", "--entity", "User", "--all", input: payload).output.contains("'unknown100'"))
        #expect(try run("doctor", "-", "--entity", "User", "--json", input: payload).output.contains("'unknown100'"))
    }

    @Test("The links of one row are cut, unless --all is given")
    func manyLinksAreCut() throws {
        let ids = (1...500).map { #"{"id": \#(1000 + $0)}"# }.joined(separator: ",")
        let payload = #"[{"id": 1, "tags": [\#(ids)]}]"#
        let short = try run("diff", "-", "--entity", "User", "--delta", input: payload).output
        #expect(short.contains(" more\n") && !short.contains("+ 1400"))
        #expect(try run("diff", "-", "--entity", "User", "--delta", "--all", input: payload).output.contains("+ 1400"))
    }

    @Test("Notes of --evolve and of inference are cut")
    func manyNotesAreCut() throws {
        let keys = (1...500).map { #""unknown\#($0)": 1"# }.joined(separator: ",")
        let payload = "[{\"id\": 1, \(keys)}]"
        let note = try run("import", "-", "--entity", "User", "--delta", input: payload).errors
        #expect(note.utf8.count < 3_000)
        let inferred = try sandbox.syncdb("schema", "infer", "-", "--entity", "User", input: payload).errors
        #expect(inferred.contains("(use --all to list them)"))
        #expect(
            try sandbox.syncdb("schema", "infer", "-", "--entity", "User", "--all", input: payload).errors.contains(
                "unknown500"))
    }
}
