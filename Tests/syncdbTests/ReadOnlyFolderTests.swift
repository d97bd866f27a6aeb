import Foundation
import TestSize
import Testing

/// A store without write permission for the user.
@Suite("Read-only stores")
struct ReadOnlyFolderTests {
    /// Returns a folder with the files that the other user needs: the program, the payloads, and the store in `place`.
    private static func sandbox() throws -> Sandbox {
        let sandbox = try Sandbox.withUsers()
        for path in [try Program.syncdb().path, Sandbox.model, Sandbox.day1, Sandbox.day2] {
            let name = path == Sandbox.model ? "model.json" : (path as NSString).lastPathComponent
            try FileManager.default.copyItem(
                atPath: path, toPath: sandbox.folder.appendingPathComponent(name).path)
        }
        let prepared = try sandbox.shell("chmod 755 . syncdb; mkdir place; cp app.sqlite place/store.sqlite")
        try #require(prepared.status == 0, "\(prepared.errors)")
        return sandbox
    }

    /// Runs `syncdb` as a user without special rights, also if root runs the tests.
    private func run(_ arguments: String, in sandbox: Sandbox) throws -> Program.Run {
        let other = geteuid() == 0 ? "setpriv --reuid 65534 --regid 65534 --clear-groups " : ""
        return try sandbox.shell("\(other)./syncdb \(arguments) --database place/store.sqlite")
    }

    private static let reading = [
        "count User", "query User", "export User", "doctor", "doctor day2.json --entity User", "schema show",
        "schema diagram", "diff day2.json --entity User", "diff day2.json --entity User --model model.json",
        "diff day1.json day2.json --entity User", "schema migrate --model model.json --dry-run",
    ]

    /// The output of each command for a writable store.
    private static let expected = Result {
        let sandbox = try Self.sandbox()
        return try reading.map { try sandbox.shell("./syncdb \($0) --database app.sqlite").output }
    }

    /// Modes of the folder and the store, and other files in the folder.
    private static let places = [
        "chmod 444 place/store.sqlite; chmod 555 place", "chmod 444 place/store.sqlite; chmod 755 place",
        "chmod 644 place/store.sqlite; chmod 555 place",
        "sqlite3 place/store.sqlite 'PRAGMA journal_mode = delete' && chmod 444 place/store.sqlite && chmod 555 place",
        ": > place/store.sqlite-wal; chmod 444 place/store.sqlite; chmod 555 place",
    ]

    @Test(
        "Every command reads a read-only store and leaves it unchanged",
        arguments: LongTests.areWanted ? places : [places[0], places[3]])
    func everyCommandReads(place: String) throws {
        let sandbox = try Self.sandbox()
        #expect(try sandbox.shell(place).status == 0)
        defer { _ = try? sandbox.shell("chmod 755 place") }
        let before = try sandbox.shell("ls -la place; cksum place/*").output
        for (arguments, output) in try zip(Self.reading, Self.expected.get()) {
            let run = try run(arguments, in: sandbox)
            #expect(run.output == output, "\(arguments): \(run.errors)")
        }
        #expect(try sandbox.shell("ls -la place; cksum place/*").output == before)
    }

    @Test("An import into a read-only store is an error and changes nothing", arguments: places)
    func importIsAnError(place: String) throws {
        let sandbox = try Self.sandbox()
        #expect(try sandbox.shell(place + "; true").status == 0)
        defer { _ = try? sandbox.shell("chmod 755 place") }
        // Without root the user owns the files, and in these modes the owner may write.
        if geteuid() != 0, place.contains("644") || place.contains("755") { return }
        let before = try sandbox.shell("ls -la place; cksum place/*").output
        for arguments in ["import day2.json --entity User", "import day2.json --entity User --evolve"] {
            let run = try run(arguments, in: sandbox)
            #expect(run.status == 1)
            #expect(run.errors.contains("read-only for this user"), "\(run.errors)")
        }
        #expect(try sandbox.shell("ls -la place; cksum place/*").output == before)
    }

    @Test("A write-ahead log beside a read-only store is a part of the store", arguments: ["", "-shm"])
    func logIsAPartOfTheStore(other: String) throws {
        let sandbox = try Self.sandbox()
        // A second connection keeps the first from emptying the log when it is closed.
        let made = try sandbox.shell(
            """
            sqlite3 app.sqlite 'PRAGMA wal_autocheckpoint = 0' 'DELETE FROM User WHERE id = 1' \
                '.shell for x in "" -wal \(other); do cp app.sqlite$x place/store.sqlite$x; done'
            chmod 555 place
            """)
        try #require(made.status == 0, "\(made.errors)")
        defer { _ = try? sandbox.shell("chmod 755 place") }
        #expect(try sandbox.shell("test -s place/store.sqlite-wal").status == 0)
        let count = try sandbox.count("User")
        #expect(try run("count User", in: sandbox).output == count + "\n")
        #expect(try run("export User --where 'id == 1'", in: sandbox).output == "[]\n")
        let diff = try run("diff day1.json --entity User", in: sandbox)
        #expect(diff.status == 0, "\(diff.errors)")
        #expect(diff.output.contains("+ User 1 "), "\(diff.output)")
    }
}
