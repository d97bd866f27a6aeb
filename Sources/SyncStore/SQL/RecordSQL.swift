package import SyncCore

/// The parts of statements that select rows of an entity.
package struct RecordSQL: Sendable {
    /// The alias of the entity's table in the statements.
    package static let alias = "r"

    package let layout: StoreLayout
    package let entity: CompiledEntity
    package let hierarchy: EntityHierarchy
    package let table: TableLayout
    /// The composite key of each entity that declares one, and the index of its first column in the selected columns.
    package let compositeKeys: [Int: (key: KeyColumns, first: Int)]
    private let keyExpressions: [String]
    private let dialect: any SQLDialect

    package init(_ entity: CompiledEntity, _ layout: StoreLayout, _ dialect: any SQLDialect) {
        self.layout = layout
        self.entity = entity
        self.dialect = dialect
        hierarchy = layout.model[entity.table]
        table = layout[entity.table]
        var compositeKeys: [Int: (key: KeyColumns, first: Int)] = [:]
        var expressions: [String] = []
        let first = 1 + (table.hasEntityColumn ? 1 : 0) + table.columns.count
        for (entity, key) in KeyColumns.compositeKeys(of: hierarchy, layout, dialect) {
            compositeKeys[entity] = (key, first + expressions.count)
            expressions += key.expressions(of: Self.alias)
        }
        self.compositeKeys = compositeKeys
        keyExpressions = expressions
    }

    /// The selected columns: the row key, the entity if the table has several, the attributes, and the parts of
    /// composite keys.
    package var columns: String {
        let own = table.hasEntityColumn ? [TableLayout.entityColumn] : []
        return (([table.keyColumn] + own + table.columns).map(column) + keyExpressions).joined(separator: ", ")
    }

    package var from: String { "\(dialect.quoted(table.name)) AS \(dialect.quoted(Self.alias))" }

    /// The condition that a row of the table belongs to the entity; nil if all rows do.
    package var condition: String? {
        PredicateSQL.familyCondition(entity, layout: layout, alias: Self.alias, dialect: dialect)
    }

    package var rowKey: String { column(table.keyColumn) }

    package func column(_ name: String) -> String { dialect.column(name, of: Self.alias) }

    /// Returns the SQL expression for the value that a path leads to.
    package func sql(_ path: RowPath) -> PathSQL {
        PathSQL(path, on: entity, layout: layout, alias: Self.alias, dialect: dialect)
    }

    /// Returns the clause that limits the rows. A negative limit selects none.
    package func window(_ limit: Int?, _ offset: Int) -> String {
        dialect.window(limit: limit.map { max($0, 0) }, offset: offset)
    }

    // MARK: Order

    /// Returns the terms of the `ORDER BY` clause.
    ///
    /// - Throws: ``SyncError`` `unknownAttribute`, or `invalidOption` for a path that leads to many rows.
    package func order(_ order: RowOrder) throws -> String {
        let terms = try order.terms.map { term in
            if let slot = entity.slotByName[term.attribute] {
                return self.term(slot, isAscending: term.isAscending)
            }
            let path = try RowPath(term.attribute, on: entity, in: layout.model)
            return dialect.orderTerm(
                sql(path).stored, as: path.type(from: entity, in: layout.model), isAscending: term.isAscending,
                nulls: .smallest)
        }
        let key = entity.keySlot.map { [term($0, isAscending: true)] } ?? parts
        let unique =
            table.hasSurrogateKey
            ? [dialect.orderTerm(rowKey, as: .integer, isAscending: true, nulls: .never)] : []
        return (terms + key + unique).joined(separator: ", ")
    }

    /// The order terms of a composite key.
    private var parts: [String] {
        guard let key = entity.keyOwner.flatMap({ compositeKeys[$0]?.key }) else { return [] }
        return zip(key.expressions(of: Self.alias), key.leaves).map { expression, type in
            dialect.orderTerm(expression, as: type, isAscending: true, nulls: .smallest)
        }
    }

    /// Returns the order term of an attribute.
    private func term(_ slot: Int, isAscending: Bool) -> String {
        dialect.orderTerm(
            column(table.columns[slot]), as: hierarchy.attributes[slot].type, isAscending: isAscending,
            nulls: slot == hierarchy.keySlot ? .never : .smallest)
    }
}

/// The parts of statements that select the rows that are related to a row or to several rows.
package struct TargetSQL: Sendable {
    package let select: RecordSQL
    private let relationship: CompiledRelationship
    private let owner: TableLayout
    private let link: LinkLayout
    private let dialect: any SQLDialect

    package init(
        _ relationship: CompiledRelationship, of owner: CompiledEntity, _ layout: StoreLayout,
        _ dialect: any SQLDialect
    ) {
        self.relationship = relationship
        self.dialect = dialect
        select = RecordSQL(layout.model.entities[relationship.destination], layout, dialect)
        self.owner = layout[owner.table]
        link = layout[relationship.link]
    }

    /// The key of the row that a selected row is related to.
    package var ownerKey: String {
        switch (link, relationship.end) {
        case (.foreignKey, .first): dialect.column(owner.keyColumn, of: "o")
        case (.foreignKey(_, let column, _), .second): select.column(column)
        case (.joinTable(_, let first, let second, _, _), let end):
            dialect.column(end == .first ? first : second, of: "j")
        }
    }

    /// The `FROM` clause.
    package var rows: String {
        switch (link, relationship.end) {
        case (.foreignKey(let table, let column, _), .first):
            "FROM \(select.from) JOIN \(dialect.quoted(table)) AS \(dialect.quoted("o")) "
                + "ON \(dialect.column(column, of: "o")) = \(select.rowKey)"
        case (.foreignKey, .second): "FROM \(select.from)"
        case (.joinTable(let name, let first, let second, _, _), let end):
            "FROM \(select.from) JOIN \(dialect.quoted(name)) AS \(dialect.quoted("j")) "
                + "ON \(dialect.column(end == .first ? second : first, of: "j")) = \(select.rowKey)"
        }
    }

    /// The terms of the `ORDER BY` clause: the order of the relationship; nil if only one row can be related.
    package var order: String? {
        get throws {
            let position: String?
            switch (link, relationship.end) {
            case (.foreignKey, .first): return nil
            case (.foreignKey(_, _, let column), .second): position = column.map { select.column($0) }
            case (.joinTable(_, _, _, let firstOrder, let secondOrder), let end):
                position = (end == .first ? firstOrder : secondOrder).map { dialect.column($0, of: "j") }
            }
            return dialect.linkOrder(position: position, key: try select.order(.byKey))
        }
    }
}

/// The SQL that reads the columns of a table in the order of its ``RowColumns``. All names are quoted.
package final class RowSQL: Sendable {
    package let columns: RowColumns
    package let table: String
    package let keyColumn: String
    /// All column names, for SELECT and INSERT.
    package let names: [String]
    /// The composite key of each entity that declares one.
    package let compositeKeys: [Int: KeyColumns]
    /// The column names, and the expressions of composite keys.
    private let selected: [String]

    package init(_ hierarchy: EntityHierarchy, _ layout: StoreLayout, _ dialect: any SQLDialect) {
        let table = layout[hierarchy.id]
        self.table = dialect.quoted(table.name)
        keyColumn = dialect.quoted(table.keyColumn)
        var names = [keyColumn]
        if table.hasEntityColumn { names.append(dialect.quoted(TableLayout.entityColumn)) }
        names += table.columns.map(dialect.quoted)
        let foreignKeyColumns = layout.foreignKeyColumns(of: hierarchy)
        names += foreignKeyColumns.map { dialect.quoted($0.column) }
        names += foreignKeyColumns.compactMap { $0.order.map(dialect.quoted) }
        self.names = names
        let keys = KeyColumns.compositeKeys(of: hierarchy, layout, dialect)
        selected = names + keys.flatMap { $0.key.expressions(of: table.name) }
        compositeKeys = Dictionary(keys.map { ($0.entity, $0.key) }, uniquingKeysWith: { $1 })
        columns = RowColumns(
            hierarchy, layout, name: self.table, compositeKeys: keys.map { ($0.entity, $0.key.values) })
    }

    /// The indexes in `names` that an INSERT fills. A key that is also an attribute is twice in `names`, but only once
    /// here.
    package var inserted: [Int] {
        var seen: Set<String> = []
        return names.indices.filter { seen.insert(names[$0]).inserted }
    }

    /// Returns the name of a column.
    package func name(of column: TableColumn) -> String { names[columns.index(of: column)] }

    package var select: String { "SELECT \(selected.joined(separator: ", ")) FROM \(table)" }
}
