import Foundation
import GRDB
import Sync
import Testing

@Suite("Constraint failures")
struct ConstraintTests {
    private func stack(_ sql: String) throws -> (DatabaseQueue, DataStack) {
        let queue = try DatabaseQueue()
        try queue.write { db in try db.execute(sql: sql) }
        let model = try SyncModel(
            schemaData: Data(
                #"""
                { "entities": {
                  "O": { "attributes": { "id": "integer", "code": "string", "n": "integer" } },
                  "P": { "primaryKey": ["a", "b"], "attributes": { "a": "string", "b": "integer", "n": "integer" } } } }
                """#.utf8))
        return (queue, try DataStack(model: model, existingTablesIn: queue))
    }

    private static let tables = """
        CREATE TABLE O (id INTEGER PRIMARY KEY, code TEXT UNIQUE, n INT CHECK (n < 100));
        CREATE TABLE P (a TEXT NOT NULL, b INT NOT NULL, n INT CHECK (n < 100), PRIMARY KEY (a, b));
        """

    private func description(_ json: String, _ entity: String, _ stack: DataStack) async throws -> String {
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(Data(json.utf8), inEntity: entity, stack: stack)
        }
        #expect(error?.code == .databaseError)
        return error?.description ?? ""
    }

    @Test("A constraint failure names the record, whether its row is inserted alone, with many, or updated")
    func failureNamesTheRecord() async throws {
        let (_, stack) = try stack(Self.tables)
        let one = try await description(#"[{"id": 7, "n": 100}]"#, "O", stack)
        #expect(one.contains("CHECK constraint failed") && one.hasSuffix("in the row 7 of O"))
        for (count, bad) in [(40, 1), (40, 12), (40, 33), (40, 40)] {
            let records = (1...count).map { #"{"id": \#($0), "code": "c\#($0)", "n": \#($0 == bad ? 100 : 1)}"# }
            let many = try await description("[\(records.joined(separator: ","))]", "O", stack)
            #expect(many.hasSuffix("in the row \(bad) of O"))
        }
        try await Sync.changes(
            Data(#"[{"id": 1, "code": "a"}, {"id": 2, "code": "b"}]"#.utf8), inEntity: "O", stack: stack)
        let update = try await description(#"[{"id": 1, "code": "a"}, {"id": 2, "code": "a"}]"#, "O", stack)
        #expect(update.contains("UNIQUE constraint failed: O.code") && update.hasSuffix("in the row 2 of O"))
    }

    @Test("A constraint failure suggests what to change")
    func failureHasASuggestion() async throws {
        let (_, stack) = try stack(Self.tables)
        try await Sync.changes(
            Data(#"[{"id": 1, "code": "a"}, {"id": 2, "code": "b"}]"#.utf8), inEntity: "O", stack: stack)
        let exchanged = Data(#"[{"id": 1, "code": "b"}, {"id": 2, "code": "a"}]"#.utf8)
        let unique = await #expect(throws: SyncError.self) {
            try await Sync.changes(exchanged, inEntity: "O", stack: stack)
        }
        #expect(unique?.recoverySuggestion?.contains("cannot exchange such values") == true)
        let check = await #expect(throws: SyncError.self) {
            try await Sync.changes(Data(#"[{"id": 7, "n": 100}]"#.utf8), inEntity: "O", stack: stack)
        }
        #expect(check?.recoverySuggestion?.hasPrefix("Correct the rows") == true)
    }

    @Test("A constraint that another program added to a table of the store fails like that of an existing table")
    func addedConstraint() async throws {
        let schema = #"{"entities": {"O": {"attributes": {"id": "integer", "code": "string", "n": "integer"}}}}"#
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(schema.utf8)))
        try await stack.write { db in
            try db.execute(
                sql: """
                    CREATE UNIQUE INDEX codes ON O (code);
                    CREATE TRIGGER small BEFORE INSERT ON O WHEN NEW.n > 99 BEGIN SELECT RAISE(ABORT, 'too large'); END;
                    """)
        }
        let json = #"[{"id": 1, "code": "a"}, {"id": 2, "code": "a"}]"#
        let unique = try await description(json, "O", stack)
        #expect(unique.contains("UNIQUE constraint failed: O.code") && unique.hasSuffix("in the row 2 of O"))
        let trigger = try await description(#"[{"id": 7, "n": 100}]"#, "O", stack)
        #expect(trigger.contains("too large") && trigger.hasSuffix("in the row 7 of O"))
        let first = Data(#"[{"id": 1, "code": "a"}, {"id": 2, "code": "b"}]"#.utf8)
        try await Sync.changes(first, inEntity: "O", stack: stack)
        let exchanged = Data(#"[{"id": 1, "code": "b"}, {"id": 2, "code": "a"}]"#.utf8)
        #expect(try await Sync.changes(exchanged, inEntity: "O", stack: stack)["O"].updatedCount == 2)
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(Data(json.utf8), inEntity: "O", stack: stack)
        }
        #expect(error?.recoverySuggestion?.contains("exchange") == false)
    }

    @Test("A constraint failure names all parts of a composite key")
    func failureNamesAllKeyParts() async throws {
        let (_, stack) = try stack(Self.tables)
        let error = try await description(#"[{"a": "x", "b": 2, "n": 100}]"#, "P", stack)
        #expect(error.hasSuffix(#"in the row "x", 2 of P"#))
    }
}
