import Foundation
import TestSize
import Testing

@Suite("Impossible paths")
struct OutputPathTests {
    private func sandbox() throws -> Sandbox {
        let sandbox = try Sandbox.withUsers()
        let prepared = try sandbox.shell(
            """
            cp '\(Sandbox.model)' model.json && chmod 600 model.json && cp '\(Sandbox.day1)' users.json &&
            ln app.sqlite hard.sqlite && mkfifo pipe && ln -s /dev/null null && mkdir folder && ln -s new.json/ dangling &&
            ln -s loop loop && ln -s $'\\xff.json' bytes.json && ln -s $'\\xff.sqlite' bytes.sqlite &&
            touch folder/file && (mknod node c 1 3 || touch node)
            """)
        try #require(prepared.status == 0, "\(prepared.errors)")
        return sandbox
    }

    /// Returns all files with their inode numbers, modes, sizes and checksums.
    private func state(_ sandbox: Sandbox) throws -> String {
        try sandbox.shell("ls -liRb; find . -type f -exec cksum {} +").output
    }

    private static let reasons = [
        "hard.sqlite/": "Not a directory", "pipe/": "Not a directory", "null/": "Not a directory",
        "node/": "Not a directory", "model.json/": "Not a directory", "model.json/.": "Not a directory",
        "model.json/..": "Not a directory", "model.json/new.json": "Not a directory", "new.json/": "Is a directory",
        "new.json//": "Is a directory", "new.json/.": "Is a directory",
        "new.json/..": "Is a directory", "missing/new.json": "No such file or directory",
        "dangling": "Is a directory", "loop": "Too many levels of symbolic links",
        "loop/new.json": "Too many levels of symbolic links", "": "No such file or directory", ".": "it is a folder",
        "folder/": "it is a folder", "folder/..": "it is a folder",
        "bytes.json": "a file or folder name in the path is not UTF-8",
    ]

    @Test(
        "An impossible output path is an error with its reason, and changes no file",
        arguments: LongTests.some(reasons.map { ($0, $1) }.sorted { $0.0 < $1.0 }, every: 3))
    func impossibleOutputs(path: String, reason: String) throws {
        let sandbox = try sandbox()
        let before = try state(sandbox)
        for command in OutputFileTests.commands {
            let run = try sandbox.run(command + ["--output", path])
            #expect(run.status == 1)
            #expect(run.errors == "error: cannot write '\(path)': \(reason)\n")
            #expect(run.output == "")
        }
        #expect(try state(sandbox) == before)
    }

    private static let databaseReasons = [
        "app.sqlite/": "Not a directory", "hard.sqlite/.": "Not a directory", "app.sqlite/new": "Not a directory",
        "": "No such file or directory", "new.sqlite/": "Is a directory", "loop": "Too many levels of symbolic links",
    ]

    @Test(
        "An impossible database path is an error with its reason, and changes no file",
        arguments: LongTests.some(databaseReasons.map { ($0, $1) }.sorted { $0.0 < $1.0 }, every: 3))
    func impossibleDatabases(path: String, reason: String) throws {
        let sandbox = try sandbox()
        let before = try state(sandbox)
        let commands = [
            ["import", "users.json", "--entity", "User", "--model", "model.json"],
            ["import", "users.json", "--entity", "User"], ["diff", "users.json", "--entity", "User"],
            ["count", "User"], ["export", "User"], ["doctor"], ["schema", "show"], ["schema", "diagram"],
            ["schema", "migrate", "--model", "model.json"],
        ]
        for command in commands {
            let run = try sandbox.run(command + ["--database", path])
            #expect(run.status == 1, "\(command)")
            #expect(run.errors == "error: cannot open the database '\(path)': \(reason)\n", "\(command)")
        }
        #expect(try state(sandbox) == before)
    }

    @Test("A database whose name behind a link is not UTF-8 is not created under another name")
    func databaseNameOutsideUTF8() throws {
        let sandbox = try sandbox()
        let before = try state(sandbox)
        let run = try sandbox.syncdb(
            "import", "users.json", "--entity", "User", "--model", "model.json", "--database", "bytes.sqlite")
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("error: cannot ") && run.errors.contains("is not UTF-8"), "\(run.errors)")
        #expect(try state(sandbox) == before)
    }

    @Test("An impossible model path is an error, so that the model cannot be overwritten under another name")
    func impossibleModels() throws {
        let sandbox = try sandbox()
        let before = try state(sandbox)
        for (path, reason) in [
            ("model.json/", "cannot read 'model.json/': Not a directory"), ("", "no model file at ''"),
        ] {
            let run = try sandbox.syncdb("schema", "convert", path, "--output", "model.json")
            #expect(run.status == 1)
            #expect(run.errors == "error: \(reason)\n")
        }
        #expect(try state(sandbox) == before)
    }

    @Test("An argument that is not UTF-8 is wrong usage")
    func argumentOutsideUTF8() throws {
        let sandbox = try sandbox()
        let before = try state(sandbox)
        for command in ["--output $'a\\xff.json'", "--output=$'a\\xff.json'", "--output new.json --where $'\\xff'"] {
            let run = try sandbox.shell("\"$SYNCDB\" export User --database app.sqlite \(command)")
            #expect(run.status == 2)
            #expect(run.errors.hasPrefix("error: an argument is not UTF-8: "), "\(run.errors)")
        }
        #expect(try state(sandbox) == before)
    }

    @Test("A working folder whose name is not UTF-8 is an error", arguments: ["users.json", "'\(Sandbox.day1)'"])
    func folderOutsideUTF8(payload: String) throws {
        let run = try sandbox().shell(
            """
            mkdir $'\\xff' && cp users.json app.sqlite $'\\xff' && cd $'\\xff' &&
            "$SYNCDB" import \(payload) --entity User --database app.sqlite
            """)
        #expect(run.status == 1)
        #expect(run.errors == "error: the path of the current folder is not UTF-8\n")
    }
}
