import Foundation
import Testing

@Suite("Drafts of new databases")
struct DraftTests {
    @Test("The draft of a killed import is not continued, and the next import removes it")
    func draftOfKilledImport() throws {
        let sandbox = try Sandbox()
        let tags = "[" + (1...100_000).map { #"{"id":\#($0),"name":"N"}"# }.joined(separator: ",") + "]"
        _ = try sandbox.file("tags.json", tags)
        let line = "import first.json tags.json --entity Tag --delta --model '\(Sandbox.model)' --database app.sqlite"
        for id in 1...3 {
            _ = try sandbox.file("first.json", "[{\"id\": -\(id)}]")
            let run = try sandbox.shell(
                """
                "$SYNCDB" \(line) --quiet & until ls .sync-draft-*/draft-wal > /dev/null 2>&1; do
                    kill -0 $! || exit 1
                done
                kill -KILL $!
                wait $!; ls -d .sync-draft-* | wc -l
                """)
            #expect(run.output.trimmingCharacters(in: .whitespacesAndNewlines) == "1", "\(run.errors)")
            #expect(try !sandbox.files.contains("app.sqlite"))
        }
        let last = try sandbox.syncdb(
            "import", "first.json", "--entity", "Tag", "--model", Sandbox.model, "--database", "app.sqlite")
        #expect(last.status == 0, "\(last.errors)")
        #expect(try sandbox.files == ["app.sqlite", "first.json", "tags.json"])
        #expect(try sandbox.query("SELECT group_concat(id) FROM Tag") == "-3\n")
    }
}
