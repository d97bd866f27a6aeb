import SyncCore
import SyncStore

/// The columns of a table in the order in which a sync reads them: key, entity, attributes, foreign keys, positions. It
/// is a class, because every row uses it.
final class RowColumns: Sendable {
    let table: String
    let keyColumn: String
    let entity: Int?
    let attributes: Int
    let foreignKeys: Int
    /// For each foreign key, the index of its position column; nil if the list at the other end is not ordered.
    let orders: [Int?]
    /// All column names, quoted, for SELECT and INSERT.
    let names: [String]
    let hasSurrogateKey: Bool
    /// The slot of the table's primary key; -1 for a surrogate key.
    let keySlot: Int
    /// Whether the key is an integer attribute, by which rows can be read in order.
    let isOrderedByKey: Bool
    /// The referenced table of each foreign key.
    let targets: [TableID]
    /// The types of the attributes, by slot.
    let types: [AttributeType]
    /// The type of the key that all rows of the table share, and the entity that declares it.
    let commonKey: (type: AttributeType, owner: Int)?

    /// The composite key of each entity that declares one, and the index of its first column.
    private let compositeKeys: [Int: (key: KeyColumns, first: Int)]
    /// The column names, and the expressions of composite keys.
    private let selected: [String]

    private let model: CompiledModel
    private let hierarchy: EntityHierarchy

    init(_ hierarchy: EntityHierarchy, _ layout: StoreLayout) {
        model = layout.model
        self.hierarchy = hierarchy
        types = hierarchy.attributes.map(\.type)
        let root = layout.model.entities[hierarchy.root]
        commonKey = hierarchy.keySlot.flatMap { slot in root.keyOwner.map { (hierarchy.attributes[slot].type, $0) } }
        let table = layout[hierarchy.id]
        var names = [table.keyColumn.quoted]
        entity = table.hasEntityColumn ? 1 : nil
        if table.hasEntityColumn { names.append(TableLayout.entityColumn.quoted) }
        attributes = names.count
        names += table.columns.map(\.quoted)
        foreignKeys = names.count
        let foreignKeyColumns = layout.foreignKeyColumns(of: hierarchy)
        names += foreignKeyColumns.map(\.column.quoted)
        var orders: [Int?] = []
        for (_, order) in foreignKeyColumns {
            orders.append(order == nil ? nil : names.count)
            if let order { names.append(order.quoted) }
        }
        var selected = names
        var compositeKeys: [Int: (key: KeyColumns, first: Int)] = [:]
        for id in hierarchy.entities {
            let entity = layout.model.entities[id]
            guard entity.keyOwner == id, entity.compositeKey != nil, let key = KeyColumns(entity, layout) else {
                continue
            }
            compositeKeys[id] = (key, selected.count)
            selected += key.expressions(of: table.name)
        }
        self.compositeKeys = compositeKeys
        self.selected = selected
        self.orders = orders
        self.names = names
        self.table = table.name.quoted
        keyColumn = table.keyColumn.quoted
        hasSurrogateKey = table.hasSurrogateKey
        keySlot = hierarchy.keySlot ?? -1
        isOrderedByKey = !table.hasSurrogateKey && commonKey?.type == .integer
        targets = hierarchy.foreignKeys.map { layout.model[$0].second.table }
    }

    /// The indexes in `names` that an INSERT fills. A key that is also an attribute is twice in `names`, but only once
    /// here.
    var inserted: [Int] {
        var seen: Set<String> = []
        return names.indices.filter { seen.insert(names[$0]).inserted }
    }

    /// Returns the composite key that an entity declares, and the index of its first column; nil if it declares none.
    func compositeKey(_ owner: Int) -> (key: KeyColumns, first: Int)? { compositeKeys[owner] }

    /// Returns the entity that a row names in a column, or the root of the hierarchy if the table has no such column.
    ///
    /// - Throws: ``SyncError`` `databaseError` if the table has no entity of this name.
    func entity(_ statement: RawStatement, at column: Int?) throws -> Int {
        guard let column else { return hierarchy.root }
        guard let id = model.entityID(statement.string(column)), model.entities[id].table == hierarchy.id else {
            throw SyncError(
                .databaseError, "a row of the table '\(table)' is of an entity that is not in the model",
                entity: model.entities[hierarchy.root].name)
        }
        return id
    }

    /// Returns the quoted name of a column.
    func name(of column: TableColumn) -> String {
        switch column {
        case .attribute(let slot): names[attributes + slot]
        case .foreignKey(let index): names[foreignKeys + index]
        case .position(let index): names[orders[index] ?? foreignKeys + index]
        }
    }

    var select: String { "SELECT \(selected.joined(separator: ", ")) FROM \(table)" }
}

extension String {
    /// The string as an SQL identifier.
    var quoted: String { SchemaSQL.quoted(self) }

    /// The string as an SQL string literal.
    var literal: String { SchemaSQL.literal(self) }
}
