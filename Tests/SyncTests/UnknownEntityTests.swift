import Foundation
import GRDB
import Sync
import Testing

/// The entity of a row is stored in a column, and another program may write any text there.
@Suite("Rows of an unknown entity")
struct UnknownEntityTests {
    private static let schema = """
        { "entities": {
          "Animal": { "attributes": { "id": "integer", "name": "string" } },
          "Bird": { "parent": "Animal", "attributes": { "span": "integer" } },
          "Stone": { "attributes": { "id": "integer" } } } }
        """

    @Test("A row of an unknown entity fails the sync, which changes nothing", arguments: ["Fish", "Stone"])
    func unknownEntityFailsTheSync(_ name: String) async throws {
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(Self.schema.utf8)))
        try await Sync.changes([["id": 1, "name": "a"], ["id": 2, "name": "b"]], inEntity: "Animal", stack: stack)
        try await stack.write { db in
            try db.execute(sql: "UPDATE Animal SET sync_entity = ? WHERE id = 2", arguments: [name])
        }
        for payload: JSONValue in [[["id": 1, "name": "c"], ["id": 2]], [["id": 1, "name": "c"]]] {
            let error = await #expect(throws: SyncError.self) {
                try await Sync.changes(payload, inEntity: "Animal", stack: stack)
            }
            #expect(error?.code == .databaseError)
            #expect(error?.message.contains("is of an entity that is not in the model") == true)
        }
        let names = try await stack.read { db in try String.fetchAll(db, sql: "SELECT name FROM Animal ORDER BY id") }
        #expect(names == ["a", "b"])
    }
}
