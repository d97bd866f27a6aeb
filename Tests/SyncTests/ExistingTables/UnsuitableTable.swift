import Foundation
import Sync
import Testing

/// A table that does not fit a model, and the problems that are reported.
struct UnsuitableTable: Sendable, CustomTestStringConvertible {
    let name: String
    /// The SQL of the app.
    let sql: String
    /// The entities of the model.
    let entities: String
    /// The path of each problem, and the beginning of its message.
    let problems: [String]
    /// Whether each problem has SQL.
    var needsSQL = true
    /// A query, and its rows after the SQL has run.
    var kept: (query: String, rows: [String])?

    var testDescription: String { name }

    private static let item = #""I": { "attributes": { "id": "integer", "a": "string" } }"#

    private static func owned(_ options: String = "", back: String = "") -> String {
        #"""
        "O": { "attributes": { "id": "integer" },
          "relationships": { "is": { "entity": "I", "many": true, "inverse": "o"\#(back) } } },
        "I": { "attributes": { "id": "integer" },
          "relationships": { "o": { "entity": "O", "inverse": "is", "column": "o_id"\#(options) } } }
        """#
    }

    private static let owner = "CREATE TABLE O (id INTEGER PRIMARY KEY); INSERT INTO O VALUES (1);"

    static let all: [UnsuitableTable] = columns + keys + foreignKeys + joins + others

    // MARK: Columns

    static let columns: [UnsuitableTable] = [
        .init(name: "missing table", sql: "", entities: item, problems: ["tables.I: the table does not exist"]),
        .init(
            name: "missing column", sql: "CREATE TABLE I (id INTEGER PRIMARY KEY)", entities: item,
            problems: ["tables.I.a: the column does not exist"]),
        .init(
            name: "type that changes values",
            sql: """
                CREATE TABLE I (id INTEGER PRIMARY KEY AUTOINCREMENT, a NUMERIC, "b, (c)" TEXT DEFAULT (',' || ')') CHECK (1 <= 2),
                  d INT GENERATED ALWAYS AS (id * 2) STORED /* , */, UNIQUE (a) -- )
                ); CREATE INDEX ia ON I (a); INSERT INTO I (id, a) VALUES (5, '07'), (6, 'x');
                CREATE TABLE log (n); CREATE TRIGGER t AFTER DELETE ON I BEGIN INSERT INTO log VALUES (old.id); END;
                CREATE VIEW v AS SELECT * FROM I; DELETE FROM I WHERE id = 6; DELETE FROM log;
                """, entities: item, problems: ["tables.I.a: is NUMERIC"],
            kept: (
                "SELECT id, a, typeof(a), \"b, (c)\", d, (SELECT count(*) FROM log), (SELECT seq FROM sqlite_sequence), "
                    + "(SELECT count(*) FROM sqlite_schema WHERE name IN ('t', 'ia', 'v')) FROM I",
                ["5 7 text ,) 10 0 6 3"]
            )),
        .init(
            name: "STRICT type", sql: "CREATE TABLE I (id INTEGER PRIMARY KEY, a BLOB) STRICT", entities: item,
            problems: ["tables.I.a: is BLOB"]),
        .init(
            name: "text column for a number",
            sql: "CREATE TABLE I (id INTEGER PRIMARY KEY, n TEXT NOT NULL DEFAULT '1'); INSERT INTO I VALUES (1, '12')",
            entities: #""I": { "attributes": { "id": "integer", "n": { "type": "double", "optional": false } } }"#,
            problems: ["tables.I.n: is TEXT"], kept: ("SELECT typeof(n), n FROM I", ["real 12.0"])),
        .init(
            name: "collation of a foreign key",
            sql: """
                CREATE TABLE O (id TEXT NOT NULL PRIMARY KEY);
                CREATE TABLE I (id INTEGER PRIMARY KEY, o_id TEXT COLLATE NOCASE REFERENCES O ON DELETE SET NULL);
                """,
            entities: owned().replacing(
                #""O": { "attributes": { "id": "integer""#, with: #""O": { "attributes": { "id": "string""#),
            problems: ["tables.I.o_id: has the collation NOCASE"]),
        .init(
            name: "collation of a key that may be NULL, with a trigger that spells the table otherwise",
            sql: """
                CREATE TABLE I (id TEXT PRIMARY KEY COLLATE NOCASE, n INT); CREATE TABLE log (t);
                CREATE TRIGGER t AFTER UPDATE ON i BEGIN INSERT INTO log VALUES (new.id); END; INSERT INTO I VALUES ('a', 1);
                """, entities: #""I": { "attributes": { "id": "string", "n": "integer" } }"#,
            problems: [
                "tables.I.id: is the key of the entity, but allows NULL", "tables.I.id: has the collation NOCASE",
                "tables.I.id: is the key of the entity, but neither the primary key nor unique",
            ],
            kept: ("SELECT id, n, (SELECT count(*) FROM sqlite_schema WHERE name = 't') FROM I", ["a 1 1"])),
        .init(
            name: "NOT NULL", sql: "CREATE TABLE I (id INTEGER PRIMARY KEY, a TEXT CONSTRAINT n NOT NULL DEFAULT NULL)",
            entities: item, problems: ["tables.I.a: is NOT NULL, but the attribute 'a' is optional"]),
        .init(
            name: "unknown NOT NULL",
            sql: "CREATE TABLE I (id INTEGER PRIMARY KEY, a TEXT, mine TEXT NOT NULL ON CONFLICT ABORT UNIQUE)",
            entities: item, problems: ["tables.I.mine: is NOT NULL without a default"]),
        .init(
            name: "generated column", sql: "CREATE TABLE I (id INTEGER PRIMARY KEY, a TEXT AS (id || 'x'))",
            entities: item, problems: ["tables.I.a: is a generated column"], needsSQL: false),
        .init(
            name: "two at once", sql: "CREATE TABLE I (id INTEGER PRIMARY KEY, mine INT NOT NULL)", entities: item,
            problems: ["tables.I.a: the column does not exist", "tables.I.mine: is NOT NULL without a default"]),
        .init(
            name: "table with a similar name", sql: "CREATE TABLE items (id INTEGER PRIMARY KEY)",
            entities: #""Item": { "attributes": { "id": "integer" } }"#,
            problems: ["tables.Item: the table does not exist; if the model means 'items', set \"table\": \"items\""],
            needsSQL: false),
        .init(
            name: "column with a similar name", sql: "CREATE TABLE I (id INTEGER PRIMARY KEY, title TEXT NOT NULL)",
            entities: #""I": { "attributes": { "id": "integer", "titel": "string" } }"#,
            problems: [
                "tables.I.titel: the column does not exist; if the model means 'title', set \"column\": \"title\"",
                "tables.I.title: is NOT NULL without a default",
            ], needsSQL: false),
        .init(
            name: "foreign key with a similar name",
            sql: owner + "CREATE TABLE I (id INTEGER PRIMARY KEY, oID INTEGER NOT NULL REFERENCES O ON DELETE CASCADE)",
            entities: owned(),
            problems: [
                "tables.I.o_id: the column does not exist; if the model means 'oID', set \"column\": \"oID\"",
                "tables.I.oID: has ON DELETE CASCADE", "tables.I.oID: is NOT NULL without a default",
            ], needsSQL: false),
    ]

    // MARK: Keys

    static let keys: [UnsuitableTable] = [
        .init(
            name: "key that is not unique", sql: "CREATE TABLE I (pk INTEGER PRIMARY KEY, id INT NOT NULL, a TEXT)",
            entities: item, problems: ["tables.I.id: is the key of the entity, but neither"]),
        .init(
            name: "key that may be NULL", sql: "CREATE TABLE I (id TEXT PRIMARY KEY, a TEXT)",
            entities: #""I": { "attributes": { "id": "string", "a": "string" } }"#,
            problems: ["tables.I.id: is the key of the entity, but allows NULL"]),
        .init(
            name: "ON CONFLICT", sql: "CREATE TABLE I (id INTEGER PRIMARY KEY ON CONFLICT REPLACE, a TEXT)",
            entities: item, problems: ["tables.I: ON CONFLICT REPLACE"]),
        .init(
            name: "parts that are not unique", sql: "CREATE TABLE I (a TEXT, b TEXT)",
            entities: #""I": { "primaryKey": ["a", "b"], "attributes": { "a": "string", "b": "string" } }"#,
            problems: ["tables.I: the key of the entity, a, b, is neither"]),
        .init(
            name: "WITHOUT ROWID", sql: "CREATE TABLE I (a TEXT, b TEXT, PRIMARY KEY (a, b)) STRICT, WITHOUT ROWID",
            entities: #""I": { "primaryKey": ["a", "b"], "attributes": { "a": "string", "b": "string" } }"#,
            problems: ["tables.I: is WITHOUT ROWID"]),
        .init(
            name: "no key", sql: "CREATE TABLE I (a TEXT PRIMARY KEY NOT NULL); INSERT INTO I VALUES ('x')",
            entities: #""I": { "attributes": { "a": { "type": "string", "optional": false } } }"#,
            problems: ["tables.I: has no INTEGER PRIMARY KEY"], kept: ("SELECT a FROM I", ["x"])),
        .init(
            name: "inheritance", sql: "CREATE TABLE I (id INTEGER PRIMARY KEY, a TEXT); INSERT INTO I VALUES (1, 'x')",
            entities: item + #", "J": { "parent": "I" }"#,
            problems: ["tables.I.sync_entity: the column for the entity of a row does not exist"],
            kept: ("SELECT * FROM I", ["1 x I"])),
        .init(
            name: "abstract inheritance", sql: "CREATE TABLE I (id INTEGER PRIMARY KEY)",
            entities: #""I": { "abstract": true, "attributes": { "id": "integer" } }, "J": { "parent": "I" }"#,
            problems: ["tables.I.sync_entity: the column for the entity of a row does not exist"], needsSQL: false),
    ]

    // MARK: Foreign keys

    static let foreignKeys: [UnsuitableTable] = [
        .init(
            name: "foreign key to a table that is not there",
            sql:
                "CREATE TABLE I (id INTEGER PRIMARY KEY, a TEXT, u INTEGER CONSTRAINT c REFERENCES missing (id) DEFAULT 3)",
            entities: item, problems: ["tables.I.u: references the table 'missing', which does not exist"],
            kept: ("SELECT dflt_value FROM pragma_table_info('I') WHERE name = 'u'", ["3"])),
        .init(
            name: "no foreign key",
            sql: owner + "CREATE TABLE I (id INTEGER PRIMARY KEY, o_id INTEGER); INSERT INTO I VALUES (1, 1)",
            entities: owned(), problems: ["tables.I.o_id: is not a foreign key; it must reference O.id"],
            kept: ("SELECT id, o_id FROM I", ["1 1"])),
        .init(
            name: "missing foreign key", sql: owner + "CREATE TABLE I (id INTEGER PRIMARY KEY)", entities: owned(),
            problems: ["tables.I.o_id: the column does not exist"]),
        .init(
            name: "foreign key elsewhere",
            sql: owner + """
                CREATE TABLE P (id INTEGER PRIMARY KEY);
                CREATE TABLE I (id INTEGER PRIMARY KEY, o_id INTEGER, FOREIGN KEY (o_id) REFERENCES P (id) ON DELETE SET NULL)
                """, entities: owned(), problems: ["tables.I.o_id: references P.id, not O.id"]),
        .init(
            name: "ON DELETE CASCADE and nullify",
            sql: owner
                + "CREATE TABLE I (id INTEGER PRIMARY KEY, o_id INT REFERENCES O (id) ON DELETE CASCADE ON UPDATE SET NULL)",
            entities: owned(), problems: ["tables.I.o_id: has ON DELETE CASCADE"]),
        .init(
            name: "ON DELETE SET NULL and cascade",
            sql: owner + "CREATE TABLE I (id INTEGER PRIMARY KEY, o_id INT REFERENCES O ON DELETE SET NULL)",
            entities: owned(back: #", "deleteRule": "cascade""#),
            problems: ["tables.I.o_id: has ON DELETE SET NULL"]),
        .init(
            name: "ON DELETE RESTRICT",
            sql: owner
                + "CREATE TABLE I (id INTEGER PRIMARY KEY, o_id INT REFERENCES O ON DELETE RESTRICT NOT DEFERRABLE)",
            entities: owned(), problems: ["tables.I.o_id: has ON DELETE RESTRICT"]),
        .init(
            name: "NOT NULL foreign key",
            sql: owner + "CREATE TABLE I (id INTEGER PRIMARY KEY, o_id INT NOT NULL REFERENCES O)",
            entities: owned(), problems: ["tables.I.o_id: is NOT NULL, but the relationship 'o' is optional"]),
        .init(
            name: "NOT NULL and nullify",
            sql: owner + "CREATE TABLE I (id INTEGER PRIMARY KEY, o_id INT NOT NULL REFERENCES O)",
            entities: owned(#", "optional": false"#),
            problems: ["tables.I.o_id: is NOT NULL, so the referenced row"]),
        .init(
            name: "ordered list", sql: owner + "CREATE TABLE I (id INTEGER PRIMARY KEY, o_id INT REFERENCES O)",
            entities: owned(back: #", "ordered": true"#),
            problems: ["tables.I.sync_o_order: the column for positions"]),
        .init(
            name: "unknown cascade",
            sql: owner + "CREATE TABLE I (id INTEGER PRIMARY KEY, a TEXT, mine INT REFERENCES O ON DELETE CASCADE)",
            entities: item + #", "O": { "attributes": { "id": "integer" } }"#,
            problems: ["tables.I.mine: has ON DELETE CASCADE, which changes rows when rows of O are deleted"]),
    ]

    // MARK: Join tables

    private static let joined = #"""
        "I": { "attributes": { "id": "integer" }, "relationships": {
          "os": { "entity": "O", "many": true, "inverse": "is", "table": "io", "column": "o", "inverseColumn": "i" } } },
        "O": { "attributes": { "id": "integer" },
          "relationships": { "is": { "entity": "I", "many": true, "inverse": "os" } } }
        """#
    private static let ends = owner + "CREATE TABLE I (id INTEGER PRIMARY KEY); INSERT INTO I VALUES (1);"

    static let joins: [UnsuitableTable] = [
        .init(
            name: "missing join table", sql: ends, entities: joined, problems: ["tables.io: the table does not exist"]),
        .init(
            name: "join table of pairs",
            sql: ends + "CREATE TABLE io (i INT REFERENCES I, o INT REFERENCES O); INSERT INTO io VALUES (1, 1)",
            entities: joined, problems: ["tables.io: the columns i and o are not unique together"],
            kept: ("SELECT * FROM io", ["1 1"])),
        .init(
            name: "join table without foreign keys", sql: ends + "CREATE TABLE io (i INT, o INT, UNIQUE (o, i))",
            entities: joined, problems: ["tables.io.i: is not a foreign key", "tables.io.o: is not a foreign key"]),
    ]

    // MARK: Values, triggers and others

    static let others: [UnsuitableTable] = [
        .init(
            name: "UUIDs as GRDB writes them",
            sql: """
                CREATE TABLE O (id BLOB NOT NULL PRIMARY KEY);
                CREATE TABLE I (id INTEGER PRIMARY KEY, o_id BLOB REFERENCES O ON DELETE SET NULL);
                INSERT INTO O VALUES (x'00112233445566778899AABBCCDDEEFF'), ('aaaaaaaa-0000-0000-0000-000000000000');
                INSERT INTO I VALUES (1, x'00112233445566778899AABBCCDDEEFF')
                """,
            entities: owned().replacing(
                #""O": { "attributes": { "id": "integer""#, with: #""O": { "attributes": { "id": "uuid""#),
            problems: ["tables.I.o_id: 1 value is not", "tables.O.id: 2 values are not"],
            kept: (
                "SELECT O.id, I.id FROM O LEFT JOIN I ON o_id = O.id ORDER BY 1",
                ["00112233-4455-6677-8899-AABBCCDDEEFF 1", "AAAAAAAA-0000-0000-0000-000000000000 -"]
            )),
        .init(
            name: "dates in other forms",
            sql: """
                CREATE TABLE I (id INTEGER PRIMARY KEY, d DATETIME);
                INSERT INTO I VALUES (1, '2024-02-29T18:29:59Z'), (2, '2024-02-29 18:29:59.999'), (3, 86400)
                """, entities: #""I": { "attributes": { "id": "integer", "d": "date" } }"#,
            problems: ["tables.I.d: 2 values are not stored as the type date requires"],
            kept: (
                "SELECT d FROM I", ["2024-02-29 18:29:59.000", "2024-02-29 18:29:59.999", "1970-01-02 00:00:00.000"]
            )),
        .init(
            name: "values that are nothing",
            sql: "CREATE TABLE I (id INTEGER PRIMARY KEY, d DATETIME); INSERT INTO I VALUES (1, 'soon')",
            entities: #""I": { "attributes": { "id": "integer", "d": "date" } }"#,
            problems: [
                "tables.I.d: 1 value is not stored as the type date requires; the required form is text such as "
                    + "2024-02-29 18:29:59.999; no SQL can convert it"
            ], needsSQL: false),
        .init(
            name: "trigger that takes writes back",
            sql: """
                CREATE TABLE I (id INTEGER PRIMARY KEY, a TEXT);
                CREATE TRIGGER "my t" BEFORE INSERT ON I WHEN new.a = 'x' BEGIN SELECT RAISE(IGNORE); END
                """, entities: item, problems: ["tables.I: the trigger my t can cancel writes of a sync"]),
        .init(
            name: "trigger that writes what is synced",
            sql: """
                CREATE TABLE I (id INTEGER PRIMARY KEY, a TEXT, touched TEXT);
                CREATE TRIGGER one AFTER UPDATE ON I BEGIN UPDATE I SET touched = 'now', A = lower(a) WHERE id = new.id; END;
                CREATE TRIGGER two AFTER UPDATE ON I BEGIN UPDATE I SET touched = 'now' WHERE id = new.id; END;
                """, entities: item,
            problems: [
                "tables.I: the trigger one writes to I.A; leave this column out of the model, or drop the trigger"
            ], needsSQL: false),
        .init(
            name: "trigger that deletes what is synced",
            sql: """
                CREATE TABLE I (id INTEGER PRIMARY KEY, a TEXT, touched TEXT);
                CREATE TRIGGER one AFTER UPDATE ON I BEGIN DELETE FROM I WHERE id = 9; END;
                CREATE TRIGGER two AFTER UPDATE ON I BEGIN UPDATE I SET touched = 'now' WHERE id = new.id; END;
                """, entities: item, problems: ["tables.I: the trigger one deletes from I, whose rows only the sync"],
            kept: ("SELECT name FROM sqlite_schema WHERE type = 'trigger'", ["two"])),
        .init(
            name: "view", sql: "CREATE VIEW I AS SELECT 1 AS id, 2 AS a", entities: item,
            problems: ["tables.I: it is a view"], needsSQL: false),
    ]
}
