import Testing

@Suite("Failed imports")
struct FailedImportTests {
    @Test(
        "A failed first import leaves no file",
        arguments: [
            (["--entity", "User"], "[{\"id\": 1},\n {\"id\": }]"),
            (["--entity", "User"], ""),
            (["--entity", "User"], "7"),
            (["--entity", "User"], "[1]"),
            (["--entity", "Robot"], "[]"),
            (["--entity", "User", "--where", "age >"], "[]"),
            (["--entity", "User", "--where", "wings == 2"], "[]"),
            (["--entity", "User", "--key", "results"], "{}"),
            (["--entity", "Note", "--parent", "User:1"], "[]"),
            (["--entity", "User", "--strict"], "[{\"id\": 1, \"age\": \"old\"}]"),
        ])
    func failedFirstImport(options: [String], json: String) throws {
        let sandbox = try Sandbox()
        let run = try sandbox.run(
            ["import", "-", "--model", Sandbox.model, "--database", "app.sqlite"] + options, input: json)
        #expect(run.status == 1)
        #expect(run.output == "")
        #expect(run.errors.hasPrefix("error: "))
        #expect(try sandbox.files == [])
    }

    @Test("Malformed JSON is an error with its file, line and column")
    func malformedJSON() throws {
        let sandbox = try Sandbox()
        let run = try sandbox.importUsers(sandbox.file("users.json", "[{\"id\": 1},\n {\"id\": }]"))
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("error: users.json: "))
        #expect(run.errors.contains("line 2, column 9"))
    }

    @Test("An invalid model is an error with every problem")
    func invalidModel() throws {
        let sandbox = try Sandbox()
        let model = try sandbox.file(
            "model.json", #"{"entities": {"User": {"attributes": {"id": "number", "age": "years"}}}}"#)
        let run = try sandbox.syncdb(
            "import", Sandbox.day1, "--entity", "User", "--model", model, "--database", "app.sqlite")
        #expect(run.status == 1)
        #expect(run.errors.contains("User.attributes.id"))
        #expect(run.errors.contains("User.attributes.age"))
        #expect(try sandbox.files == ["model.json"])
    }

    @Test("An import into a missing folder fails and does not create it")
    func missingFolder() throws {
        let sandbox = try Sandbox()
        let run = try sandbox.syncdb(
            "import", Sandbox.day1, "--entity", "User", "--model", Sandbox.model, "--database", "none/app.sqlite")
        #expect(run.status == 1)
        #expect(run.errors.contains("no folder"))
        #expect(try sandbox.files == [])
    }

    @Test("A failed later import leaves the database unchanged")
    func failedLaterImport() throws {
        let sandbox = try Sandbox()
        try sandbox.importUsers(Sandbox.day1)
        let before = try sandbox.databaseDump()
        let run = try sandbox.importUsers("-", input: #"[{"id": 1, "age": 99}, "#)
        #expect(run.status == 1)
        #expect(try sandbox.databaseDump() == before)
    }

    @Test("A file that is no database is left unchanged")
    func otherFileIsKept() throws {
        let sandbox = try Sandbox()
        let text = String(repeating: "not a database\n", count: 100)
        _ = try sandbox.file("app.sqlite", text)
        let before = try sandbox.databaseBytes()
        for command in ["import", "diff"] {
            let run = try sandbox.syncdb(command, Sandbox.day1, "--entity", "User", "--database", "app.sqlite")
            #expect(run.status == 1)
            #expect(run.errors.hasPrefix("error: "))
        }
        #expect(try sandbox.databaseBytes() == before)
        #expect(try sandbox.files == ["app.sqlite"])
    }
}
