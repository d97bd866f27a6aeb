import SyncCore
import SyncStore

/// Selects rows of an entity, and decodes them as ``SyncRow`` values.
struct RecordSQL {
    /// The alias of the entity's table in the statements.
    static let alias = "r"

    let layout: StoreLayout
    let entity: CompiledEntity
    let hierarchy: EntityHierarchy
    let table: TableLayout
    /// The composite key of each entity that declares one, and the index of its first column in the selected columns.
    let compositeKeys: [Int: (key: KeyColumns, first: Int)]
    private let keyExpressions: [String]
    private let dialect: SQLiteDialect

    init(_ entity: CompiledEntity, _ layout: StoreLayout) {
        self.layout = layout
        self.entity = entity
        dialect = SQLiteDialect(layout)
        hierarchy = layout.model[entity.table]
        table = layout[entity.table]
        var compositeKeys: [Int: (key: KeyColumns, first: Int)] = [:]
        var expressions: [String] = []
        let first = 1 + (table.hasEntityColumn ? 1 : 0) + table.columns.count
        for id in hierarchy.entities {
            let entity = layout.model.entities[id]
            guard entity.keyOwner == id, entity.compositeKey != nil, let key = KeyColumns(entity, layout) else {
                continue
            }
            compositeKeys[id] = (key, first + expressions.count)
            expressions += key.expressions(of: Self.alias)
        }
        self.compositeKeys = compositeKeys
        keyExpressions = expressions
    }

    // MARK: Parts of statements

    /// The selected columns: the row key, the entity if the table has several, the attributes, and the parts of
    /// composite keys.
    var columns: String {
        let own = table.hasEntityColumn ? [TableLayout.entityColumn] : []
        return (([table.keyColumn] + own + table.columns).map(column) + keyExpressions).joined(separator: ", ")
    }

    var from: String { "\(SchemaSQL.quoted(table.name)) AS \(SchemaSQL.quoted(Self.alias))" }

    /// The condition that a row of the table belongs to the entity; nil if all rows do.
    var condition: String? { PredicateSQL.familyCondition(entity, layout: layout, alias: Self.alias) }

    var rowKey: String { column(table.keyColumn) }

    func column(_ name: String) -> String { "\(SchemaSQL.quoted(Self.alias)).\(SchemaSQL.quoted(name))" }

    /// Returns the SQL expression for the value that a path leads to.
    func sql(_ path: RowPath) -> PathSQL {
        PathSQL(path, on: entity, layout: layout, alias: Self.alias, dialect: dialect)
    }

    /// Returns the `LIMIT` and `OFFSET` clauses.
    static func window(_ limit: Int?, _ offset: Int) -> String {
        guard limit != nil || offset > 0 else { return "" }
        return " LIMIT \(limit.map { max($0, 0) } ?? -1)" + (offset > 0 ? " OFFSET \(offset)" : "")
    }

    /// Returns the terms of the `ORDER BY` clause.
    ///
    /// - Throws: ``SyncError`` `unknownAttribute`, or `invalidOption` for a path that leads to many rows.
    func order(_ order: RowOrder) throws -> String {
        let terms = try order.terms.map { term in
            let direction = term.isAscending ? "" : " DESC"
            if let slot = entity.slotByName[term.attribute] { return expression(slot) + direction }
            let path = try RowPath(term.attribute, on: entity, in: layout.model)
            return sql(path).stored + dialect.orderClause(of: path.type(from: entity, in: layout.model)) + direction
        }
        let key = entity.keySlot.map { [expression($0)] } ?? parts
        let unique = table.hasSurrogateKey ? [rowKey] : []
        return (terms + key + unique).joined(separator: ", ")
    }

    /// The order terms of a composite key.
    private var parts: [String] {
        guard let key = entity.keyOwner.flatMap({ compositeKeys[$0]?.key }) else { return [] }
        return zip(key.expressions(of: Self.alias), key.leaves).map { expression, type in
            expression + dialect.orderClause(of: type)
        }
    }

    /// Returns the order term of an attribute.
    private func expression(_ slot: Int) -> String {
        column(table.columns[slot]) + dialect.orderClause(of: hierarchy.attributes[slot].type)
    }
}

/// Selects the rows that are related to a row or to several rows, in the order of the relationship.
struct TargetSQL {
    let select: RecordSQL
    private let relationship: CompiledRelationship
    private let owner: TableLayout
    private let link: LinkLayout

    init(_ relationship: CompiledRelationship, of owner: CompiledEntity, _ layout: StoreLayout) {
        self.relationship = relationship
        select = RecordSQL(layout.model.entities[relationship.destination], layout)
        self.owner = layout[owner.table]
        link = layout[relationship.link]
    }

    /// The part of the statement after the selected columns, for the related rows of several rows: the text before and
    /// after the list of the keys of these rows. The related rows of each row are in the order of the
    /// relationship.
    var restOfSeveral: (before: String, after: String) {
        get throws {
            let before = "\(rows) WHERE \(ownerKey) IN "
            // One row at most is related by a foreign key.
            if case .foreignKey = link, relationship.end == .first { return (before, "") }
            return (before, " ORDER BY \(try order)")
        }
    }

    /// The key of the row that a selected row is related to.
    var ownerKey: String {
        switch (link, relationship.end) {
        case (.foreignKey, .first): "\("o".quoted).\(owner.keyColumn.quoted)"
        case (.foreignKey(_, let column, _), .second): select.column(column)
        case (.joinTable(_, let first, let second, _, _), let end):
            "\("j".quoted).\((end == .first ? first : second).quoted)"
        }
    }

    /// The `FROM` clause.
    private var rows: String {
        switch (link, relationship.end) {
        case (.foreignKey(let table, let column, _), .first):
            "FROM \(select.from) JOIN \(table.quoted) AS \("o".quoted) "
                + "ON \("o".quoted).\(column.quoted) = \(select.rowKey)"
        case (.foreignKey, .second): "FROM \(select.from)"
        case (.joinTable(let name, let first, let second, _, _), let end):
            "FROM \(select.from) JOIN \(name.quoted) AS \("j".quoted) "
                + "ON \("j".quoted).\((end == .first ? second : first).quoted) = \(select.rowKey)"
        }
    }

    private var order: String {
        get throws {
            let position: String?
            switch (link, relationship.end) {
            case (.foreignKey, .first): position = nil
            case (.foreignKey(_, _, let column), .second): position = column.map { select.column($0) }
            case (.joinTable(_, _, _, let firstOrder, let secondOrder), let end):
                position = (end == .first ? firstOrder : secondOrder).map { "\("j".quoted).\($0.quoted)" }
            }
            return LinkOrderingSQL.terms(position: position, key: try select.order(.byKey))
        }
    }
}

// MARK: - StoreLayout+Entities

extension StoreLayout {
    /// Returns the names of the entities with rows in these tables, as SQL literals: `'Book', 'Film'`.
    func entityNames(of tables: [TableID]) -> String {
        tables.flatMap { model[$0].entities }.map { model.entities[$0].name.literal }.joined(separator: ", ")
    }
}
