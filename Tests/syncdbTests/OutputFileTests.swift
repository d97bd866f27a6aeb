import Foundation
import TestSize
import Testing

@Suite("--output")
struct OutputFileTests {
    /// Commands that write a file.
    static let commands: [[String]] =
        [["export", "User", "--database", "app.sqlite"], ["schema", "convert", "model.json"]]
        + (LongTests.areWanted ? [["schema", "infer", "users.json", "--entity", "User", "--quiet"]] : [])

    private func sandbox() throws -> Sandbox {
        let sandbox = try Sandbox.withUsers()
        for (name, path) in ["model.json": Sandbox.model, "users.json": Sandbox.day1] {
            try FileManager.default.copyItem(atPath: path, toPath: sandbox.folder.appendingPathComponent(name).path)
        }
        return sandbox
    }

    private func text(_ name: String, in sandbox: Sandbox) throws -> String {
        try String(contentsOf: sandbox.folder.appendingPathComponent(name), encoding: .utf8)
    }

    private func mode(_ name: String, in sandbox: Sandbox) throws -> Int? {
        let path = sandbox.folder.appendingPathComponent(name).path
        return try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    private func link(_ name: String, to target: String, in sandbox: Sandbox) throws {
        try FileManager.default.createSymbolicLink(
            atPath: sandbox.folder.appendingPathComponent(name).path, withDestinationPath: target)
    }

    @Test("--output writes the same as standard output, whose name is -, and leaves no other file", arguments: commands)
    func fileEqualsStandardOutput(command: [String]) throws {
        let sandbox = try sandbox()
        let before = try sandbox.files
        let run = try sandbox.run(command + ["--output", "new.json"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try sandbox.files == (before + ["new.json"]).sorted())
        #expect(try sandbox.run(command + ["--output", "-"]).output == text("new.json", in: sandbox))
        #expect(try text("new.json", in: sandbox).hasPrefix(command[0] == "export" ? "[\n" : "{\n"))
    }

    @Test("--output keeps the mode of a file, and a new file has the default mode", arguments: commands)
    func modeIsKept(command: [String]) throws {
        let sandbox = try sandbox()
        for kept in [0o600, 0o640, 0o666] {
            let name = try sandbox.file("old.json", "old")
            let path = sandbox.folder.appendingPathComponent(name).path
            try FileManager.default.setAttributes([.posixPermissions: kept], ofItemAtPath: path)
            #expect(try sandbox.run(command + ["--output", name]).status == 0)
            #expect(try mode(name, in: sandbox) == kept)
            #expect(try text(name, in: sandbox) != "old")
        }
        _ = try sandbox.shell("umask 027; \"$SYNCDB\" \(command.joined(separator: " ")) --output new.json")
        #expect(try mode("new.json", in: sandbox) == 0o640)
    }

    @Test("--output writes the file behind symbolic links, also if it does not exist yet", arguments: commands)
    func linksAreFollowed(command: [String]) throws {
        let sandbox = try sandbox()
        try FileManager.default.createDirectory(
            at: sandbox.folder.appendingPathComponent("folder"), withIntermediateDirectories: true)
        _ = try sandbox.file("folder/old.json", "old")
        for (name, target) in [("a", "folder/old.json"), ("b", "a"), ("c", "folder/new.json"), ("d", "c")] {
            try link(name, to: target, in: sandbox)
        }
        for (output, target) in [("b", "folder/old.json"), ("d", "folder/new.json")] {
            #expect(try sandbox.run(command + ["--output", output]).status == 0)
            #expect(try text(target, in: sandbox).count > 10)
            let path = sandbox.folder.appendingPathComponent(output).path
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path).count == 1)
        }
    }

    @Test("--output writes the new bytes to all names of a file", arguments: commands)
    func hardLinksAreKept(command: [String]) throws {
        let sandbox = try sandbox()
        _ = try sandbox.file("one.json", String(repeating: "old ", count: 10_000))
        try FileManager.default.linkItem(
            at: sandbox.folder.appendingPathComponent("one.json"), to: sandbox.folder.appendingPathComponent("two.json")
        )
        let before = try sandbox.files
        #expect(try sandbox.run(command + ["--output", "two.json"]).status == 0)
        #expect(try text("one.json", in: sandbox) == text("two.json", in: sandbox))
        #expect(try !text("one.json", in: sandbox).contains("old"))
        #expect(try sandbox.files == before)
    }

    @Test("--output writes into named pipes and open files", arguments: commands)
    func pipesAreWritten(command: [String]) throws {
        let sandbox = try sandbox()
        let line = "\"$SYNCDB\" \(command.joined(separator: " "))"
        let run = try sandbox.shell(
            """
            mkfifo pipe; cat pipe > got & \(line) --output pipe && wait && test -p pipe && cmp got - <<END
            $(\(line))
            END
            \(line) --output /dev/stdout | cmp - got && echo first > open.txt &&
            \(line) --output /dev/fd/3 3>> open.txt && (echo first; cat got) | cmp - open.txt
            """)
        #expect(run.status == 0, "\(run.errors)\(run.output)")
    }

    @Test("--output to a device leaves it a device", arguments: commands)
    func devicesStayDevices(command: [String]) throws {
        let sandbox = try sandbox()
        #expect(try sandbox.run(command + ["--output", "/dev/null"]).status == 0)
        try link("null", to: "/dev/null", in: sandbox)
        #expect(try sandbox.run(command + ["--output", "null"]).status == 0)
        #expect(try sandbox.shell("test -c /dev/null").status == 0)
    }

    @Test("A file that cannot be written completely keeps its old bytes", arguments: ["users.json", "link.json"])
    func incompleteOutputKeepsTheFile(output: String) throws {
        let sandbox = try Sandbox()
        let lines = (1...5000).map { #"{"id": \#($0), "name": "\#(String(repeating: "x", count: 50))"}"# }
        let tags = try sandbox.file("tags.ndjson", lines.joined(separator: "\n"))
        let imported = try sandbox.syncdb(
            "import", tags, "--entity", "Tag", "--model", Sandbox.model, "--database", "app.sqlite")
        try #require(imported.status == 0, "\(imported.errors)")
        _ = try sandbox.file("users.json", "old")
        try link("link.json", to: "users.json", in: sandbox)
        let before = try sandbox.files
        let run = try sandbox.shell(
            "trap '' XFSZ; ulimit -f 200; \"$SYNCDB\" export Tag --database app.sqlite --output \(output)")
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("error: cannot write '\(output)'"))
        #expect(try text("users.json", in: sandbox) == "old")
        #expect(try sandbox.files == before)
    }

    @Test("A file without write permission keeps its old bytes", arguments: commands)
    func protectedFileIsKept(command: [String]) throws {
        guard geteuid() != 0 else { return }
        let sandbox = try sandbox()
        let path = sandbox.folder.appendingPathComponent(try sandbox.file("old.json", "old")).path
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: path)
        #expect(try sandbox.run(command + ["--output", "old.json"]).status == 1)
        #expect(try text("old.json", in: sandbox) == "old")
    }

    // MARK: Input files are not overwritten

    @Test(
        "--output does not overwrite the database, under any name",
        arguments: [
            "app.sqlite", "./app.sqlite", "hard.sqlite", "soft.sqlite", "Folder/app.sqlite", "app.sqlite-wal",
            "app.sqlite-shm", "app.sqlite-journal", "Folder/app.sqlite-wal", "later", "/dev/fd/3",
        ])
    func databaseIsNotOverwritten(output: String) throws {
        let sandbox = try sandbox()
        let database = sandbox.folder.appendingPathComponent("app.sqlite")
        try FileManager.default.linkItem(at: database, to: sandbox.folder.appendingPathComponent("hard.sqlite"))
        for (name, target) in [("soft.sqlite", "hard.sqlite"), ("Folder", "."), ("later", "app.sqlite-wal")] {
            try link(name, to: target, in: sandbox)
        }
        let (before, files) = try (sandbox.databaseBytes(), sandbox.files)
        let run = try sandbox.shell(
            "\"$SYNCDB\" export User --database soft.sqlite --output \(output) 3<> app.sqlite")
        // The files beside a store are named after the file behind a link.
        if output.contains("-") || output == "later" {
            let direct = try sandbox.syncdb("export", "User", "--database", "app.sqlite", "--output", output)
            #expect(direct.status == 1)
            #expect(direct.errors.hasPrefix("error: cannot write '\(output)': it is a file of the database"))
        } else {
            #expect(run.status == 1)
            #expect(run.errors.hasPrefix("error: cannot write '\(output)': it is the database"), "\(run.errors)")
            #expect(try sandbox.databaseBytes() == before)
            #expect(try sandbox.files == files)
        }
    }

    @Test(
        "--output does not overwrite a model or a sample, under any name",
        arguments: ["model.json", "./model.json", "hard.json", "soft.json", "Folder/model.json"])
    func inputsAreNotOverwritten(output: String) throws {
        let sandbox = try sandbox()
        let model = sandbox.folder.appendingPathComponent("model.json")
        try FileManager.default.linkItem(at: model, to: sandbox.folder.appendingPathComponent("hard.json"))
        try link("soft.json", to: "hard.json", in: sandbox)
        try link("Folder", to: ".", in: sandbox)
        let before = try text("model.json", in: sandbox)
        for command in [
            ["schema", "convert", "model.json"], ["schema", "infer", "users.json", "model.json", "--entity", "User"],
        ] {
            let run = try sandbox.run(command + ["--output", output])
            #expect(run.status == 1)
            #expect(run.errors.contains("error: cannot write '\(output)': it is the input 'model.json'"))
            #expect(try text("model.json", in: sandbox) == before)
        }
    }

    @Test("--output overwrites nothing inside a model that is a folder", arguments: ["contents", "new.json"])
    func modelFoldersAreNotOverwritten(output: String) throws {
        let sandbox = try Sandbox()
        let folder = sandbox.folder.appendingPathComponent("App.xcdatamodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let xml = #"<model><entity name="A"><attribute name="id" attributeType="Integer 64"/></entity></model>"#
        _ = try sandbox.file("App.xcdatamodel/contents", xml)
        try link("Link", to: "App.xcdatamodel", in: sandbox)
        for path in ["App.xcdatamodel/\(output)", "Link/\(output)"] {
            let run = try sandbox.syncdb("schema", "convert", "App.xcdatamodel", "--output", path)
            #expect(run.status == 1)
            #expect(run.errors.contains("it is inside the input 'App.xcdatamodel'"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["contents"])
        #expect(try text("App.xcdatamodel/contents", in: sandbox) == xml)
    }
}
