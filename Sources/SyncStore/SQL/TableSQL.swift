package import SyncCore

/// The statements for the table of one inheritance hierarchy, with its indexes and views.
package struct TableSQL {
    private let hierarchy: EntityHierarchy
    private let layout: StoreLayout
    private let names: TableLayout
    private let dialect: any SQLDialect

    package init(_ hierarchy: EntityHierarchy, _ layout: StoreLayout, _ dialect: any SQLDialect) {
        self.hierarchy = hierarchy
        self.layout = layout
        self.dialect = dialect
        names = layout[hierarchy.id]
    }

    // MARK: Table

    package var table: String {
        var parts: [String] = []
        if names.hasSurrogateKey {
            parts.append("\(dialect.quoted(names.keyColumn)) \(dialect.surrogateKeyType) PRIMARY KEY")
        }
        if names.hasEntityColumn {
            parts.append("\(dialect.quoted(TableLayout.entityColumn)) \(dialect.columnType(.string)) NOT NULL")
        }
        parts += hierarchy.attributes.indices.map(column)
        parts += foreignKeys.flatMap { foreignKey, order in
            [foreignKey.column(dialect)]
                + (order.map { ["\(dialect.quoted($0)) \(dialect.columnType(.integer))"] } ?? [])
        }
        return dialect.table(names.name, parts)
    }

    /// The statements that add the foreign keys when all tables exist; empty if the table declares them.
    package var foreignKeyStatements: [String] {
        foreignKeys.compactMap { foreignKey, _ in foreignKey.statement(names.name, dialect) }
    }

    /// Only attributes of the root entity can be `NOT NULL`, because some rows of the table lack the attributes of
    /// subentities.
    private func column(_ slot: Int) -> String {
        let attribute = hierarchy.attributes[slot]
        let column = "\(dialect.quoted(names.columns[slot])) \(dialect.columnType(attribute.type))"
        if slot == hierarchy.keySlot { return column + dialect.primaryKeyClause(attribute.type) }
        let root = layout.model.entities[hierarchy.root]
        guard root.slots.contains(slot) else { return column }
        let required = attribute.isOptional ? "" : " NOT NULL"
        return column + required + (root.keySlots.contains(slot) ? "" : defaultClause(attribute))
    }

    private func defaultClause(_ attribute: SyncModel.Attribute) -> String {
        let literal = attribute.defaultValue.flatMap { dialect.literal($0, as: attribute.type) }
        return literal.map { " DEFAULT \($0)" } ?? ""
    }

    /// The foreign keys, each with the column of its positions if it has one.
    private var foreignKeys: [(ForeignKeySQL, order: String?)] {
        hierarchy.foreignKeys.compactMap { id in
            guard case .foreignKey(_, let column, let order) = layout[id] else { return nil }
            let link = layout.model[id]
            let cascades = link.cascadesToFirst
            let foreignKey = ForeignKeySQL(
                name: column, to: link.second.table, layout, isRequired: false, deletes: cascades)
            return (foreignKey, order)
        }
    }

    // MARK: Indexes

    package var indexes: [String] {
        let table = dialect.quoted(names.name)
        let foreign = hierarchy.foreignKeys.compactMap { id -> String? in
            guard case .foreignKey(_, let column, _) = layout[id] else { return nil }
            let name = dialect.quoted(layout.indexNames[id.index])
            return "CREATE INDEX \(name) ON \(table) (\(dialect.quoted(column)))"
        }
        guard names.hasSurrogateKey else { return foreign }
        let owners = hierarchy.entities.filter { layout.model.entities[$0].keyOwner == $0 }
        return foreign + owners.compactMap(uniqueKey)
    }

    /// Returns the unique index over the key that an entity shares with its subentities.
    private func uniqueKey(_ owner: Int) -> String? {
        let entity = layout.model.entities[owner]
        guard let key = KeyColumns(entity, layout, dialect) else { return nil }
        let columns = key.columns.map(dialect.quoted).joined(separator: ", ")
        let name = dialect.quoted(StoreLayout.keyIndexName(of: entity))
        let index = "CREATE UNIQUE INDEX \(name) ON \(dialect.quoted(names.name)) (\(columns))"
        return index + (dialect.sharedKeyCondition(owner, layout).map { " WHERE \($0)" } ?? "")
    }

    // MARK: Views

    /// A view for each subentity, with its columns.
    package var views: [String] {
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
        let list = columns.map(dialect.quoted).joined(separator: ", ")
        return "CREATE VIEW \(dialect.quoted(entity.name)) AS SELECT \(list) FROM "
            + "\(dialect.quoted(names.name)) WHERE \(dialect.entityCondition(entity.family, layout))"
    }
}

/// The statements for the join table of a many-to-many association.
package struct JoinTableSQL {
    package let table: String
    package let index: String
    /// The statements that add the foreign keys when all tables exist; empty if the table declares them.
    package let foreignKeyStatements: [String]

    /// Returns nil for an association that is stored as a foreign key.
    package init?(_ id: AssociationID, _ layout: StoreLayout, _ dialect: any SQLDialect) {
        guard case .joinTable(let name, let first, let second, let firstOrder, let secondOrder) = layout[id]
        else { return nil }
        let link = layout.model[id]
        let foreignKeys = [(first, link.first.table), (second, link.second.table)].map { column, target in
            ForeignKeySQL(name: column, to: target, layout, isRequired: true, deletes: true)
        }
        let orders = [firstOrder, secondOrder].compactMap(\.self)
        let key = "PRIMARY KEY (\(dialect.quoted(first)), \(dialect.quoted(second)))"
        table = dialect.table(
            name,
            foreignKeys.map { $0.column(dialect) }
                + orders.map { "\(dialect.quoted($0)) \(dialect.columnType(.integer))" } + [key])
        index =
            "CREATE INDEX \(dialect.quoted(layout.indexNames[id.index])) ON \(dialect.quoted(name)) "
            + "(\(dialect.quoted(second)), \(dialect.quoted(first)))"
        foreignKeyStatements = foreignKeys.compactMap { $0.statement(name, dialect) }
    }

    package var statements: [String] { [table, index] }
}

/// A foreign key column with its constraint. The constraint is checked at the end of the transaction.
private struct ForeignKeySQL {
    private let name: String
    private let target: TableLayout
    private let type: AttributeType
    private let isRequired: Bool
    /// Whether rows are deleted with the row that they reference. Otherwise the column becomes NULL.
    private let deletes: Bool

    init(name: String, to target: TableID, _ layout: StoreLayout, isRequired: Bool, deletes: Bool) {
        self.name = name
        self.target = layout[target]
        self.isRequired = isRequired
        self.deletes = deletes
        type = layout.model[target].rowKeyType
    }

    /// Returns the declaration of the column.
    func column(_ dialect: any SQLDialect) -> String {
        let column = "\(dialect.quoted(name)) \(dialect.columnType(type))" + (isRequired ? " NOT NULL" : "")
        return dialect.foreignKeyPlacement == .inTable ? "\(column) \(references(dialect))" : column
    }

    /// Returns the statement that adds the constraint when all tables exist; nil if the column declares it.
    func statement(_ table: String, _ dialect: any SQLDialect) -> String? {
        guard dialect.foreignKeyPlacement == .afterTables else { return nil }
        return "ALTER TABLE \(dialect.quoted(table)) ADD FOREIGN KEY (\(dialect.quoted(name))) \(references(dialect))"
    }

    private func references(_ dialect: any SQLDialect) -> String {
        "REFERENCES \(dialect.quoted(target.name)) (\(dialect.quoted(target.keyColumn))) "
            + "ON UPDATE CASCADE ON DELETE \(deletes ? "CASCADE" : "SET NULL") DEFERRABLE INITIALLY DEFERRED"
    }
}

extension SQLDialect {
    fileprivate func table(_ name: String, _ parts: [String]) -> String {
        "CREATE TABLE \(quoted(name)) (\n  \(parts.joined(separator: ",\n  "))\n)\(tableOptions)"
    }
}

extension EntityHierarchy {
    /// The type of the row keys (``RowKey``) of the table, and of foreign keys to it: integer for a surrogate key.
    package var rowKeyType: AttributeType { keySlot.map { attributes[$0].type } ?? .integer }
}
