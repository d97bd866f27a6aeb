import Foundation
import Sync
import Testing

@Suite("Several input files")
struct PagesTests {
    private func sandbox() throws -> Sandbox {
        let sandbox = try Sandbox()
        _ = try sandbox.file("all.json", #"[{"id": 1}, {"id": 2}, {"id": 3, "notes": [{"id": 30}]}, {"id": 4}]"#)
        _ = try sandbox.file("a.json", #"[{"id": 1, "first_name": "A", "notes": [{"id": 30}]}]"#)
        _ = try sandbox.file("b.ndjson", #"{"id": 3}"#)
        _ = try sandbox.file("bad.json", "[{")
        try sandbox.importUsers("all.json")
        return sandbox
    }

    private func run(_ sandbox: Sandbox, _ command: String, _ arguments: String...) throws -> Program.Run {
        try sandbox.run([command] + arguments + ["--entity", "User", "--database", "app.sqlite"])
    }

    @Test("Several files are pages of one list")
    func filesArePages() throws {
        let sandbox = try sandbox()
        let before = try sandbox.databaseDump()
        let diff = try run(sandbox, "diff", "a.json", "b.ndjson", "--json")
        #expect(diff.status == 0, "\(diff.errors)")
        #expect(try sandbox.databaseDump() == before)
        let done = try run(sandbox, "import", "a.json", "b.ndjson", "--json")
        #expect(done.status == 0, "\(done.errors)")
        let result = try JSONDecoder().decode(SyncResult.self, from: Data(done.output.utf8))
        #expect(result["User"].deleted == [.integer(2), .integer(4)])
        #expect(result["User"].updated.map(\.key) == [.integer(1)])
        let planned = try JSONDecoder().decode(SyncResult.self, from: Data(diff.output.utf8))
        #expect(planned["User"].deleted == result["User"].deleted)
        #expect(try sandbox.count("Note", where: "user.id == 1") == "1")
        #expect(try run(sandbox, "import", "a.json", "b.ndjson", "--max-delete", "0").status == 0)
    }

    @Test("A broken file among several prevents deletions, and creates no database")
    func brokenFilePreventsDeletions() throws {
        let sandbox = try sandbox()
        let failed = try run(sandbox, "import", "a.json", "bad.json")
        #expect(failed.status == 1)
        #expect(failed.errors.contains("bad.json"))
        #expect(
            failed.errors.hasSuffix("note: a.json was imported before the error; no omitted rows were deleted\n"))
        #expect(try sandbox.count("User") == "4")
        let missing = try run(sandbox, "import", "a.json", "missing.json")
        #expect(missing.status == 1)
        // All files are checked before any row is written.
        #expect(!missing.errors.contains("was written"))
        let fresh = try Sandbox()
        _ = try fresh.file("a.json", "[]")
        _ = try fresh.file("bad.json", "[{")
        let arguments = ["--entity", "User", "--model", Sandbox.model, "--database", "new.sqlite"]
        let none = try fresh.run(["import", "a.json", "bad.json"] + arguments)
        #expect(none.status == 1)
        #expect(!none.errors.contains("was written"), "\(none.errors)")
        #expect(try fresh.files == ["a.json", "bad.json"])
    }

    @Test("A file of one object among several prevents deletions, which the import reports")
    func objectFilePreventsDeletions() throws {
        let sandbox = try sandbox()
        _ = try sandbox.file("object.json", #"{"id": 3}"#)
        let done = try run(sandbox, "import", "a.json", "object.json")
        #expect(done.status == 0)
        #expect(done.errors.hasPrefix("not deleted: a page is a single object or null instead of an array"))
        #expect(done.errors.contains("(entity User)"))
        #expect(try sandbox.count("User") == "4")
    }

    @Test("Several files with --delta delete no omitted rows")
    func filesOfADelta() throws {
        let sandbox = try sandbox()
        let run = try run(sandbox, "import", "a.json", "b.ndjson", "--delta")
        #expect(run.status == 0, "\(run.errors)")
        #expect(try sandbox.count("User") == "4")
        #expect(try sandbox.count("User", where: "firstName == 'A'") == "1")
    }

    @Test("Several files over the deletion limit exit with 3, and diff lists the deletions")
    func filesHaveOneLimit() throws {
        let sandbox = try sandbox()
        let diff = try run(sandbox, "diff", "a.json", "b.ndjson", "--max-delete", "1")
        #expect(diff.status == 3)
        #expect(diff.output.contains("- User 2"))
        #expect(try run(sandbox, "import", "a.json", "b.ndjson", "--max-delete", "1").status == 3)
        #expect(try sandbox.count("User") == "4")
        #expect(try run(sandbox, "import", "-", "-").status == 2)
    }
}
