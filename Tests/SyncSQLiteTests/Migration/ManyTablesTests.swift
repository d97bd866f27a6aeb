import GRDB
import SyncCore
import SyncStore
import TestSize
import Testing

@testable import SyncSQLite

/// Stores of hundreds of tables. Each test takes about a second. If SQLite read its whole schema again for each table,
/// it would take minutes.
@Suite("Stores of many tables")
struct ManyTablesTests {
    private static let count = LongTests.count(40, many: 250)

    private func schema(_ attributes: String) -> String {
        (0..<Self.count).map { number in
            let (next, last) = ((number + 1) % Self.count, (number + Self.count - 1) % Self.count)
            return """
                "E\(number)": {
                  "attributes": {"id": "integer"\(attributes)},
                  "relationships": {
                    "one": {"entity": "E\(next)"}, "both": {"entity": "E\(next)", "many": true},
                    "many": {"entity": "E\(next)", "many": true, "inverse": "owner"},
                    "owner": {"entity": "E\(last)", "inverse": "many"}
                  }
                }
                """
        }.joined(separator: ",\n")
    }

    @Test("Adding an attribute to many tables keeps rows, links, and the app's indexes and triggers")
    func addsAttributeToManyTables() throws {
        let store = try MigratingStore()
        try store.open(schema("")) { stack in
            try stack.write { db in
                for number in 1...500 { try db.execute(sql: "INSERT INTO E0 (id, oneID) VALUES (\(number), 7)") }
                try db.execute(sql: "INSERT INTO E1 (id, ownerID) VALUES (7, 500)")
                try db.execute(sql: "INSERT INTO E0_both VALUES (1, 7)")
                for table in ["E0", "E1"] {
                    try db.execute(sql: "CREATE INDEX mine_\(table) ON \(table) (id)")
                    try db.execute(
                        sql: "CREATE TRIGGER seen_\(table) AFTER DELETE ON \(table) BEGIN SELECT OLD.id; END")
                }
            }
        }
        let after = schema(#", "name": "string""#)
        try store.open(after) { stack in
            try stack.write { db in
                let made = "SELECT name FROM sqlite_schema WHERE name GLOB 'mine_*' OR name GLOB 'seen_*' ORDER BY name"
                #expect(try String.fetchAll(db, sql: made) == ["mine_E0", "mine_E1", "seen_E0", "seen_E1"])
                for table in ["E0", "E1"] {
                    try db.execute(sql: "DROP INDEX mine_\(table)")
                    try db.execute(sql: "DROP TRIGGER seen_\(table)")
                }
            }
        }
        try store.expectFreshSchema(after)
        #expect(try store.rows("SELECT count(*), sum(oneID), max(name) FROM E0") == ["500|3500|NULL"])
        #expect(try store.rows("SELECT id, ownerID, name FROM E1") == ["7|500|NULL"])
        #expect(try store.rows("SELECT * FROM E0_both") == ["1|7"])
    }

    @Test("A table with thousands of relationships has a unique name for each index and column")
    func namesManyIndexes() throws {
        let names = (0..<4000).map { "m\($0)" }
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "A",
                attributes: [SyncModel.Attribute("id", .integer)]
                    + names.map { SyncModel.Attribute("v" + $0, .string) },
                relationships: names.map { SyncModel.Relationship($0, to: "B") }),
            SyncModel.Entity(
                "B", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("name", .string)]),
        ])
        let layout = StoreLayout(model.compiled)
        #expect(Set(layout.indexNames).count == names.count)
        #expect(RowSQL(layout.model.hierarchies[0], layout).inserted.count == 1 + 2 * names.count)
    }
}
