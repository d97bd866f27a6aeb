import Foundation
import Sync
import Testing

@testable import syncdb

@Suite("Errors name the way out")
struct WayOutTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox.withUsers() }

    private func run(_ arguments: String..., input: String = "") throws -> Program.Run {
        try sandbox.run(arguments + ["-d", "app.sqlite"], input: input)
    }

    // MARK: Did you mean

    @Test(
        "A command that there is not, with the one that was meant",
        arguments: [
            (["qurey", "User"], "'query'"), (["improt", "a.json"], "'import'"), (["schema", "shwo"], "'show'"),
            (["help", "exprot"], "'export'"), (["Count"], "'count'"),
        ])
    func commands(arguments: [String], meant: String) throws {
        let run = try sandbox.run(arguments)
        #expect(run.status == 2)
        #expect(run.output == "")
        #expect(run.errors.hasPrefix("error: unknown command 'syncdb "), "\(run.errors)")
        #expect(run.errors.contains("did you mean \(meant)?"), "\(run.errors)")
        #expect(run.errors.contains("Usage: syncdb"))
    }

    @Test(
        "A value that an option does not have, with the one that was meant",
        arguments: [
            (["query", "User", "--format", "jsn"], "json"), (["query", "User", "--color", "alway"], "always"),
            (["export", "User", "--case", "snaek"], "snake"),
            (["schema", "diagram", "--format", "mermiad"], "mermaid"),
            (["import", "a.json", "--entity", "User", "--scope", "al"], "all"),
            (["import", "a.json", "--entity", "User", "--operations", "insert,updaet"], "update"),
        ])
    func values(arguments: [String], meant: String) throws {
        let run = try sandbox.run(arguments + ["-d", "app.sqlite"])
        #expect(run.status == 2)
        #expect(run.errors.lowercased().contains("did you mean '\(meant)'?"), "\(run.errors)")
    }

    @Test("A value like none of them is told without a guess, an option by its likeness")
    func others() throws {
        let run = try run("query", "User", "--format", "hologram")
        #expect(run.status == 2)
        #expect(!run.errors.lowercased().contains("did you mean"), "\(run.errors)")
        #expect(run.errors.contains("- vertical"))
        #expect(try self.run("query", "User", "--limt", "3").errors.contains("Did you mean '--limit'?"))
    }

    @Test("The parser's message is left as it is where there is nothing to add")
    func unchanged() {
        for message in ["error: Missing value for '--limit <n>'", "error: The value 'x' is invalid for '--limit <n>'"] {
            #expect(Suggestion.added(to: message, ["query"]) == message)
        }
    }

    @Test("An entity or relationship that is not there, wherever it is named")
    func entities() throws {
        #expect(try run("import", "-", "--entity", "Usr", input: "[]").errors.contains("did you mean 'User'?"))
        let parent = try run("import", "-", "--entity", "Note", "--parent", "Usr:1", input: "[]")
        #expect(parent.errors.contains("did you mean 'User'?"), "\(parent.errors)")
        let relationship = try run("import", "-", "--entity", "Note", "--parent", "User:1:noets", input: "[]")
        #expect(relationship.errors.contains("did you mean 'notes'?"), "\(relationship.errors)")
        #expect(try run("doctor", "-", "--entity", "Nots", input: "[]").errors.contains("did you mean 'Note'?"))
    }

    // MARK: Hints

    @Test("The deletion guard names --max-delete and --delta")
    func deletionGuard() throws {
        let tags = (1...30).map { "{\"id\": \($0)}" }.joined(separator: ",")
        #expect(try run("import", "-", "--entity", "Tag", "--quiet", input: "[\(tags)]").status == 0)
        let refused = try run("import", "-", "--entity", "Tag", input: #"[{"id": 1}]"#)
        #expect(refused.status == 3)
        #expect(refused.errors.contains("--max-delete") && refused.errors.contains("--delta"), "\(refused.errors)")
    }

    @Test("A model that loses data names --allow-loss")
    func loss() throws {
        let model = try sandbox.file("small.json", #"{"entities": {"User": {"attributes": {"id": "integer"}}}}"#)
        let refused = try run("import", "-", "--entity", "User", "--model", model, "--delta", input: "[]")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("--allow-loss"), "\(refused.errors)")
        #expect(refused.errors.contains("app.sqlite"), "\(refused.errors)")
    }

    @Test("Records in a list inside name --key")
    func key() throws {
        let run = try run("import", "-", "--entity", "User", input: #"{"results": [{"id": 1}]}"#)
        #expect(run.errors.contains("--key results"))
    }

    @Test(
        "Records on lines of their own name --ndjson, and the file",
        arguments: [["import"], ["diff"], ["doctor"], ["schema", "infer"], ["import", "--whole-up-to", "1"]])
    func ndjson(command: [String]) throws {
        let lines = try sandbox.file("lines.json", "{\"id\": 1}\n\n{\"id\": 2}\n")
        let isInference = command[0] == "schema"
        let words = Array(command.prefix(isInference ? 2 : 1)) + [lines] + command.dropFirst(isInference ? 2 : 1)
        let run = try sandbox.run(words + ["--entity", "User"] + (isInference ? [] : ["-d", "app.sqlite"]))
        #expect(run.status == 1)
        #expect(run.errors.contains("lines.json"))
        #expect(run.errors.hasSuffix("hint: each line is JSON by itself: --ndjson reads that\n"), "\(run.errors)")
        #expect(
            try sandbox.run(words + ["--entity", "User", "--ndjson"] + (isInference ? [] : ["-d", "app.sqlite"])).status
                == 0)
    }

    @Test(
        "A payload of another form names the option that reads it, which does",
        arguments: [
            (#"{"data": [{"type": "users", "id": "1", "attributes": {"first_name": "A"}}]}"#, ["--form", "json-api"]),
            (#"{"data": {"users": {"nodes": [{"id": 1}]}}}"#, ["--form", "graphql"]),
            (#"{"1": {"first_name": "A"}, "2": {"first_name": "B"}}"#, ["--keyed"]),
            (
                #"{"users": [{"id": 1}], "companies": [{"id": 7}]}"#,
                ["--entity", "companies=Company", "--entity", "users=User"]
            ),
        ])
    func forms(json: String, options: [String]) throws {
        let refused = try run("import", "-", "--entity", "User", input: json)
        #expect(refused.status == 1)
        #expect(refused.errors.contains(": \(options.joined(separator: " ")) reads that"), "\(refused.errors)")
        let entity = options.contains("--entity") ? [] : ["--entity", "User"]
        let read = try sandbox.run(["import", "-", "-d", "app.sqlite", "--delta"] + entity + options, input: json)
        #expect(read.status == 0, "\(read.errors)")
        let told = try sandbox.run(["doctor", "-", "-d", "app.sqlite"] + entity + options, input: json)
        #expect(!told.output.contains("\n  nothing"), "\(told.errors)")
        #expect(told.errors == "")
    }

    @Test(
        "What is no JSON is told, with a way out",
        arguments: [
            ("id,name\n1,a\n", "CSV"), ("<html><body>Log in</body></html>", "a web page"), ("---\nid: 1\n", "YAML"),
            ("<?xml version=\"1.0\"?><a/>", "XML"),
        ])
    func others(text: String, name: String) throws {
        for command in ["import", "diff", "doctor"] {
            let run = try run(command, "-", "--entity", "User", input: text)
            #expect(run.status == 1)
            #expect(run.errors.contains("hint: it looks like \(name)"), "\(run.errors)")
        }
    }

    @Test(
        "JSON that is broken otherwise does not",
        arguments: ["[{\"id\": 1}", "{\"id\": 1} {\"id\": 2}", "{\n}\n}", "{}\nx"])
    func broken(json: String) throws {
        let run = try run("import", "-", "--entity", "User", input: json)
        #expect(run.status == 1)
        #expect(!run.errors.contains("--ndjson"), "\(run.errors)")
    }

    @Test("Errors about the database name it")
    func database() throws {
        _ = try sandbox.file("garbage.sqlite", String(repeating: "garbage ", count: 1000))
        for command in [["count", "User"], ["query", "User"], ["schema", "show"], ["doctor"]] {
            let run = try sandbox.run(command + ["-d", "garbage.sqlite"])
            #expect(run.status == 1)
            #expect(run.errors.contains("garbage.sqlite"), "\(run.errors)")
        }
    }

    // MARK: Remarks

    @Test("Remarks go to standard error, results to standard output")
    func remarks() throws {
        let payload = #"[{"id": 1, "bogus": 2, "age": "old", "company_id": 4040}]"#
        for command in [["import", "--delta"], ["diff", "--delta"], ["import", "--delta", "--dry-run"]] {
            let run = try sandbox.run(
                [command[0], "-", "--entity", "User", "-d", "app.sqlite"] + command.dropFirst(), input: payload)
            #expect(run.status == 0)
            for remark in ["not taken: ", "not in the model: key 'bogus'", "note: --evolve would add"] {
                #expect(run.errors.contains(remark), "\(run.errors)")
                #expect(!run.output.contains(remark))
            }
            #expect(
                run.output.contains("entity  inserted") || run.output.contains("entity   inserted"), "\(run.output)")
        }
        let quiet = try run("import", "-", "--entity", "User", "--delta", "--quiet", input: payload)
        #expect(quiet.output == "" && quiet.errors == "")
    }
}
