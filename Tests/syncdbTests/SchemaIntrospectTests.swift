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
