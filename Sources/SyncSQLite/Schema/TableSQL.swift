import SyncCore
import SyncStore

/// The statements for the table of one inheritance hierarchy, with its indexes and views.
struct TableSQL {
    private let hierarchy: EntityHierarchy
    private let layout: StoreLayout
    private let names: TableLayout

    init(_ hierarchy: EntityHierarchy, _ layout: StoreLayout) {
        self.hierarchy = hierarchy
        self.layout = layout
        names = layout[hierarchy.id]
    }

    // MARK: Table

    var table: String {
        var parts: [String] = []
        if names.hasSurrogateKey { parts.append("\(SchemaSQL.quoted(names.keyColumn)) INTEGER PRIMARY KEY") }
        if names.hasEntityColumn { parts.append("\(SchemaSQL.quoted(TableLayout.entityColumn)) TEXT NOT NULL") }
        parts += hierarchy.attributes.indices.map(column)
        parts += hierarchy.foreignKeys.flatMap(foreignKey)
        return "CREATE TABLE \(SchemaSQL.quoted(names.name)) (\n  \(parts.joined(separator: ",\n  "))\n) STRICT"
    }

    /// Only attributes of the root entity can be `NOT NULL`, because some rows of the table lack the attributes of
    /// subentities.
    private func column(_ slot: Int) -> String {
        let attribute = hierarchy.attributes[slot]
        let type = SchemaSQL.columnType(attribute.type)
        let column = "\(SchemaSQL.quoted(names.columns[slot])) \(type)"
        if slot == hierarchy.keySlot {
            return type == "INTEGER" ? "\(column) PRIMARY KEY" : "\(column) PRIMARY KEY NOT NULL"
        }
        let root = layout.model.entities[hierarchy.root]
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
        let foreign = hierarchy.foreignKeys.compactMap { id -> String? in
            guard case .foreignKey(_, let column, _) = layout[id] else { return nil }
            let name = SchemaSQL.quoted(layout.indexNames[id.index])
            return "CREATE INDEX \(name) ON \(table) (\(SchemaSQL.quoted(column)))"
        }
        guard names.hasSurrogateKey else { return foreign }
        let owners = hierarchy.entities.filter { layout.model.entities[$0].keyOwner == $0 }
        return foreign + owners.compactMap(uniqueKey)
    }

    /// Returns the unique index over the key that an entity shares with its subentities.
    private func uniqueKey(_ owner: Int) -> String? {
        let entity = layout.model.entities[owner]
        guard let key = KeyColumns(entity, layout) else { return nil }
        let columns = key.columns.map(SchemaSQL.quoted).joined(separator: ", ")
        let name = SchemaSQL.quoted("sync_key_\(entity.name)")
        let index = "CREATE UNIQUE INDEX \(name) ON \(SchemaSQL.quoted(names.name)) (\(columns))"
        return index + (SchemaSQL.sharedKeyCondition(owner, layout).map { " WHERE \($0)" } ?? "")
    }

    // MARK: Views

    /// A view for each subentity, with its columns.
    var views: [String] {
        hierarchy.entities.filter { $0 != hierarchy.root }.map(view)
    }

    private func view(_ id: Int) -> String {
        let entity = layout.model.entities[id]
        var columns = names.hasSurrogateKey ? [names.keyColumn] : []
        columns.append(TableLayout.entityColumn)
        columns += entity.slots.map { names.columns[$0] }
        for foreignKey in hierarchy.foreignKeys {
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

/// The statements for the join table of a many-to-many association.
enum JoinTableSQL {
    /// Returns the statements; an empty array for an association that is stored as a foreign key.
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
