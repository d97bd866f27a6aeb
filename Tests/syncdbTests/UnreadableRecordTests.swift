import Testing

@Suite("Imports of records with an unreadable key")
struct UnreadableRecordTests {
    private func sandbox() throws -> Sandbox {
        let sandbox = try Sandbox()
        try #require(sandbox.importUsers("-", input: #"[{"id": 1}, {"id": 2}, {"id": 3}]"#).status == 0)
        return sandbox
    }

    private let unread = #"[{"id": 1}, {"id": "x"}]"#

    @Test("An unreadable key prevents deletions, which the import reports first")
    func deletionsAreSkipped() throws {
        let sandbox = try sandbox()
        let run = try sandbox.importUsers("-", input: unread)
        #expect(run.status == 0)
        #expect(run.errors.hasPrefix("not deleted: 1 record has an unreadable key; the 2 omitted rows"))
        #expect(
            run.errors.contains(
                "(first unreadable record: [1], entity User); use --deletes-beside-unread to delete the omitted"))
        #expect(try sandbox.count("User") == "3")
    }

    @Test("--deletes-beside-unread deletes omitted rows beside an unreadable key")
    func deletionsAreAllowed() throws {
        let sandbox = try sandbox()
        let run = try sandbox.importUsers("-", "--deletes-beside-unread", input: unread)
        #expect(run.status == 0)
        #expect(!run.errors.contains("not deleted"))
        #expect(try sandbox.count("User") == "1")
    }

    @Test("An unreadable or missing key is an error with --strict", arguments: [#"{"id": "x"}"#, "{}"])
    func strictImportFails(record: String) throws {
        let sandbox = try sandbox()
        let before = try sandbox.databaseDump()
        let run = try sandbox.importUsers("-", "--strict", input: "[{\"id\": 1}, \(record)]")
        #expect(run.status == 1)
        #expect(run.errors.contains("[1]"))
        #expect(try sandbox.databaseDump() == before)
    }
}
