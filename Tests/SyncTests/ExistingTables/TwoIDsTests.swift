import Foundation
import GRDB
import Sync
import Testing

/// Tables whose rows have an ID of the app and a remote ID, and their links.
struct TablesWithTwoIDs: Sendable, CustomTestStringConvertible {
    let name: String
    /// The SQL of the app.
    let sql: String
    /// The entities of the model. Their keys are remote IDs.
    let entities: String
    /// A query for the links by the app's IDs, and one by the remote IDs.
    let before: String
    let after: String
    /// The rows of both queries.
    let rows: [String]

    var testDescription: String { name }

    static let authors = """
        CREATE TABLE authors (id INTEGER PRIMARY KEY, remote_id INTEGER UNIQUE, name TEXT);
        INSERT INTO authors VALUES (1, 2, 'Ada'), (2, 1, 'Bob'), (3, 7, 'Cyd');
        """

    static func author(_ type: String = "integer", _ relationships: String = books) -> String {
        #"""
        "Author": { "table": "authors", "primaryKey": "remoteID",
          "attributes": { "remoteID": { "type": "\#(type)", "column": "remote_id" }, "name": "string" },
          "relationships": { \#(relationships) } }
        """#
    }

    static let books = #""books": { "entity": "Book", "many": true, "inverse": "author" }"#
    static let book = #"""
        , "Book": { "table": "books", "attributes": { "id": "integer", "title": "string" },
          "relationships": { "author": { "entity": "Author", "inverse": "books", "column": "author_id" } } }
        """#

    static func joined(by key: String) -> String {
        "SELECT title, name FROM books LEFT JOIN authors ON authors.\(key) = books.author_id ORDER BY title"
    }

    static let all: [TablesWithTwoIDs] = [
        .init(
            name: "foreign key to the app's id",
            sql: authors + """
                CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT, author_id INTEGER REFERENCES authors (id));
                INSERT INTO books VALUES (1, 'A', 1), (2, 'B', 2), (3, 'C', NULL)
                """, entities: author() + book, before: joined(by: "id"), after: joined(by: "remote_id"),
            rows: ["A Ada", "B Bob", "C -"]),
        .init(
            name: "foreign key to the primary key, as a clause of the table, with a default, an index and a trigger",
            sql: authors + """
                CREATE TABLE books (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT COLLATE NOCASE, author_id INTEGER DEFAULT 1,
                  FOREIGN KEY (author_id) REFERENCES authors ON DELETE RESTRICT);
                CREATE INDEX by_author ON books (author_id); CREATE TABLE log (t);
                CREATE TRIGGER t AFTER DELETE ON books BEGIN INSERT INTO log VALUES (old.id); END;
                INSERT INTO books VALUES (5, 'A', 1), (6, 'B', 2)
                """, entities: author() + book, before: joined(by: "id"), after: joined(by: "remote_id"),
            rows: ["A Ada", "B Bob"]),
        .init(
            name: "ids of different types",
            sql: """
                CREATE TABLE authors (id INTEGER PRIMARY KEY, remote_id TEXT UNIQUE NOT NULL, name NUMERIC);
                INSERT INTO authors VALUES (1, '2', 'Ada'), (2, '1', 'Bob');
                CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT, author_id INT NOT NULL UNIQUE REFERENCES authors);
                INSERT INTO books VALUES (1, 'A', 1), (2, 'B', 2)
                """, entities: author("string") + book, before: joined(by: "id"), after: joined(by: "remote_id"),
            rows: ["A Ada", "B Bob"]),
        .init(
            name: "service's ids that are mended too",
            sql: """
                CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT, author_id TEXT REFERENCES authors (id));
                CREATE TABLE authors (id TEXT PRIMARY KEY, remote_id UUID UNIQUE NOT NULL, name TEXT);
                INSERT INTO authors VALUES ('a', x'00112233445566778899AABBCCDDEEFF', 'Ada'),
                  ('b', 'aaaaaaaa-0000-0000-0000-000000000000', 'Bob');
                INSERT INTO books VALUES (1, 'A', 'a'), (2, 'B', 'b')
                """, entities: author("uuid") + book, before: joined(by: "id"), after: joined(by: "remote_id"),
            rows: ["A Ada", "B Bob"]),
        .init(
            name: "foreign key to another unique column",
            sql: """
                CREATE TABLE authors (remote_id INTEGER PRIMARY KEY, mail TEXT UNIQUE, name TEXT);
                INSERT INTO authors VALUES (2, 'ada', 'Ada'), (1, 'bob', 'Bob');
                CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT, author_id TEXT REFERENCES authors (mail));
                INSERT INTO books VALUES (1, 'A', 'ada'), (2, 'B', 'bob')
                """, entities: author() + book, before: joined(by: "mail"), after: joined(by: "remote_id"),
            rows: ["A Ada", "B Bob"]),
        .init(
            name: "table that leads to itself",
            sql: """
                CREATE TABLE authors (id INTEGER PRIMARY KEY, remote_id, name TEXT, teacher INTEGER REFERENCES authors (id));
                CREATE UNIQUE INDEX remote ON authors (remote_id);
                INSERT INTO authors VALUES (1, '2', 'Ada', 3), (2, '3', 'Bob', 1), (3, '1', 'Cyd', 3)
                """,
            entities: author(
                "integer",
                #"""
                "pupils": { "entity": "Author", "many": true, "inverse": "teacher" },
                "teacher": { "entity": "Author", "inverse": "pupils", "column": "teacher" }
                """#),
            before: "SELECT a.name, t.name FROM authors a JOIN authors t ON t.id = a.teacher ORDER BY 1",
            after: "SELECT a.name, t.name FROM authors a JOIN authors t ON t.remote_id = a.teacher ORDER BY 1",
            rows: ["Ada Cyd", "Bob Ada", "Cyd Cyd"]),
        .init(
            name: "join table",
            sql: authors + """
                CREATE TABLE books (id INTEGER PRIMARY KEY, remote_id INTEGER NOT NULL UNIQUE, title TEXT);
                INSERT INTO books VALUES (1, 3, 'A'), (2, 1, 'B'), (3, 2, 'C');
                CREATE TABLE written (book INTEGER NOT NULL REFERENCES books ON DELETE CASCADE,
                  author INTEGER NOT NULL REFERENCES authors ON DELETE CASCADE, PRIMARY KEY (book, author));
                INSERT INTO written VALUES (1, 1), (1, 3), (2, 2), (3, 1)
                """,
            entities: author("integer", #""books": { "entity": "Book", "many": true, "inverse": "authors" }"#)
                + #"""
                , "Book": { "table": "books", "primaryKey": "remoteID",
                  "attributes": { "remoteID": { "type": "integer", "column": "remote_id" }, "title": "string" },
                  "relationships": { "authors": { "entity": "Author", "many": true, "inverse": "books", "table": "written",
                    "column": "author", "inverseColumn": "book" } } }
                """#,
            before: """
                SELECT title, name FROM written JOIN books ON books.id = book JOIN authors ON authors.id = author ORDER BY 1, 2
                """,
            after: """
                SELECT title, name FROM written JOIN books ON books.remote_id = book
                JOIN authors ON authors.remote_id = author ORDER BY 1, 2
                """, rows: ["A Ada", "A Cyd", "B Bob", "C Ada"]),
    ]
}

@Suite("Tables with an ID of the app and a remote ID")
struct TwoIDsTests {
    private func refusal(_ queue: DatabaseQueue, _ entities: String) throws -> SyncError {
        let model = try SyncModel(schemaData: Data("{ \"entities\": { \(entities) } }".utf8))
        let error = #expect(throws: SyncError.self) { try DataStack(model: model, existingTablesIn: queue) }
        return try #require(error)
    }

    @Test("The fixes for tables with two IDs keep all links", arguments: TablesWithTwoIDs.all)
    func fixesKeepLinks(tables: TablesWithTwoIDs) async throws {
        let queue = try DatabaseQueue()
        try await queue.writeWithoutTransaction { db in try db.execute(sql: tables.sql) }
        #expect(try queue.lines(tables.before) == tables.rows)
        let error = try refusal(queue, tables.entities)
        #expect(error.problems.allSatisfy { $0.fixSQL != nil }, "\(error)")

        var migrator = DatabaseMigrator()
        migrator.registerMigration("adopt") { db in for sql in error.fixes { try db.execute(sql: sql) } }
        try migrator.migrate(queue)
        #expect(try queue.lines(tables.after) == tables.rows)
        #expect(try queue.lines("PRAGMA foreign_key_check") == [])
        let model = try SyncModel(schemaData: Data("{ \"entities\": { \(tables.entities) } }".utf8))
        let stack = try DataStack(model: model, existingTablesIn: queue)
        #expect(try await stack.count("Author") == queue.lines("SELECT 1 FROM authors").count)
        #expect(try queue.lines(tables.after) == tables.rows)
    }

    @Test("The fixes drop a default that is an ID of the app, and keep triggers, indexes and the next rowid")
    func fixesKeepTriggers() throws {
        let queue = try DatabaseQueue()
        let tables = TablesWithTwoIDs.all[1]
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: tables.sql)
            for sql in try refusal(queue: db, tables.entities).fixes { try db.execute(sql: sql) }
            try db.execute(sql: "INSERT INTO books (title) VALUES ('D')")
        }
        #expect(try queue.lines("SELECT id, author_id FROM books WHERE title = 'D'") == ["7 -"])
        #expect(
            try queue.lines("SELECT name FROM sqlite_schema WHERE name IN ('t', 'by_author') ORDER BY 1")
                == ["by_author", "t"])
    }

    private func refusal(queue db: Database, _ entities: String) throws -> SyncError {
        let model = try SyncModel(schemaData: Data("{ \"entities\": { \(entities) } }".utf8))
        let error = #expect(throws: SyncError.self) { try DataStack.prepareExistingTables(of: model, in: db) }
        return try #require(error)
    }

    @Test("A foreign key whose referenced rows are uncertain has no SQL")
    func uncertainForeignKeyHasNoSQL() throws {
        let bound = "CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT, author_id INTEGER"
        let all: [(sql: String, message: String)] = [
            (
                TablesWithTwoIDs.authors + bound + "); INSERT INTO books VALUES (1, 'A', 1), (2, 'B', 2)",
                "is not a foreign key; it must reference authors.remote_id, but its 2 values may reference authors.id"
            ),
            (
                TablesWithTwoIDs.authors
                    + "CREATE TABLE people (id INTEGER PRIMARY KEY); INSERT INTO people VALUES (1);"
                    + bound + " REFERENCES people); INSERT INTO books VALUES (1, 'A', 1)",
                "references people.id, not authors.remote_id, and its 1 value cannot be converted"
            ),
            (
                "CREATE TABLE authors (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO authors VALUES (1, 'Ada');"
                    + bound + " REFERENCES authors); INSERT INTO books VALUES (1, 'A', 1)",
                "references authors.id, not authors.remote_id, and its 1 value cannot be converted"
            ),
            (
                TablesWithTwoIDs.authors + "UPDATE authors SET remote_id = NULL WHERE id = 1;"
                    + bound + " REFERENCES authors); INSERT INTO books VALUES (1, 'A', 1), (2, 'B', 2)",
                "references authors.id, not authors.remote_id; 1 value references no row with a value for remote_id"
            ),
        ]
        for (sql, message) in all {
            let queue = try DatabaseQueue()
            try queue.writeWithoutTransaction { db in try db.execute(sql: sql) }
            let error = try refusal(queue, TablesWithTwoIDs.author() + TablesWithTwoIDs.book)
            let problem = try #require(error.problems.first { $0.path == "tables.books.author_id" })
            #expect(problem.message.hasPrefix(message))
            #expect(problem.fixSQL == nil)
        }
    }

    @Test("A key that some rows lack has no SQL, and the error counts those rows")
    func missingKeysHaveNoSQL() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: TablesWithTwoIDs.authors + "UPDATE authors SET remote_id = NULL WHERE id < 3;")
        }
        let error = try refusal(queue, TablesWithTwoIDs.author("integer", ""))
        #expect(error.problems.map(\.fixSQL) == [nil])
        #expect(error.problems.first?.message.contains("2 rows") ?? false)
    }

    @Test("The fixes fail on another database if a value references no row, and change nothing there")
    func fixesFailOnOtherDatabase() throws {
        let tables = TablesWithTwoIDs.all[0]
        let (known, other) = try (DatabaseQueue(), DatabaseQueue())
        for queue in [known, other] { try queue.write { db in try db.execute(sql: tables.sql) } }
        let fixes = try refusal(known, tables.entities).fixes
        try other.writeWithoutTransaction { db in
            try db.execute(
                sql: "PRAGMA foreign_keys = OFF; INSERT INTO books VALUES (4, 'D', 9); PRAGMA foreign_keys = ON")
        }
        let before = try other.lines("SELECT * FROM books")
        var migrator = DatabaseMigrator()
        migrator.registerMigration("adopt") { db in for sql in fixes { try db.execute(sql: sql) } }
        let error = #expect(throws: DatabaseError.self) { try migrator.migrate(other) }
        #expect(error?.message?.contains("every_author_id_must_reference_a_remote_id") ?? false)
        #expect(try other.lines("SELECT * FROM books") == before)
        #expect(try other.lines("SELECT name FROM sqlite_schema WHERE name LIKE 'sync%'") == [])
    }

    @Test("A table outside the model that references a converted key is converted too")
    func referencingTablesAreConverted() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE O (id BLOB NOT NULL PRIMARY KEY, name TEXT);
                    CREATE TABLE notes (id INTEGER PRIMARY KEY, o BLOB REFERENCES O, p BLOB REFERENCES O (id));
                    INSERT INTO O VALUES (x'00112233445566778899AABBCCDDEEFF', 'x');
                    INSERT INTO notes SELECT 1, id, id FROM O;
                    """)
        }
        let entities = #""O": { "attributes": { "id": "uuid", "name": "string" } }"#
        for sql in try refusal(queue, entities).fixes {
            try queue.writeWithoutTransaction { db in try db.execute(sql: sql) }
        }
        #expect(try queue.lines("PRAGMA foreign_key_check") == [])
        #expect(try queue.lines("SELECT name, p = o FROM notes JOIN O ON O.id = o") == ["x 1"])
    }

    @Test("A primary key that a foreign key references without its name is not replaced")
    func impliedPrimaryKeyStays() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE I (a TEXT PRIMARY KEY NOT NULL); CREATE TABLE notes (i TEXT REFERENCES I);
                    INSERT INTO I VALUES ('x'); INSERT INTO notes VALUES ('x');
                    """)
        }
        let error = try refusal(queue, #""I": { "attributes": { "a": { "type": "string", "optional": false } } }"#)
        #expect(error.problems.map(\.fixSQL) == [nil])
        #expect(error.problems.first?.message.contains("a foreign key of notes references the primary key") ?? false)
    }
}
