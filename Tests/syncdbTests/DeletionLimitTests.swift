import Testing

@Suite("The deletion limit of syncdb")
struct DeletionLimitTests {
    /// Returns a sandbox with a database of twelve users.
    private func sandbox() throws -> Sandbox {
        let sandbox = try Sandbox()
        let run = try sandbox.importUsers("-", input: users(1...12))
        try #require(run.status == 0, "\(run.errors)")
        return sandbox
    }

    private func users(_ ids: ClosedRange<Int>) -> String {
        "[" + ids.map { "{\"id\": \($0)}" }.joined(separator: ",") + "]"
    }

    @Test("A deletion of more than half the rows exits with 3 and writes nothing")
    func deletionOfMoreThanHalf() throws {
        let sandbox = try sandbox()
        let before = try sandbox.databaseDump()
        let run = try sandbox.importUsers("-", input: users(1...5))
        #expect(run.status == 3)
        #expect(run.output == "")
        #expect(run.errors.hasPrefix("error: "))
        #expect(try sandbox.databaseDump() == before)
    }

    @Test("A deletion of half the rows is allowed")
    func deletionOfHalf() throws {
        let sandbox = try sandbox()
        #expect(try sandbox.importUsers("-", input: users(1...6)).status == 0)
        #expect(try sandbox.count("User") == "6")
    }

    @Test("An entity of ten rows may lose all of them")
    func deletionOfTenRows() throws {
        let sandbox = try Sandbox()
        try sandbox.importUsers("-", input: users(1...10))
        #expect(try sandbox.importUsers("-", input: "[]").status == 0)
        #expect(try sandbox.count("User") == "0")
    }

    @Test(
        "--max-delete sets the deletion limit",
        arguments: [
            ("100%", 0, 0), ("75%", 0, 3), ("75%", 3, 0), ("10%", 3, 10), ("12", 0, 0), ("11", 3, 0), ("0", 3, 11),
        ])
    func maximumIsSet(maximum: String, status: Int32, kept: Int) throws {
        let sandbox = try sandbox()
        let json = kept == 0 ? "[]" : users(1...kept)
        let run = try sandbox.importUsers("-", "--max-delete", maximum, input: json)
        #expect(run.status == status, "\(run.errors)")
        #expect(try sandbox.count("User") == (status == 0 ? "\(kept)" : "12"))
    }

    @Test("diff lists deletions over the limit, then exits with 3")
    func diffListsDeletions() throws {
        let sandbox = try sandbox()
        let run = try sandbox.syncdb("diff", "-", "--entity", "User", "--database", "app.sqlite", input: users(1...2))
        #expect(run.status == 3)
        #expect(run.output.contains("- User 12\n"))
        #expect(run.errors.hasPrefix("error: "))
    }
}
