import Foundation
import GRDB
import SyncCore
import SyncSQLite
import Testing

/// Migrations that keep the columns but change what they mean.
@Suite("Migrations that change the meaning of columns")
struct MigratedMeaningTests {
    private func filled(_ schema: String, _ statements: [String]) throws -> MigratingStore {
        let store = try MigratingStore()
        try store.open(schema) { stack in
            try stack.write { db in for sql in statements { try db.execute(sql: sql) } }
        }
        return store
    }

    /// Returns the losses that the migration reports, then migrates with losses allowed.
    private func losses(_ store: MigratingStore, _ schema: String) throws -> [String] {
        let error = try #require(throws: SyncError.self) { try store.open(schema) { _ in } }
        #expect(error.code == .modelMismatch)
        try store.open(schema, .allowingDataLoss) { _ in }
        try store.expectFreshSchema(schema)
        return error.problems.map { "\($0.path): \($0.message)" }
    }

    private static func pair(manyNotes: Bool) -> String {
        """
        "User": {"attributes": {"id": "integer"}, "relationships": {"note": {"entity": "Note", "many": \(manyNotes), "inverse": "user"}}},
        "Note": {"attributes": {"id": "integer"}, "relationships": {"user": {"entity": "User", "inverse": "note"}}}
        """
    }

    @Test("An inverse that becomes to-one keeps one link")
    func inverseThatBecomesToOneKeepsOneLink() throws {
        let store = try filled(
            Self.pair(manyNotes: true),
            ["INSERT INTO User VALUES (1), (2)", "INSERT INTO Note VALUES (1, 1), (2, 1), (3, 2)"])
        #expect(
            try losses(store, Self.pair(manyNotes: false)) == [
                "entities.Note.relationships.user: the relationship cannot store them: 1 link would be lost"
            ])
        let links = try store.rows("SELECT n.id, u.id FROM Note n JOIN User u ON n.userID = u.id ORDER BY n.id")
        #expect(links.isEmpty || links == ["1|1", "3|2"])
    }

    private static let rows = [
        "INSERT INTO Animal (id, sync_entity, name, ownerID) VALUES (1, 'Cat', 'Tom', 9), (2, 'Dog', 'Rex', 9)",
        "INSERT INTO Person VALUES (9)",
    ]

    @Test("A relationship that moves to a subentity is cleared in rows of other entities")
    func relationshipMovesToSubEntity() throws {
        let before = #"""
            "Animal": {"attributes": {"id": "integer", "name": "string"}, "relationships": {"owner": {"entity": "Person"}}},
            "Cat": {"parent": "Animal"}, "Dog": {"parent": "Animal"}, "Person": {"attributes": {"id": "integer"}}
            """#
        let after = #"""
            "Animal": {"attributes": {"id": "integer", "name": "string"}},
            "Cat": {"parent": "Animal"}, "Dog": {"parent": "Animal", "relationships": {"owner": {"entity": "Person"}}},
            "Person": {"attributes": {"id": "integer"}}
            """#
        let store = try filled(before, Self.rows)
        #expect(
            try losses(store, after) == [
                "entities.Dog.relationships.owner: the relationship cannot store them: 1 link would be lost"
            ])
        #expect(try store.rows("SELECT id, name, ownerID FROM Animal") == ["1|Tom|NULL", "2|Rex|9"])
    }

    @Test("An attribute that moves to a subentity is cleared in rows of other entities")
    func attributeMovesToSubEntity() throws {
        let before = #""A": {"attributes": {"id": "integer", "n": "string"}}, "B": {"parent": "A"}"#
        let after = #""A": {"attributes": {"id": "integer"}}, "B": {"parent": "A", "attributes": {"n": "string"}}"#
        let store = try filled(before, ["INSERT INTO A (id, sync_entity, n) VALUES (1, 'A', 'a'), (2, 'B', 'b')"])
        #expect(
            try losses(store, after) == [
                "entities.A.attributes.n: the attribute is no longer in the model: 1 value would be lost"
            ])
        #expect(try store.rows("SELECT id, n FROM A") == ["1|NULL", "2|b"])
    }

    @Test("A row with the same new key as another row is lost, and so are its links")
    func equalKeysLoseRowsAndLinks() throws {
        func schema(_ key: String) -> String {
            #"""
            "Member": {"primaryKey": "\#(key)", "attributes": {"id": "integer", "card": "string"}},
            "Loan": {"attributes": {"id": "integer"}, "relationships": {"member": {"entity": "Member"}}}
            """#
        }
        let store = try filled(
            schema("id"),
            [
                "INSERT INTO Member (id, card) VALUES (1, 'M1'), (2, 'M1'), (3, 'M2')",
                "INSERT INTO Loan (id, memberID) VALUES (1, 1), (2, 2), (3, 3), (4, NULL)",
            ])
        #expect(
            try losses(store, schema("card")) == [
                "entities.Member: rows without a key, or with the key of another row: 1 row would be lost",
                "entities.Loan.relationships.member: one of the linked rows is lost: 1 link would be lost",
            ])
        let loans = try store.rows("SELECT id, memberID FROM Loan ORDER BY id")
        #expect(loans == ["1|M1", "2|NULL", "3|M2", "4|NULL"])
    }

    @Test("An entity that becomes abstract loses its rows")
    func abstractEntityLosesRows() throws {
        let before = #""A": {"attributes": {"id": "integer"}}, "B": {"parent": "A"}"#
        let after = #""A": {"abstract": true, "attributes": {"id": "integer"}}, "B": {"parent": "A"}"#
        let store = try filled(before, ["INSERT INTO A (id, sync_entity) VALUES (1, 'A'), (2, 'B')"])
        #expect(try losses(store, after) == ["entities.A: the entity is abstract now: 1 row would be lost"])
        #expect(try store.rows("SELECT id, sync_entity FROM A") == ["2|B"])
        let count = try store.open(before) { stack in try stack.count("A") }
        #expect(count == 1)
    }

    @Test(
        "A number that the new type cannot hold exactly is a loss",
        arguments: [
            ("integer", "double", "9007199254740993"), ("decimal", "double", "'12345678901234567890.5'"),
            ("double", "integer", "1.5"), ("integer", "boolean", "2"),
        ])
    func inexactNumbersAreLosses(_ old: String, _ new: String, _ value: String) throws {
        let store = try filled(
            "\"T\": {\"attributes\": {\"id\": \"integer\", \"n\": \"\(old)\"}}",
            ["INSERT INTO T VALUES (1, \(value)), (2, \(old == "decimal" ? "'1'" : "1"))"])
        let after = "\"T\": {\"attributes\": {\"id\": \"integer\", \"n\": \"\(new)\"}}"
        #expect(
            try losses(store, after) == [
                "entities.T.attributes.n: values that do not fit \(new): 1 value would be lost"
            ])
        #expect(try store.rows("SELECT id, n = 1 FROM T") == ["1|NULL", "2|1"])
    }

    @Test("A relationship that becomes its own inverse has its links in both directions")
    func selfInverseHasLinksInBothDirections() throws {
        let before =
            #""P": {"attributes": {"id": "integer"}, "relationships": {"f": {"entity": "P", "many": true}, "s": {"entity": "P"}}}"#
        let after = before.replacing("\"many\": true", with: "\"many\": true, \"inverse\": \"f\"")
            .replacing("\"s\": {\"entity\": \"P\"", with: "\"s\": {\"entity\": \"P\", \"inverse\": \"s\"")
        let store = try filled(
            before, ["INSERT INTO P VALUES (1, 2), (2, NULL), (3, 3)", "INSERT INTO P_f VALUES (1, 2), (3, 1), (1, 3)"])
        try store.open(after) { _ in }
        try store.expectFreshSchema(after)
        #expect(try store.rows("SELECT * FROM P_f ORDER BY 1, 2") == ["1|2", "1|3", "2|1", "3|1"])
        #expect(try store.rows("SELECT id, sID FROM P") == ["1|2", "2|1", "3|3"])
    }

    @Test("An inheritance hierarchy that is split keeps the links of both entities")
    func splitHierarchyKeepsLinks() throws {
        let before = #"""
            "A": {"attributes": {"id": "integer"}, "relationships": {"t": {"entity": "T"}}}, "B": {"parent": "A"},
            "T": {"attributes": {"id": "integer"}}
            """#
        let after = #"""
            "A": {"attributes": {"id": "integer"}, "relationships": {"t": {"entity": "T"}}},
            "B": {"attributes": {"id": "integer"}, "relationships": {"t": {"entity": "T"}}},
            "T": {"attributes": {"id": "integer"}}
            """#
        let store = try filled(
            before,
            ["INSERT INTO T VALUES (7)", "INSERT INTO A (id, sync_entity, tID) VALUES (1, 'A', 7), (2, 'B', 7)"])
        try store.open(after) { _ in }
        try store.expectFreshSchema(after)
        #expect(try store.rows("SELECT id, tID FROM A") == ["1|7"])
        #expect(try store.rows("SELECT id, tID FROM B") == ["2|7"])
    }

    @Test("Text keys with null characters are kept, and so are their links")
    func keysWithNullCharactersKeepLinks() throws {
        let before = #""P": {"attributes": {"id": "string"}, "relationships": {"s": {"entity": "P"}}}"#
        let store = try filled(
            before,
            ["INSERT INTO P VALUES ('a' || char(0) || 'b', 'a' || char(0) || 'c'), ('a' || char(0) || 'c', NULL)"])
        let after = #""P": {"attributes": {"id": "string"}, "relationships": {"s": {"entity": "P", "many": true}}}"#
        try store.open(after) { _ in }
        try store.expectFreshSchema(after)
        #expect(
            try store.rows(
                "SELECT hex(first.id), hex(second.id) FROM P_s JOIN P first ON first.id = pID JOIN P second ON second.id = sID"
            ) == ["610062|610063"])
    }

    @Test("Pending references of renamed entities are not mixed up")
    func pendingReferencesOfRenamedEntities() throws {
        func schema(_ a: String, _ b: String, old: Bool) -> String {
            func entity(_ name: String, _ from: String) -> String {
                """
                "\(name)": {\(old ? "" : "\"renamedFrom\": \"\(from)\", ")"attributes": {"id": "integer"}, "relationships": {"to": {"entity": "T"}}}
                """
            }
            return entity(a, "A") + ", " + entity(b, "B") + ", \"T\": {\"attributes\": {\"id\": \"integer\"}}"
        }
        let store = try filled(
            schema("A", "B", old: true),
            [
                "INSERT INTO A (id) VALUES (1)", "INSERT INTO B (id) VALUES (1)",
                "INSERT INTO sync_pending VALUES ('A', 1, 'to', -1, 'T', 5), ('B', 1, 'to', -1, 'T', 6)",
            ])
        try store.open(schema("C", "D", old: false)) { stack in
            let waiting = try stack.pendingReferences()
            #expect(waiting.map(\.entity) == ["C", "D"])
            #expect(waiting.map(\.target) == [.integer(5), .integer(6)])
        }
    }

    @Test("An app's index on a removed entity is a loss")
    func indexOnRemovedEntityIsLoss() throws {
        let before = #""A": {"attributes": {"id": "integer"}}, "B": {"attributes": {"id": "integer", "n": "string"}}"#
        let store = try filled(before, ["CREATE INDEX mine ON B (n)"])
        let after = #""A": {"attributes": {"id": "integer"}}"#
        #expect(
            try losses(store, after) == [
                "schema.mine: an index or trigger that Sync did not create does not apply to the migrated tables: 1 object would be lost"
            ])
    }

    @Test("A renamed entity, attribute or relationship is reported as renamed, without a loss")
    func reportsRenames() throws {
        let before = #""A": {"attributes": {"id": "integer", "n": "string"}, "relationships": {"to": {"entity": "A"}}}"#
        let after = #"""
            "B": {"renamedFrom": "A", "attributes": {"id": "integer", "m": {"type": "string", "renamedFrom": "n"}},
              "relationships": {"at": {"entity": "B", "renamedFrom": "to"}}}
            """#
        let store = try filled(before, ["INSERT INTO A VALUES (1, 'x', 1)"])
        let report = try DataStack.migration(to: MigratingStore.model(after), at: store.url)
        #expect(
            report.changes.map { "\($0.path): \($0.message)" } == [
                "entities.B: is A in the store, B in the model",
                "entities.B.attributes.m: is n in the store, m in the model",
                "entities.B.relationships.at: is to in the store, at in the model",
            ])
        #expect(report.changes.allSatisfy { $0.kind == .tableChange })
        #expect(report.dataLosses.isEmpty)
        #expect(try store.rows("SELECT * FROM A") == ["1|x|1"])
        try store.open(after) { _ in }
        #expect(try store.rows("SELECT id, m, atID FROM B") == ["1|x|1"])
    }
}
