import Foundation
import GRDB
import Sync
import Testing

/// A column that is not `STRICT` can store values of another type than its own.
@Suite("Keys of another type in existing tables")
struct StorageClassTests {
    private func sync(_ json: String, _ entity: String, _ stack: DataStack) async throws -> SyncResult {
        try await Sync.changes(
            Data(json.utf8), inEntity: entity, stack: stack, options: SyncOptions(payloadKind: .delta))
    }

    @Test(
        "A row whose key is of another type does not match a record with the converted key",
        arguments: [
            ("INT", "integer", "2.5", "2"), ("INT", "integer", "'abc'", "0"), ("", "integer", "'2'", "2"),
            ("TEXT", "string", "x'61'", #""a""#), ("", "string", "5", #""5""#), ("REAL", "double", "'abc'", "0.0"),
        ])
    func otherTypeDoesNotMatch(column: String, attribute: String, stored: String, key: String) async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in
            try db.execute(sql: "CREATE TABLE item (id \(column) NOT NULL PRIMARY KEY, name TEXT)")
        }
        let model = try SyncModel(
            schemaData: Data(
                """
                {"entities": {"Item": {"table": "item", "attributes": {"id": "\(attribute)", "name": "string"}}}}
                """.utf8))
        let stack = try DataStack(model: model, existingTablesIn: queue)
        try await queue.write { db in try db.execute(sql: "INSERT INTO item VALUES (\(stored), 'local')") }
        let json = #"[{"id": \#(key), "name": "remote"}]"#
        let result = try await sync(json, "Item", stack)
        #expect(result["Item"].insertedCount == 1 && result["Item"].updatedCount == 0)
        #expect(try queue.lines("SELECT name FROM item ORDER BY 1") == ["local", "remote"])
        #expect(try queue.lines("SELECT count(*) FROM item WHERE id IS \(stored) AND name = 'local'") == ["1"])
        #expect(try await sync(json, "Item", stack).isEmpty)
    }

    @Test("A whole number that is stored as a real number matches an integer, as in SQL")
    func wholeRealMatches() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in
            try db.execute(sql: "CREATE TABLE item (id NOT NULL PRIMARY KEY, name TEXT)")
        }
        let model = try SyncModel(
            schemaData: Data(
                #"{"entities": {"Item": {"table": "item", "attributes": {"id": "integer", "name": "string"}}}}"#.utf8))
        let stack = try DataStack(model: model, existingTablesIn: queue)
        try await queue.write { db in try db.execute(sql: "INSERT INTO item VALUES (2.0, 'local')") }
        let result = try await sync(#"[{"id": 2, "name": "remote"}]"#, "Item", stack)
        #expect(result["Item"].insertedCount == 0 && result["Item"].updatedCount == 1)
        #expect(try queue.lines("SELECT name FROM item") == ["remote"])
    }

    private static let tables = """
        CREATE TABLE team (id INT NOT NULL PRIMARY KEY);
        CREATE TABLE person (id INTEGER PRIMARY KEY, team_id INT REFERENCES team ON DELETE SET NULL);
        CREATE TABLE seat (row TEXT NOT NULL, number INT NOT NULL, name TEXT, PRIMARY KEY (row, number));
        """

    private static let model = #"""
        { "entities": {
          "Team": { "table": "team", "attributes": { "id": "integer" },
            "relationships": { "people": { "entity": "Person", "many": true, "inverse": "team" } } },
          "Person": { "table": "person", "attributes": { "id": "integer" },
            "relationships": { "team": { "entity": "Team", "column": "team_id", "inverse": "people" } } },
          "Seat": { "table": "seat", "primaryKey": ["row", "number"],
            "attributes": { "row": "string", "number": "integer", "name": "string" } } } }
        """#

    @Test("A foreign key or a part of a composite key of another type does not match either")
    func otherColumnsDoNotMatch() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in try db.execute(sql: Self.tables) }
        let stack = try DataStack(model: SyncModel(schemaData: Data(Self.model.utf8)), existingTablesIn: queue)
        try await queue.write { db in
            try db.execute(
                sql: """
                    INSERT INTO team VALUES (2), (2.5);
                    INSERT INTO person VALUES (1, 2.5);
                    INSERT INTO seat VALUES ('a', 2.5, 'local');
                    """)
        }
        _ = try await sync(#"[{"id": 1, "team": {"id": 2}}]"#, "Person", stack)
        #expect(try queue.lines("SELECT team_id FROM person") == ["2"])
        let seats = try await sync(#"[{"row": "a", "number": 2, "name": "remote"}]"#, "Seat", stack)
        #expect(seats["Seat"].insertedCount == 1 && seats["Seat"].updatedCount == 0)
        #expect(try queue.lines("SELECT number, name FROM seat ORDER BY number") == ["2 remote", "2.5 local"])
    }
}
