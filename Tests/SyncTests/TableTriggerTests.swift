import Foundation
import GRDB
import Sync
import Testing

/// Triggers that an app creates on tables of Sync.
@Suite("Triggers on tables of Sync")
struct TableTriggerTests {
    private static let tree = """
        {"entities": {"Node": {"attributes": {"id": "integer", "name": "string"}, "relationships": {
          "parent": {"entity": "Node", "inverse": "children"}, "children": {"entity": "Node", "many": true},
          "peers": {"entity": "Node", "many": true, "inverse": "peerOf"}, "peerOf": {"entity": "Node", "many": true}}}}}
        """

    private func stack(_ sql: String = "") async throws -> DataStack {
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(Self.tree.utf8)))
        try await sync(
            #"[{"id": 1, "name": "a", "peers": [2]}, {"id": 2, "name": "b", "children": [{"id": 3}]}]"#, stack)
        try await stack.write { db in try db.execute(sql: sql) }
        return stack
    }

    @discardableResult
    private func sync(_ json: String, _ stack: DataStack) async throws -> SyncResult {
        try await Sync.changes(Data(json.utf8), inEntity: "Node", stack: stack)
    }

    private func rows(_ stack: DataStack) async throws -> [String] {
        try await stack.read { db in
            try Row.fetchAll(db, sql: "SELECT id, name, parentID FROM Node ORDER BY id").map { row in
                row.databaseValues.map(\.description).joined(separator: " ")
            }
        }
    }

    /// A trigger, and a payload whose sync the trigger would cancel in part.
    struct Cancellation: Sendable, CustomTestStringConvertible {
        let event: String
        let json: String
        var table: String { event.hasSuffix("peerOf") ? "Node_peerOf" : "Node" }
        var testDescription: String { event }
    }

    @Test(
        "A write that a trigger cancels by RAISE(IGNORE) is an error, and nothing changes",
        arguments: [
            Cancellation(
                event: "BEFORE INSERT ON Node",
                json: #"[{"id": 1}, {"id": 2, "children": [{"id": 3}]}, {"id": 4}]"#),
            Cancellation(
                event: "BEFORE UPDATE ON Node",
                json: #"[{"id": 1, "name": "x"}, {"id": 2, "children": [{"id": 3}]}]"#),
            Cancellation(
                event: "BEFORE UPDATE OF parentID ON Node", json: #"[{"id": 1, "children": [3]}, {"id": 2}]"#),
            Cancellation(event: "BEFORE DELETE ON Node", json: #"[{"id": 1}]"#),
            Cancellation(
                event: "BEFORE INSERT ON Node_peerOf",
                json: #"[{"id": 1, "peers": [2, 3]}, {"id": 2, "children": [{"id": 3}]}]"#),
            Cancellation(
                event: "BEFORE DELETE ON Node_peerOf",
                json: #"[{"id": 1, "peers": []}, {"id": 2, "children": [{"id": 3}]}]"#),
        ])
    func cancelledWriteIsError(_ cancellation: Cancellation) async throws {
        let stack = try await stack("CREATE TRIGGER keep \(cancellation.event) BEGIN SELECT RAISE(IGNORE); END")
        let before = try await rows(stack)
        for _ in 1...2 {
            let error = await #expect(throws: SyncError.self) { try await sync(cancellation.json, stack) }
            #expect(error?.code == .incompatibleTables)
            #expect(
                error?.problems.map { "\($0.path): \($0.message)" } == [
                    "tables.\(cancellation.table): the trigger keep can cancel writes of a sync by RAISE(IGNORE)"
                ])
            #expect(error?.fixes == [#"DROP TRIGGER IF EXISTS main."keep";"#])
            #expect(try await rows(stack) == before)
        }
        try await stack.write { db in try db.execute(sql: "DROP TRIGGER keep") }
        #expect(try await !sync(cancellation.json, stack).isEmpty)
        #expect(try await sync(cancellation.json, stack).isEmpty)
    }

    @Test("Triggers that record writes, or cancel no write of a sync, do not disturb it")
    func otherTriggersFire() async throws {
        let stack = try await stack(
            """
            CREATE TABLE log (text TEXT);
            CREATE TRIGGER a AFTER INSERT ON Node BEGIN INSERT INTO log VALUES ('+' || new.id); END;
            CREATE TRIGGER b BEFORE DELETE ON Node BEGIN INSERT INTO log VALUES ('-' || old.id); END;
            CREATE TRIGGER c BEFORE UPDATE ON Node WHEN new.name = 'z' BEGIN SELECT RAISE(IGNORE); END;
            CREATE TRIGGER d BEFORE INSERT ON log WHEN new.text = '+5' BEGIN SELECT RAISE(IGNORE); END
            """)
        let result = try await sync(#"[{"id": 1, "name": "y"}, {"id": 4}, {"id": 5}]"#, stack)
        #expect(result["Node"].deleted == [.integer(2), .integer(3)])
        #expect(try await rows(stack) == [#"1 "y" NULL"#, "4 NULL NULL", "5 NULL NULL"])
        let log = try await stack.read { db in try String.fetchAll(db, sql: "SELECT text FROM log ORDER BY text") }
        #expect(log == ["+4", "-2", "-3"])
    }

    @Test("A sync ends if triggers delete inserted rows, or insert deleted rows again")
    func syncEndsWithOtherWriters() async throws {
        let stack = try await stack(
            """
            CREATE TRIGGER a AFTER INSERT ON Node WHEN new.id > 8 BEGIN DELETE FROM Node WHERE id = new.id; END;
            CREATE TRIGGER b AFTER DELETE ON Node WHEN old.id < 8 BEGIN INSERT INTO Node (id) VALUES (old.id); END
            """)
        let result = try await sync(#"[{"id": 1, "name": "a"}, {"id": 9}]"#, stack)
        #expect(result["Node"].deleted == [.integer(2), .integer(3)])
        #expect(try await rows(stack) == [#"1 "a" NULL"#, "2 NULL NULL", "3 NULL NULL"])
    }
}
