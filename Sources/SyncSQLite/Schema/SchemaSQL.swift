package import SyncCore
package import SyncStore

/// The statements that create the tables of a model.
package struct SchemaSQL: Sendable {
    /// In an order in which they can be executed, all in one transaction.
    package let statements: [String]

    package init(_ layout: StoreLayout) {
        let tables = layout.model.trees.map { TableSQL($0, layout) }
        statements =
            Self.ownTables + tables.map(\.table) + layout.model.links.flatMap { JoinTableSQL.statements($0.id, layout) }
            + tables.flatMap(\.indexes) + tables.flatMap(\.views)
    }

    /// The version of our own tables.
    static let version = 1
    /// What stands for it where the tables of the model are an app's, so that no version of the library migrates them
    /// that does not know of that.
    static let adoptedVersion = 2

    /// Our own tables, whatever the model is.
    static let ownTables = [
        """
        CREATE TABLE "sync_model" (
          "id" INTEGER PRIMARY KEY CHECK ("id" = 1),
          "schema" TEXT NOT NULL,
          "version" INTEGER NOT NULL
        ) STRICT
        """,
        """
        CREATE TABLE "sync_pending" (
          "owner_entity" TEXT NOT NULL,
          "owner_key" ANY NOT NULL,
          "relationship" TEXT NOT NULL,
          "position" INTEGER NOT NULL,
          "target_entity" TEXT NOT NULL,
          "target_key" ANY NOT NULL,
          PRIMARY KEY ("owner_entity", "owner_key", "relationship", "target_key", "target_entity")
        ) STRICT
        """,
        """
        CREATE INDEX "sync_pending_target" ON "sync_pending" ("target_entity", "target_key")
        """,
    ]

    /// A name as an SQL identifier.
    package static func quoted(_ name: String) -> String {
        SQLiteDialect().quoted(name)
    }

    /// Text as an SQL literal.
    package static func literal(_ text: String) -> String {
        SQLiteDialect().literal(text)
    }

    /// The condition that a row is of one of these entities, for tables of several: `"sync_entity" IN ('A', 'B')`.
    package static func entityCondition(_ entities: [Int], _ layout: StoreLayout, alias: String? = nil) -> String {
        SQLiteDialect().entityCondition(entities, layout, alias: alias)
    }

    /// The condition that a row has its key in common with an entity that declares one; nil where all rows of the table
    /// have. It is that of the key's index, which SQLite uses only for a condition spelled the same.
    static func sharedKeyCondition(_ owner: Int, _ layout: StoreLayout, alias: String? = nil) -> String? {
        let table = layout.model.entities[owner].table
        guard layout[table].hasHiddenKey, layout[table].hasEntityColumn else { return nil }
        let sharing = layout.model[table].entities.filter { layout.model.entities[$0].keyOwner == owner }
        return entityCondition(sharing, layout, alias: alias)
    }

    /// The declared type of a column.
    package static func columnType(_ type: AttributeType) -> String {
        switch type {
        case .integer, .boolean: "INTEGER"
        case .double: "REAL"
        case .string, .date, .uuid, .url, .decimal, .json, .transformable: "TEXT"
        case .binary: "BLOB"
        }
    }

    /// The declared type of columns that refer to rows of a table.
    static func keyType(_ tree: EntityTree) -> String {
        tree.keySlot.map { columnType(tree.attributes[$0].type) } ?? "INTEGER"
    }
}
