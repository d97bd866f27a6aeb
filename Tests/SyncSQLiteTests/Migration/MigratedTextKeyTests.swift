import GRDB
import SyncCore
import SyncSQLite
import Testing

/// Migrations compare the texts of keys byte for byte, as SQLite does.
@Suite("Migrations of text keys")
struct MigratedTextKeyTests {
    /// Canonically equivalent texts: equal as Swift strings, but with different bytes (`C3A9` and `65CC81`).
    private static let composed = "\u{E9}"
    private static let combined = "e\u{301}"

    private func filled(_ schema: String, _ statements: [String]) throws -> MigratingStore {
        let store = try MigratingStore()
        try store.open(schema) { stack in
            try stack.write { db in for sql in statements { try db.execute(sql: sql) } }
        }
        return store
    }

    private func related(_ attribute: String = "", ordered: Bool = false) -> String {
        """
        "A": {"attributes": {"id": "string"\(attribute)}, "relationships": {"one": {"entity": "B", "inverse": "a"}}},
        "B": {"attributes": {"id": "integer"\(attribute)}, "relationships": {
            "a": {"entity": "A", "inverse": "one"}, "owner": {"entity": "A"},
            "all": {"entity": "A", "many": true, "ordered": \(ordered)}}}
        """
    }

    @Test("A migration keeps all links of rows with canonically equivalent keys")
    func equivalentKeysKeepTheirLinks() throws {
        let (composed, combined) = (Self.composed, Self.combined)
        let store = try filled(
            related(),
            [
                "INSERT INTO B (id) VALUES (1), (2)",
                "INSERT INTO A (id, oneID) VALUES ('\(composed)', 1), ('\(combined)', 2)",
                "UPDATE B SET ownerID = CASE id WHEN 1 THEN '\(composed)' ELSE '\(combined)' END",
                "INSERT INTO B_all (bID, aID) VALUES (1, '\(composed)'), (1, '\(combined)')",
            ])
        let after = related(#", "n": "integer""#, ordered: true)
        try store.open(after) { _ in }
        try store.expectFreshSchema(after)
        #expect(try store.rows("SELECT hex(id), oneID FROM A ORDER BY oneID") == ["C3A9|1", "65CC81|2"])
        #expect(try store.rows("SELECT id, hex(ownerID) FROM B ORDER BY id") == ["1|C3A9", "2|65CC81"])
        #expect(try store.rows("SELECT bID, hex(aID) FROM B_all ORDER BY 2") == ["1|65CC81", "1|C3A9"])
    }

    @Test("A migration keeps both rows whose composite keys are canonically equivalent")
    func equivalentCompositeKeysAreTwoRows() throws {
        func schema(_ attribute: String) -> String {
            #""A": {"primaryKey": ["k", "n"], "attributes": {"k": "string", "n": "integer"\#(attribute)}}"#
        }
        let store = try filled(
            schema(""), ["INSERT INTO A (k, n) VALUES ('\(Self.composed)', 1), ('\(Self.combined)', 1)"])
        let after = schema(#", "v": "string""#)
        try store.open(after) { _ in }
        try store.expectFreshSchema(after)
        #expect(try store.rows("SELECT hex(k), n FROM A ORDER BY 1") == ["65CC81|1", "C3A9|1"])
    }

    private func members(_ key: String) -> String {
        #"""
        "Member": {"primaryKey": "\#(key)", "attributes": {"id": "string", "card": "string"}},
        "Loan": {"attributes": {"id": "integer"}, "relationships": {"member": {"entity": "Member"}}}
        """#
    }

    @Test("A new primary key changes the links of each row, also if the old keys are canonically equivalent")
    func equivalentKeysBecomeOtherKeys() throws {
        let (composed, combined) = (Self.composed, Self.combined)
        let store = try filled(
            members("id"),
            [
                "INSERT INTO Member (id, card) VALUES ('\(combined)', 'M1'), ('z', 'M2'), ('\(composed)', 'M2')",
                "INSERT INTO Loan (id, memberID) VALUES (1, '\(combined)'), (2, 'z'), (3, '\(composed)')",
            ])
        let error = try #require(throws: SyncError.self) { try store.open(members("card")) { _ in } }
        #expect(
            error.problems.map { "\($0.path): \($0.message)" } == [
                "entities.Member: rows without a key, or with the key of another row: 1 row would be lost",
                "entities.Loan.relationships.member: one of the linked rows is lost: 1 link would be lost",
            ])
        try store.open(members("card"), .allowingDataLoss) { _ in }
        #expect(try store.rows("SELECT id, memberID FROM Loan ORDER BY id") == ["1|M1", "2|M2", "3|NULL"])
    }

    @Test("A migration keeps the links of rows whose keys contain NUL")
    func keysWithNULKeepTheirLinks() throws {
        let (first, second) = ("CAST(x'780061' AS TEXT)", "CAST(x'780062' AS TEXT)")
        let store = try filled(
            members("id"),
            [
                "INSERT INTO Member (id, card) VALUES (\(first), 'M1'), (\(second), 'M2')",
                "INSERT INTO Loan (id, memberID) VALUES (1, \(first)), (2, \(second))",
            ])
        try store.open(members("card")) { _ in }
        #expect(try store.rows("SELECT id, memberID FROM Loan ORDER BY id") == ["1|M1", "2|M2"])
    }

    @Test("A migration keeps pending references whose keys contain NUL")
    func pendingReferencesWithNULAreKept() throws {
        let (first, second) = ("CAST(x'780061' AS TEXT)", "CAST(x'780062' AS TEXT)")
        let insert = "INSERT INTO sync_pending VALUES ('Loan', 1, 'member', -1, 'Member',"
        let store = try filled(
            members("id"),
            ["INSERT INTO Loan (id) VALUES (1)", "\(insert) \(first))", "\(insert) \(second))"])
        let after = members("id").replacing(#""card": "string""#, with: #""card": "string", "name": "string""#)
        try store.open(after) { stack in
            let targets = try Set(stack.pendingReferences().map(\.target))
            #expect(targets == [.text("x\u{0}a"), .text("x\u{0}b")])
        }
        #expect(
            try store.rows("SELECT hex(CAST(target_key AS BLOB)) FROM sync_pending ORDER BY 1") == ["780061", "780062"])
    }
}
