import Foundation
import Sync
import Testing

@Suite("CommandLine.md")
struct CommandLinePageTests {
    @Test("The JSON example of the page equals the output of diff --json")
    func exampleEqualsOutput() throws {
        let sandbox = try Sandbox()
        for name in ["users.json", "model.json"] { _ = try sandbox.file(name, try Self.block(name)) }
        let run = try sandbox.syncdb(
            "import", "users.json", "--entity", "User", "--model", "model.json", "--database", "app.sqlite")
        #expect(run.status == 0, "\(run.errors)")
        let diff = try sandbox.syncdb(
            "diff", "-", "--entity", "User", "--database", "app.sqlite", "--json",
            input: #"[{"id": 2, "first_name": "Grace H.", "company": null}]"#)
        let documented = try JSONDecoder().decode(SyncResult.self, from: Data(try Self.block("result.json").utf8))
        #expect(try JSONDecoder().decode(SyncResult.self, from: Data(diff.output.utf8)) == documented)
    }

    /// Returns the content of the code block with a name.
    private static func block(_ name: String) throws -> String {
        let page = Sandbox.fixtures.deletingLastPathComponent().appendingPathComponent("Docs/CommandLine.md")
        let lines = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n")
        let start = try #require(lines.firstIndex { $0.hasPrefix("```") && $0.hasSuffix(" " + name) })
        return lines[(start + 1)...].prefix { $0 != "```" }.joined(separator: "\n")
    }
}
