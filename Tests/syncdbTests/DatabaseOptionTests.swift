import Foundation
import Sync
import Testing

@testable import syncdb

@Suite("The database option and the busy timeout")
struct DatabaseOptionTests {
    private let sandbox: Sandbox

    init() throws { sandbox = try Sandbox.withUsers() }

    private func run(_ arguments: String..., environment: [String: String] = [:]) throws -> Program.Run {
        try Program.run(arguments, in: sandbox.folder, environment: environment)
    }

    private static let named = ["SYNCDB_DATABASE": "app.sqlite"]

    @Test("-d, --database and SYNCDB_DATABASE name the database")
    func databaseIsNamed() throws {
        #expect(try run("count", "User", "-d", "app.sqlite").output == "8\n")
        #expect(try run("count", "User", "--database=app.sqlite").output == "8\n")
        #expect(try run("count", "User", environment: Self.named).output == "8\n")
        #expect(try run("query", "Company", "--format", "csv", environment: Self.named).status == 0)
        #expect(try run("export", "Company", environment: Self.named).status == 0)
        #expect(try run("diff", Sandbox.day2, "--entity", "User", environment: Self.named).output.contains("+ User 9"))
        #expect(try run("import", Sandbox.day2, "--entity", "User", environment: Self.named).status == 0)
        #expect(try run("count", "User", "-d", "app.sqlite", "--where", "id == 9").output == "1\n")
    }

    @Test("The command line takes precedence over SYNCDB_DATABASE")
    func commandLineTakesPrecedence() throws {
        let other = ["SYNCDB_DATABASE": "other.sqlite"]
        #expect(try run("count", "User", "-d", "app.sqlite", environment: other).output == "8\n")
        let missing = try run("count", "User", environment: other)
        #expect(missing.status == 1 && missing.errors.contains("other.sqlite"))
        #expect(try sandbox.files == ["app.sqlite"])
    }

    @Test(
        "A missing database is wrong usage, and the error names both ways to give one",
        arguments: [[:], ["SYNCDB_DATABASE": ""]])
    func missingDatabaseIsWrongUsage(environment: [String: String]) throws {
        let run = try Program.run(["count", "User"], in: sandbox.folder, environment: environment)
        #expect(run.status == 2)
        #expect(run.errors.contains("'--database <db>'") && run.errors.contains("SYNCDB_DATABASE"))
    }

    @Test("Commands for a model or a database use SYNCDB_DATABASE if no model is given")
    func modelTakesPrecedence() throws {
        for command in [["schema", "show"], ["schema", "diagram"], ["doctor"]] {
            let ofDatabase = try Program.run(command, in: sandbox.folder, environment: Self.named)
            #expect(ofDatabase.status == 0, "\(ofDatabase.errors)")
            let ofModel = try Program.run(
                command + ["--model", Sandbox.model], in: sandbox.folder,
                environment: ["SYNCDB_DATABASE": "none.sqlite"])
            #expect(ofModel.status == 0, "\(ofModel.errors)")
            let both = try sandbox.run(command + ["--model", Sandbox.model, "-d", "app.sqlite"])
            #expect(both.status == 2)
        }
    }

    @Test("--version prints the version, for every command", arguments: [["--version"], ["query", "--version"]])
    func versionIsPrinted(arguments: [String]) throws {
        let run = try sandbox.run(arguments)
        #expect(run.status == 0)
        #expect(run.output == SyncDB.version + "\n")
    }

    // MARK: Busy timeout

    @Test(
        "--busy-timeout takes milliseconds, or a number with a unit",
        arguments: [
            ("250", 250), ("0", 0), ("250ms", 250), ("30s", 30_000), ("1.5s", 1500), ("2m", 120_000), ("2M", 120_000),
        ] as [(String, Int32)])
    func busyTimeoutHasUnits(text: String, milliseconds: Int32) {
        #expect(TimeoutArgument(argument: text)?.milliseconds == milliseconds)
    }

    @Test(
        "--busy-timeout rejects other values", arguments: ["", "s", "-1", "5h", "1e3", "half", "99999999m", "1.2.3s"])
    func otherTimes(text: String) { #expect(TimeoutArgument(argument: text) == nil) }

    @Test("A database that stays locked is an error after the timeout, with a hint")
    func lockedDatabaseIsAnError() throws {
        let lock = """
            sqlite3 app.sqlite <<'END' &
            PRAGMA journal_mode = DELETE;
            BEGIN EXCLUSIVE;
            .shell touch locked; while [ ! -e done ]; do sleep 0.05; done
            END
            while [ ! -e locked ]; do sleep 0.05; done
            """
        let run = try sandbox.shell(
            "\(lock)\n\"$SYNCDB\" count User -d app.sqlite --busy-timeout 50ms; status=$?; touch done; wait; exit $status"
        )
        #expect(run.status == 1)
        #expect(run.errors.contains("app.sqlite"), "\(run.errors)")
        #expect(run.errors.contains("locked"), "\(run.errors)")
        #expect(run.errors.hasSuffix("hint: use --busy-timeout 60s to wait longer\n"), "\(run.errors)")
    }

    @Test("A database that is unlocked in time is read")
    func unlockedDatabaseIsRead() throws {
        let run = try sandbox.shell(
            """
            sqlite3 app.sqlite <<'END' &
            PRAGMA journal_mode = DELETE;
            BEGIN EXCLUSIVE;
            .shell touch locked; sleep 0.3
            ROLLBACK;
            END
            while [ ! -e locked ]; do sleep 0.02; done
            "$SYNCDB" count User -d app.sqlite --busy-timeout 10m
            """)
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.hasSuffix("8\n"))
    }
}
