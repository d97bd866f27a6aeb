import Foundation
import Testing

@Suite("JSON of one object")
struct SingleObjectTests {
    private static let boom = #"{"id": 500, "error": "boom"}"#

    private func sandbox() throws -> Sandbox {
        let sandbox = try Sandbox.withUsers()
        _ = try sandbox.file("boom.json", Self.boom)
        _ = try sandbox.file("wrapped.json", #"{"data": {"user": \#(Self.boom)}}"#)
        _ = try sandbox.file("line.ndjson", Self.boom + "\n")
        _ = try sandbox.file("some.json", #"[{"id": 1}, {"id": 2}]"#)
        return sandbox
    }

    @Test(
        "An import of one object deletes no row of its entity",
        arguments: [
            ["boom.json"], ["wrapped.json", "--key", "data.user"], ["boom.json", "--scope", "all"],
            ["boom.json", "--whole-up-to", "1", "--piece-size", "1"],
            ["boom.json", "boom.json"], ["some.json", "boom.json"], ["boom.json", "some.json"],
        ])
    func oneObjectDeletesNothing(arguments: [String]) throws {
        let sandbox = try sandbox()
        let more = ["--entity", "User", "--database", "app.sqlite", "--max-delete", "100%"]
        if !arguments.contains("--whole-up-to") {
            let diff = try sandbox.run(["diff"] + arguments + more)
            #expect(diff.status == 0, "\(diff.errors)")
            #expect(diff.output.contains("+ User 500") && !diff.output.contains("\n- User"), "\(diff.output)")
        }
        let run = try sandbox.run(["import"] + arguments + more)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try sandbox.count("User") == "9")
    }

    @Test("An import of one object with --where or --parent deletes the other rows in scope")
    func scopedObjectDeletes() throws {
        let sandbox = try sandbox()
        #expect(try sandbox.importUsers("boom.json", "--where", "id < 4").status == 0)
        #expect(try sandbox.count("User") == "6")
        let child = try sandbox.run(
            ["import", "-", "--entity", "Note", "--parent", "User:6", "--database", "app.sqlite"],
            input: #"{"id": 99}"#)
        #expect(child.status == 0, "\(child.errors)")
        #expect(try sandbox.count("Note", where: "user.id == 6") == "1")
    }

    @Test("One line of NDJSON is imported as a list of one record")
    func oneLineIsAList() throws {
        let sandbox = try sandbox()
        #expect(try sandbox.importUsers("line.ndjson", "--max-delete", "100%").status == 0)
        #expect(try sandbox.count("User") == "1")
    }
}
