import Foundation
import TestSize
import Testing

@Suite("Input files are not overwritten")
struct OutputInputTests {
    private func sandbox() throws -> Sandbox {
        let sandbox = try Sandbox.withUsers()
        for (name, path) in ["model.json": Sandbox.model, "users.json": Sandbox.day1] {
            try FileManager.default.copyItem(atPath: path, toPath: sandbox.folder.appendingPathComponent(name).path)
        }
        let hard = sandbox.folder.appendingPathComponent("hard.sqlite")
        try FileManager.default.linkItem(at: sandbox.folder.appendingPathComponent("app.sqlite"), to: hard)
        return sandbox
    }

    private func sum(_ name: String, in sandbox: Sandbox) throws -> String {
        try sandbox.shell("cksum \(name)").output
    }

    @Test(
        "--output does not overwrite the file that is standard input",
        arguments: ["users.json", "./users.json", "soft.json", "hard.json"])
    func standardInputIsNotOverwritten(output: String) throws {
        let sandbox = try sandbox()
        let before = try sum("users.json", in: sandbox)
        let run = try sandbox.shell(
            """
            ln -s users.json soft.json && ln users.json hard.json &&
            "$SYNCDB" schema infer - --entity User --quiet --output \(output) < users.json
            """)
        #expect(run.status == 1)
        #expect(run.errors == "error: cannot write '\(output)': it is the standard input\n")
        #expect(try sum("users.json", in: sandbox) == before)
    }

    @Test(
        "--output does not overwrite a file that a model's folder links to",
        arguments: [
            "ln -s ../../other App.xcdatamodeld/V1.xcdatamodel/contents",
            "ln other App.xcdatamodeld/V1.xcdatamodel/contents",
            "mkdir V && rmdir App.xcdatamodeld/V1.xcdatamodel && ln other V/contents && "
                + "ln -s ../V App.xcdatamodeld/V1.xcdatamodel",
            "cp other App.xcdatamodeld/V1.xcdatamodel/contents && ln version App.xcdatamodeld/.xccurrentversion",
        ])
    func filesOfModelFolders(link: String) throws {
        let sandbox = try Sandbox()
        let xml = #"<model><entity name="A"><attribute name="id" attributeType="Integer 64"/></entity></model>"#
        let plist = "<plist><dict><key>_XCCurrentVersionName</key><string>V1.xcdatamodel</string></dict></plist>"
        _ = try (sandbox.file("other", xml), sandbox.file("version", plist))
        let made = try sandbox.shell("mkdir -p App.xcdatamodeld/V1.xcdatamodel && \(link)")
        try #require(made.status == 0, "\(made.errors)")
        let output = link.contains("ln version") ? "version" : "other"
        let before = try sum(output, in: sandbox)
        let run = try sandbox.syncdb("schema", "convert", "App.xcdatamodeld", "--output", output)
        #expect(run.status == 1)
        #expect(run.errors == "error: cannot write '\(output)': it is a file of the input 'App.xcdatamodeld'\n")
        #expect(try sum(output, in: sandbox) == before)
        #expect(try sandbox.syncdb("schema", "convert", "App.xcdatamodeld", "--output", "new.json").status == 0)
    }

    @Test("--output follows linked folders to find the input file, and allows other files of its name")
    func pathsThroughLinkedFolders() throws {
        let sandbox = try sandbox()
        let made = try sandbox.shell(
            """
            mkdir -p elsewhere/deep && ln -s elsewhere/deep link && mv model.json app.sqlite hard.sqlite elsewhere &&
            echo '{"entities": {}}' > model.json && echo none > app.sqlite
            """)
        try #require(made.status == 0, "\(made.errors)")
        let commands = [
            ["schema", "convert", "link/../model.json"], ["export", "User", "--database", "link/../app.sqlite"],
        ]
        for (command, name) in zip(commands, ["model.json", "app.sqlite"]) {
            #expect(try sandbox.run(command).output.contains(#""User""#) || command[0] == "export")
            let before = try sum("elsewhere/\(name)", in: sandbox)
            #expect(try sandbox.run(command + ["--output", "elsewhere/\(name)"]).status == 1)
            #expect(try sum("elsewhere/\(name)", in: sandbox) == before)
            // The file of that name in this folder is not an input.
            let run = try sandbox.run(command + ["--output", name])
            #expect(run.status == 0, "\(run.errors)")
        }
    }

    // MARK: Streams

    private static let user = "users.json --entity User --delta --database app.sqlite"
    private static let commands = [
        "import \(user)", "diff \(user)", "count User --database app.sqlite", "query User --database app.sqlite",
        "export User --database app.sqlite", "doctor --database app.sqlite",
        "doctor users.json --entity User --database app.sqlite",
        "schema show --database app.sqlite", "schema diagram --database app.sqlite",
        "schema migrate --database app.sqlite --model model.json",
    ]

    @Test(
        "Standard streams are not written to the database",
        arguments: LongTests.some(commands, every: 3),
        [">> app.sqlite", "1<> app.sqlite", ">> hard.sqlite", "2>> app.sqlite"])
    func databaseAsAStream(command: String, stream: String) throws {
        let sandbox = try sandbox()
        let before = try sandbox.databaseBytes()
        let run = try sandbox.shell("\"$SYNCDB\" \(command) \(stream)")
        #expect(run.status == 1)
        // An error about the error stream cannot be printed.
        let isSaid = !stream.hasPrefix("2")
        #expect(run.errors == (isSaid ? "error: cannot write to standard output: it is the database\n" : ""))
        #expect(try sandbox.databaseBytes() == before)
    }

    @Test("Standard streams are not written to the files beside the database")
    func filesOfTheDatabaseAsAStream() throws {
        let sandbox = try sandbox()
        let before = try sum("app.sqlite", in: sandbox)
        for name in ["app.sqlite-wal", "app.sqlite-shm", "app.sqlite-journal"] {
            let run = try sandbox.shell(
                "\"$SYNCDB\" count User --database app.sqlite >> \(name); status=$?; rm \(name); exit $status")
            #expect(run.status == 1)
            #expect(run.errors == "error: cannot write to standard output: it is a file of the database\n")
        }
        #expect(try sandbox.shell("\"$SYNCDB\" count User --database app.sqlite >> app.sqlite 2>&1").status == 1)
        #expect(try sum("app.sqlite", in: sandbox) == before)
    }

    @Test(
        "Standard output is not written to a payload, a model or a sample",
        arguments: [
            ("schema convert model.json", "model.json"), ("schema infer users.json --entity User", "users.json"),
            ("schema infer - --entity User < users.json", "users.json"), ("import \(user)", "users.json"),
            ("import \(user) --model model.json", "model.json"),
            ("import - \(user.dropFirst(10)) < users.json", "users.json"),
            ("schema show --model model.json", "model.json"), ("verify users.json", "users.json"),
        ])
    func inputs(command: String, file: String) throws {
        let sandbox = try sandbox()
        let before = try sum(file, in: sandbox)
        let run = try sandbox.shell("\"$SYNCDB\" \(command) >> \(file)")
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("error: cannot write to standard output: it is "), "\(run.errors)")
        #expect(try sum(file, in: sandbox) == before)
    }
}
