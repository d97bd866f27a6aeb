import Foundation
import Sync
import TestSize
import Testing

@testable import syncdb

@Suite("Output on a terminal")
struct TerminalTests {
    private static let escape = "\u{1B}["

    private static let diff = ["diff", Sandbox.day2, "--entity", "User", "--database", "app.sqlite"]

    private func imported() throws -> Sandbox { try .withUsers() }

    private func onTerminal(
        _ sandbox: Sandbox, _ arguments: [String], _ environment: [String: String] = [:]
    ) throws -> Program.Run {
        try Typescript.run(arguments, in: sandbox.folder, environment)
    }

    // MARK: Color

    @Test("Piped output has no color, and neither have errors")
    func pipedOutputHasNoColor() throws {
        let sandbox = try imported()
        #expect(try !sandbox.run(Self.diff).output.contains(Self.escape))
        #expect(try !sandbox.syncdb("count", "Nobody", "--database", "app.sqlite").errors.contains(Self.escape))
    }

    @Test("--color always colors piped output: inserted, updated and deleted rows, headers and errors")
    func pipedOutputMayHaveColor() throws {
        let sandbox = try imported()
        let output = try sandbox.run(Self.diff + ["--color", "always"]).output
        for part in ["[32m+ User 9\u{1B}[0m", "[33m~ User 1\u{1B}[0m", "[31m- User 6\u{1B}[0m", "[1mentity "] {
            #expect(output.contains("\u{1B}" + part), "\(part)")
        }
        let wrong = try sandbox.syncdb("query", "Nobody", "--database", "app.sqlite", "--color=always")
        #expect(wrong.errors.hasPrefix("\u{1B}[31merror:\u{1B}[0m unknown entity"), "\(wrong.errors)")
        let usage = try sandbox.syncdb("query", "--color", "always")
        #expect(usage.errors.hasPrefix("\u{1B}[31merror:\u{1B}[0m "), "\(usage.errors)")
    }

    @Test("JSON is never colored")
    func jsonHasNoColor() throws {
        let sandbox = try imported()
        let output = try sandbox.run(Self.diff + ["--color", "always", "--json"]).output
        #expect(!output.contains("\u{1B}"))
        _ = try JSONDecoder().decode(SyncResult.self, from: Data(output.utf8))
    }

    @Test("A terminal gets color unless --color, NO_COLOR or TERM forbids it", .enabled(if: Typescript.isThere))
    func terminalHasColor() throws {
        let sandbox = try imported()
        #expect(try onTerminal(sandbox, Self.diff).output.contains("\u{1B}[32m+ User 9"))
        #expect(try !onTerminal(sandbox, Self.diff + ["--color", "never"]).output.contains(Self.escape))
        #expect(try !onTerminal(sandbox, Self.diff, ["NO_COLOR": "1"]).output.contains(Self.escape))
        #expect(try !onTerminal(sandbox, Self.diff, ["TERM": "dumb"]).output.contains(Self.escape))
    }

    @Test("Another value of --color is wrong usage")
    func otherChoicesAreWrongUsage() throws {
        #expect(try imported().run(Self.diff + ["--color", "sometimes"]).status == 2)
    }

    // MARK: Progress

    /// So many that their import takes longer than the delay of the display.
    private static let users =
        "[" + (1...150_000).map { #"{"id":\#($0),"first_name":"N"}"# }.joined(separator: ",") + "]"

    @Test(
        "A long import shows its progress, and clears the line",
        .enabled(if: Typescript.isThere), .enabled(if: LongTests.areWanted, "make check runs it"))
    func longImportShowsProgress() throws {
        let sandbox = try Sandbox()
        let arguments = [
            "import", try sandbox.file("users.json", Self.users), "--entity", "User", "--model", Sandbox.model,
            "--database", "app.sqlite",
        ]
        let seen = try onTerminal(sandbox, arguments).output
        let parts = seen.components(separatedBy: "\r\(Self.escape)K")
        #expect(parts.count > 2)
        #expect(parts.contains { $0.hasPrefix("writing ") && $0.contains("% ") && $0.contains("of 150000 rows") })
        #expect(parts.allSatisfy { $0.hasPrefix("\(Self.escape)1mentity") || $0.count < 80 })
        #expect(parts.last?.contains("User      150000") == true)
        #expect(try !onTerminal(sandbox, arguments + ["--quiet"]).output.contains("\r\(Self.escape)K"))
    }

    @Test(
        "A long import without a terminal shows no progress", .enabled(if: LongTests.areWanted, "make check runs it"))
    func pipedImportShowsNoProgress() throws {
        let sandbox = try Sandbox()
        let piped = try sandbox.importUsers(sandbox.file("users.json", Self.users), "--max-delete", "100%")
        #expect(piped.status == 0 && piped.errors == "")
    }

    @Test("A progress line has the phase, the amount, the total and the speed")
    func progressLines() {
        func line(_ progress: SyncProgress, _ seconds: Double = 2, width: Int = 100) -> String {
            ProgressLine(progress).text(after: seconds, width: width)
        }
        let bytes = SyncProgress(.mapping, completed: 140_000_000, total: 280_000_000)
        #expect(line(bytes) == "reading JSON  ██████████░░░░░░░░░░   50%  140 MB of 280 MB, 70 MB/s")
        #expect(line(.init(.comparing, completed: 8192)) == "comparing     8192 rows, 4096/s")
        let rows = SyncProgress(.writing, completed: 750_000, total: 1_000_000)
        #expect(line(rows) == "writing       ███████████████░░░░░   75%  750000 of 1000000 rows, 375k/s")
        #expect(line(rows, 0.1) == "writing       ███████████████░░░░░   75%  750000 of 1000000 rows")
        #expect(line(rows, width: 60) == "writing        75%  750000 of 1000000 rows, 375k/s")
        #expect(line(rows, width: 20).count == 19)
        #expect(line(.init(.writing, completed: 5, total: 5)).contains("████  100%  5 of 5 rows"))
    }

    // MARK: Quiet

    @Test("verify --quiet prints nothing and has an exit code")
    func quietVerifyPrintsNothing() throws {
        let sandbox = try Sandbox()
        let run = try sandbox.syncdb("verify", sandbox.file("broken.json", "{}"), "--quiet")
        #expect(run.status == 1)
        #expect(run.output == "")
        #expect(try sandbox.syncdb("verify", "broken.json", "--quiet", "--json").status == 2)
    }
}
