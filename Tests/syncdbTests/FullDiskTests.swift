import Foundation
import TestSize
import Testing

/// A small file system in a separate namespace, if tests may create one. It disappears with its shell.
private enum SmallDisk {
    static let shell = "unshare -rm bash -c"
    static let isThere = (try? Sandbox().shell("\(shell) 'mount -t tmpfs none .'"))?.status == 0
}

@Suite("A full disk", .enabled(if: SmallDisk.isThere))
struct FullDiskTests {
    /// Exports about 400 kB to a file with two hard links, which is therefore written in place.
    ///
    /// - Parameter prepare: Creates the file `old` on the disk. Its checksum and size are printed before and
    /// afterwards.
    private func export(diskOf size: String, _ prepare: String) throws -> (before: String, after: String, Program.Run) {
        let sandbox = try Sandbox()
        let lines = (1...5000).map { #"{"id": \#($0), "name": "\#(String(repeating: "x", count: 50))"}"# }
        let tags = try sandbox.file("tags.ndjson", lines.joined(separator: "\n"))
        let imported = try sandbox.syncdb(
            "import", tags, "--entity", "Tag", "--model", Sandbox.model, "--database", "app.sqlite")
        try #require(imported.status == 0, "\(imported.errors)")
        _ = try sandbox.file(
            "run.sh",
            """
            mkdir disk && mount -t tmpfs -o size=\(size) none disk || exit 9
            \(prepare)
            ln disk/old disk/other
            cat disk/old disk/other | cksum > before
            "$SYNCDB" export Tag --database app.sqlite --output disk/old
            status=$?
            cat disk/old disk/other | cksum > after
            "$SYNCDB" export Tag --database app.sqlite | cmp disk/old - && echo new
            ls -A disk
            exit $status
            """)
        let run = try sandbox.shell("\(SmallDisk.shell) '. ./run.sh'")
        return (try sandbox.shell("cat before").output, try sandbox.shell("cat after").output, run)
    }

    @Test(
        "An export to a full disk keeps the old bytes of a file that is written in place",
        arguments: ["echo old > disk/old", "truncate -s 5M disk/old"]
            + (LongTests.areWanted ? [": > disk/old", "truncate -s 300K disk/old"] : []))
    func fullDiskKeepsOldBytes(prepare: String) throws {
        let (before, after, run) = try export(diskOf: "700k", prepare)
        #expect(run.status == 1)
        #expect(run.errors.contains("error: cannot write 'disk/old': No space left on device"), "\(run.errors)")
        #expect(after == before)
        #expect(!run.output.contains("new\n") && run.output.hasSuffix("old\nother\n"), "\(run.output)")
    }

    @Test(
        "An export to a disk with space writes the new bytes and the new length",
        arguments: ["echo old > disk/old"]
            + (LongTests.areWanted ? ["truncate -s 5M disk/old", "head -c 600K /dev/zero > disk/old"] : []))
    func largerDiskGetsNewBytes(prepare: String) throws {
        let (before, after, run) = try export(diskOf: "2M", prepare)
        #expect(run.status == 0, "\(run.errors)")
        #expect(after != before)
        #expect(run.output == "new\nold\nother\n")
    }
}
