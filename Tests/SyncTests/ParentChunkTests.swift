import Foundation
import GRDB
import Sync
import Testing

/// The list of a parent that arrives in chunks, with row flags in memory or beyond the memory limit.
@Suite("Chunks for a parent")
struct ParentChunkTests {
    private static let schema = """
        { "entities": {
          "List": { "attributes": { "id": "integer" },
                    "relationships": { "items": { "entity": "Item", "many": true, "ordered": true, "inverse": "list" } } },
          "Item": { "attributes": { "id": "integer", "text": "string" },
                    "relationships": { "list": { "entity": "List", "inverse": "items" } } } } }
        """

    @Test(
        "The rows of a parent have the order of the chunks, also if they may not be updated", arguments: [0, 1 << 20])
    func childrenKeepPayloadOrder(markLimit: Int) async throws {
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(Self.schema.utf8)))
        let lists: JSONValue = [["id": 1, "items": [["id": 1], ["id": 2], ["id": 3]]]]
        try await Sync.changes(lists, inEntity: "List", stack: stack)
        var options = SyncOptions()
        options.chunkSize = 16
        options.rowFlagLimit = markLimit
        let payload = Data(#"[{"id":1},{"id":2},{"id":3},{"id":4}]"#.utf8)
        let chunks = AsyncStream<Data> { stream in
            stream.yield(payload)
            stream.finish()
        }
        let result = try await Sync.changes(
            .buffers(chunks), inEntity: "Item", stack: stack, parent: SyncParent("List", id: 1),
            operations: .all.subtracting(.update),
            options: options)
        #expect(result["Item"].insertedCount == 1)
        let places = try await stack.read { db in
            try String.fetchOne(db, sql: "SELECT group_concat(id || ':' || sync_list_order) FROM Item ORDER BY id")
        }
        #expect(places == "1:0,2:1,3:2,4:3")
    }
}
