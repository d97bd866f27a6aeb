import Foundation
import Sync
import Testing

@Suite("export")
struct ExportTests {
    private func sandbox() throws -> Sandbox { try .withUsers() }

    private func export(_ sandbox: Sandbox, _ arguments: String...) throws -> Program.Run {
        try sandbox.run(["export"] + arguments + ["--database", "app.sqlite"])
    }

    @Test("export writes an array with a record per line, which imports without a change")
    func exportIsAnArray() throws {
        let sandbox = try sandbox()
        let run = try export(sandbox, "User")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.errors == "")
        #expect(run.output.split(separator: "\n").count == 10)
        let before = try sandbox.databaseDump()
        let again = try sandbox.syncdb(
            "import", "-", "--entity", "User", "--database", "app.sqlite", "--json", input: run.output)
        #expect(again.status == 0, "\(again.errors)")
        #expect(try sandbox.databaseDump() == before)
    }

    @Test("export --ndjson writes records only")
    func ndjsonHasRecordsOnly() throws {
        let sandbox = try sandbox()
        let run = try export(sandbox, "Tag", "--ndjson", "--relationships", "none")
        #expect(run.output.split(separator: "\n").count == 4)
        #expect(run.output.hasPrefix("{\"id\":1,\"name\":\"admin\"}\n"))
        let empty = try export(sandbox, "Tag", "--ndjson", "--where", "id > 99")
        #expect(empty.output == "")
        #expect(try export(sandbox, "Tag", "--where", "id > 99").output == "[]\n")
    }

    @Test("export filters, sorts and limits records")
    func exportIsFiltered() throws {
        let run = try export(
            sandbox(), "User", "--where", "company.city == 'Oslo'", "--order-by", "age", "--limit", "2",
            "--relationships", "none", "--ndjson")
        let names = try run.output.split(separator: "\n").map { try JSONValue(parsing: String($0))["first_name"] }
        #expect(names == ["Hugo", "Chandra"])
    }

    @Test("export writes keys, relationships and dates as requested")
    func exportHasRequestedForm() throws {
        let run = try export(
            sandbox(), "User", "--where", "id == 1", "--case", "camel", "--relationships", "nested", "--date-format",
            "yyyy-MM-dd HH:mm", "--time-zone", "Europe/Oslo", "--ndjson")
        let record = try JSONValue(parsing: run.output)
        #expect(record["firstName"] == "Ada")
        #expect(record["joinedAt"] == "2023-03-01 09:00")
        #expect(record["companyAttributes"]?["id"] == 1)
        #expect(record["notesAttributes"]?["0"]?["id"] == 11)
    }

    // MARK: Files

    @Test("export --output writes the text of standard output over an existing file")
    func outputReplacesAFile() throws {
        let sandbox = try sandbox()
        _ = try sandbox.file("users.json", "old")
        let run = try export(sandbox, "User", "--output", "users.json")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output == "")
        let written = try String(contentsOf: sandbox.folder.appendingPathComponent("users.json"), encoding: .utf8)
        #expect(try export(sandbox, "User", "--output", "-").output == written)
        #expect(try sandbox.files.filter { !$0.hasPrefix("app.sqlite") } == ["users.json"])
    }

    @Test("export --output replaces the file behind a symbolic link, not the link")
    func symbolicLinkStays() throws {
        let sandbox = try sandbox()
        _ = try sandbox.file("users.json", "old")
        let link = sandbox.folder.appendingPathComponent("link.json")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "users.json")
        #expect(try export(sandbox, "Tag", "--output", "link.json").status == 0)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == "users.json")
        let text = try String(contentsOf: sandbox.folder.appendingPathComponent("users.json"), encoding: .utf8)
        #expect(text.hasPrefix("[\n  {\"id\":1"))
    }

    @Test("A failed export keeps the old file and leaves no other one")
    func failedExportKeepsTheFile() throws {
        let sandbox = try sandbox()
        _ = try sandbox.file("users.json", "old")
        let run = try export(sandbox, "Robot", "--output", "users.json")
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("error: unknown entity 'Robot'"))
        let text = try String(contentsOf: sandbox.folder.appendingPathComponent("users.json"), encoding: .utf8)
        #expect(text == "old")
        #expect(try sandbox.files.filter { !$0.hasPrefix("app.sqlite") } == ["users.json"])
    }

    @Test("export to a missing folder, or to a folder, is an error", arguments: ["no/users.json", "."])
    func missingFolderIsAnError(output: String) throws {
        let sandbox = try sandbox()
        let before = try sandbox.files
        let run = try export(sandbox, "User", "--output", output)
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("error: cannot write '\(output)'"))
        #expect(try sandbox.files == before)
    }

    @Test("export --output may be a device")
    func outputMayBeADevice() throws {
        #expect(try export(sandbox(), "User", "--output", "/dev/null").status == 0)
    }

    @Test(
        "A full device is an error of export, also on standard output",
        arguments: ["> /dev/full", "--output /dev/full"])
    func fullDeviceIsAnError(output: String) throws {
        guard FileManager.default.fileExists(atPath: "/dev/full") else { return }
        let run = try sandbox().shell("\"$SYNCDB\" export User --database app.sqlite \(output)")
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("error: cannot write "))
    }

    @Test("A reader that closes the pipe ends export without an error", arguments: ["", "trap '' PIPE;"])
    func closedPipeEndsExport(trap: String) throws {
        let sandbox = try Sandbox()
        let lines = (1...5000).map { "{\"id\": \($0), \"name\": \"\(String(repeating: "x", count: 100))\"}" }
        let payload = try sandbox.file("tags.ndjson", lines.joined(separator: "\n"))
        let imported = try sandbox.syncdb(
            "import", payload, "--entity", "Tag", "--model", Sandbox.model, "--database", "app.sqlite")
        try #require(imported.status == 0, "\(imported.errors)")
        let run = try sandbox.shell(
            "\(trap) \"$SYNCDB\" export Tag --database app.sqlite --ndjson | head -1")
        #expect(run.status == 0)
        #expect(run.output.hasPrefix("{\"id\":1,"))
        #expect(run.errors == "")
    }

    // MARK: Arguments

    @Test(
        "Wrong usage of export exits with 2, and other errors exit with 1",
        arguments: [
            (["User", "--time-zone", "Mars/Olympus"], 2), (["User", "--date-format", ""], 2),
            (["User", "--date-format", "YYYY-MM-DD"], 2),
            (["User", "--case", "shouted"], 2), (["User", "--relationships", "all"], 2), (["User", "--limit=-1"], 2),
            (["User", "--where", "wings > 2"], 1), (["User", "--where", "age >"], 1),
            (["User", "--order-by", "wings"], 1),
        ])
    func exitCodesOfExport(arguments: [String], status: Int) throws {
        let run = try sandbox().run(["export"] + arguments + ["--database", "app.sqlite"])
        #expect(run.status == Int32(status))
        #expect(run.output == "")
        #expect(run.errors.hasPrefix("error: "))
    }

    @Test("export leaves the database unchanged, and creates none")
    func exportOnlyReads() throws {
        let sandbox = try sandbox()
        let before = try sandbox.databaseBytes()
        _ = try export(sandbox, "User")
        #expect(try sandbox.databaseBytes() == before)
        let none = try sandbox.syncdb("export", "User", "--database", "none.sqlite")
        #expect(none.status == 1)
        #expect(try !sandbox.files.contains("none.sqlite"))
    }
}
