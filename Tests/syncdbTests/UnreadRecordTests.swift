import Testing

@Suite("An import of a record whose key cannot be read")
struct UnreadRecordTests {
    private func sandbox() throws -> Sandbox {
        let sandbox = try Sandbox()
        try #require(sandbox.importUsers("-", input: #"[{"id": 1}, {"id": 2}, {"id": 3}]"#).status == 0)
        return sandbox
    }

    private let unread = #"[{"id": 1}, {"id": "x"}]"#

    @Test("Deletes no row, and says so before what was not taken")
    func kept() throws {
        let sandbox = try sandbox()
        let run = try sandbox.importUsers("-", input: unread)
        #expect(run.status == 0)
        #expect(run.errors.hasPrefix("not deleted: a record has a key that cannot be read; so 2 left out rows"))
        #expect(run.errors.contains("the first at [1] (entity User); --deletes-beside-unread deletes them"))
        #expect(try sandbox.count("User") == "3")
    }

    @Test("Deletes them with --deletes-beside-unread")
    func deleted() throws {
        let sandbox = try sandbox()
        let run = try sandbox.importUsers("-", "--deletes-beside-unread", input: unread)
        #expect(run.status == 0)
        #expect(!run.errors.contains("not deleted"))
        #expect(try sandbox.count("User") == "1")
    }

    @Test("Is refused with --strict, as one of a record without a key", arguments: [#"{"id": "x"}"#, "{}"])
    func strict(record: String) throws {
        let sandbox = try sandbox()
        let before = try sandbox.databaseDump()
        let run = try sandbox.importUsers("-", "--strict", input: "[{\"id\": 1}, \(record)]")
        #expect(run.status == 1)
        #expect(run.errors.contains("[1]"))
        #expect(try sandbox.databaseDump() == before)
    }
}
