import Foundation
import GRDB
import Testing

@Suite("schema introspect")
struct SchemaIntrospectTests {
    private func sandbox() throws -> Sandbox {
        let sandbox = try Sandbox()
        let queue = try DatabaseQueue(path: sandbox.folder.appendingPathComponent("app.sqlite").path)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE authors (id INTEGER PRIMARY KEY, full_name TEXT);
                    CREATE TABLE blog_posts (id INTEGER PRIMARY KEY, title TEXT, author_id INTEGER REFERENCES authors);
                    CREATE TABLE kv (k TEXT PRIMARY KEY, v);
                    """)
        }
        try queue.close()
        return sandbox
    }

    @Test("schema introspect prints the model of existing tables, reports omissions, and leaves the database unchanged")
    func modelOfTablesIsPrinted() throws {
        let sandbox = try sandbox()
        let before = try sandbox.databaseBytes()
        let run = try sandbox.syncdb("schema", "introspect", "app.sqlite")
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output.contains(#""BlogPost": {"#) && run.output.contains(#""table": "blog_posts""#))
        #expect(run.output.contains(#""column": "author_id""#))
        #expect(
            run.errors.contains(
                "note: tables.kv.k: the table is excluded: the column is the key of the entity, but allows NULL"))
        #expect(run.errors.contains("CREATE TABLE \"sync_new_kv\""))
        #expect(try sandbox.databaseBytes() == before)
        // The former name does the same, and the help does not list it.
        #expect(try sandbox.syncdb("schema", "adopt", "app.sqlite").output == run.output)
        #expect(try !sandbox.syncdb("schema", "--help").output.contains("adopt"))
        let quiet = try sandbox.syncdb(
            "schema", "introspect", "app.sqlite", "--table", "authors", "--quiet", "--output", "model.json")
        #expect(quiet.status == 0 && quiet.output.isEmpty && quiet.errors.isEmpty)
        let shown = try sandbox.syncdb("schema", "show", "--model", "model.json")
        #expect(shown.output.contains("Author") && !shown.output.contains("BlogPost"))
    }

    @Test("A join table of two chosen tables that is not chosen is reported")
    func missingJoinTable() throws {
        let sandbox = try sandbox()
        _ = try sandbox.query(
            """
            CREATE TABLE tags (id INTEGER PRIMARY KEY);
            CREATE TABLE post_tags (post_id INTEGER NOT NULL REFERENCES blog_posts ON DELETE CASCADE,
              tag_id INTEGER NOT NULL REFERENCES tags ON DELETE CASCADE, PRIMARY KEY (post_id, tag_id));
            """)
        let both = ["schema", "introspect", "app.sqlite", "--table", "blog_posts", "--table", "tags"]
        let run = try sandbox.run(both)
        let note = "tables.post_tags: the table is not chosen, but joins tags and blog_posts: add --table post_tags"
        #expect(run.status == 0 && run.errors.contains(note), "\(run.errors)")
        #expect(try !sandbox.run(both + ["--table", "post_tags"]).errors.contains("is not chosen"))
        #expect(try !sandbox.run(["schema", "introspect", "app.sqlite"]).errors.contains("is not chosen"))
    }

    @Test("An import with --existing-tables syncs into tables of another program, and later imports need no option")
    func existingTables() throws {
        let sandbox = try sandbox()
        _ = try sandbox.query("INSERT INTO authors VALUES (1, 'Ann'), (2, 'Bob')")
        let introspect = ["schema", "introspect", "app.sqlite", "--table", "authors", "--output", "model.json"]
        #expect(try sandbox.run(introspect).status == 0)
        let file = try sandbox.file("authors.json", #"[{"id": 1, "full_name": "Anna"}, {"id": 3, "full_name": "Cid"}]"#)
        let plain = ["import", file, "--entity", "Author", "--database", "app.sqlite"]
        let refused = try sandbox.run(plain + ["--model", "model.json"])
        #expect(refused.status == 1 && refused.errors.contains("--existing-tables"), "\(refused.errors)")
        let run = try sandbox.run(plain + ["--model", "model.json", "--existing-tables"])
        #expect(run.status == 0, "\(run.errors)")
        #expect(try sandbox.query("SELECT id, full_name FROM authors") == "1|Anna\n3|Cid\n")
        let again = try sandbox.run(plain)
        #expect(again.status == 0 && again.output.contains("unchanged"), "\(again.errors)")
        #expect(try sandbox.query("SELECT count(*) FROM blog_posts") == "0\n")
        for (options, status) in [
            (["--existing-tables"], 2), (["--model", "model.json", "--existing-tables", "--dry-run"], 2),
        ] {
            #expect(try sandbox.run(plain + options).status == status)
        }
        let other = ["import", file, "--entity", "Author", "--database", "none.sqlite", "--model", "model.json"]
        let missing = try sandbox.run(other + ["--existing-tables"])
        #expect(missing.status == 2 && missing.errors.contains("there is no database"), "\(missing.errors)")
    }

    @Test("A missing database, a missing table, and the database as the output are errors of schema introspect")
    func unusableDatabasesAreErrors() throws {
        let sandbox = try sandbox()
        #expect(try sandbox.syncdb("schema", "introspect", "none.sqlite").status == 1)
        let run = try sandbox.syncdb("schema", "introspect", "app.sqlite", "--table", "author")
        #expect(run.status == 1)
        #expect(run.errors.contains("has no table 'author'"))
        let own = try sandbox.syncdb("schema", "introspect", "app.sqlite", "--output", "app.sqlite")
        #expect(own.status != 0)
    }
}
