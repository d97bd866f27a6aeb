import Foundation
import Testing

@Suite("Large input")
struct ChunkedImportTests {
    private static let users = (1...500).map {
        #"{"id": \#($0), "first_name": "N\#($0)", "company": {"id": \#($0 % 7)}, "notes": [{"id": \#($0)}]}"#
    }
    private static let pieces = ["--whole-up-to", "1K", "--piece-size", "2K"]

    private func packed(_ text: String, _ sandbox: Sandbox) throws -> Data {
        let file = try sandbox.file("plain", text)
        let run = try Program.run(
            ["-c", "gzip -n \(file)"], executable: URL(fileURLWithPath: "/bin/sh"), in: sandbox.folder)
        try #require(run.status == 0, "\(run.errors)")
        return try Data(contentsOf: sandbox.folder.appendingPathComponent("plain.gz"))
    }

    @Test("Large input in chunks gives the result of a whole import, from every kind of source")
    func chunksEqualWhole() throws {
        let list = "[" + Self.users.joined(separator: ",\n") + "]"
        let lines = Self.users.joined(separator: "\n")
        let arguments = ["--entity", "User", "--model", Sandbox.model, "--database", "app.sqlite", "--json"]
        let whole = try Sandbox()
        let expected = try whole.run(["import", whole.file("users.json", list)] + arguments)
        #expect(expected.status == 0, "\(expected.errors)")
        let dump = try whole.databaseDump()
        for (file, more, input) in [
            ("users.json", [], Data(list.utf8)), ("-", [], Data(list.utf8)), ("-", ["--ndjson"], Data(lines.utf8)),
            ("users.ndjson", [], Data(lines.utf8)), ("users.json.gz", [], try packed(list, Sandbox())),
            ("-", [], try packed(list, Sandbox())),
            ("users.json", ["--key", "a.b"], Data(#"{"x": [1], "a": {"b": \#(list)}}"#.utf8)),
        ] as [(String, [String], Data)] {
            let sandbox = try Sandbox()
            if file != "-" { try input.write(to: sandbox.folder.appendingPathComponent(file)) }
            let run = try Program.run(
                ["import", file] + arguments + more + Self.pieces, in: sandbox.folder, inputData: input)
            #expect(run.status == 0, "\(file): \(run.errors)")
            #expect(run.output == expected.output)
            #expect(try sandbox.databaseDump() == dump, "\(file) \(more)")
        }
    }

    @Test("An error at the end of large input has its location, and leaves no database", arguments: ["", "] x"])
    func errorAtTheEnd(end: String) throws {
        let sandbox = try Sandbox()
        let file = try sandbox.file("users.json", "[" + Self.users.joined(separator: ",\n") + end)
        let run = try sandbox.run(
            ["import", file, "--entity", "User", "--model", Sandbox.model, "--database", "app.sqlite"] + Self.pieces)
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("error: users.json: "))
        #expect(run.errors.contains("line 500, column "))
        #expect(try sandbox.files == ["users.json"])
    }

    @Test("Large input that unpacks to more than --max-size is an error")
    func inputAboveMaximumSize() throws {
        let sandbox = try Sandbox()
        let text = "[" + Self.users.joined(separator: ",\n") + "]"
        try packed(text, Sandbox()).write(to: sandbox.folder.appendingPathComponent("users.json.gz"))
        let arguments = [
            "import", "users.json.gz", "--entity", "User", "--model", Sandbox.model, "--database", "app.sqlite",
        ]
        let run = try sandbox.run(arguments + ["--max-size", "20K"] + Self.pieces)
        #expect(run.status == 1)
        #expect(run.errors.contains("larger than 20K after decompression"))
        #expect(try sandbox.files == ["users.json.gz"])
    }
}
