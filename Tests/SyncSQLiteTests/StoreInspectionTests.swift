import GRDB
import SyncCore
import SyncSQLite
import Testing

@Suite("Store inspection")
struct StoreInspectionTests {
    static func stack() throws -> DataStack {
        try .inMemory(
            try SyncModel(entities: [
                SyncModel.Entity(
                    "Label", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("name", .string)]),
                SyncModel.Entity(
                    "Band", attributes: [SyncModel.Attribute("id", .integer)],
                    relationships: [
                        SyncModel.Relationship("label", to: "Label"),
                        SyncModel.Relationship("members", to: "Band", many: true),
                    ]
                ),
            ]))
    }

    @Test("totalChanges counts written rows and no reads")
    func totalChangesCountsWrites() async throws {
        let stack = try Self.stack()
        let before = try await stack.totalChanges()
        _ = try stack.count("Band")
        #expect(try await stack.totalChanges() == before)
        try await stack.insert("Band", values: ["id": 1])
        #expect(try await stack.totalChanges() > before)
    }

    @Test("contents shows which tables differ, including join tables")
    func contentsShowsDifferences() async throws {
        let stack = try Self.stack()
        let label = try await stack.insert("Label", values: ["id": 1, "name": "Blue"])
        let band = try await stack.insert("Band", values: ["id": 1], relationships: ["label": [label]])
        let before = try await stack.contents()
        #expect(try await stack.contents().differences(from: before) == [])
        try await stack.write { db in try db.execute(sql: "UPDATE Label SET name = 'Red'") }
        #expect(
            try await stack.contents().differences(from: before)
                == ["Label: 1 rows before, 1 after -(1, 'Blue') +(1, 'Red')"])
        try await stack.insert("Band", values: ["id": 2], relationships: ["members": [band]])
        let differences = try await stack.contents().differences(from: before)
        #expect(differences.map { String($0.prefix { $0 != ":" }) } == ["Band", "Band_members", "Label"])
    }

    @Test("damage shows rows that reference missing rows")
    func damageShowsDanglingLinks() async throws {
        let stack = try Self.stack()
        #expect(try await stack.damage() == [])
        try await stack.database.writeWithoutTransaction { db in
            try db.execute(
                sql: "PRAGMA foreign_keys = OFF; INSERT INTO Band (id, labelID) VALUES (1, 9); PRAGMA foreign_keys = ON"
            )
        }
        #expect(try await stack.damage() == ["a row of Band references a missing row of Label"])
    }
}
