import Foundation
import Testing

@Suite("Fingerprints at the shell")
struct FingerprintImportTests {
    private let users = #"[{"id": 1, "first_name": "A", "notes": [{"id": 1}]}, {"id": 2, "first_name": "B"}]"#
    private let kept = "SELECT count(*) FROM sync_fingerprint"

    @Test("are kept from the import on that asks for them, given a model, an inferred one, or none")
    func turningOn() throws {
        for model in [["--model", Sandbox.model], []] {
            let sandbox = try Sandbox()
            let file = try sandbox.file("users.json", users)
            let arguments = ["import", file, "--entity", "User", "--database", "app.sqlite"]
            let first = try sandbox.run(arguments + model)
            #expect(first.status == 0, "\(first.errors)")
            #expect(try sandbox.query("SELECT count(*) FROM sqlite_schema WHERE name = 'sync_fingerprint'") == "0\n")
            let on = try sandbox.run(arguments + ["--fingerprints"])
            #expect(on.status == 0, "\(on.errors)")
            #expect(try sandbox.query(kept) == "1\n")
            let again = try sandbox.run(arguments + ["--json"])
            #expect(again.status == 0, "\(again.errors)")
            #expect(try sandbox.query(kept) == "1\n")
            let fresh = try Sandbox()
            let new = try fresh.run(
                ["import", fresh.file("users.json", users), "--entity", "User", "--database", "app.sqlite"] + model
                    + ["--fingerprints"])
            #expect(new.status == 0, "\(new.errors)")
            #expect(try fresh.query(kept) == "1\n")
        }
    }

    @Test("show a change by hand at the next import")
    func localChange() throws {
        let sandbox = try Sandbox()
        let file = try sandbox.file("users.json", users)
        let arguments = [
            "import", file, "--entity", "User", "--model", Sandbox.model, "--database", "app.sqlite", "--fingerprints",
        ]
        #expect(try sandbox.run(arguments).status == 0)
        _ = try sandbox.query("UPDATE User SET firstName = 'changed' WHERE id = 2")
        let run = try sandbox.run(arguments + ["--verbose"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains("changed"))
        #expect(try sandbox.query("SELECT firstName FROM User WHERE id = 2") == "B\n")
    }

    @Test(
        "do not hold for a store that was written anew from a dump, and edited in between",
        arguments: ["", "--preserve-rowids"])
    func dump(option: String) throws {
        let sandbox = try Sandbox()
        let file = try sandbox.file("users.json", users)
        let arguments = ["import", file, "--entity", "User", "--database"]
        for _ in 1...2 {
            let run = try sandbox.run(arguments + ["app.sqlite", "--model", Sandbox.model, "--fingerprints"])
            #expect(run.status == 0, "\(run.errors)")
        }
        let dump = try sandbox.query(".dump \(option)").replacingOccurrences(of: "'B'", with: "'edited'")
        #expect(dump.contains("'edited'"))
        _ = try sandbox.query(".read \(sandbox.file("dump.sql", dump))", in: "again.sqlite")
        let again = try sandbox.run(arguments + ["again.sqlite"])
        #expect(again.status == 0, "\(again.errors)")
        #expect(try sandbox.query("SELECT firstName FROM User WHERE id = 2", in: "again.sqlite") == "B\n")
    }

    @Test("that are damaged are made anew, and the output says so")
    func damage() throws {
        let sandbox = try Sandbox()
        let arguments = [
            "import", try sandbox.file("users.json", users), "--entity", "User", "--database", "app.sqlite",
        ]
        for _ in 1...2 { _ = try sandbox.run(arguments + ["--model", Sandbox.model, "--fingerprints"]) }
        _ = try sandbox.query("UPDATE sync_fingerprint SET records = substr(records, 1, 3)")
        let run = try sandbox.run(arguments)
        #expect(run.status == 0, "\(run.errors)")
        #expect((run.output + run.errors).contains("mended: the store's fingerprints are damaged"))
        let next = try sandbox.run(arguments)
        #expect(!(next.output + next.errors).contains("mended"))
    }
}
