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
    static func keyType(_ tree: EntityHierarchy) -> String {
        tree.keySlot.map { columnType(tree.attributes[$0].type) } ?? "INTEGER"
    }
}

/// The table of one inheritance tree, with its indexes and views.
struct TableSQL {
    private let tree: EntityHierarchy
    private let layout: StoreLayout
    private let names: TableLayout

    init(_ tree: EntityHierarchy, _ layout: StoreLayout) {
        self.tree = tree
        self.layout = layout
        names = layout[tree.id]
    }

    // MARK: Table

    var table: String {
        var parts: [String] = []
        if names.hasHiddenKey { parts.append("\(SchemaSQL.quoted(names.keyColumn)) INTEGER PRIMARY KEY") }
        if names.hasEntityColumn { parts.append("\(SchemaSQL.quoted(TableLayout.entityColumn)) TEXT NOT NULL") }
        parts += tree.attributes.indices.map(column)
        parts += tree.foreignKeys.flatMap(foreignKey)
        return "CREATE TABLE \(SchemaSQL.quoted(names.name)) (\n  \(parts.joined(separator: ",\n  "))\n) STRICT"
    }

    /// Only the root's own attributes can be required by the table: rows of other entities lack the others.
    private func column(_ slot: Int) -> String {
        let attribute = tree.attributes[slot]
        let type = SchemaSQL.columnType(attribute.type)
        let column = "\(SchemaSQL.quoted(names.columns[slot])) \(type)"
        if slot == tree.keySlot {
            return type == "INTEGER" ? "\(column) PRIMARY KEY" : "\(column) PRIMARY KEY NOT NULL"
        }
        let root = layout.model.entities[tree.root]
        guard root.slots.contains(slot) else { return column }
        let required = attribute.isOptional ? "" : " NOT NULL"
        return column + required + (root.keySlots.contains(slot) ? "" : defaultClause(attribute))
    }

    private func defaultClause(_ attribute: SyncModel.Attribute) -> String {
        guard let value = attribute.defaultValue,
            let literal = ColumnValue.literal(ColumnValue.databaseValue(value, as: attribute.type))
        else { return "" }
        return " DEFAULT \(literal)"
    }

    private func foreignKey(_ id: AssociationID) -> [String] {
        guard case .foreignKey(_, let column, let order) = layout[id] else { return [] }
        let link = layout.model[id]
        let target = layout[link.second.table]
        let cascades = link.second.relationship?.deleteRule == .cascade || link.isKeyPart
        let key =
            "\(SchemaSQL.quoted(column)) \(SchemaSQL.keyType(layout.model[link.second.table])) "
            + "REFERENCES \(SchemaSQL.quoted(target.name)) (\(SchemaSQL.quoted(target.keyColumn))) "
            + "ON UPDATE CASCADE ON DELETE \(cascades ? "CASCADE" : "SET NULL") DEFERRABLE INITIALLY DEFERRED"
        return [key] + (order.map { ["\(SchemaSQL.quoted($0)) INTEGER"] } ?? [])
    }

    // MARK: Indexes

    var indexes: [String] {
        let table = SchemaSQL.quoted(names.name)
        let foreign = tree.foreignKeys.compactMap { id -> String? in
            guard case .foreignKey(_, let column, _) = layout[id] else { return nil }
            let name = SchemaSQL.quoted(layout.indexNames[id.index])
            return "CREATE INDEX \(name) ON \(table) (\(SchemaSQL.quoted(column)))"
        }
        guard names.hasHiddenKey else { return foreign }
        let owners = tree.entities.filter { layout.model.entities[$0].keyOwner == $0 }
        return foreign + owners.compactMap(uniqueKey)
    }

    /// The unique index over the key that an entity and those below it share.
    private func uniqueKey(_ owner: Int) -> String? {
        let entity = layout.model.entities[owner]
        guard let key = KeyColumns(entity, layout) else { return nil }
        let columns = key.columns.map(SchemaSQL.quoted).joined(separator: ", ")
        let name = SchemaSQL.quoted("sync_key_\(entity.name)")
        let index = "CREATE UNIQUE INDEX \(name) ON \(SchemaSQL.quoted(names.name)) (\(columns))"
        return index + (SchemaSQL.sharedKeyCondition(owner, layout).map { " WHERE \($0)" } ?? "")
    }

    // MARK: Views

    /// One for each sub-entity, with the columns it has.
    var views: [String] {
        tree.entities.filter { $0 != tree.root }.map(view)
    }

    private func view(_ id: Int) -> String {
        let entity = layout.model.entities[id]
        var columns = names.hasHiddenKey ? [names.keyColumn] : []
        columns.append(TableLayout.entityColumn)
        columns += entity.slots.map { names.columns[$0] }
        for foreignKey in tree.foreignKeys {
            guard case .foreignKey(_, let column, _) = layout[foreignKey],
                layout.model.entity(id, isKindOf: layout.model[foreignKey].first.entity)
            else { continue }
            columns.append(column)
        }
        let list = columns.map(SchemaSQL.quoted).joined(separator: ", ")
        return "CREATE VIEW \(SchemaSQL.quoted(entity.name)) AS SELECT \(list) FROM "
            + "\(SchemaSQL.quoted(names.name)) WHERE \(SchemaSQL.entityCondition(entity.family, layout))"
    }
}

/// The table of a many-to-many link.
enum JoinTableSQL {
    /// Nothing for a link that is a foreign key.
    static func statements(_ id: AssociationID, _ layout: StoreLayout) -> [String] {
        guard case .joinTable(let name, let first, let second, let firstOrder, let secondOrder) = layout[id]
        else { return [] }
        let link = layout.model[id]
        let orders = [firstOrder, secondOrder].compactMap(\.self).map { "\(SchemaSQL.quoted($0)) INTEGER" }
        let parts =
            [key(first, link.first.table, layout), key(second, link.second.table, layout)] + orders
            + ["PRIMARY KEY (\(SchemaSQL.quoted(first)), \(SchemaSQL.quoted(second)))"]
        let table = SchemaSQL.quoted(name)
        return [
            "CREATE TABLE \(table) (\n  \(parts.joined(separator: ",\n  "))\n) STRICT",
            "CREATE INDEX \(SchemaSQL.quoted(layout.indexNames[id.index])) ON \(table) "
                + "(\(SchemaSQL.quoted(second)), \(SchemaSQL.quoted(first)))",
        ]
    }

    private static func key(_ column: String, _ table: TableID, _ layout: StoreLayout) -> String {
        let target = layout[table]
        return "\(SchemaSQL.quoted(column)) \(SchemaSQL.keyType(layout.model[table])) NOT NULL "
            + "REFERENCES \(SchemaSQL.quoted(target.name)) (\(SchemaSQL.quoted(target.keyColumn))) "
            + "ON UPDATE CASCADE ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"
    }
}

/// What makes a trigger of an engine's outbox.
enum TriggerSQL {
    /// - Parameters:
    ///   - event: `AFTER INSERT`, `BEFORE UPDATE OF "a"`, …
    ///   - condition: When it fires.
    ///   - statements: What it does, each with its semicolon.
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
