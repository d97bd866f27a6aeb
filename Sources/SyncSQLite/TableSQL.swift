import SyncCore
import SyncStore

/// The table of one inheritance tree, with its indexes and views.
struct TableSQL {
    private let tree: EntityTree
    private let layout: StoreLayout
    private let names: TableLayout

    init(_ tree: EntityTree, _ layout: StoreLayout) {
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

    private func foreignKey(_ id: LinkID) -> [String] {
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
