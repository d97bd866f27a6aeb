import Foundation
import GRDB
import Sync
import Testing

@Suite("Unsuitable tables")
struct IncompatibleTablesTests {
    @Test(
        "Unsuitable tables are an error with every problem, and the fixes make them suitable",
        arguments: UnsuitableTable.all)
    func tablesAreConverted(table: UnsuitableTable) async throws {
        let queue = try DatabaseQueue()
        try await queue.writeWithoutTransaction { db in try db.execute(sql: table.sql) }
        let before = try queue.lines("SELECT * FROM sqlite_schema")
        let model = try SyncModel(schemaData: Data("{ \"entities\": { \(table.entities) } }".utf8))
        let found = #expect(throws: SyncError.self) { try DataStack(model: model, existingTablesIn: queue) }
        let error = try #require(found)
        #expect(error.code == .incompatibleTables)
        #expect(error.problems.count == table.problems.count, "\(error.description)")
        for (problem, wanted) in zip(error.problems, table.problems) {
            #expect("\(problem.path): \(problem.message)".hasPrefix(wanted))
            #expect((problem.fixSQL != nil) == table.needsSQL, "\(problem)")
        }
        for sql in error.fixes { #expect(error.description.contains(sql)) }
        #expect(error.message.contains("SQL") == table.needsSQL)
        #expect(error.recoverySuggestion?.contains("SQL") == table.needsSQL)
        #expect(try queue.lines("SELECT * FROM sqlite_schema") == before)
        guard table.needsSQL else { return }

        for sql in error.fixes { try await queue.writeWithoutTransaction { db in try db.execute(sql: sql) } }
        let stack = try DataStack(model: model, existingTablesIn: queue)
        if let (query, rows) = table.kept { #expect(try queue.lines(query) == rows) }
        let isOn = try await queue.read { db in try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") }
        #expect(isOn == true)
        #expect(try queue.lines("PRAGMA foreign_key_check") == [])
        for entity in model.entities where !entity.isAbstract && entity.primaryKey == nil {
            guard entity.attributes.first?.type == .integer else { continue }
            try await Sync.changes(Data(#"[{"id": 100, "n": 1.0}]"#.utf8), inEntity: entity.name, stack: stack)
            #expect(try await stack.count(entity.name) == 1)
        }
    }

    @Test("The fixes convert values only if their meaning is certain")
    func certainValuesAreConverted() throws {
        let queue = try DatabaseQueue()
        let texts = [
            "5 boxes", "many", "", "1e3", "007", " 12 ", "-3", "5.0", "1.50", "+2.5", "1.2.3", "-", "on", "off", "Y",
            "no", "x", "7",
        ]
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE I (id INTEGER PRIMARY KEY, q, ok, p, d)")
            for (id, text) in texts.enumerated() {
                try db.execute(sql: "INSERT INTO I VALUES (?, ?, ?, ?, ?)", arguments: [id, text, text, text, text])
            }
            try db.execute(sql: "INSERT INTO I VALUES (100, 4.0, 2, 3, 0), (101, 4.5, 0.0, 3, '2024-02-29T18:30:00Z')")
        }
        let attributes = #""id": "integer", "q": "integer", "ok": "boolean", "p": "double", "d": "date""#
        let model = try SyncModel(
            schemaData: Data("{ \"entities\": { \"I\": { \"attributes\": { \(attributes) } } } }".utf8))
        let found = #expect(throws: SyncError.self) { try DataStack(model: model, existingTablesIn: queue) }
        let error = try #require(found)
        #expect(error.problems.map(\.path).sorted() == ["d", "ok", "p", "q"].map { "tables.I.\($0)" })
        #expect(error.problems.allSatisfy { $0.message.contains("the SQL cannot convert") })
        try queue.writeWithoutTransaction { db in for sql in error.fixes { try db.execute(sql: sql) } }
        func mended(_ column: String) throws -> [String] {
            try queue.lines("SELECT id, \(column) FROM I WHERE id < 100 AND typeof(\(column)) <> 'text' ORDER BY id")
                .map { line in
                    let parts = line.split(separator: " ")
                    return "\(texts[Int(parts[0]) ?? 0])=\(parts[1])"
                }
        }
        #expect(try mended("q") == [" 12 =12", "-3=-3", "7=7"])
        #expect(try mended("ok") == ["on=1", "off=0", "Y=1", "no=0"])
        #expect(
            try mended("p") == ["007=7.0", " 12 =12.0", "-3=-3.0", "5.0=5.0", "1.50=1.5", "+2.5=2.5", "7=7.0"])
        #expect(try mended("d") == [])
        #expect(
            try queue.lines("SELECT q, ok, p, d FROM I WHERE id >= 100 ORDER BY id")
                == ["4 1 3 1970-01-01 00:00:00.000", "4.5 0 3 2024-02-29 18:30:00.000"])
        #expect(try queue.lines("SELECT q FROM I WHERE id < 4") == ["5 boxes", "many", "", "1e3"])
    }

    @Test("The fixes run in a migration of the app, and fail while foreign keys are on")
    func fixesNeedForeignKeysOff() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE O (id INTEGER PRIMARY KEY, n INT NOT NULL DEFAULT 1, mine TEXT NOT NULL);
                    CREATE TABLE I (id INTEGER PRIMARY KEY, o_id INT REFERENCES O ON DELETE CASCADE);
                    INSERT INTO O (id, mine) VALUES (1, 'x'); INSERT INTO I VALUES (1, 1)
                    """)
        }
        let model = try SyncModel(
            schemaData: Data(#"{ "entities": { "O": { "attributes": { "id": "integer" } } } }"#.utf8))
        let error = #expect(throws: SyncError.self) { try DataStack(model: model, existingTablesIn: queue) }
        let sql = try #require(error?.fixes.first)
        // The SQL drops the table, which would delete all referencing rows.
        let refusal = #expect(throws: DatabaseError.self) { try queue.write { db in try db.execute(sql: sql) } }
        #expect(refusal?.message?.contains("foreign_keys_must_be_off") ?? false)
        #expect(try queue.lines("SELECT * FROM I") == ["1 1"])
        var migrator = DatabaseMigrator()
        migrator.registerMigration("adopt") { db in try db.execute(sql: sql) }
        try migrator.migrate(queue)
        _ = try DataStack(model: model, existingTablesIn: queue)
        #expect(try queue.lines("SELECT * FROM I") == ["1 1"])
    }

    @Test("Tables that differ from those of a store in form only are suitable")
    func otherFormsAreSuitable() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE "O" ("id" VARCHAR(36) NOT NULL PRIMARY KEY, "name" CHARACTER VARYING(20), d TIMESTAMP,
                      ok BOOLEAN NOT NULL DEFAULT TRUE, x FLOAT, raw, made TEXT DEFAULT CURRENT_TIMESTAMP, UNIQUE (name));
                    CREATE INDEX on_d ON O (d);
                    CREATE TABLE log (id INTEGER PRIMARY KEY, what TEXT);
                    CREATE TRIGGER t AFTER INSERT ON O BEGIN INSERT INTO log (what) VALUES (new.name); END;
                    CREATE TABLE app (o_id REFERENCES O ON DELETE CASCADE);
                    CREATE VIRTUAL TABLE search USING fts4 (name);
                    """)
        }
        let model = try SyncModel(
            schemaData: Data(
                #"""
                { "entities": { "O": { "attributes": {
                    "id": "uuid", "name": "string", "d": "date", "ok": { "type": "boolean", "optional": false },
                    "x": "double", "raw": "json" } } } }
                """#.utf8))
        let stack = try DataStack(model: model, existingTablesIn: queue)
        let json = Data(
            #"""
            [{"id": "00112233-4455-6677-8899-aabbccddeeff", "name": "12", "d": 86400, "ok": true, "x": 3, "raw": {"a": [1]}}]
            """#.utf8)
        #expect(try await Sync.changes(json, inEntity: "O", stack: stack)["O"].inserted.count == 1)
        #expect(try await Sync.changes(json, inEntity: "O", stack: stack).isEmpty)
        #expect(
            try queue.lines("SELECT id, name, typeof(name), d, ok, x, raw, made IS NOT NULL FROM O")
                == [#"00112233-4455-6677-8899-AABBCCDDEEFF 12 text 1970-01-02 00:00:00.000 1 3.0 {"a":[1]} 1"#])
        #expect(try queue.lines("SELECT what FROM log") == ["12"])
    }
}
