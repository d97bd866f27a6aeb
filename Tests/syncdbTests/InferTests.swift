import Testing

@Suite("schema infer, and import without a model")
struct InferTests {
    private static let users = #"[{"id": 1, "first_name": "Ada", "company": {"id": 7}}]"#

    @Test("schema infer prints the schema file to standard output and its notes to standard error")
    func notesGoToStandardError() throws {
        let sandbox = try Sandbox()
        let file = try sandbox.file("users.json", Self.users)
        let run = try sandbox.syncdb("schema", "infer", file, "--entity", "User")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.contains("User.firstName: string: 1 values"))
        let quiet = try sandbox.syncdb("schema", "infer", file, "--entity", "User", "--quiet", "--output", "model.json")
        #expect(quiet.output + quiet.errors == "")
        #expect(try sandbox.syncdb("schema", "convert", "model.json").output == run.output)
    }

    @Test("An import without a model stores the inferred one, and says so in one line")
    func importStoresInferredModel() throws {
        let sandbox = try Sandbox()
        let file = try sandbox.file("users.json", Self.users)
        let diff = try sandbox.syncdb("diff", file, "--entity", "User", "--database", "app.sqlite")
        #expect(diff.status == 0, "\(diff.errors)")
        #expect(try sandbox.files == ["users.json"])
        let run = try sandbox.syncdb("import", file, "--entity", "User", "--database", "app.sqlite")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.hasPrefix("note: no --model: inferred Company, User from the JSON"))
        #expect(run.errors.split(separator: "\n").count == 1)
        #expect(try sandbox.count("User", where: "firstName == 'Ada' AND company.id == 7") == "1")
        let again = try sandbox.syncdb("import", file, "--entity", "User", "--database", "app.sqlite")
        #expect(again.errors == "")
    }

    @Test("Records without a key are an error that names --primary-key, and create no database")
    func recordsWithoutKey() throws {
        let sandbox = try Sandbox()
        let file = try sandbox.file("books.json", #"[{"isbn": "1"}]"#)
        let run = try sandbox.syncdb("import", file, "--entity", "Book", "--database", "app.sqlite")
        #expect(run.status == 1)
        #expect(run.errors.contains("--primary-key") && run.errors.contains("'isbn'"))
        #expect(try sandbox.files == ["books.json"])
        let named = try sandbox.syncdb(
            "import", file, "--entity", "Book", "--database", "app.sqlite", "--primary-key", "isbn")
        #expect(named.status == 0, "\(named.errors)")
        #expect(try sandbox.count("Book", where: "isbn == '1'") == "1")
    }

    @Test("A model cannot be inferred from a list without records")
    func emptyListHasNoModel() throws {
        let sandbox = try Sandbox()
        for command in ["import - --entity User --database app.sqlite", "schema infer - --entity User"] {
            let run = try sandbox.run(command.split(separator: " ").map(String.init), input: "[]")
            #expect(run.status == 1)
            #expect(
                run.errors == "error: cannot infer a model without records (entity User)\n")
        }
        #expect(try sandbox.files == [])
    }

    @Test("Errors in JSON name the file, also among several files and in doctor")
    func errorsNameTheFile() throws {
        let sandbox = try Sandbox()
        let users = try sandbox.file("users.json", Self.users)
        let broken = try sandbox.file("broken.json", #"[{"id": 3, "a":"#)
        for command in [
            ["import", users, broken, "--entity", "User", "--database", "app.sqlite"],
            ["schema", "infer", users, broken, "--entity", "User"],
            ["doctor", broken, "--entity", "User", "--model", Sandbox.model],
        ] {
            let run = try sandbox.run(command)
            #expect(run.status == 1)
            #expect(run.errors.hasPrefix("error: broken.json: expected a value"), "\(run.errors)")
        }
    }
}
