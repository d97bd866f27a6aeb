import Foundation
import Sync
import Testing

@Suite("Dry runs")
struct DryRunTests {
    private func run(_ sandbox: Sandbox, _ arguments: String...) throws -> Program.Run {
        try sandbox.run(arguments + ["--entity", "User", "-d", "app.sqlite"])
    }

    // MARK: import --dry-run

    @Test("import --dry-run prints the output of the import, and writes nothing")
    func dryRunPrintsTheImport() throws {
        let sandbox = try Sandbox.withUsers()
        let before = try sandbox.databaseDump()
        let planned = try run(sandbox, "import", Sandbox.day2, "--dry-run")
        #expect(planned.status == 0, "\(planned.errors)")
        #expect(planned.errors == "note: --dry-run: nothing was written\n")
        let verbose = try run(sandbox, "import", Sandbox.day2, "--dry-run", "--verbose")
        #expect(verbose.output == (try run(sandbox, "diff", Sandbox.day2).output))
        #expect(try sandbox.databaseDump() == before)
        let done = try run(sandbox, "import", Sandbox.day2)
        #expect(done.output == planned.output)
        #expect(try sandbox.databaseDump() != before)
    }

    @Test("A dry run of a first import creates no database, and one of several files writes nothing")
    func dryRunOfNewDatabase() throws {
        let sandbox = try Sandbox()
        let first = try run(sandbox, "import", Sandbox.day1, "--dry-run", "--model", Sandbox.model)
        #expect(first.status == 0 && first.output.contains("User            8"), "\(first.output)\(first.errors)")
        #expect(try sandbox.files == [])
        let users = try Sandbox.withUsers()
        let before = try users.databaseDump()
        #expect(try run(users, "import", Sandbox.day2, Sandbox.day1, "--dry-run").status == 0)
        #expect(try users.databaseDump() == before)
    }

    @Test("A dry run over the deletion limit exits with 3")
    func dryRunHasTheLimit() throws {
        let sandbox = try Sandbox.withUsers()
        let empty = try sandbox.file("empty.json", "[]")
        let run = try run(sandbox, "import", empty, "--dry-run", "--max-delete", "1")
        #expect(run.status == 3)
        #expect(run.output.contains("User"))
    }

    // MARK: diff --exit-code

    @Test("diff --exit-code exits with 0 if equal, 1 if different, 2 on errors, and 3 over the deletion limit")
    func exitCodesOfDiff() throws {
        let sandbox = try Sandbox.withUsers()
        #expect(try run(sandbox, "diff", Sandbox.day1, "--exit-code").status == 0)
        #expect(try run(sandbox, "diff", Sandbox.day2).status == 0)
        let different = try run(sandbox, "diff", Sandbox.day2, "--exit-code", "--quiet")
        #expect(different.status == 1 && different.errors == "" && different.output == "")
        #expect(try run(sandbox, "diff", Sandbox.day2, "--exit-code", "--json").status == 1)
        let trouble = try run(sandbox, "diff", "none.json", "--exit-code")
        #expect(trouble.status == 2 && trouble.errors.contains("none.json"))
        #expect(try run(sandbox, "diff", "none.json").status == 1)
        let empty = try sandbox.file("empty.json", "[]")
        #expect(try run(sandbox, "diff", empty, "--exit-code", "--max-delete", "1").status == 3)
    }

    @Test("diff --exit-code counts a new link as a difference, and another order of unordered links as none")
    func linksAreDifferences() throws {
        let sandbox = try Sandbox.withUsers()
        let same = try sandbox.file("same.json", #"[{"id": 1, "tag_ids": [4, 1]}]"#)
        #expect(try run(sandbox, "diff", same, "--delta", "--exit-code").status == 0)
        let more = try sandbox.file("more.json", #"[{"id": 1, "tag_ids": [1, 2, 4]}]"#)
        #expect(try run(sandbox, "diff", more, "--delta", "--exit-code").status == 1)
    }
}
