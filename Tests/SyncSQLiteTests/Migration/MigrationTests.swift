import Foundation
import GRDB
import SyncCore
import SyncSQLite
import Testing

@Suite("Migrations")
struct MigrationTests {
    /// A change of the model, and the rows that the store has afterwards.
    struct Change: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var before: String
        var after: String
        /// The SQL that fills the tables of the first model.
        var fill: [String]
        /// A query of the migrated store.
        var query: String
        var rows: [String]

        init(_ name: String, _ before: String, _ after: String, fill: [String], _ query: String, _ rows: [String]) {
            (testDescription, self.before, self.after, self.fill, self.query, self.rows) =
                (name, before, after, fill, query, rows)
        }
    }

    private static let user = #""User": {"attributes": {"id": "integer", "name": "string"}}"#
    private static let ann = "INSERT INTO User (id, name) VALUES (1, 'Ann')"

    static let attributes: [Change] = [
        Change(
            "an attribute more", user,
            #""User": {"attributes": {"id": "integer", "age": "integer", "name": "string"}}"#,
            fill: [ann], "SELECT id, age, name FROM User", ["1|NULL|Ann"]),
        Change(
            "a required attribute more, with a default", user,
            #""User": {"attributes": {"id": "integer", "name": "string", "age": {"type": "integer", "optional": false, "default": 7}}}"#,
            fill: [ann], "SELECT id, age, name FROM User", ["1|7|Ann"]),
        Change(
            "an attribute less that no row has",
            #""User": {"attributes": {"id": "integer", "name": "string", "age": "integer"}}"#, user, fill: [ann],
            "SELECT * FROM User", ["1|Ann"]),
        Change(
            "a renamed attribute", user,
            #""User": {"attributes": {"id": "integer", "fullName": {"type": "string", "renamedFrom": "name"}}}"#,
            fill: [ann], "SELECT fullName FROM User", ["Ann"]),
        Change(
            "wider types",
            #""T": {"attributes": {"id": "integer", "a": "integer", "b": "integer", "c": "double", "d": "boolean", "e": "date", "f": "uuid", "g": "string"}}"#,
            #""T": {"attributes": {"id": "integer", "a": "double", "b": "string", "c": "string", "d": "integer", "e": "string", "f": "string", "g": "json"}}"#,
            fill: [
                "INSERT INTO T VALUES (1, 2, 3, 1.5, 1, '2024-01-02 03:04:05.000', 'E621E1F8-C36C-495A-93FC-0C247A3E6E5F', 'x')"
            ],
            "SELECT a, b, c, d, e, f, g FROM T",
            ["2.0|3|1.5|1|2024-01-02T03:04:05Z|E621E1F8-C36C-495A-93FC-0C247A3E6E5F|\"x\""]),
        Change(
            "a narrower type that every value fits",
            #""T": {"attributes": {"id": "integer", "a": "string"}}"#,
            #""T": {"attributes": {"id": "integer", "a": "integer"}}"#,
            fill: ["INSERT INTO T VALUES (1, '42'), (2, NULL)"], "SELECT a FROM T", ["42", "NULL"]),
        Change(
            "another key",
            #""T": {"attributes": {"id": "integer", "code": "string"}, "relationships": {"next": {"entity": "T"}}}"#,
            #""T": {"primaryKey": "code", "attributes": {"id": "integer", "code": "string"}, "relationships": {"next": {"entity": "T"}}}"#,
            fill: ["INSERT INTO T (id, code, nextID) VALUES (1, 'a', 2), (2, 'b', 1)"],
            "SELECT code, id, nextID FROM T ORDER BY code", ["a|1|b", "b|2|a"]),
        Change(
            "a key of a wider type",
            #""T": {"attributes": {"id": "integer"}, "relationships": {"all": {"entity": "T", "many": true, "ordered": true}}}"#,
            #""T": {"attributes": {"id": "string"}, "relationships": {"all": {"entity": "T", "many": true, "ordered": true}}}"#,
            fill: ["INSERT INTO T VALUES (1), (2)", "INSERT INTO T_all VALUES (1, 2, 0), (1, 1, 1)"],
            "SELECT tID, allID, sync_order FROM T_all ORDER BY 3", ["1|2|0", "1|1|1"]),
    ]

    static let entities: [Change] = [
        Change(
            "an entity more", user, user + #", "Tag": {"attributes": {"id": "integer"}}"#, fill: [ann],
            "SELECT name FROM User", ["Ann"]),
        Change(
            "an entity less that has no rows", user + #", "Tag": {"attributes": {"id": "integer"}}"#, user, fill: [ann],
            "SELECT name FROM User", ["Ann"]),
        Change(
            "a renamed entity",
            user.replacing(
                #""name": "string"}"#, with: #""name": "string"}, "relationships": {"boss": {"entity": "User"}}"#),
            #""Person": {"renamedFrom": "User", "attributes": {"id": "integer", "name": "string"}, "relationships": {"boss": {"entity": "Person"}}}"#,
            fill: ["INSERT INTO User (id, name, bossID) VALUES (1, 'Ann', 2), (2, 'Bo', NULL)"],
            "SELECT id, name, bossID FROM Person", ["1|Ann|2", "2|Bo|NULL"]),
        Change(
            "an entity that moves into a tree",
            user + #", "Boss": {"attributes": {"id": "integer", "rank": "integer"}}"#,
            user + #", "Boss": {"parent": "User", "attributes": {"rank": "integer"}}"#,
            fill: [ann, "INSERT INTO Boss VALUES (5, 9)"],
            "SELECT id, sync_entity, name, rank FROM User ORDER BY id", ["1|User|Ann|NULL", "5|Boss|NULL|9"]),
        Change(
            "a keyless entity that gets a key", #""P": {"attributes": {"x": "integer"}}"#,
            #""P": {"attributes": {"x": {"type": "integer", "primaryKey": true}}}"#,
            fill: ["INSERT INTO P (x) VALUES (4), (3)"], "SELECT x FROM P ORDER BY x", ["3", "4"]),
    ]

    private static func pair(_ user: String, _ note: String) -> String {
        """
        "User": {"attributes": {"id": "integer"}, "relationships": {\(user)}},
        "Note": {"attributes": {"id": "integer"}, "relationships": {\(note)}}
        """
    }
    private static let notes = ["INSERT INTO User VALUES (1), (2)", "INSERT INTO Note (id) VALUES (10), (11), (12)"]
    private static let owned = notes + ["UPDATE Note SET userID = 1 WHERE id < 12"]
    private static let oneToMany = pair(
        #""notes": {"entity": "Note", "many": true, "inverse": "user"}"#,
        #""user": {"entity": "User", "inverse": "notes"}"#)

    static let relationships: [Change] = [
        Change(
            "a relationship more", pair("", ""), oneToMany, fill: notes, "SELECT id, userID FROM Note",
            ["10|NULL", "11|NULL", "12|NULL"]),
        Change(
            "to-one that becomes to-many", oneToMany,
            pair(
                #""notes": {"entity": "Note", "many": true, "inverse": "user"}"#,
                #""user": {"entity": "User", "many": true, "inverse": "notes"}"#),
            fill: owned, "SELECT noteID, userID FROM Note_user ORDER BY 1", ["10|1", "11|1"]),
        Change(
            "to-many that becomes to-one, where no row has several",
            pair(
                #""notes": {"entity": "Note", "many": true, "inverse": "users"}"#,
                #""users": {"entity": "User", "many": true, "inverse": "notes"}"#),
            pair(
                #""notes": {"entity": "Note", "many": true, "inverse": "user"}"#,
                #""user": {"entity": "User", "inverse": "notes", "renamedFrom": "users"}"#),
            fill: notes + ["INSERT INTO Note_users (noteID, userID) VALUES (10, 2), (12, 1)"],
            "SELECT id, userID FROM Note", ["10|2", "11|NULL", "12|1"]),
        Change(
            "a list that gets an order", oneToMany,
            oneToMany.replacing("\"many\": true", with: "\"many\": true, \"ordered\": true"), fill: owned,
            "SELECT id, userID, sync_user_order FROM Note", ["10|1|0", "11|1|1", "12|NULL|NULL"]),
        Change(
            "an inverse more",
            pair("", #""user": {"entity": "User"}"#), oneToMany, fill: owned, "SELECT id, userID FROM Note",
            ["10|1", "11|1", "12|NULL"]),
        Change(
            "another delete rule", oneToMany,
            oneToMany.replacing("\"many\": true", with: "\"many\": true, \"deleteRule\": \"cascade\""), fill: owned,
            "SELECT id, userID FROM Note", ["10|1", "11|1", "12|NULL"]),
        Change(
            "a renamed relationship", oneToMany,
            pair(
                #""notes": {"entity": "Note", "many": true, "inverse": "author"}"#,
                #""author": {"entity": "User", "inverse": "notes", "renamedFrom": "user"}"#),
            fill: owned, "SELECT id, authorID FROM Note", ["10|1", "11|1", "12|NULL"]),
    ]

    private static func links(_ notes: String, _ memos: String, _ user: String, _ editor: String) -> String {
        func former(_ name: String) -> String { name.isEmpty ? "" : ", \"renamedFrom\": \"\(name)\"" }
        return pair(
            """
            "notes": {"entity": "Note", "many": true, "inverse": "user"\(former(notes))},
            "memos": {"entity": "Note", "many": true, "inverse": "editor"\(former(memos))}
            """,
            """
            "user": {"entity": "User", "inverse": "notes"\(former(user))},
            "editor": {"entity": "User", "inverse": "memos"\(former(editor))}
            """)
    }

    /// Changes in which members take the names of other members.
    static let exchanges: [Change] = [
        Change(
            "attributes that exchange their names",
            #""T": {"attributes": {"id": "integer", "a": "string", "b": "string"}}"#,
            #""T": {"attributes": {"id": "integer", "a": {"type": "string", "renamedFrom": "b"}, "b": {"type": "string", "renamedFrom": "a"}}}"#,
            fill: ["INSERT INTO T (id, a, b) VALUES (1, 'A', 'B'), (2, NULL, 'C')"], "SELECT a, b FROM T ORDER BY id",
            ["B|A", "C|NULL"]),
        Change(
            "attributes whose names move along",
            #""T": {"attributes": {"id": "integer", "a": "string", "b": "string"}}"#,
            #""T": {"attributes": {"id": "integer", "b": {"type": "string", "renamedFrom": "a"}, "c": {"type": "string", "renamedFrom": "b"}}}"#,
            fill: ["INSERT INTO T (id, a, b) VALUES (1, 'A', 'B')"], "SELECT b, c FROM T", ["A|B"]),
        Change(
            "attributes whose names go around",
            #""T": {"attributes": {"id": "integer", "a": "string", "b": "integer", "c": "double"}}"#,
            #""T": {"attributes": {"id": "integer", "a": {"type": "integer", "renamedFrom": "b"}, "b": {"type": "double", "renamedFrom": "c"}, "c": {"type": "string", "renamedFrom": "a"}}}"#,
            fill: ["INSERT INTO T (id, a, b, c) VALUES (1, 'A', 2, 3.5)"], "SELECT a, b, c FROM T", ["2|3.5|A"]),
        Change(
            "a renamed attribute, whose former name is a new attribute", user,
            #""User": {"attributes": {"id": "integer", "name": "integer", "fullName": {"type": "string", "renamedFrom": "name"}}}"#,
            fill: [ann], "SELECT name, fullName FROM User", ["NULL|Ann"]),
        Change(
            "an attribute that exchanges its name with the key",
            #""T": {"attributes": {"id": "integer", "code": "integer"}, "relationships": {"next": {"entity": "T"}}}"#,
            #""T": {"attributes": {"id": {"type": "integer", "renamedFrom": "code"}, "code": {"type": "integer", "renamedFrom": "id"}}, "relationships": {"next": {"entity": "T"}}}"#,
            fill: ["INSERT INTO T (id, code, nextID) VALUES (1, 10, 2), (2, 20, NULL)"],
            "SELECT id, code, nextID FROM T ORDER BY id", ["10|1|20", "20|2|NULL"]),
        Change(
            "to-one relationships that exchange their names",
            #""T": {"attributes": {"id": "integer"}, "relationships": {"a": {"entity": "T"}, "b": {"entity": "T"}}}"#,
            #""T": {"attributes": {"id": "integer"}, "relationships": {"a": {"entity": "T", "renamedFrom": "b"}, "b": {"entity": "T", "renamedFrom": "a"}}}"#,
            fill: ["INSERT INTO T (id, aID, bID) VALUES (1, 2, 3), (2, NULL, 1), (3, NULL, NULL)"],
            "SELECT id, aID, bID FROM T ORDER BY id", ["1|3|2", "2|1|NULL", "3|NULL|NULL"]),
        Change(
            "to-many relationships that exchange their names",
            #""T": {"attributes": {"id": "integer"}, "relationships": {"all": {"entity": "T", "many": true}, "some": {"entity": "T", "many": true}}}"#,
            #""T": {"attributes": {"id": "integer"}, "relationships": {"all": {"entity": "T", "many": true, "renamedFrom": "some"}, "some": {"entity": "T", "many": true, "renamedFrom": "all"}}}"#,
            fill: [
                "INSERT INTO T VALUES (1), (2)", "INSERT INTO T_all (tID, allID) VALUES (1, 2)",
                "INSERT INTO T_some (tID, someID) VALUES (2, 1)",
            ],
            "SELECT 'all', tID, allID FROM T_all UNION ALL SELECT 'some', tID, someID FROM T_some",
            ["all|2|1", "some|1|2"]),
        Change(
            "relationships and their inverses that exchange their names", links("", "", "", ""),
            links("memos", "notes", "editor", "user"),
            fill: notes + [
                "UPDATE Note SET userID = 1, editorID = 2 WHERE id = 10", "UPDATE Note SET userID = 2 WHERE id = 11",
            ],
            "SELECT id, userID, editorID FROM Note ORDER BY id", ["10|2|1", "11|NULL|2", "12|NULL|NULL"]),
        Change(
            "entities that exchange their names",
            #""A": {"attributes": {"id": "integer", "x": "string"}}, "B": {"attributes": {"id": "integer", "x": "string"}}, "C": {"attributes": {"id": "integer"}, "relationships": {"to": {"entity": "A"}}}"#,
            #""A": {"renamedFrom": "B", "attributes": {"id": "integer", "x": "string"}}, "B": {"renamedFrom": "A", "attributes": {"id": "integer", "x": "string"}}, "C": {"attributes": {"id": "integer"}, "relationships": {"to": {"entity": "B"}}}"#,
            fill: [
                "INSERT INTO A VALUES (1, 'a')", "INSERT INTO B VALUES (2, 'b')",
                "INSERT INTO C (id, toID) VALUES (5, 1)",
            ],
            "SELECT A.id, A.x, B.id, B.x, toID FROM A, B, C", ["2|b|1|a|1"]),
        Change(
            "an attribute that exchanges its name with an inherited one",
            #""P": {"attributes": {"id": "integer", "a": "string"}}, "Q": {"parent": "P", "attributes": {"b": "string"}}"#,
            #""P": {"attributes": {"id": "integer", "b": {"type": "string", "renamedFrom": "a"}}}, "Q": {"parent": "P", "attributes": {"a": {"type": "string", "renamedFrom": "b"}}}"#,
            fill: ["INSERT INTO P (id, sync_entity, a, b) VALUES (1, 'P', 'A', NULL), (2, 'Q', 'C', 'D')"],
            "SELECT id, a, b FROM P ORDER BY id", ["1|NULL|A", "2|D|C"]),
    ]

    @Test(
        "A migration keeps all data, in the tables of a new store",
        arguments: attributes + entities + relationships + exchanges)
    func migrationKeepsData(_ change: Change) throws {
        let store = try MigratingStore()
        try store.open(change.before) { stack in
            try stack.write { db in
                for sql in change.fill { try db.execute(sql: sql) }
            }
        }
        try store.open(change.after) { _ in }
        try store.expectFreshSchema(change.after)
        #expect(try store.rows(change.query) == change.rows)
    }

    @Test("A rename that is done already moves no values in a later migration", arguments: exchanges)
    func laterMigrationMovesNothing(_ change: Change) throws {
        let store = try MigratingStore()
        try store.open(change.before) { stack in
            try stack.write { db in
                for sql in change.fill { try db.execute(sql: sql) }
            }
        }
        try store.open(change.after) { _ in }
        let report = try DataStack.migration(to: MigratingStore.model(change.after), at: store.url)
        #expect(report.changes.isEmpty)
        let later = change.after.replacing(
            #""attributes": {"id""#, with: #""attributes": {"later": "date", "id""#, maxReplacements: 1)
        for schema in [later, change.after] {
            try store.open(schema) { _ in }
            try store.expectFreshSchema(schema)
            #expect(try store.rows(change.query) == change.rows)
        }
    }

    @Test("Names can be exchanged again, if the model says so")
    func namesAreExchangedAgain() throws {
        func schema(_ a: String, _ b: String) -> String {
            let (a, b) = (
                a.isEmpty ? "" : ", \"renamedFrom\": \"\(a)\"", b.isEmpty ? "" : ", \"renamedFrom\": \"\(b)\""
            )
            return
                #""T": {"attributes": {"id": "integer", "a": {"type": "string"\#(a)}, "b": {"type": "string"\#(b)}}}"#
        }
        let store = try MigratingStore()
        try store.open(schema("", "")) { stack in
            try stack.write { db in try db.execute(sql: "INSERT INTO T (id, a, b) VALUES (1, 'A', 'B')") }
        }
        for (a, b, row) in [("b", "a", "B|A"), ("", "", "B|A"), ("b", "a", "A|B"), ("b", "", "A|B")] {
            try store.open(schema(a, b)) { _ in }
            #expect(try store.rows("SELECT a, b FROM T") == [row])
        }
    }

    @Test("A rename that a migration cannot perform is an error, and the store stays")
    func impossibleRenamesAreErrors() throws {
        let cases = [
            (
                Self.user,
                #""A": {"renamedFrom": "User", "attributes": {"id": "integer"}}, "B": {"renamedFrom": "User", "attributes": {"id": "integer"}}"#,
                ["entities.B.renamedFrom: the entity A is renamed from User too"]
            ),
            (
                Self.links("", "", "", ""), Self.links("memos", "notes", "", ""),
                [
                    "entities.User.relationships.memos.renamedFrom: the inverse 'editor' is not renamed from the inverse of 'notes'",
                    "entities.User.relationships.notes.renamedFrom: the inverse 'user' is not renamed from the inverse of 'memos'",
                ]
            ),
        ]
        for (before, after, problems) in cases {
            let store = try MigratingStore()
            try store.open(before) { _ in }
            for policy in [MigrationPolicy.keepingData, .allowingDataLoss] {
                let error = #expect(throws: SyncError.self) { try store.open(after, policy) { _ in } }
                #expect(error?.code == .invalidModel)
                #expect(error?.problems.map { "\($0.path): \($0.message)" } == problems)
            }
            try store.open(before) { _ in }
        }
    }

    // MARK: Losses

    static let losses: [Change] = [
        Change(
            "an attribute with values", user, #""User": {"attributes": {"id": "integer"}}"#, fill: [ann],
            "SELECT * FROM User", ["entities.User.attributes.name", "1"]),
        Change(
            "an entity with rows", user + #", "Tag": {"attributes": {"id": "integer"}}"#, user,
            fill: [ann, "INSERT INTO Tag VALUES (1), (2)"], "SELECT * FROM User", ["entities.Tag", "1|Ann"]),
        Change(
            "values that do not fit", user, #""User": {"attributes": {"id": "integer", "name": "integer"}}"#,
            fill: [ann, "INSERT INTO User VALUES (2, '5')"], "SELECT * FROM User",
            ["entities.User.attributes.name", "1|NULL", "2|5"]),
        Change(
            "keys that are the same", user,
            #""User": {"primaryKey": "name", "attributes": {"id": "integer", "name": "string"}}"#,
            fill: [ann, "INSERT INTO User VALUES (2, 'Ann')"], "SELECT * FROM User", ["entities.User", "1|Ann"]),
        Change(
            "several links for one",
            pair(
                #""notes": {"entity": "Note", "many": true, "inverse": "user"}"#,
                #""user": {"entity": "User", "many": true, "inverse": "notes"}"#), oneToMany,
            fill: notes + ["INSERT INTO Note_user (noteID, userID) VALUES (10, 1), (10, 2)"],
            "SELECT id, userID FROM Note", ["entities.Note.relationships.user", "10|1", "11|NULL", "12|NULL"]),
        Change(
            "a relationship with links", oneToMany, pair("", ""), fill: owned, "SELECT * FROM Note",
            ["entities.Note.relationships.user", "10", "11", "12"]),
    ]

    @Test("A migration that would lose data is rejected unless losses are allowed", arguments: losses)
    func rejectsLosses(_ change: Change) throws {
        let store = try MigratingStore()
        try store.open(change.before) { stack in
            try stack.write { db in
                for sql in change.fill { try db.execute(sql: sql) }
            }
        }
        let before = try Data(contentsOf: store.url)
        let error = #expect(throws: SyncError.self) { try store.open(change.after) { _ in } }
        #expect(error?.code == .modelMismatch)
        #expect(error?.problems.map(\.path) == [change.rows[0]])
        #expect(error?.problems.first?.message.contains("would be lost") == true)
        #expect(try Data(contentsOf: store.url) == before)
        let report = try DataStack.migration(to: MigratingStore.model(change.after), at: store.url)
        #expect(report.dataLosses == error?.problems)
        #expect(!report.changes.isEmpty)
        #expect(try Data(contentsOf: store.url) == before)
        try store.open(change.after, .allowingDataLoss) { _ in }
        try store.expectFreshSchema(change.after)
        #expect(try store.rows(change.query) == Array(change.rows.dropFirst()))
    }

    @Test("An added attribute is reported as a table change")
    func reportsAddedAttribute() throws {
        let store = try MigratingStore()
        try store.open(Self.user) { _ in }
        let after = #""User": {"attributes": {"id": "integer", "name": "string", "note": "string"}}"#
        let report = try DataStack.migration(to: MigratingStore.model(after), at: store.url)
        #expect(report.changes.map(\.path) == ["entities.User.attributes.note"])
        #expect(report.changes.map(\.kind) == [.tableChange])
        #expect(report.dataLosses.isEmpty)
    }

    @Test("A migration is rejected if rows lack a required value, even if losses are allowed")
    func rejectsMissingRequiredValues() throws {
        let store = try MigratingStore()
        try store.open(Self.user) { stack in
            try stack.insert("User", values: ["id": 1])
            try stack.insert("User", values: ["id": 2, "name": "Bo"])
        }
        let after = #""User": {"attributes": {"id": "integer", "name": {"type": "string", "optional": false}}}"#
        for policy in [MigrationPolicy.keepingData, .allowingDataLoss] {
            let error = #expect(throws: SyncError.self) { try store.open(after, policy) { _ in } }
            #expect(error?.code == .modelMismatch)
            #expect(error?.problems.first?.message.contains("1 row has no value") == true)
        }
        try store.open(Self.user) { stack in
            try stack.updateAttributes("User", with: ["name": "Al"], where: .where("id == 1"))
        }
        try store.open(after) { _ in }
        try store.expectFreshSchema(after)
    }

    @Test("A migration that fails leaves the old store unchanged")
    func failedMigrationKeepsOldStore() throws {
        let store = try MigratingStore()
        try store.open(Self.oneToMany) { stack in
            try stack.write { db in for sql in Self.owned { try db.execute(sql: sql) } }
            // The name is taken, so the migration fails after it has set the first tables aside.
            try stack.write { db in
                try db.execute(sql: "CREATE TABLE sync_old_1 (x)")
            }
        }
        let rows = try store.rows("SELECT * FROM Note")
        let after = Self.oneToMany.replacing(
            #""attributes": {"id": "integer"}"#, with: #""attributes": {"id": "integer", "more": "string"}"#)
        let error = #expect(throws: SyncError.self) { try store.open(after) { _ in } }
        #expect(error?.code == .databaseError)
        #expect(try store.rows("SELECT * FROM Note") == rows)
        #expect(try store.rows("SELECT name FROM sqlite_schema WHERE name LIKE 'sync_old_%'") == ["sync_old_1"])
        #expect(try store.open(Self.oneToMany) { stack in try stack.count("Note") } == 3)
    }

    @Test("A migration renames pending references")
    func renamesPendingReferences() throws {
        let store = try MigratingStore()
        try store.open(Self.oneToMany) { stack in
            try stack.write { db in
                try db.execute(sql: "INSERT INTO Note (id) VALUES (10)")
                try db.execute(
                    sql: """
                        INSERT INTO sync_pending (owner_entity, owner_key, relationship, position, target_entity, target_key)
                        VALUES ('Note', 10, 'user', -1, 'User', 7)
                        """)
            }
        }
        let after = """
            "Person": {"renamedFrom": "User", "attributes": {"id": "string"}, "relationships": {"notes": {"entity": "Memo", "many": true, "inverse": "author"}}},
            "Memo": {"renamedFrom": "Note", "attributes": {"id": "integer"}, "relationships": {"author": {"entity": "Person", "inverse": "notes", "renamedFrom": "user"}}}
            """
        try store.open(after) { stack in
            let waiting = try stack.pendingReferences()
            #expect(waiting.map(\.entity) == ["Memo"])
            #expect(waiting.map(\.relationship) == ["author"])
            #expect(waiting.map(\.target) == [.text("7")])
        }
        try store.expectFreshSchema(after)
    }

    @Test("Pending references are losses if the primary key of their rows changes")
    func pendingReferencesToChangedKeysAreLosses() throws {
        let store = try MigratingStore()
        let before = """
            "Item": {"attributes": {"id": "integer", "region": "string", "code": "string"},
              "relationships": {"boss": {"entity": "Item"}}}
            """
        let after = before.replacingOccurrences(
            of: #""Item": {"#, with: #""Item": {"primaryKey": ["region", "code"], "#)
        try store.open(before) { stack in
            try stack.write { db in
                try db.execute(
                    sql: """
                        INSERT INTO Item (id, region, code) VALUES (1, 'eu', 'a');
                        INSERT INTO sync_pending (owner_entity, owner_key, relationship, position, target_entity, target_key)
                        VALUES ('Item', 1, 'boss', -1, 'Item', 99)
                        """)
            }
        }
        let error = #expect(throws: SyncError.self) { try store.open(after) { _ in } }
        #expect(error?.code == .modelMismatch)
        #expect(error?.problems.map(\.path) == ["entities.Item.relationships.boss"])
        #expect(error?.problems.first?.message.hasSuffix("1 pending reference would be lost") == true)
        try store.open(after, .allowingDataLoss) { stack in
            let (waiting, items) = (try stack.pendingReferences(), try stack.count("Item"))
            #expect(waiting.isEmpty)
            #expect(items == 1)
        }
    }

    private static let coded =
        #""User": {"attributes": {"id": "integer", "code": "integer"}}, "Note": {"attributes": {"id": "integer"}}"#
    private static let codeAsKey = coded.replacing(#""User": {"#, with: #""User": {"primaryKey": "code", "#)

    @Test(
        "A migration that would break a foreign key of the app is rejected, even if losses are allowed",
        arguments: [
            (
                "User", #""Note": {"attributes": {"id": "integer"}}"#,
                "the table User, which the new model does not have"
            ),
            (
                "User(id)", coded.replacing(#""User": {"#, with: #""Person": {"renamedFrom": "User", "#),
                "the table User, which the new model does not have"
            ),
            (
                "user",
                #""Note": {"renamedFrom": "User", "attributes": {"id": "integer", "code": "integer"}}, "User": {"renamedFrom": "Note", "attributes": {"id": "integer"}}"#,
                "the table user, which has the rows of another entity in the new model"
            ),
            ("User", codeAsKey, "the primary key of User, which is another one in the new model"),
            (
                "User(id)", codeAsKey,
                "columns of User that are neither its primary key nor unique in the new model"
            ),
            (
                "User(id)", codeAsKey.replacing(#""id": "integer", "#, with: ""),
                "columns of User that are neither its primary key nor unique in the new model"
            ),
        ])
    func rejectsBrokenForeignKeys(_ target: String, _ after: String, _ problem: String) throws {
        let store = try MigratingStore()
        try store.open(Self.coded) { stack in
            try stack.write { db in
                try db.execute(
                    sql: """
                        INSERT INTO User (id, code) VALUES (1, 10);
                        CREATE TABLE favorite (id INTEGER PRIMARY KEY, userID INTEGER REFERENCES \(target));
                        INSERT INTO favorite VALUES (1, 1)
                        """)
            }
        }
        for policy in [MigrationPolicy.keepingData, .allowingDataLoss] {
            let error = #expect(throws: SyncError.self) { try store.open(after, policy) { _ in } }
            #expect(error?.code == .modelMismatch)
            #expect(
                error?.problems.map { "\($0.path): \($0.message)" } == ["tables.favorite.userID: references \(problem)"]
            )
        }
        try store.open(Self.coded) { stack in
            try stack.write { db in
                try db.execute(sql: "INSERT INTO favorite VALUES (2, 1); DROP TABLE favorite")
            }
        }
        try store.open(after, .allowingDataLoss) { _ in }
        try store.expectFreshSchema(after)
    }

    @Test("A migration keeps the app's indexes and triggers")
    func keepsIndexesAndTriggersOfApp() throws {
        let store = try MigratingStore()
        try store.open(Self.user) { stack in
            try stack.write { db in
                try db.execute(sql: Self.ann)
                try db.execute(sql: "CREATE INDEX mine ON User (name)")
                try db.execute(
                    sql: "CREATE TRIGGER loud AFTER INSERT ON User BEGIN UPDATE User SET name = upper(name); END")
            }
        }
        try store.open(#""User": {"attributes": {"id": "integer", "age": "integer", "name": "string"}}"#) { stack in
            try stack.write { db in
                #expect(try String.fetchOne(db, sql: "SELECT name FROM User") == "Ann")
                try db.execute(sql: "INSERT INTO User (id, name) VALUES (2, 'bo')")
                #expect(try String.fetchAll(db, sql: "SELECT name FROM User") == ["ANN", "BO"])
                #expect(try db.indexes(on: "User").map(\.name) == ["mine"])
            }
        }
    }

    @Test("With the policy 'never', a store opens with a model that the stored one contains, and is not migrated")
    func never() throws {
        func model(_ attributes: String) throws -> SyncModel {
            try SyncModel(
                schemaData: Data(#"{"entities": {"User": {"attributes": {"id": "integer", \#(attributes)}}}}"#.utf8))
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("store.sqlite")
        let pool = try DatabasePool(path: folder.appendingPathComponent("app.sqlite").path)
        let opens: [(SyncModel) throws -> DataStack] = [
            { try DataStack(model: $0, at: file, migration: .never) },
            { try DataStack(model: $0, in: pool, migration: .never) },
        ]
        for open in opens {
            try open(model(#""name": "string", "phone": "string""#)).close()
            // The same tables, with another JSON key.
            try open(model(#""name": {"type": "string", "remoteKey": "n"}, "phone": "string""#)).close()
            let less = try open(model(#""name": "string""#))
            #expect(less.model.entity(named: "User")?.attributes.map(\.name).sorted() == ["id", "name", "phone"])
            try less.close()
            for other in [#""name": "string", "mail": "string""#, #""name": "integer""#] {
                let error = #expect(throws: SyncError.self) { try open(model(other)) }
                #expect(error?.code == .modelMismatch)
                #expect(error?.problems.isEmpty == false)
            }
            try open(model(#""name": "string", "phone": "string""#)).close()
        }
    }
}
