import Foundation
import Testing

@Suite("Shell completions")
struct CompletionTests {
    @Test("A completion script is generated for every shell", arguments: ["bash", "zsh", "fish"])
    func everyShellHasAScript(shell: String) throws {
        let run = try Sandbox().syncdb("--generate-completion-script", shell)
        #expect(run.status == 0)
        #expect(run.errors == "")
        for word in ["syncdb", "import", "max-delete", "verify"] { #expect(run.output.contains(word)) }
    }

    @Test("bash accepts its completion script")
    func bashAcceptsItsScript() throws {
        let sandbox = try Sandbox()
        let script = try sandbox.file("syncdb.bash", sandbox.syncdb("--generate-completion-script", "bash").output)
        let run = try Program.run(
            ["bash", "-n", script], executable: URL(fileURLWithPath: "/usr/bin/env"), in: sandbox.folder)
        #expect(run.status == 0)
        #expect(run.errors == "")
    }

    @Test("A completion script for an unknown shell is wrong usage")
    func unknownShellIsWrongUsage() throws {
        #expect(try Sandbox().syncdb("--generate-completion-script", "tcsh").status == 2)
    }

    @Test("Entities are completed from the database or the model on the command line")
    func entitiesAreCompleted() throws {
        let sandbox = try Sandbox.withUsers()
        func offered(_ command: String, _ argument: String, _ words: String...) throws -> [String] {
            let run = try sandbox.run(["---completion", command, "--", argument, "\(words.count - 1)", "0"] + words)
            #expect(run.status == 0, "\(run.errors)")
            return run.output.split(separator: "\n").map(String.init)
        }
        let all = ["Company", "Note", "Tag", "User"]
        #expect(try offered("query", "positional@0", "syncdb", "query", "--database", "app.sqlite", "").sorted() == all)
        #expect(try offered("query", "positional@0", "syncdb", "query", "-d", "app.sqlite", "").sorted() == all)
        let line = ["syncdb", "import", "a.json", "--model=\(Sandbox.model)", "--entity", ""]
        #expect(
            try offered("import", "--entity", line[0], line[1], line[2], line[3], line[4], line[5]).sorted() == all)
        #expect(try offered("count", "positional@0", "syncdb", "count", "").isEmpty)
        #expect(try offered("count", "positional@0", "syncdb", "count", "--database", "none.sqlite", "").isEmpty)
        #expect(try !sandbox.files.contains("none.sqlite"))
    }
}
