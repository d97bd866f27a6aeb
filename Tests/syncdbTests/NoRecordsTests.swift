import Foundation
import TestSize
import Testing

/// JSON without the expected records: an error message, an envelope, or nothing.
@Suite("JSON without records")
struct NoRecordsTests {
    private static let envelope = #"{"count": 2, "next": null, "results": [{"id": 1}, {"id": 2}]}"#

    private func sandbox() throws -> Sandbox { try .withUsers() }

    /// Expects that the commands fail and leave the store unchanged, and returns the error output.
    private func errors(_ sandbox: Sandbox, _ arguments: [String], input: String = "") throws -> String {
        let before = try sandbox.databaseDump()
        var errors = ""
        for command in LongTests.some(["import", "diff"], every: 2) {
            for quiet in LongTests.some([["--quiet"], []], every: 2) {
                let run = try sandbox.run(
                    [command] + arguments + ["--entity", "User", "--database", "app.sqlite"] + quiet, input: input)
                #expect(run.status == 1, "\(command) \(quiet): \(run.output)\(run.errors)")
                #expect(run.output == "")
                #expect(run.errors.hasPrefix("error: "))
                errors = run.errors
            }
        }
        #expect(try sandbox.databaseDump() == before)
        return errors
    }

    private static let options = [
        ["--parent", "Company:1"], ["--operations", "insert,update"], ["--delta"], ["--where", "id < 3"],
    ]

    static let refusals =
        [
            #"{"message": "Bad credentials"}"#, "{}", #"[{"x": 1}, {"y": 2}]"#,
            #"[{"uid": 1, "company": {"id": 1, "name": "Other"}}]"#,
        ].map { ($0, []) } + options.map { (envelope, $0) }

    @Test("JSON without a readable record is an error, also with --quiet and in chunks", arguments: refusals)
    func unreadableRecordsAreAnError(json: String, options: [String]) throws {
        let sandbox = try sandbox()
        let errors = try errors(sandbox, ["-"] + options, input: json)
        #expect(errors.contains("standard input: no record can be read"), "\(errors)")
        let pieces = try sandbox.run(
            ["import", "-", "--entity", "User", "--database", "app.sqlite", "--whole-up-to", "1", "--piece-size", "1"]
                + options, input: json)
        #expect(pieces.errors == errors)
    }

    @Test("Empty JSON is an error, in every kind of file")
    func emptyJSONIsAnError() throws {
        let sandbox = try sandbox()
        for name in ["a.json", "a.ndjson", "a.jsonl"] {
            for text in LongTests.some(["", "\n", " \r\n\n\t"], every: 2) {
                let errors = try errors(sandbox, [try sandbox.file(name, text)])
                #expect(errors.contains("\(name): the payload is empty"), "\(errors)")
            }
            let packed = try Program.run(
                ["-c", "gzip -f -n \(name)"], executable: URL(fileURLWithPath: "/bin/sh"), in: sandbox.folder)
            try #require(packed.status == 0)
            #expect(try errors(sandbox, ["\(name).gz"]).contains("\(name).gz: the payload is empty"))
        }
        #expect(try errors(sandbox, ["-"]).contains("standard input: the payload is empty"))
        #expect(try errors(sandbox, ["-", "--ndjson"]).contains("standard input: the payload is empty"))
        #expect(try errors(sandbox, ["-", "--key", "data"]).contains("standard input: the payload is empty"))
    }

    @Test(
        "JSON without a readable record is an error that names the option for the lists inside it",
        arguments: [
            (envelope, [], "--key results\n"),
            (#"{"data": {"items": [{"id": 1}]}}"#, [], "--key data.items\n"),
            (#"{"data": {"items": [{"id": 1}]}}"#, ["--key", "data"], "--key data.items\n"),
            (#"{"users": [{"id": 1}], "the rest": [{"id": 2}]}"#, [], "--key users or --key 'the rest'\n"),
        ] as [(String, [String], String)])
    func listsInsideAreNamed(json: String, options: [String], hint: String) throws {
        let sandbox = try sandbox()
        #expect(try errors(sandbox, ["-"] + options, input: json).hasSuffix(hint))
        let doctor = try sandbox.run(
            ["doctor", "-", "--entity", "User", "--database", "app.sqlite"] + options, input: json)
        #expect(doctor.status == 1)
        #expect(doctor.errors.hasSuffix(hint), "\(doctor.errors)")
        let key = String(hint.dropFirst("--key ".count).prefix { $0 != "\n" && $0 != " " })
        let followed = try sandbox.importUsers("-", "--key", key, "--max-delete", "100%", input: json)
        #expect(followed.status == 0, "\(followed.errors)")
    }

    @Test("The error has no hint if no key path leads to a list")
    func unreachableListHasNoHint() throws {
        let sandbox = try sandbox()
        for json in [#"{"a.b": [{"id": 1}]}"#, #"{"codes": [1]}"#, #"[{"results": [{"id": 1}]}]"#] {
            #expect(try !errors(sandbox, ["-"], input: json).contains("--key"))
        }
    }

    @Test("The error names the reason if keys are of another type")
    func keysOfAnotherType() throws {
        let errors = try errors(sandbox(), ["-"], input: #"[{"id": "abc"}, {"id": "def"}]"#)
        #expect(
            errors.contains(
                "none of 2 has a readable 'id', as in [0].id: a string does not fit id, an integer"), "\(errors)")
    }

    @Test("JSON without a readable record creates no database, with a model and without")
    func noDatabaseIsCreated() throws {
        for (input, more) in [(Self.envelope, ["--model", Sandbox.model]), (Self.envelope, []), ("", [])] {
            let sandbox = try Sandbox()
            let run = try sandbox.run(
                ["import", "-", "--entity", "User", "--database", "app.sqlite"] + more, input: input)
            #expect(run.status == 1)
            #expect(run.errors.contains(input.isEmpty ? "the payload is empty" : "--key results"), "\(run.errors)")
            #expect(try sandbox.files == [])
        }
    }

    @Test("JSON without a readable record does not extend the model")
    func modelIsNotExtended() throws {
        let sandbox = try sandbox()
        #expect(try errors(sandbox, ["-", "--evolve"], input: Self.envelope).contains("--key results"))
    }

    @Test("One of several files without a readable record prevents all deletions")
    func oneFilePreventsDeletions() throws {
        let sandbox = try sandbox()
        let good = try sandbox.file("good.json", #"[{"id": 1}]"#)
        for bad in [Self.envelope, "", #"[{"x": 1}]"#] {
            let run = try sandbox.importUsers(good, try sandbox.file("bad.json", bad), "--max-delete", "100%")
            #expect(run.status == 1)
            #expect(run.errors.contains("bad.json: "))
            #expect(try sandbox.count("User") == "8")
        }
        #expect(try sandbox.importUsers(good, sandbox.file("none.json", "[]"), "--max-delete", "100%").status == 0)
        #expect(try sandbox.count("User") == "1")
    }

    @Test("doctor validates records without keys that are in no envelope")
    func doctorReadsRecords() throws {
        let run = try sandbox().run(
            ["doctor", "-", "--entity", "User", "--database", "app.sqlite"],
            input: #"[{"uid": 1}, {"uid": 2}]"#)
        #expect(run.status == 1)
        #expect(run.output.contains("Records without a primary key"), "\(run.output)\(run.errors)")
        #expect(run.output.contains("[0].uid"))
    }

    @Test("An empty list is valid and deletes all rows")
    func emptyListIsValid() throws {
        let sandbox = try sandbox()
        #expect(try sandbox.importUsers("-", "--max-delete", "100%", input: "[]").status == 0)
        #expect(try sandbox.count("User") == "0")
    }
}
