import Foundation
import Sync
import Testing

@testable import syncdb

@Suite("Tables on a terminal")
struct TableCompatibilityTests {
    private let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        let long = String(repeating: "0123456789", count: 20)
        let notes = try sandbox.file(
            "notes.json",
            #"[{"id": 1, "text": "\#(long)"}, {"id": 2, "text": "日本語日本語日本語日本語日本語日本語日本語日本語"}, {"id": 3, "text": "e\u0301"}]"#
        )
        let run = try sandbox.syncdb(
            "import", notes, "--entity", "Note", "--model", Sandbox.model, "-d", "app.sqlite", "--quiet")
        try #require(run.status == 0, "\(run.errors)")
    }

    /// Returns the lines that a terminal of a width shows.
    private func lines(_ width: Int, _ arguments: String) throws -> [String] {
        let run = try Program.run(
            [
                "-qec",
                "stty cols \(width); '\(try Program.syncdb().path)' query Note -d app.sqlite --color never \(arguments)",
                "/dev/null",
            ],
            executable: URL(fileURLWithPath: "/usr/bin/script"), in: sandbox.folder, environment: ["TERM": "xterm"])
        #expect(run.status == 0)
        return run.output.replacingOccurrences(of: "\r\n", with: "\n").split(separator: "\n").map(String.init)
    }

    @Test(
        "A table fits the width of a terminal, with cut values",
        .enabled(if: Typescript.isThere), arguments: [80, 40, 24])
    func tableFitsTheTerminal(width: Int) throws {
        let lines = try lines(width, "--columns id,text,createdAt")
        #expect(lines.count == 4)
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= width }, "\(lines)")
        #expect(lines[0].hasPrefix("id  text"))
        #expect(lines[1].hasPrefix(" 1  0123") && lines[1].contains("…"))
        #expect(lines[2].hasPrefix(" 2  日本"))
        #expect(lines[3] == " 3  e\u{301}")
    }

    @Test(
        "A table that does not fit becomes vertical, unless --format table is given", .enabled(if: Typescript.isThere))
    func narrowTerminalGetsLines() throws {
        let vertical = try lines(12, "--where 'id == 1'")
        #expect(vertical.map { $0.prefix(2) } == ["id", "te", "cr", "us"])
        let table = try lines(12, "--where 'id == 1' --format table")
        #expect(table.count == 2)
        #expect((vertical + table).allSatisfy { DisplayWidth.of($0) <= 12 }, "\(vertical + table)")
    }

    @Test("A table in a pipe has whole values")
    func pipedValuesAreWhole() throws {
        let output = try sandbox.syncdb("query", "Note", "-d", "app.sqlite", "--columns", "id,text").output
        #expect(output.contains(String(repeating: "0123456789", count: 20)))
        #expect(!output.contains("…"))
    }

    // MARK: Blocks

    @Test("The columns of a table are as wide as the rows so far, and never shrink")
    func columnsOnlyGrow() throws {
        let written = Locked("")
        var table = TableWriter(
            [RowColumn(title: "id", isNumeric: true), RowColumn(title: "name"), RowColumn(title: "x")], lineWidth: nil,
            style: .plain, RowOutput { data in written.withLock { $0 += String(decoding: data, as: UTF8.self) } })
        for id in 1...2500 {
            var row = TextRow()
            row.add("\(id)")
            row.add(id == 1500 ? "a longer name" : "name")
            row.add("x")
            try table.append(row)
        }
        try table.end()
        let lines = written.value.split(separator: "\n")
        #expect(lines.count == 2501)
        #expect(lines[0] == "  id  name  x")
        #expect(lines[1000] == "1000  name  x")
        #expect(lines[1001] == "1001  name           x")
        #expect(lines[1500] == "1500  a longer name  x")
        #expect(lines[2500] == "2500  name           x")
    }
}
