import Foundation
import Testing

@Suite("A draft of a new database")
struct DraftTests {
    @Test("of a killed import is not continued, and goes with the next one")
    func killed() throws {
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

    @Test("does not replace a database that another process makes meanwhile", arguments: ["", ": > app.sqlite;"])
    func meanwhile(before: String) throws {
        let sandbox = try Sandbox()
        _ = try sandbox.file("slow.json", "[{\"id\": 1}]")
        _ = try sandbox.file("quick.json", "[{\"id\": 2}]")
        // The payload of the first only ends when the second is done.
        let run = try sandbox.shell(
            """
            \(before) line="--entity Tag --model '\(Sandbox.model)' --database app.sqlite --quiet"
            mkfifo pipe; eval "\\"$SYNCDB\\" import slow.json pipe --whole-up-to 4 --delta $line" 2> errors &
            exec 3> pipe; echo '[{"id": 3}' >&3; until ls .sync-draft-*/draft-wal > /dev/null 2>&1; do kill -0 $! || exit 1; done
            eval "\\"$SYNCDB\\" import quick.json $line" || exit 2
            echo ']' >&3; exec 3>&-; wait $!; echo "exit $?"; cat errors
            """)
        #expect(run.output.contains("exit 1\n"), "\(run.output)\(run.errors)")
        #expect(run.output.contains("was made by another process meanwhile; nothing was written to it"))
        #expect(try sandbox.query("SELECT group_concat(id) FROM Tag") == "2\n")
        #expect(try sandbox.files.filter { $0.contains("draft") } == [])
    }
}
