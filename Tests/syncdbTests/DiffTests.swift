import Foundation
import Sync
import Testing

@Suite("diff")
struct DiffTests {
    @Test("diff without a database compares with an empty one, and creates none")
    func missingDatabaseIsEmpty() throws {
        let sandbox = try Sandbox()
        let run = try sandbox.syncdb(
            "diff", Sandbox.day1, "--entity", "User", "--model", Sandbox.model, "--database", "app.sqlite")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("+ User 1  firstName: "))
        #expect(run.output.contains("+ Note 17  text: "))
        #expect(try sandbox.files == [])
    }

    @Test("diff lists inserted, updated and deleted rows, and writes nothing")
    func changedRowsAreListed() throws {
        let sandbox = try Sandbox()
        try sandbox.importUsers(Sandbox.day1)
        let before = try sandbox.databaseBytes()
        let run = try sandbox.syncdb("diff", Sandbox.day2, "--entity", "User", "--database", "app.sqlite")
        #expect(run.status == 0, "\(run.errors)")
        let lines = run.output.split(separator: "\n").map(String.init)
        for line in [
            #"+ User 9  firstName: "Ines"  lastName: "Ikeda"  email: "ines@example.com"  age: 31  "#
                + #"joinedAt: "2024-02-01T09:00:00Z"  company: 4"#,
            "~ User 1  age: 36 → 37",
            #"~ User 3  email: "chandra@example.com" → "chandra.rao@example.com"  company: 2 → 3"#,
            "~ User 8  company: 2 → nil", #"+ Company 4  name: "Ikeda Studio"  city: "Kyoto""#,
            #"~ Note 12  text: "Call back about the invoice" → "Invoice is paid""#, "~ Note 14  user: 3 → 5",
            "  User 7  tags: - 2", "  User 9  tags: + 2",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        for row in ["- User 6  firstName: ", "- Note 16  text: ", "- Note 17  text: "] {
            #expect(lines.contains { $0.hasPrefix(row) }, "\(row)")
        }
        #expect(lines.contains("User            1        3        1          4"))
        #expect(try sandbox.databaseBytes() == before)
    }

    @Test("diff gives the result of the import that follows")
    func resultEqualsImport() throws {
        let sandbox = try Sandbox()
        try sandbox.importUsers(Sandbox.day1)
        let planned = try sandbox.syncdb("diff", Sandbox.day2, "--entity", "User", "--database", "app.sqlite", "--json")
        let done = try sandbox.syncdb(
            "import", Sandbox.day2, "--entity", "User", "--database", "app.sqlite", "--json", "--verbose")
        #expect(planned.output == done.output)
        #expect(try JSONDecoder().decode(SyncResult.self, from: Data(planned.output.utf8)).isEmpty == false)
    }

    @Test("diff lists 20 rows of each kind, and all rows with --all")
    func twentyRowsAreListed() throws {
        let sandbox = try Sandbox()
        let file = try sandbox.file("users.json", "[" + (1...30).map { "{\"id\": \($0)}" }.joined(separator: ",") + "]")
        let arguments = ["diff", file, "--entity", "User", "--model", Sandbox.model, "--database", "app.sqlite"]
        let short = try sandbox.run(arguments).output
        #expect(short.contains("+ User 20\n"))
        #expect(!short.contains("+ User 21\n"))
        #expect(short.contains("and 10 more"))
        let long = try sandbox.run(arguments + ["--all"]).output
        #expect(long.contains("+ User 30\n"))
        #expect(!long.contains("more"))
    }

    @Test("import --verbose lists the lines of diff, and import lists the summary only")
    func verboseImportEqualsDiff() throws {
        let sandbox = try Sandbox()
        try sandbox.importUsers(Sandbox.day1)
        let planned = try sandbox.syncdb("diff", Sandbox.day2, "--entity", "User", "--database", "app.sqlite")
        let done = try sandbox.importUsers(Sandbox.day2, "--verbose")
        #expect(done.output == planned.output)
        #expect(try !sandbox.importUsers(Sandbox.day1).output.contains("User 1"))
    }

    @Test("diff cuts long values and escapes control characters")
    func longValuesAreCut() throws {
        let sandbox = try Sandbox()
        let run = try sandbox.syncdb(
            "diff", "-", "--entity", "User", "--model", Sandbox.model, "--database", "app.sqlite",
            input: #"[{"id": 1, "first_name": "\#(String(repeating: "x", count: 500))", "last_name": "a\u001b[2Jb\n"}]"#
        )
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("firstName: \"\(String(repeating: "x", count: 38))…"))
        #expect(!run.output.contains("\u{1B}"))
        #expect(run.output.split(separator: "\n")[0].count < 120)
    }

    @Test("diff shows the part in which long values differ")
    func differingPartIsShown() throws {
        let sandbox = try Sandbox()
        let long = String(repeating: "x", count: 300)
        try sandbox.importUsers(sandbox.file("users.json", #"[{"id": 1, "first_name": "\#(long) old end"}]"#))
        let run = try sandbox.syncdb(
            "diff", "-", "--entity", "User", "--database", "app.sqlite",
            input: #"[{"id": 1, "first_name": "\#(long) new end"}]"#)
        #expect(
            run.output.contains(#"~ User 1  firstName: …xxxxxxxxx old end" → …xxxxxxxxx new end""#), "\(run.output)")
    }

    @Test("diff with a changed model uses a copy and leaves the database unchanged")
    func changedModelUsesACopy() throws {
        let sandbox = try Sandbox()
        try sandbox.importUsers(Sandbox.day1)
        let before = try sandbox.databaseBytes()
        let text = try String(contentsOf: URL(fileURLWithPath: Sandbox.model), encoding: .utf8)
        let model = try sandbox.file(
            "model.json", text.replacingOccurrences(of: "contact.email", with: "contact.mail"))
        let run = try sandbox.syncdb(
            "diff", "-", "--entity", "User", "--model", model, "--database", "app.sqlite", "--operations", "update",
            input: #"[{"id": 1, "contact": {"mail": "lovelace@example.com"}}]"#)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("~ User 1  email: \"ada@example.com\" → \"lovelace@example.com\"\n"))
        #expect(try sandbox.databaseBytes() == before)
    }
}
