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
}
