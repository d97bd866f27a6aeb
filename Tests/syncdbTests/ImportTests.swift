import Foundation
import Sync
import Testing

@Suite("import")
struct ImportTests {
    @Test("A first import creates the database and no other file")
    func firstImport() throws {
        let sandbox = try Sandbox()
        let run = try sandbox.importUsers(Sandbox.day1)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors == "")
        #expect(try sandbox.files == ["app.sqlite"])
        #expect(try sandbox.count("User") == "8")
        #expect(try sandbox.count("Note") == "7")
    }

    @Test("The summary of an import counts the changes of each entity")
    func summaryCountsChanges() throws {
        let sandbox = try Sandbox()
        try sandbox.importUsers(Sandbox.day1)
        let run = try sandbox.syncdb("import", Sandbox.day2, "--entity", "User", "--database", "app.sqlite")
        #expect(run.status == 0, "\(run.errors)")
        let lines = run.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        #expect(lines.first == ["entity", "inserted", "updated", "deleted", "unchanged"])
        #expect(lines.contains(["User", "1", "3", "1", "4"]))
        #expect(lines.contains(["Company", "1", "0", "0", "3"]))
        #expect(lines.contains(["Note", "1", "2", "2", "3"]))
        #expect(lines.contains(["Tag", "0", "0", "0", "4"]))
    }

    @Test("A second import of a file leaves the database unchanged")
    func secondImportChangesNothing() throws {
        let sandbox = try Sandbox()
        try sandbox.importUsers(Sandbox.day1)
        let before = try sandbox.databaseDump()
        let run = try sandbox.syncdb("import", Sandbox.day1, "--entity", "User", "--database", "app.sqlite")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try sandbox.databaseDump() == before)
    }

    @Test("import --json prints the result and nothing else")
    func jsonPrintsTheResult() throws {
        let sandbox = try Sandbox()
        try sandbox.importUsers(Sandbox.day1)
        let run = try sandbox.syncdb("import", Sandbox.day2, "--entity", "User", "--database", "app.sqlite", "--json")
        let result = try JSONDecoder().decode(SyncResult.self, from: Data(run.output.utf8))
        #expect(result.entity == "User")
        #expect(result["User"].inserted == [.integer(9)])
        #expect(result["User"].deleted == [.integer(6)])
        #expect(result["User"].updated.map(\.key) == [.integer(1), .integer(3), .integer(8)])
        #expect(result["Note"].deleted == [.integer(16), .integer(17)])
    }

    @Test("An import of an empty list into an empty database prints 'nothing to do'")
    func nothingToDo() throws {
        let run = try Sandbox().importUsers("-", input: "[]")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output == "nothing to do\n")
    }

    @Test("An import that only removes links prints no 'nothing to do'")
    func onlyLinks() throws {
        let sandbox = try Sandbox()
        _ = try sandbox.file(
            "model.json",
            """
            {"entities": {
              "User": {"attributes": {"id": "integer"},
                "relationships": {"tags": {"entity": "Tag", "many": true, "inverse": "users"}}},
              "Tag": {"attributes": {"id": "integer"},
                "relationships": {"users": {"entity": "User", "many": true, "inverse": "tags"}}}}}
            """)
        let first = try sandbox.syncdb(
            "import", "-", "--entity", "User", "--model", "model.json", "--database", "app.sqlite",
            input: #"[{"id": 1, "tags": [{"id": 5}]}]"#)
        #expect(first.status == 0, "\(first.errors)")
        let run = try sandbox.syncdb(
            "import", "-", "--entity", "Tag", "--parent", "User:1", "--database", "app.sqlite", input: "[]")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output == "links: 0 added, 1 removed\n")
    }

    @Test("import --quiet prints nothing")
    func quietPrintsNothing() throws {
        let run = try Sandbox().importUsers(Sandbox.day1, "--quiet")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output == "")
        #expect(run.errors == "")
    }

    @Test("import reads standard input if the file is -")
    func hyphenIsStandardInput() throws {
        let sandbox = try Sandbox()
        let run = try sandbox.importUsers("-", input: #"[{"id": 1, "first_name": "Ada"}, {"id": 2}]"#)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try sandbox.count("User") == "2")
    }

    @Test("An .ndjson file, and a file with --ndjson, has a record per line")
    func ndjsonIsARecordPerLine() throws {
        let sandbox = try Sandbox()
        let lines = "{\"id\": 1}\n\n{\"id\": 2, \"first_name\": \"Grace\"}\n"
        #expect(try sandbox.importUsers(sandbox.file("users.ndjson", lines)).status == 0)
        #expect(try sandbox.count("User", where: "firstName == 'Grace'") == "1")
        let run = try sandbox.importUsers("-", "--ndjson", input: lines + "{\"id\": 3}")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try sandbox.count("User") == "3")
    }

    @Test("--key finds the records inside the JSON")
    func keyFindsRecords() throws {
        let sandbox = try Sandbox()
        let file = try sandbox.file("page.json", #"{"data": {"results": [{"id": 1}, {"id": 2}]}, "next": null}"#)
        let run = try sandbox.importUsers(file, "--key", "data.results")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try sandbox.count("User") == "2")
    }

    @Test("--where sets the scope of an import")
    func whereSetsTheScope() throws {
        let sandbox = try Sandbox()
        try sandbox.importUsers(Sandbox.day1)
        let run = try sandbox.importUsers("-", "--where", "age > 50", input: "[]")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try sandbox.count("User") == "7")
        #expect(try sandbox.count("User", where: "age > 50") == "0")
    }

    @Test("--operations sets the allowed changes")
    func operationsAreLimited() throws {
        let sandbox = try Sandbox()
        try sandbox.importUsers(Sandbox.day1)
        let json = #"[{"id": 1, "age": 99}, {"id": 10, "age": 99}]"#
        #expect(try sandbox.importUsers("-", "--operations", "insert", input: json).status == 0)
        #expect(try sandbox.count("User") == "9")
        #expect(try sandbox.count("User", where: "age == 99") == "1")
    }

    @Test("--parent sets the parent of the rows", arguments: ["User:1", "User:1:notes"])
    func parentOwnsRows(_ parent: String) throws {
        let sandbox = try Sandbox()
        try sandbox.importUsers(Sandbox.day1)
        let run = try sandbox.syncdb(
            "import", "-", "--entity", "Note", "--database", "app.sqlite", "--parent", parent,
            input: #"[{"id": 11, "text": "Send the contract"}, {"id": 20, "text": "New"}]"#)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try sandbox.count("Note", where: "user.id == 1") == "2")
        #expect(try sandbox.count("Note", where: "id == 12") == "0")
        #expect(try sandbox.count("Note") == "7")
    }

    @Test("A value that does not fit is reported with its path, and is an error with --strict")
    func diagnosticsHavePaths() throws {
        let sandbox = try Sandbox()
        let json = #"[{"id": 1, "age": "old"}]"#
        let run = try sandbox.importUsers("-", input: json)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors.contains("[0].age"))
        let strict = try sandbox.importUsers("-", "--strict", input: #"[{"id": 2}, {"id": 1, "age": "old"}]"#)
        #expect(strict.status == 1)
        #expect(strict.errors.contains("[1].age"))
        #expect(try sandbox.count("User") == "1")
    }
}
