import Sync
import SyncCore
import SyncStore
import Testing

@Suite("Statements for tables")
struct TableSQLTests {
    private let layout: StoreLayout

    init() throws { layout = try MediaModel.layout() }

    /// The tables of existing stores are compared with these statements by text.
    @Test("The statements for the tables of a SQLite store do not change")
    func statementsOfSQLiteDoNotChange() {
        let statements = SchemaSQL(layout).statements.filter {
            !$0.contains("sync_model") && !$0.contains("sync_pending")
        }
        let expected = [
            """
            CREATE TABLE "Label" (
              "sync_id" INTEGER PRIMARY KEY,
              "day" TEXT,
              "shelfID" INTEGER REFERENCES "Shelf" ("sync_id") ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE \
            INITIALLY DEFERRED
            ) STRICT
            """,
            """
            CREATE TABLE "Media" (
              "sync_entity" TEXT NOT NULL,
              "id" INTEGER PRIMARY KEY,
              "title" TEXT NOT NULL DEFAULT 'it''s',
              "copies" INTEGER DEFAULT 1,
              "price" TEXT,
              "length" REAL,
              "directorID" TEXT REFERENCES "Person" ("code") ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE \
            INITIALLY DEFERRED,
              "shelfID" INTEGER REFERENCES "Shelf" ("sync_id") ON UPDATE CASCADE ON DELETE SET NULL DEFERRABLE \
            INITIALLY DEFERRED,
              "sync_shelf_order" INTEGER
            ) STRICT
            """,
            """
            CREATE TABLE "Person" (
              "code" TEXT PRIMARY KEY NOT NULL
            ) STRICT
            """,
            """
            CREATE TABLE "Shelf" (
              "sync_id" INTEGER PRIMARY KEY,
              "room" TEXT,
              "number" INTEGER
            ) STRICT
            """,
            """
            CREATE TABLE "Tag" (
              "name" TEXT PRIMARY KEY NOT NULL
            ) STRICT
            """,
            """
            CREATE TABLE "Media_tags" (
              "mediaID" INTEGER NOT NULL REFERENCES "Media" ("id") ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE \
            INITIALLY DEFERRED,
              "tagID" TEXT NOT NULL REFERENCES "Tag" ("name") ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE \
            INITIALLY DEFERRED,
              "sync_order" INTEGER,
              PRIMARY KEY ("mediaID", "tagID")
            ) STRICT
            """,
            """
            CREATE INDEX "sync_index_Media_tags" ON "Media_tags" ("tagID", "mediaID")
            """,
            """
            CREATE INDEX "sync_index_Label_shelfID" ON "Label" ("shelfID")
            """,
            """
            CREATE UNIQUE INDEX "sync_key_Label" ON "Label" ("shelfID", "day")
            """,
            """
            CREATE INDEX "sync_index_Media_directorID" ON "Media" ("directorID")
            """,
            """
            CREATE INDEX "sync_index_Media_shelfID" ON "Media" ("shelfID")
            """,
            """
            CREATE UNIQUE INDEX "sync_key_Shelf" ON "Shelf" ("room", "number")
            """,
            """
            CREATE VIEW "Film" AS SELECT "sync_entity", "id", "title", "copies", "price", "length", "directorID", \
            "shelfID" FROM "Media" WHERE "sync_entity" IN ('Film')
            """,
        ]
        for (statement, expected) in zip(statements, expected) { #expect(statement == expected) }
        #expect(statements.count == expected.count)
    }

    @Test("The statements for tables use the SQL of their dialect, and nothing of SQLite")
    func tablesUseDialect() {
        let dialect = ForeignDialect()
        let tables = layout.model.hierarchies.map { TableSQL($0, layout, dialect) }
        let joins = layout.model.links.compactMap { JoinTableSQL($0.id, layout, dialect) }
        let statements =
            tables.map(\.table) + joins.flatMap(\.statements) + tables.flatMap(\.foreignKeyStatements)
            + joins.flatMap(\.foreignKeyStatements) + tables.flatMap(\.indexes) + tables.flatMap(\.views)
        let expected = [
            """
            CREATE TABLE [Label] (
              [sync_id] counter PRIMARY KEY,
              [day] date_column,
              [shelfID] integer_column
            ) END
            """,
            """
            CREATE TABLE [Media] (
              [sync_entity] string_column NOT NULL,
              [id] integer_column KEY,
              [title] string_column NOT NULL DEFAULT string "it's",
              [copies] integer_column DEFAULT integer 1,
              [price] decimal_column,
              [length] double_column,
              [directorID] string_column,
              [shelfID] integer_column,
              [sync_shelf_order] integer_column
            ) END
            """,
            """
            CREATE TABLE [Person] (
              [code] string_column KEY
            ) END
            """,
            """
            CREATE TABLE [Shelf] (
              [sync_id] counter PRIMARY KEY,
              [room] string_column,
              [number] integer_column
            ) END
            """,
            """
            CREATE TABLE [Tag] (
              [name] string_column KEY
            ) END
            """,
            """
            CREATE TABLE [Media_tags] (
              [mediaID] integer_column NOT NULL,
              [tagID] string_column NOT NULL,
              [sync_order] integer_column,
              PRIMARY KEY ([mediaID], [tagID])
            ) END
            """,
            """
            CREATE INDEX [sync_index_Media_tags] ON [Media_tags] ([tagID], [mediaID])
            """,
            """
            ALTER TABLE [Label] ADD FOREIGN KEY ([shelfID]) REFERENCES [Shelf] ([sync_id]) ON UPDATE CASCADE ON \
            DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
            """,
            """
            ALTER TABLE [Media] ADD FOREIGN KEY ([directorID]) REFERENCES [Person] ([code]) ON UPDATE CASCADE ON \
            DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
            """,
            """
            ALTER TABLE [Media] ADD FOREIGN KEY ([shelfID]) REFERENCES [Shelf] ([sync_id]) ON UPDATE CASCADE ON \
            DELETE SET NULL DEFERRABLE INITIALLY DEFERRED
            """,
            """
            ALTER TABLE [Media_tags] ADD FOREIGN KEY ([mediaID]) REFERENCES [Media] ([id]) ON UPDATE CASCADE ON \
            DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
            """,
            """
            ALTER TABLE [Media_tags] ADD FOREIGN KEY ([tagID]) REFERENCES [Tag] ([name]) ON UPDATE CASCADE ON \
            DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
            """,
            """
            CREATE INDEX [sync_index_Label_shelfID] ON [Label] ([shelfID])
            """,
            """
            CREATE UNIQUE INDEX [sync_key_Label] ON [Label] ([shelfID], [day])
            """,
            """
            CREATE INDEX [sync_index_Media_directorID] ON [Media] ([directorID])
            """,
            """
            CREATE INDEX [sync_index_Media_shelfID] ON [Media] ([shelfID])
            """,
            """
            CREATE UNIQUE INDEX [sync_key_Shelf] ON [Shelf] ([room], [number])
            """,
            """
            CREATE VIEW [Film] AS SELECT [sync_entity], [id], [title], [copies], [price], [length], [directorID], \
            [shelfID] FROM [Media] WHERE [sync_entity] IN (u'Film')
            """,
        ]
        for (statement, expected) in zip(statements, expected) { #expect(statement == expected) }
        #expect(statements.count == expected.count)
    }
}
