import Foundation
import GRDB
import Sync
import Testing

@Suite("Models of existing tables")
struct AdoptedModelTests {
    static let schema = """
        CREATE TABLE authors (id INTEGER PRIMARY KEY AUTOINCREMENT, full_name TEXT NOT NULL, joined_at DATETIME,
          is_admin BOOLEAN NOT NULL DEFAULT 0, nick TEXT COLLATE NOCASE, score NUMERIC);
        CREATE TABLE blog_posts (id INTEGER PRIMARY KEY, title TEXT NOT NULL,
          author_id INTEGER NOT NULL REFERENCES authors (id) ON DELETE CASCADE,
          editor_id INTEGER REFERENCES authors ON DELETE SET NULL, rating DOUBLE);
        CREATE TABLE Tag (code TEXT PRIMARY KEY NOT NULL);
        CREATE TABLE post_tags (post_id INTEGER NOT NULL REFERENCES blog_posts ON DELETE CASCADE,
          tag_code TEXT NOT NULL REFERENCES Tag ON DELETE CASCADE, PRIMARY KEY (post_id, tag_code));
        CREATE TABLE profile (id INTEGER PRIMARY KEY, author_id INTEGER UNIQUE REFERENCES authors);
        CREATE TABLE repos (owner TEXT NOT NULL, name TEXT NOT NULL, stars INTEGER, PRIMARY KEY (owner, name));
        CREATE TABLE kv (k TEXT PRIMARY KEY, v);
        CREATE VIEW names AS SELECT full_name FROM authors;
        """

    private func database() throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in try db.execute(sql: Self.schema) }
        return queue
    }

    @Test("A model of existing tables has entities, attributes, keys and relationships by the naming rules")
    func namesFollowTheRules() throws {
        let adopted = try AdoptedModel(of: database())
        let model = adopted.model
        #expect(model.entities.map(\.name) == ["Author", "BlogPost", "Profile", "Repo", "Tag"])
        #expect(model.entities.map(\.table) == ["authors", "blog_posts", "profile", "repos", nil])
        let post = try #require(model.entity(named: "BlogPost"))
        #expect(post.attributes.map(\.name) == ["id", "title", "rating"])
        #expect(post.relationships.map(\.name) == ["author", "editor", "tags"])
        #expect(post.relationships.map(\.column) == ["author_id", "editor_id", "tag_code"])
        #expect(post.relationships.map(\.isOptional) == [false, true, true])
        #expect(post.relationships.last?.table == "post_tags" && post.relationships.last?.inverseColumn == "post_id")
        let author = try #require(model.entity(named: "Author"))
        #expect(author.attributes.map(\.name) == ["id", "fullName", "joinedAt", "isAdmin", "nick"])
        #expect(author.attributes.map(\.type) == [.integer, .string, .date, .boolean, .string])
        #expect(author.attributes[3].defaultValue == .boolean(false))
        #expect(author.relationships.map(\.name) == ["authorBlogPosts", "editorBlogPosts", "profile"])
        #expect(author.relationships.map(\.isToMany) == [true, true, false])
        #expect(author.relationships.map(\.deleteRule) == [.cascade, .nullify, .nullify])
        #expect(model.entity(named: "Repo")?.primaryKey == ["owner", "name"])
        #expect(model.entity(named: "Tag")?.primaryKey == "code")
        for remark in [
            "tables.names: the view is excluded: only",
            "tables.authors.score: the column is excluded: it is NUMERIC",
            "tables.kv.k: the table is excluded: the column is the key",
        ] {
            #expect(adopted.notes.contains { $0.hasPrefix(remark) }, "\(remark)")
        }
        #expect(adopted.notes.count == 3)
        let note = try #require(adopted.notes.first { $0.hasPrefix("tables.authors.score") })
        #expect(note.contains("score TEXT"), "the note has no SQL that fixes the column: \(note)")
    }

    @Test("A model of existing tables opens them, also from its schema file, and is synced")
    func modelOpensItsTables() async throws {
        let queue = try database()
        let model = try SyncModel(schemaData: AdoptedModel(of: queue).model.schemaFile())
        let stack = try DataStack(model: model, existingTablesIn: queue)
        let json = Data(
            #"""
            [{ "id": 1, "title": "x", "rating": 4.5, "author": { "id": 7, "full_name": "Ada", "profile": { "id": 3 } },
               "editor": null, "tags": [{ "code": "a" }] }]
            """#.utf8)
        #expect(try await Sync.changes(json, inEntity: "BlogPost", stack: stack)["Tag"].inserted == [.text("a")])
        #expect(try await Sync.changes(json, inEntity: "BlogPost", stack: stack).isEmpty)
        #expect(try queue.lines("SELECT * FROM blog_posts") == ["1 x 7 - 4.5"])
        #expect(try queue.lines("SELECT * FROM post_tags") == ["1 a"])
        #expect(try queue.lines("SELECT * FROM profile") == ["3 7"])
        #expect(try queue.lines("SELECT is_admin FROM authors") == ["0"])
        // Tables of the store are not taken for tables of the app.
        #expect(try AdoptedModel(of: queue).model == model)
    }

    @Test("A model of existing tables omits unsuitable columns and tables, and adapts odd names")
    func oddNamesAreAdapted() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE TAGS (ID INTEGER PRIMARY KEY, URL TEXT COLLATE NOCASE, sync_state TEXT, [a "b"] TEXT,
                      n NUMERIC COLLATE NOCASE, "Full Name" TEXT, "x.y" TEXT, full_name TEXT, fullName2 TEXT, posts TEXT);
                    CREATE TABLE posts (id INTEGER PRIMARY KEY, "TAGID" INT REFERENCES TAGS ON DELETE SET NULL,
                      parent INT REFERENCES posts);
                    CREATE TABLE [a "table"] (id INTEGER PRIMARY KEY);
                    """)
        }
        let adopted = try AdoptedModel(of: queue)
        let tag = try #require(adopted.model.entity(named: "Tag"))
        #expect(tag.table == "TAGS")
        #expect(tag.attributes.map(\.name) == ["id", "url", "full_Name", "x_y", "fullName", "fullName2", "posts"])
        #expect(tag.attributes.map(\.column) == ["ID", "URL", "Full Name", "x.y", "full_name", nil, nil])
        #expect(tag.relationships.map(\.name) == ["posts2"])
        #expect(adopted.model.entity(named: "Post")?.relationships.map(\.name) == ["tagid", "parent", "posts"])
        #expect(adopted.notes.count == 4, "\(adopted.notes)")
        _ = try DataStack(model: adopted.model, existingTablesIn: queue)
    }

    @Test("A foreign key that is no relationship is reported with the reason and the SQL that makes it one")
    func foreignKeysAreExplained() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE authors (id INTEGER PRIMARY KEY, code TEXT UNIQUE, name TEXT);
                    CREATE TABLE repos (owner TEXT NOT NULL, name TEXT NOT NULL UNIQUE, PRIMARY KEY (owner, name));
                    CREATE TABLE books (id INTEGER PRIMARY KEY,
                      author_id INT REFERENCES authors ON DELETE RESTRICT,
                      code TEXT REFERENCES authors (code), repo TEXT REFERENCES repos (name), note TEXT);
                    INSERT INTO authors VALUES (1, 'a', 'Ada'); INSERT INTO books VALUES (1, 1, 'a', NULL, 'x');
                    """)
        }
        let adopted = try AdoptedModel(of: queue)
        #expect(adopted.model.entity(named: "Book")?.relationships.map(\.name) == [])
        let subject = "is not a relationship, and the column becomes an attribute: "
        let wanted = [
            "author_id: the foreign key to authors \(subject)ON DELETE RESTRICT rejects deletions of a sync",
            "code: the foreign key to authors \(subject)it references code, not the key id",
            "repo: the foreign key to repos \(subject)repos has a composite key",
        ]
        #expect(adopted.notes.count == wanted.count)
        for (remark, wanted) in zip(adopted.notes, wanted) {
            #expect(remark.hasPrefix("tables.books.\(wanted)"))
        }
        let sql = try #require(adopted.notes.first?.split(separator: "\n", maxSplits: 1).last)
        try await queue.writeWithoutTransaction { db in try db.execute(sql: String(sql)) }
        let again = try AdoptedModel(of: queue)
        #expect(again.model.entity(named: "Book")?.relationships.map(\.name) == ["author"])
        #expect(again.notes.count == wanted.count - 1)
        #expect(try queue.lines("SELECT author_id, note FROM books") == ["1 x"])
        _ = try DataStack(model: again.model, existingTablesIn: queue)
    }

    @Test("A column that triggers write is left out of the model, and the triggers stay")
    func writtenColumnsAreOmitted() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE project (id INTEGER PRIMARY KEY, name TEXT, openTasks INTEGER NOT NULL DEFAULT 0);
                    CREATE TABLE task (id INTEGER PRIMARY KEY, done BOOLEAN,
                      project_id INTEGER REFERENCES project ON DELETE CASCADE);
                    CREATE TRIGGER task_inserted AFTER INSERT ON task BEGIN
                      UPDATE project SET openTasks = openTasks + 1 WHERE id = NEW.project_id;
                    END;
                    CREATE TRIGGER task_deleted AFTER DELETE ON task BEGIN
                      UPDATE project SET openTasks = openTasks - 1 WHERE id = OLD.project_id;
                    END;
                    INSERT INTO project (id) VALUES (1);
                    """)
        }
        let adopted = try AdoptedModel(of: queue)
        #expect(adopted.model.entities.map(\.name) == ["Project", "Task"])
        #expect(adopted.model.entity(named: "Project")?.attributes.map(\.name) == ["id", "name"])
        #expect(
            adopted.notes.map { $0.prefix(while: { $0 != "_" }) } == [
                "tables.project.openTasks: the column is excluded: the trigger task"
            ], "\(adopted.notes)")
        #expect(adopted.notes.allSatisfy { !$0.contains("DROP") && $0.hasSuffix(" writes it") })
        let stack = try DataStack(model: adopted.model, existingTablesIn: queue)
        try await Sync.changes(Data(#"[{"id": 7, "project_id": 1}]"#.utf8), inEntity: "Task", stack: stack)
        #expect(try queue.lines("SELECT openTasks FROM project") == ["1"])
    }

    @Test("A table of a trigger that writes a required column is left out, and the fix drops the trigger")
    func writtenRequiredColumns() throws {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE project (id INTEGER PRIMARY KEY, state TEXT NOT NULL);
                    CREATE TABLE task (id INTEGER PRIMARY KEY);
                    CREATE TRIGGER t AFTER INSERT ON task BEGIN UPDATE project SET state = 'x'; END
                    """)
        }
        let adopted = try AdoptedModel(of: queue)
        #expect(adopted.model.entities.map(\.name) == ["Project"])
        #expect(
            adopted.notes == [
                "tables.task: the table is excluded: the trigger t writes to project.state\n"
                    + "DROP TRIGGER IF EXISTS main.\"t\";"
            ])
    }

    @Test("A database without tables is an error that names the -wal file", arguments: [[], ["authors"]])
    func noTables(tables: [String]) throws {
        let error = try #require(throws: SyncError.self) { try AdoptedModel(of: DatabaseQueue(), tables: tables) }
        #expect(error.code == .incompatibleTables)
        #expect(error.message == "the database has no tables; a copy of an open database needs its -wal file too")
    }

    @Test("A model may be of some of the existing tables")
    func modelOfSomeTables() throws {
        let queue = try database()
        let model = try AdoptedModel(of: queue, tables: ["Blog_Posts"]).model
        #expect(model.entities.map(\.name) == ["BlogPost"])
        #expect(model.entities.first?.attributes.map(\.name) == ["id", "title", "authorID", "editorID", "rating"])
        _ = try DataStack(model: model, existingTablesIn: queue)
        for tables in [["blog_post"], ["kv"], ["names"]] {
            let error = #expect(throws: SyncError.self) { try AdoptedModel(of: queue, tables: tables) }
            #expect(error?.code == .incompatibleTables)
        }
    }
}
