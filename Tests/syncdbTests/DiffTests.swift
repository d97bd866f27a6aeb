import Foundation
import Sync
import Testing

@Suite("diff")
struct DiffTests {
    @Test("Without a database compares with an empty one, and makes none")
    func noDatabase() throws {
        let sandbox = try Sandbox()
        let run = try sandbox.syncdb(
            "diff", Sandbox.day1, "--entity", "User", "--model", Sandbox.model, "--database", "app.sqlite")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("+ User 1\n"))
        #expect(run.output.contains("+ Note 17\n"))
        #expect(try sandbox.files == [])
    }

    @Test("Says which rows will be new, changed and deleted, and writes nothing")
    func rows() throws {
        let sandbox = try Sandbox()
        try sandbox.importUsers(Sandbox.day1)
        let before = try sandbox.databaseBytes()
        let run = try sandbox.syncdb("diff", Sandbox.day2, "--entity", "User", "--database", "app.sqlite")
        #expect(run.status == 0, "\(run.errors)")
        let lines = run.output.split(separator: "\n").map(String.init)
        for line in [
            "+ User 9", "~ User 1: age", "~ User 8: company", "- User 6", "+ Company 4", "+ Note 18", "~ Note 12: text",
            "~ Note 14: user", "- Note 16", "- Note 17",
        ] {
            #expect(lines.contains(line))
        }
        #expect(lines.contains { $0.hasPrefix("~ User 3: ") && $0.contains("email") && $0.contains("company") })
        #expect(try sandbox.databaseBytes() == before)
    }

    @Test("Gives the result that import then gives")
    func sameResult() throws {
        let sandbox = try Sandbox()
        try sandbox.importUsers(Sandbox.day1)
        let planned = try sandbox.syncdb("diff", Sandbox.day2, "--entity", "User", "--database", "app.sqlite", "--json")
        let done = try sandbox.syncdb("import", Sandbox.day2, "--entity", "User", "--database", "app.sqlite", "--json")
        #expect(planned.output == done.output)
        #expect(try JSONDecoder().decode(SyncResult.self, from: Data(planned.output.utf8)).isEmpty == false)
    }

    @Test("Lists 20 rows of a kind, with --all every one")
    func limit() throws {
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

    @Test("A changed model is tried on a copy: the database keeps its own")
    func changedModel() throws {
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
        #expect(run.output.contains("~ User 1: email\n"))
        #expect(try sandbox.databaseBytes() == before)
    }
}
