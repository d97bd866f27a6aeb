import Foundation
import GRDB
import Sync
import Testing

@Suite("UUIDs in another form of the app")
struct OtherUUIDTests {
    /// A record in GRDB's default format, in which UUIDs are bytes.
    private struct Item: Codable, FetchableRecord, PersistableRecord {
        static let databaseTableName = "item"
        var id: UUID
        var name: String?
    }

    private static let id = UUID(uuid: (0xA0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0, 0, 0, 0, 0, 1))
    private static let json = Data(#"[{ "id": "\#(id.uuidString)", "name": "remote" }]"#.utf8)

    private func database(_ type: String) throws -> (DatabaseQueue, SyncModel) {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE item (id \(type) NOT NULL PRIMARY KEY, name TEXT)")
            try db.execute(
                sql: "CREATE TABLE part (id INTEGER PRIMARY KEY, item_id \(type) REFERENCES item ON DELETE SET NULL)")
        }
        let model = try SyncModel(
            schemaData: Data(
                #"""
                { "entities": {
                  "Item": { "table": "item", "attributes": { "id": "uuid", "name": "string" },
                    "relationships": { "parts": { "entity": "Part", "many": true, "inverse": "item" } } },
                  "Part": { "table": "part", "attributes": { "id": "integer" },
                    "relationships": { "item": { "entity": "Item", "inverse": "parts", "column": "item_id" } } } } }
                """#.utf8))
        return (queue, model)
    }

    @Test(
        "A sync fails if the app wrote UUIDs as bytes, and the fixes convert them",
        arguments: ["BLOB", "TEXT", "", "UUID"])
    func bytesAreAnError(type: String) async throws {
        let (queue, model) = try database(type)
        let stack = try DataStack(model: model, existingTablesIn: queue)
        try await queue.write { db in
            try Item(id: Self.id, name: "local").insert(db)
            try db.execute(sql: "INSERT INTO part SELECT 1, id FROM item")
        }
        let calls: [() async throws -> Void] = [
            { _ = try await Sync.changes(Self.json, inEntity: "Item", stack: stack) },
            { _ = try await Sync.plan(Self.json, inEntity: "Item", stack: stack) },
            {
                _ = try await queue.write { db in try Sync.changes(Self.json, inEntity: "Item", stack: stack, in: db) }
            },
            { _ = try DataStack(model: model, existingTablesIn: queue) },
        ]
        var fixes: [String] = []
        for call in calls {
            let error = await #expect(throws: SyncError.self) { try await call() }
            #expect(error?.code == .incompatibleTables)
            #expect(error?.problems.map(\.path).sorted() == ["tables.item.id", "tables.part.item_id"])
            fixes = error?.fixes ?? []
        }
        #expect(try queue.lines("SELECT name FROM item") == ["local"])

        try await queue.writeWithoutTransaction { [fixes] db in for sql in fixes { try db.execute(sql: sql) } }
        let result = try await Sync.changes(Self.json, inEntity: "Item", stack: stack)
        #expect(result["Item"].updated.count == 1 && result["Item"].inserted.isEmpty)
        #expect(
            try queue.lines("SELECT item.id, name, part.id FROM item JOIN part ON item_id = item.id")
                == ["\(Self.id.uuidString) remote 1"])
    }

    @Test("A sync fails if the app wrote UUIDs in lowercase")
    func lowercaseIsAnError() async throws {
        let (queue, model) = try database("TEXT")
        let stack = try DataStack(model: model, existingTablesIn: queue)
        try await queue.write { db in
            try db.execute(sql: "INSERT INTO item VALUES (?, 'local')", arguments: [Self.id.uuidString.lowercased()])
        }
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(Self.json, inEntity: "Item", stack: stack)
        }
        #expect(error?.problems.map(\.path) == ["tables.item.id"])
    }

    @Test("The fixes convert neither bytes to text nor numbers to UUIDs")
    func fixesDoNotGuess() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE I (id INTEGER PRIMARY KEY, s, u);
                    INSERT INTO I VALUES (1, x'00112233445566778899AABBCCDDEEFF', 1234567890123456)
                    """)
        }
        let model = try SyncModel(
            schemaData: Data(
                #"{ "entities": { "I": { "attributes": { "id": "integer", "s": "string", "u": "uuid" } } } }"#.utf8))
        let error = #expect(throws: SyncError.self) { try DataStack(model: model, existingTablesIn: queue) }
        #expect(error?.problems.map(\.path).sorted() == ["tables.I.s", "tables.I.u"])
        #expect(error?.fixes == [])
    }
}
