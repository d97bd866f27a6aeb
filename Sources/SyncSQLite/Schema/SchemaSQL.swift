package import SyncCore
package import SyncStore

/// The statements that create the tables, indexes and views of a store.
package struct SchemaSQL: Sendable {
    /// The statements in order, to be executed in one transaction.
    package let statements: [String]

    package init(_ layout: StoreLayout) {
        let tables = layout.model.hierarchies.map { TableSQL($0, layout) }
        statements =
            Self.ownTables + tables.map(\.table) + layout.model.links.flatMap { JoinTableSQL.statements($0.id, layout) }
            + tables.flatMap(\.indexes) + tables.flatMap(\.views)
    }

    /// The version of the internal tables.
    static let version = 1
    /// The version for a store in existing tables. Earlier versions of Sync reject this version, so they do not migrate
    /// the tables.
    static let existingTablesVersion = 2

    /// The internal tables, which do not depend on the model.
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

    /// Returns a name as an SQL identifier.
    package static func quoted(_ name: String) -> String {
        SQLiteDialect().quoted(name)
    }

    /// Returns a string as an SQL literal.
    package static func literal(_ text: String) -> String {
        SQLiteDialect().literal(text)
    }

    /// Returns the condition that a row is of one of these entities, for a table with several entities:
    /// `"sync_entity" IN ('A', 'B')`.
    package static func entityCondition(_ entities: [Int], _ layout: StoreLayout, alias: String? = nil) -> String {
        SQLiteDialect().entityCondition(entities, layout, alias: alias)
    }

    /// Returns the declared type of a column for attributes of this type.
    package static func columnType(_ type: AttributeType) -> String { SQLiteDialect().columnType(type) }
}

/// Creates the SQL of change capture triggers.
enum TriggerSQL {
    /// - Parameters:
    ///   - event: `AFTER INSERT`, `BEFORE UPDATE OF "a"`, …
    ///   - condition: The condition under which the trigger fires.
    ///   - statements: The statements of the body, each with a semicolon.
    static func create(
        _ name: String, _ event: String, on table: String, when condition: String, _ statements: [String]
    ) -> String {
        """
        CREATE TRIGGER \(name.quoted) \(event) ON \(table.quoted)
        WHEN \(condition)
        BEGIN
          \(statements.joined(separator: "\n  "))
        END
        """
    }
}
