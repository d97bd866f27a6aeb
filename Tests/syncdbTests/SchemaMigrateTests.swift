import Foundation
import Sync
import Testing

@Suite("schema migrate")
struct SchemaMigrateTests {
    private func sandbox() throws -> Sandbox {
        let sandbox = try Sandbox.withUsers()
        let model = try String(contentsOfFile: Sandbox.model, encoding: .utf8)
        _ = try sandbox.file(
            "more.json", model.replacing(#""age": "integer""#, with: #""age": "string", "nick": "string""#))
        _ = try sandbox.file("less.json", model.replacing(#""age": "integer","#, with: ""))
        return sandbox
    }

    @Test("schema migrate lists the changes with --dry-run, and then makes them")
    func changesAreListedAndMade() throws {
        let sandbox = try sandbox()
        let before = try sandbox.databaseDump()
        let dryRun = try sandbox.syncdb(
            "schema", "migrate", "--database", "app.sqlite", "--model", "more.json", "--dry-run")
        #expect(dryRun.status == 0, "\(dryRun.errors)")
        #expect(
            dryRun.output == """
                ~ entities.User.attributes.age.type: is integer in the store, string in the model
                ~ entities.User.attributes.nick: is in the model but not in the store

                """)
        #expect(try sandbox.databaseDump() == before)
        let done = try sandbox.syncdb("schema", "migrate", "--database", "app.sqlite", "--model", "more.json")
        #expect(done.status == 0, "\(done.errors)")
        #expect(done.output == dryRun.output)
        #expect(try sandbox.count("User", where: "age == '36'") == "1")
        let again = try sandbox.syncdb("schema", "migrate", "--database", "app.sqlite", "--model", "more.json")
        #expect(again.output == "nothing to change\n")
    }

    @Test("schema migrate, import and diff lose no values without --allow-loss")
    func lossNeedsAnOption() throws {
        let sandbox = try sandbox()
        let before = try sandbox.databaseDump()
        let refused = try sandbox.syncdb("schema", "migrate", "--database", "app.sqlite", "--model", "less.json")
        #expect(refused.status == 1)
        #expect(refused.output.contains("- entities.User.attributes.age: the attribute is no longer in the model: "))
        #expect(refused.errors.contains("--allow-loss"))
        for command in ["import", "diff"] {
            let run = try sandbox.syncdb(
                command, Sandbox.day2, "--entity", "User", "--database", "app.sqlite", "--model", "less.json")
            #expect(run.status == 1)
            #expect(run.errors.contains("would be lost"))
        }
        #expect(try sandbox.databaseDump() == before)
        let diff = try sandbox.syncdb(
            "diff", Sandbox.day2, "--entity", "User", "--database", "app.sqlite", "--model", "less.json",
            "--allow-loss")
        #expect(diff.status == 0, "\(diff.errors)")
        #expect(try sandbox.databaseDump() == before)
        let run = try sandbox.syncdb(
            "import", Sandbox.day2, "--entity", "User", "--database", "app.sqlite", "--model", "less.json",
            "--allow-loss")
        #expect(run.status == 0, "\(run.errors)")
        let note = "note: migrated; lost: entities.User.attributes.age: the attribute is no longer in the model: "
        #expect(run.errors.contains(note), "\(run.errors)")
        #expect(!run.errors.contains("would be lost"), "\(run.errors)")
        let again = try sandbox.syncdb(
            "import", Sandbox.day2, "--entity", "User", "--database", "app.sqlite", "--model", "less.json",
            "--allow-loss")
        #expect(!again.errors.contains("note: migrated"), "\(again.errors)")
        #expect(try sandbox.count("User") == "8")
        let json = try sandbox.syncdb(
            "schema", "migrate", "--database", "app.sqlite", "--model", Sandbox.model, "--json", "--dry-run")
        let report = try JSONDecoder().decode(MigrationReport.self, from: Data(json.output.utf8))
        #expect(report.dataLosses.isEmpty && report.changes.map(\.path) == ["entities.User.attributes.age"])
    }
}
