import SyncCore
import SyncStore

/// The columns of a table in the order a sync reads them: key, entity, attributes, foreign keys, orders. A class, because
/// it is asked at every row.
final class RowColumns: Sendable {
    let table: String
    let keyColumn: String
    let entity: Int?
    let attributes: Int
    let foreignKeys: Int
    /// Per foreign key the column of its order, if the other side is ordered.
    let orders: [Int?]
    /// All names, quoted, for SELECT and INSERT alike.
    let names: [String]
    let hasHiddenKey: Bool
    /// The slot of the table's primary key, -1 if that is hidden.
    let keySlot: Int
    /// Whether the key is the rowid, so that rows come in its order.
    let isOrderedByKey: Bool
    /// Per foreign key the table it points to.
    let targets: [TableID]
    /// The types of the attributes, by slot.
    let types: [AttributeType]
    /// The key that all rows of the table share, and the entity it is declared on.
    let commonKey: (type: AttributeType, owner: Int)?

    /// Where the keys of several parts of a row are, by the entity that declares them.
    private let partedKeys: [Int: (key: KeyColumns, first: Int)]
    /// What is selected.
    private let selected: [String]

    private let model: CompiledModel
    private let tree: EntityTree

    init(_ tree: EntityTree, _ layout: StoreLayout) {
        model = layout.model
        self.tree = tree
        types = tree.attributes.map(\.type)
        let root = layout.model.entities[tree.root]
        commonKey = tree.keySlot.flatMap { slot in root.keyOwner.map { (tree.attributes[slot].type, $0) } }
        let table = layout[tree.id]
        var names = [table.keyColumn.quoted]
        entity = table.hasEntityColumn ? 1 : nil
        if table.hasEntityColumn { names.append(TableLayout.entityColumn.quoted) }
        attributes = names.count
        names += table.columns.map(\.quoted)
        foreignKeys = names.count
        let foreignKeyColumns = layout.foreignKeyColumns(of: tree)
        names += foreignKeyColumns.map(\.column.quoted)
        var orders: [Int?] = []
        for (_, order) in foreignKeyColumns {
            orders.append(order == nil ? nil : names.count)
            if let order { names.append(order.quoted) }
        }
        var selected = names
        var partedKeys: [Int: (key: KeyColumns, first: Int)] = [:]
        for id in tree.entities {
            let entity = layout.model.entities[id]
            guard entity.keyOwner == id, entity.compositeKey != nil, let key = KeyColumns(entity, layout) else {
                continue
            }
            partedKeys[id] = (key, selected.count)
            selected += key.expressions(of: table.name)
        }
        self.partedKeys = partedKeys
        self.selected = selected
        self.orders = orders
        self.names = names
        self.table = table.name.quoted
        keyColumn = table.keyColumn.quoted
        hasHiddenKey = table.hasHiddenKey
        keySlot = tree.keySlot ?? -1
        isOrderedByKey = !table.hasHiddenKey && commonKey?.type == .integer
        targets = tree.foreignKeys.map { layout.model[$0].second.table }
    }

    /// The places in `names` that an INSERT fills: the key once, though it is an attribute too.
    var inserted: [Int] {
        var seen: Set<String> = []
        return names.indices.filter { seen.insert(names[$0]).inserted }
    }

    /// Where the key of several parts is that rows share with the entity that declares it.
    func partedKey(_ owner: Int) -> (key: KeyColumns, first: Int)? { partedKeys[owner] }

    /// The entity that a row names in a column, or the tree's only one.
    ///
    /// - Throws: ``SyncError`` `storeFailure` if the model has no such entity, as when the row is fetched.
    func entity(_ statement: RawStatement, at column: Int?) throws -> Int {
        guard let column else { return tree.root }
        guard let id = model.entityID(statement.string(column)), model.entities[id].table == tree.id else {
            throw SyncError(
                .storeFailure, "a row of table \(table) is of no entity of the model",
                entity: model.entities[tree.root].name)
        }
        return id
    }

    /// The name of a column as ``ChangedColumns`` counts them, quoted.
    func name(of column: TableColumn) -> String {
        switch column {
        case .attribute(let slot): names[attributes + slot]
        case .foreignKey(let index): names[foreignKeys + index]
        case .place(let index): names[orders[index] ?? foreignKeys + index]
        }
    }

    var select: String { "SELECT \(selected.joined(separator: ", ")) FROM \(table)" }
}

extension String {
    /// As an SQL identifier.
    var quoted: String { SchemaSQL.quoted(self) }

    /// As an SQL string literal.
    var literal: String { SchemaSQL.literal(self) }
}
