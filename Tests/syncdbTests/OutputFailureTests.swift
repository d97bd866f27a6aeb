import Foundation
import TestSize
import Testing

/// Standard streams that are full, closed or without a reader.
@Suite("Failing streams")
struct OutputFailureTests {
    private let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox.withUsers()
    }

    private static let hasFullDevice = FileManager.default.fileExists(atPath: "/dev/full")
    private static let database = "--database app.sqlite"
    private static let payload = "'\(Sandbox.day2)' --entity User \(database)"
    private static let schema = "'\(Sandbox.model)'"

    static let commands = [
        "import \(payload)", "import \(payload) --verbose", "import \(payload) --json", "diff \(payload)",
        "count User \(database)", "query User \(database)", "query User \(database) --json", "export User \(database)",
        "doctor \(database)", "doctor \(database) --json", "schema show \(database)", "schema convert \(schema)",
        "schema infer '\(Sandbox.day1)' --entity User", "schema diagram \(database)",
        "schema migrate \(database) --model \(schema) --dry-run", "verify none.json", "verify none.json --json",
    ]
    /// One command of each kind.
    private static let someCommands = LongTests.areWanted ? commands : [0, 3, 5, 7, 8, 13, 15].map { commands[$0] }
    static let answers = ["--help", "help import", "import --help", "", "--generate-completion-script bash"]

    /// Runs a shell line in which `syncdb` is the tested program.
    private func shell(_ line: String) throws -> Program.Run {
        let program = try Program.syncdb().path
        return try withExtendedLifetime(sandbox) {
            try Program.run(
                ["bash", "-c", "syncdb() { '\(program)' \"$@\"; }; \(line)"],
                executable: URL(fileURLWithPath: "/usr/bin/env"), in: sandbox.folder)
        }
    }

    @Test(
        "A full disk behind standard output is an error",
        .enabled(if: hasFullDevice), arguments: someCommands + answers)
    func fullDiskIsAnError(command: String) throws {
        let run = try shell("syncdb \(command) > /dev/full")
        #expect(run.status == 1, "\(run.errors)")
        #expect(run.errors.contains("error: cannot write to standard output"), "\(run.errors)")
        #expect(run.errors.contains("No space left on device"), "\(run.errors)")
    }

    @Test(
        "A closed standard output is an error", arguments: someCommands + (LongTests.areWanted ? answers : ["--help"]))
    func closedOutputIsAnError(command: String) throws {
        let run = try shell("syncdb \(command) >&-")
        #expect(run.status == 1, "\(run.errors)")
        #expect(run.errors.contains("error: cannot write to standard output"), "\(run.errors)")
        #expect(run.errors.contains("it is closed"), "\(run.errors)")
    }

    @Test(
        "A reader that closes the pipe ends a command without an error, also if SIGPIPE is ignored",
        arguments: someCommands)
    func closedPipeIsNoError(command: String) throws {
        let ends = try shell("set -o pipefail; syncdb \(command) | :")
        #expect([0, 1, 141].contains(ends.status), "\(ends.errors)")
        let ignoring = try shell("trap '' PIPE; set -o pipefail; syncdb \(command) | :")
        #expect(ignoring.status == (command.hasPrefix("verify") ? 1 : 0), "\(ignoring.errors)")
        for run in [ends, ignoring] { #expect(!run.errors.contains("error:"), "\(run.errors)") }
    }

    @Test("A limit of the file size is an error, for output and for a database")
    func fileSizeLimitIsAnError() throws {
        let ids = (1...20_000).map { "{\"id\": \($0)}" }.joined(separator: ",")
        try sandbox.importUsers(try sandbox.file("users.json", "[\(ids)]"), "--quiet", "--delta")
        let query = try shell("ulimit -f 8; syncdb query User \(Self.database) > table")
        #expect(query.status == 1)
        #expect(query.errors.hasPrefix("error: "), "\(query.errors)")
        let command = "import users.json --entity User --database new.sqlite --model \(Self.schema)"
        let run = try shell("ulimit -f 64; syncdb \(command)")
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("error: "), "\(run.errors)")
        #expect(try !sandbox.files.contains("new.sqlite"))
    }

    @Test("An import whose output fails is committed, and the error says so", .enabled(if: hasFullDevice))
    func committedImportStays() throws {
        let run = try shell("syncdb import \(Self.payload) > /dev/full")
        #expect(run.errors.contains("but the import succeeded"), "\(run.errors)")
        #expect(try sandbox.count("User", where: "id == 9") == "1")
        #expect(try shell("syncdb import \(Self.payload) --quiet >&-").status == 0)
    }

    @Test(
        "An error that cannot be printed has the same exit code", arguments: ["2>&-", "2> /dev/full", ">&- 2>&-"])
    func exitCodeNeedsNoErrorStream(to place: String) throws {
        #expect(try shell("syncdb count Nobody \(Self.database) \(place)").status == 1)
        #expect(try shell("syncdb count --database \(place)").status == 2)
        #expect(
            try shell("syncdb import - --entity User --database new.sqlite \(place) <<< '[{\"id\": 1}]' || :").status
                == 0)
        #expect(try shell("syncdb count User --database new.sqlite").output == "1\n")
    }

    @Test(
        "A closed standard input is an error at once",
        arguments: [
            "import - --entity User \(database)", "diff - --entity User \(database)",
            "doctor - --entity User \(database)",
            "import - --entity User --database new.sqlite", "schema infer - --entity User",
        ])
    func closedInputIsAnError(command: String) throws {
        let run = try shell("timeout 60 '\(Program.syncdb().path)' \(command) <&-")
        #expect(run.status == 1)
        #expect(run.errors.contains("cannot read standard input: it is closed"), "\(run.errors)")
        #expect(try !sandbox.files.contains("new.sqlite"))
    }

    @Test(
        "Too few file descriptors are an error, and help needs none",
        arguments: LongTests.areWanted ? [4, 5, 7, 9, 12] : [4, 9])
    func missingDescriptorsAreAnError(limit: Int) throws {
        for command in ["import \(Self.payload)", "count User \(Self.database)", "schema show \(Self.database) --json"]
        {
            let run = try shell("ulimit -n \(limit); syncdb \(command)")
            #expect(run.status == 1, "\(command)")
            #expect(run.errors.contains("more files can be opened, but "), "\(run.errors)")
        }
        for command in Self.answers where !command.isEmpty {
            let run = try shell("ulimit -n \(limit); syncdb \(command)")
            #expect(run.status == 0 && run.output.contains("syncdb"), "\(run.errors)")
        }
        #expect(try shell("ulimit -n \(limit); syncdb nonsense").status == 2)
    }

    @Test("28 file descriptors are enough for every command", arguments: someCommands)
    func descriptorsAreEnough(command: String) throws {
        let run = try shell("ulimit -n 28; syncdb \(command)")
        #expect(run.status == (command.hasPrefix("verify") ? 1 : 0), "\(run.errors)")
    }
}
