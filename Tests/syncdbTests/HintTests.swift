import Foundation
import Sync
import Testing

@testable import syncdb

@Suite("Hints in errors")
struct HintTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox.withUsers() }

    private func run(_ arguments: String..., input: String = "") throws -> Program.Run {
        try sandbox.run(arguments + ["-d", "app.sqlite"], input: input)
    }

    // MARK: Suggestions

    @Test(
        "An unknown command is an error that suggests the intended one",
        arguments: [
            (["qurey", "User"], "'query'"), (["improt", "a.json"], "'import'"), (["schema", "shwo"], "'show'"),
            (["help", "exprot"], "'export'"), (["Count"], "'count'"),
        ])
    func commandsAreSuggested(arguments: [String], meant: String) throws {
        let run = try sandbox.run(arguments)
        #expect(run.status == 2)
        #expect(run.output == "")
        #expect(run.errors.hasPrefix("error: unknown command 'syncdb "), "\(run.errors)")
        #expect(run.errors.contains("did you mean \(meant)?"), "\(run.errors)")
        #expect(run.errors.contains("Usage: syncdb"))
    }

    @Test(
        "An unknown value of an option is an error that suggests the intended one",
        arguments: [
            (["query", "User", "--format", "jsn"], "json"), (["query", "User", "--color", "alway"], "always"),
            (["export", "User", "--case", "snaek"], "snake"),
            (["schema", "diagram", "--format", "mermiad"], "mermaid"),
            (["import", "a.json", "--entity", "User", "--scope", "al"], "all"),
            (["import", "a.json", "--entity", "User", "--operations", "insert,updaet"], "update"),
        ])
    func valuesAreSuggested(arguments: [String], meant: String) throws {
        let run = try sandbox.run(arguments + ["-d", "app.sqlite"])
        #expect(run.status == 2)
        #expect(run.errors.lowercased().contains("did you mean '\(meant)'?"), "\(run.errors)")
    }

    @Test("A value unlike all others has no suggestion, and a similar option has one")
    func otherValuesHaveNoSuggestion() throws {
        let run = try run("query", "User", "--format", "hologram")
        #expect(run.status == 2)
        #expect(!run.errors.lowercased().contains("did you mean"), "\(run.errors)")
        #expect(run.errors.contains("- vertical"))
        #expect(try self.run("query", "User", "--limt", "3").errors.contains("Did you mean '--limit'?"))
    }

    @Test("A message of the argument parser stays unchanged without a suggestion")
    func parserMessagesStay() {
        for message in ["error: Missing value for '--limit <n>'", "error: The value 'x' is invalid for '--limit <n>'"] {
            #expect(Suggestion.added(to: message, ["query"]) == message)
        }
    }

    @Test("An unknown entity or relationship is an error that suggests the intended one")
    func entitiesAreSuggested() throws {
        #expect(try run("import", "-", "--entity", "Usr", input: "[]").errors.contains("did you mean 'User'?"))
        let parent = try run("import", "-", "--entity", "Note", "--parent", "Usr:1", input: "[]")
        #expect(parent.errors.contains("did you mean 'User'?"), "\(parent.errors)")
        let relationship = try run("import", "-", "--entity", "Note", "--parent", "User:1:noets", input: "[]")
        #expect(relationship.errors.contains("did you mean 'notes'?"), "\(relationship.errors)")
        #expect(try run("doctor", "-", "--entity", "Nots", input: "[]").errors.contains("did you mean 'Note'?"))
    }

    // MARK: Hints

    @Test("An import over the deletion limit names --max-delete and --delta")
    func limitNamesOptions() throws {
        let tags = (1...30).map { "{\"id\": \($0)}" }.joined(separator: ",")
        #expect(try run("import", "-", "--entity", "Tag", "--quiet", input: "[\(tags)]").status == 0)
        let refused = try run("import", "-", "--entity", "Tag", input: #"[{"id": 1}]"#)
        #expect(refused.status == 3)
        #expect(refused.errors.contains("--max-delete") && refused.errors.contains("--delta"), "\(refused.errors)")
    }

    @Test("A model that loses data is an error that names --allow-loss")
    func lossNamesOption() throws {
        let model = try sandbox.file("small.json", #"{"entities": {"User": {"attributes": {"id": "integer"}}}}"#)
        let refused = try run("import", "-", "--entity", "User", "--model", model, "--delta", input: "[]")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("--allow-loss"), "\(refused.errors)")
        #expect(refused.errors.contains("app.sqlite"), "\(refused.errors)")
    }

    @Test("A model that requires values which rows lack is an error that names a default, and not --allow-loss")
    func missingValuesNameDefault() throws {
        #expect(try run("import", "-", "--entity", "User", "--delta", input: #"[{"id": 1}]"#).status == 0)
        let model = try sandbox.file(
            "required.json",
            #"{"entities": {"User": {"attributes": {"id": "integer", "code": {"type": "string", "optional": false}}}}}"#
        )
        for command in [["import", "-", "--entity", "User", "--delta"], ["schema", "migrate"]] {
            let options = ["--model", model, "--allow-loss", "-d", "app.sqlite"]
            let refused = try sandbox.run(command + options, input: "[]")
            #expect(refused.status == 1)
            #expect(refused.errors.contains("hint: give the attribute a default"), "\(refused.errors)")
            #expect(!refused.errors.contains("--allow-loss"), "\(refused.errors)")
        }
    }

    @Test("A migration that breaks a foreign key of the app is an error that names its table, and not --allow-loss")
    func foreignKeyNamesTable() throws {
        _ = try sandbox.query("CREATE TABLE favourite (user INTEGER REFERENCES User (id))")
        let model = try sandbox.file("small.json", #"{"entities": {"Note": {"attributes": {"id": "integer"}}}}"#)
        let refused = try run("import", "-", "--entity", "Note", "--model", model, "--allow-loss", input: "[]")
        #expect(refused.status == 1)
        #expect(refused.errors.contains("tables.favourite.user"), "\(refused.errors)")
        #expect(!refused.errors.contains("--allow-loss"), "\(refused.errors)")
    }

    @Test("Records in a nested list are an error that names --key")
    func nestedListNamesKey() throws {
        let run = try run("import", "-", "--entity", "User", input: #"{"results": [{"id": 1}]}"#)
        #expect(run.errors.contains("--key results"))
    }

    @Test("The hint for the list of an object without a key comes before that for a primary key")
    func nestedListComesFirst() throws {
        let run = try sandbox.syncdb(
            "import", "-", "--entity", "Order", "-d", "orders.sqlite", input: #"{"orders": [{"id": 1}], "meta": 3}"#)
        #expect(run.status == 1)
        let message = "; to read the list inside, use --key orders; otherwise name a key with --primary-key. "
        #expect(run.errors.contains(message), "\(run.errors)")
        #expect(!run.errors.contains("to read a list inside"), "\(run.errors)")
    }

    @Test(
        "Records on separate lines are an error that names --ndjson and the file",
        arguments: [["import"], ["diff"], ["doctor"], ["schema", "infer"], ["import", "--whole-up-to", "1"]])
    func linesNameNDJSON(command: [String]) throws {
        let lines = try sandbox.file("lines.json", "{\"id\": 1}\n\n{\"id\": 2}\n")
        let isInference = command[0] == "schema"
        let words = Array(command.prefix(isInference ? 2 : 1)) + [lines] + command.dropFirst(isInference ? 2 : 1)
        let run = try sandbox.run(words + ["--entity", "User"] + (isInference ? [] : ["-d", "app.sqlite"]))
        #expect(run.status == 1)
        #expect(run.errors.contains("lines.json"))
        #expect(run.errors.hasSuffix("hint: the payload has one JSON value per line: use --ndjson\n"), "\(run.errors)")
        #expect(
            try sandbox.run(words + ["--entity", "User", "--ndjson"] + (isInference ? [] : ["-d", "app.sqlite"])).status
                == 0)
    }

    @Test(
        "A payload in another format is an error that names the option for it",
        arguments: [
            (#"{"data": [{"type": "users", "id": "1", "attributes": {"first_name": "A"}}]}"#, ["--form", "json-api"]),
            (#"{"data": {"users": {"nodes": [{"id": 1}]}}}"#, ["--form", "graphql"]),
            (#"{"1": {"first_name": "A"}, "2": {"first_name": "B"}}"#, ["--keyed"]),
            (
                #"{"users": [{"id": 1}], "companies": [{"id": 7}]}"#,
                ["--entity", "companies=Company", "--entity", "users=User"]
            ),
        ])
    func formatNamesOption(json: String, options: [String]) throws {
        let refused = try run("import", "-", "--entity", "User", input: json)
        #expect(refused.status == 1)
        #expect(refused.errors.contains(": use \(options.joined(separator: " "))\n"), "\(refused.errors)")
        let entity = options.contains("--entity") ? [] : ["--entity", "User"]
        let read = try sandbox.run(["import", "-", "-d", "app.sqlite", "--delta"] + entity + options, input: json)
        #expect(read.status == 0, "\(read.errors)")
        let told = try sandbox.run(["doctor", "-", "-d", "app.sqlite"] + entity + options, input: json)
        #expect(!told.output.contains("\n  nothing"), "\(told.errors)")
        #expect(told.errors == "")
    }

    @Test(
        "A payload that is no JSON is an error that names its likely format",
        arguments: [
            ("id,name\n1,a\n", "CSV"), ("<html><body>Log in</body></html>", "a web page"), ("---\nid: 1\n", "YAML"),
            ("<?xml version=\"1.0\"?><a/>", "XML"),
        ])
    func otherFormatsAreNamed(text: String, name: String) throws {
        for command in ["import", "diff", "doctor"] {
            let run = try run(command, "-", "--entity", "User", input: text)
            #expect(run.status == 1)
            #expect(run.errors.contains("hint: the payload looks like \(name)"), "\(run.errors)")
        }
    }

    @Test(
        "Malformed JSON is an error that does not name --ndjson",
        arguments: ["[{\"id\": 1}", "{\"id\": 1} {\"id\": 2}", "{\n}\n}", "{}\nx"])
    func malformedJSONHasNoHint(json: String) throws {
        let run = try run("import", "-", "--entity", "User", input: json)
        #expect(run.status == 1)
        #expect(!run.errors.contains("--ndjson"), "\(run.errors)")
    }

    @Test("An error about the database names its file")
    func databaseIsNamed() throws {
        _ = try sandbox.file("garbage.sqlite", String(repeating: "garbage ", count: 1000))
        for command in [["count", "User"], ["query", "User"], ["schema", "show"], ["doctor"]] {
            let run = try sandbox.run(command + ["-d", "garbage.sqlite"])
            #expect(run.status == 1)
            #expect(run.errors.contains("garbage.sqlite"), "\(run.errors)")
        }
    }

    // MARK: Notes

    @Test("Notes go to standard error, and results to standard output")
    func notesGoToStandardError() throws {
        let payload = #"[{"id": 1, "bogus": 2, "age": "old", "company_id": 4040}]"#
        for command in [["import", "--delta"], ["diff", "--delta"], ["import", "--delta", "--dry-run"]] {
            let run = try sandbox.run(
                [command[0], "-", "--entity", "User", "-d", "app.sqlite"] + command.dropFirst(), input: payload)
            #expect(run.status == 0)
            for remark in ["not stored: ", "not in the model: key 'bogus'", "note: --evolve would add"] {
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
