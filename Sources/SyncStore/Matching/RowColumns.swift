public import SyncCore

/// The columns of a table in the order in which a sync reads them: key, entity, attributes, foreign keys, positions,
/// composite keys. It is a class, because every row uses it.
@usableFromInline
package final class RowColumns: Sendable {
    /// The column with the entity; nil if the table has only one entity.
    @usableFromInline package let entity: Int?
    /// The columns of the first attribute and the first foreign key.
    @usableFromInline package let attributes: Int
    @usableFromInline package let foreignKeys: Int
    /// For each foreign key, the index of its position column; nil if the list at the other end is not ordered.
    @usableFromInline package let orders: [Int?]
    /// The number of columns without those of composite keys: the columns that an insertion writes.
    package let count: Int
    @usableFromInline package let hasSurrogateKey: Bool
    /// The slot of the table's primary key; -1 for a surrogate key.
    @usableFromInline package let keySlot: Int
    /// Whether the key is an integer attribute, by which rows can be read in order.
    package let isOrderedByKey: Bool
    /// The referenced table of each foreign key.
    package let targets: [TableID]
    /// The types of the attributes, by slot.
    @usableFromInline package let types: [AttributeType]
    /// The type of the key that all rows of the table share, and the entity that declares it.
    let commonKey: (type: AttributeType, owner: Int)?

    @usableFromInline let root: Int
    /// The composite key of each entity that declares one, and the index of its first column.
    private let compositeKeys: [Int: (key: CompositeKeyColumns, first: Int)]
    /// The name of the table in errors.
    private let name: String
    private let model: CompiledModel
    private let table: TableID

    /// - Parameters:
    ///   - name: The name of the table in errors.
    ///   - keys: The composite keys that entities declare, in the order in which they are read.
    package init(
        _ hierarchy: EntityHierarchy, _ layout: StoreLayout, name: String,
        compositeKeys keys: [(entity: Int, key: CompositeKeyColumns)]
    ) {
        model = layout.model
        table = hierarchy.id
        root = hierarchy.root
        self.name = name
        types = hierarchy.attributes.map(\.type)
        let keyOwner = layout.model.entities[hierarchy.root].keyOwner
        commonKey = hierarchy.keySlot.flatMap { slot in keyOwner.map { (hierarchy.attributes[slot].type, $0) } }
        let table = layout[hierarchy.id]
        entity = table.hasEntityColumn ? 1 : nil
        attributes = table.hasEntityColumn ? 2 : 1
        foreignKeys = attributes + table.columns.count
        let foreignKeyColumns = layout.foreignKeyColumns(of: hierarchy)
        var next = foreignKeys + foreignKeyColumns.count
        var orders: [Int?] = []
        for (_, order) in foreignKeyColumns {
            orders.append(order == nil ? nil : next)
            if order != nil { next += 1 }
        }
        self.orders = orders
        count = next
        var compositeKeys: [Int: (key: CompositeKeyColumns, first: Int)] = [:]
        for (entity, key) in keys {
            compositeKeys[entity] = (key, next)
            next += key.count
        }
        self.compositeKeys = compositeKeys
        hasSurrogateKey = table.hasSurrogateKey
        keySlot = hierarchy.keySlot ?? -1
        isOrderedByKey = !table.hasSurrogateKey && commonKey?.type == .integer
        targets = hierarchy.foreignKeys.map { layout.model[$0].second.table }
    }

    /// Returns the composite key that an entity declares, and the index of its first column; nil if it declares none.
    func compositeKey(_ owner: Int) -> (key: CompositeKeyColumns, first: Int)? { compositeKeys[owner] }

    /// Returns the index of a column.
    package func index(of column: TableColumn) -> Int {
        switch column {
        case .attribute(let slot): attributes + slot
        case .foreignKey(let index): foreignKeys + index
        case .position(let index): orders[index] ?? foreignKeys + index
        }
    }

    /// Returns the entity of a row.
    ///
    /// - Throws: ``SyncError`` `databaseError` if the table has no entity of the stored name.
    @inlinable
    package func entity(_ row: some StoredRowReader) throws -> Int {
        guard let entity else { return root }
        return try self.entity(named: row.string(entity))
    }

    /// Returns the entity with a stored name.
    ///
    /// - Throws: ``SyncError`` `databaseError` if the table has no entity of this name.
    @usableFromInline
    package func entity(named stored: String) throws -> Int {
        guard let id = model.entityID(stored), model.entities[id].table == table else {
            throw SyncError(
                .databaseError, "a row of the table '\(name)' is of an entity that is not in the model",
                entity: model.entities[root].name)
        }
        return id
    }
}

/// The columns from which a composite key is read, without their names.
package struct CompositeKeyColumns: Sendable {
    package enum Part: Sendable {
        /// A value of a type.
        case value(AttributeType)
        /// The single key of a referenced row.
        case rowKey
        /// The composite key of a referenced row.
        case compositeKey(CompositeKeyColumns)
    }

    /// The number of columns.
    package let count: Int
    private let parts: [Part]

    package init(_ parts: [Part]) {
        self.parts = parts
        count = parts.reduce(0) { count, part in
            if case .compositeKey(let key) = part { count + key.count } else { count + 1 }
        }
    }

    /// Appends the key of a row to a text.
    ///
    /// - Returns: Whether all parts are present.
    package func read(_ row: some StoredRowReader, at first: Int, into text: inout CompositeKeyText) -> Bool {
        text.open()
        var column = first
        for part in parts {
            switch part {
            case .value(let type):
                switch type {
                case _ where !row.hasKey(column, of: type):
                    guard let value = row.key(column) else { return false }
                    text.append(value)
                case .integer, .boolean: text.append(row.integer(column))
                case .double: text.append(row.real(column))
                default: text.append(row.text(column))
                }
                column += 1
            case .rowKey:
                guard let value = row.key(column) else { return false }
                text.append(value)
                column += 1
            case .compositeKey(let key):
                guard key.read(row, at: column, into: &text) else { return false }
                column += key.count
            }
        }
        text.close()
        return true
    }
}
