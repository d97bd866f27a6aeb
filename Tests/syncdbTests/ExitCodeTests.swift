import Testing

@Suite("Exit codes")
struct ExitCodeTests {
    @Test(
        "Wrong arguments exit with 2 and print the usage to standard error",
        arguments: [
            ["bogus"],
            ["import"],
            ["import", "users.json", "--database", "app.sqlite"],
            ["import", "users.json", "--entity", "User"],
            ["import", "users.json", "--entity", "User", "--database", "app.sqlite", "--operations", "insert,destroy"],
            ["import", "users.json", "--entity", "User", "--database", "app.sqlite", "--max-delete", "120%"],
            ["import", "users.json", "--entity", "User", "--database", "app.sqlite", "--max-delete", "-1"],
            ["import", "users.json", "--entity", "User", "--database", "app.sqlite", "--max-delete", "some"],
            ["import", "users.json", "--entity", "User", "--database", "app.sqlite", "--parent", "Company"],
            ["import", "users.json", "--entity", "User", "--database", "app.sqlite", "--scope", "some"],
            ["import", "users.json", "--entity", "User", "--database", "app.sqlite", "--key", "a..b"],
            ["import", "users.json", "--entity", "User", "--database", "app.sqlite", "--json", "--quiet"],
            ["import", "users.json", "--entity", "User", "--database", "app.sqlite", "--no-such-option"],
            ["diff", "users.json"],
            ["query", "User"],
            ["query", "User", "--database", "app.sqlite", "--limit", "many"],
            ["query", "User", "--database", "app.sqlite", "--limit=-1"],
            ["count", "--database", "app.sqlite"],
            ["schema", "show"],
            ["schema", "show", "--database", "app.sqlite", "--model", "model.json"],
            ["schema", "convert"],
            ["schema", "infer", "a.json", "b.json", "c.json", "--entity", "A", "--entity", "B"],
            ["verify"],
        ])
    func wrongUsage(arguments: [String]) throws {
        let sandbox = try Sandbox()
        let run = try sandbox.run(arguments)
        #expect(run.status == 2)
        #expect(run.output == "")
        #expect(run.errors.hasPrefix("error: "))
        #expect(run.errors.lowercased().contains("usage: syncdb"))
        #expect(try sandbox.files == [])
    }

    @Test(
        "--key with a format that has no key path exits with 2, and the error names the options",
        arguments: [
            ["import", "--database", "app.sqlite"], ["diff", "--database", "app.sqlite"],
            ["doctor", "--database", "app.sqlite"], ["schema", "infer"],
        ],
        [
            (["a.json", "--ndjson"], "--key and --ndjson cannot be used together"),
            (["a.jsonl.gz"], "--key cannot be used with 'a.jsonl.gz', which has one record per line"),
            (["a.json", "--form", "json-api"], "--key cannot be used with --form json-api"),
        ])
    func keyPathOfOtherFormats(command: [String], format: (arguments: [String], error: String)) throws {
        let run = try Sandbox().run(command + ["--entity", "User", "--key", "a.b"] + format.arguments)
        #expect(run.status == 2)
        #expect(run.errors.contains(format.error), "\(run.errors)")
        #expect(!run.errors.contains("keyPath"))
    }

    @Test(
        "A first import without a model and without a key exits with 1 and names --primary-key",
        arguments: ["import", "diff"])
    func missingKey(command: String) throws {
        let sandbox = try Sandbox()
        let run = try sandbox.run(
            [command, "-", "--entity", "User", "--database", "app.sqlite"], input: #"[{"name": "Ada"}]"#)
        #expect(run.status == 1)
        #expect(run.output == "")
        #expect(run.errors.contains("--primary-key"))
        #expect(try sandbox.files == [])
    }

    @Test(
        "A missing file or database exits with 1 and is named",
        arguments: [
            (["query", "User", "--database", "none.sqlite"], "none.sqlite"),
            (["count", "User", "--database", "none.sqlite"], "none.sqlite"),
            (["schema", "show", "--database", "none.sqlite"], "none.sqlite"),
            (["schema", "show", "--model", "none.json"], "none.json"),
            (["schema", "convert", "none.json"], "none.json"),
            (["import", "none.json", "--entity", "User", "--database", "app.sqlite"], "none.json"),
            (["diff", "none.json", "--entity", "User", "--database", "app.sqlite"], "none.json"),
            (["import", ".", "--entity", "User", "--database", "app.sqlite"], "folder"),
        ])
    func missingFiles(arguments: [String], named: String) throws {
        let sandbox = try Sandbox()
        let run = try sandbox.run(arguments)
        #expect(run.status == 1)
        #expect(run.output == "")
        #expect(run.errors.hasPrefix("error: "))
        #expect(run.errors.contains(named))
        #expect(try sandbox.files == [])
    }

    @Test("--help exits with 0 and prints to standard output")
    func helpExitsWithZero() throws {
        let run = try Sandbox().syncdb("--help")
        #expect(run.status == 0)
        #expect(run.errors == "")
        #expect(run.output.contains("0    done\n  1    failed\n  2    wrong usage\n  3    deletion limit exceeded"))
    }
}
