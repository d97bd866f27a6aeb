public import SyncCore

/// Binds the values of the nodes of a table to the parameters of statements that write them.
@usableFromInline
package struct NodeBinding {
    private let table: SyncTable
    @usableFromInline let columns: RowColumns
    private let batch: NodeBatch
    /// The number of attributes.
    @usableFromInline let slotCount: Int
    private let values: EffectiveValues
    private let foreignKeys: [ResolvedForeignKeys]
    @usableFromInline let keys: NodeKeys
    @usableFromInline let targets: [NodeKeys]
    @usableFromInline let defaults: DefaultValues
    /// By entity and slot, whether a new row without a value gets the default of the model.
    private let takesDefault: [Int: [Bool]]
    @usableFromInline let pool: TextPool

    /// - Parameter tables: The tables of the sync; nil if no foreign key is bound.
    package init(_ table: SyncTable, _ columns: RowColumns, _ tables: SyncTables?) {
        self.table = table
        self.columns = columns
        batch = table.batch
        slotCount = table.hierarchy.attributes.count
        values = table.values
        foreignKeys = table.foreignKeys
        keys = NodeKeys(table)
        targets = columns.targets.compactMap { target in tables.map { NodeKeys($0[target]) } }
        defaults = DefaultValues(table.hierarchy)
        let entities = table.hierarchy.entities.map { table.model.entities[$0] }
        takesDefault = Dictionary(
            entities.map { entity in
                (
                    entity.id,
                    table.hierarchy.attributes.indices.map { $0 != entity.keySlot && entity.slots.contains($0) }
                )
            }, uniquingKeysWith: { $1 })
        pool = table.pool
    }

    // MARK: Rows

    /// Returns the name of a node in errors: the key attributes that the payload contains, and its entity.
    package func name(of node: NodeID) -> String {
        let entity = table.payloadEntity(of: node)
        let (slots, start) = slots(of: node)
        let parts = entity.keySlots.compactMap { slot -> String? in
            let staged =
                slot == entity.keySlot ? batch.nodes[node.index].key : slots.isEmpty ? .absent : slots[start + slot]
            return StoredValue(staged, as: table.hierarchy.attributes[slot].type, pool).flatMap { value in
                value.isNull ? nil : "\(value.jsonForm)"
            }
        }
        return parts.isEmpty ? "of \(entity.name)" : "\(parts.joined(separator: ", ")) of \(entity.name)"
    }

    /// Binds all columns of a new row. The parameters of the row begin after `offset`.
    @inlinable
    package func bindRow(of node: NodeID, to statement: some ParameterBinder, _ offset: Int) {
        bindKey(of: node, to: statement, at: offset + 1)
        if let entity = columns.entity {
            statement.bind(.text(entityName(of: node)), at: offset + entity + 1)
        }
        bindValues(of: node, to: statement, offset)
        for index in columns.orders.indices {
            bindTarget(of: node, index, to: statement, at: offset + columns.foreignKeys + index + 1)
            if let position = columns.orders[index] {
                bindPosition(of: node, index, to: statement, at: offset + position + 1)
            }
        }
    }

    @usableFromInline
    func entityName(of node: NodeID) -> String { table.payloadEntity(of: node).name }

    /// Binds the attributes of a new row to the values of the payload or the defaults of the model. Keys have no
    /// defaults.
    @inlinable
    func bindValues(of node: NodeID, to statement: some ParameterBinder, _ offset: Int) {
        let keyColumn = columns.hasSurrogateKey ? -1 : columns.keySlot
        let (slots, start) = slots(of: node)
        for slot in 0..<slotCount where slot != keyColumn {
            let parameter = offset + columns.attributes + slot + 1
            if !slots.isEmpty, slots[start + slot].kind != .absent {
                statement.bind(slots[start + slot], at: parameter, pool)
            } else if takesDefault(slot, node) {
                defaults.bind(slot, to: statement, at: parameter)
            } else {
                statement.bindNull(at: parameter)
            }
        }
    }

    @usableFromInline
    func takesDefault(_ slot: Int, _ node: NodeID) -> Bool {
        takesDefault[Int(batch.nodes[node.index].entity)]?[slot] == true
    }

    /// Returns the array that contains the effective values of a node, and the index of slot 0. The key is not in the
    /// array if it has slot 0. The array is empty if the node has no effective values.
    @usableFromInline
    func slots(of node: NodeID) -> (slots: [PackedValue], start: Int) {
        let version = Int(values.versions[node.index])
        if version < 0 { return ([], 0) }
        if version < batch.versionCount { return (batch.slots, version * batch.stride - batch.firstSlot) }
        return (values.merged, (version - batch.versionCount) * batch.stride - batch.firstSlot)
    }

    // MARK: Columns

    @inlinable
    package func bind(_ column: TableColumn, of node: NodeID, to statement: some ParameterBinder, at parameter: Int) {
        switch column {
        case .attribute(let slot): statement.bind(value(slot, of: node), at: parameter, pool)
        case .foreignKey(let index): bindTarget(of: node, index, to: statement, at: parameter)
        case .position(let index): bindPosition(of: node, index, to: statement, at: parameter)
        }
    }

    @usableFromInline
    func value(_ slot: Int, of node: NodeID) -> PackedValue { table.value(slot, of: node) }

    @inlinable
    package func bindKey(of node: NodeID, to statement: some ParameterBinder, at parameter: Int) {
        keys.bind(node, to: statement, at: parameter)
    }

    @inlinable
    func bindTarget(of node: NodeID, _ index: Int, to statement: some ParameterBinder, at parameter: Int) {
        guard let target = target(of: node, index) else { return statement.bindNull(at: parameter) }
        targets[index].bind(target, to: statement, at: parameter)
    }

    @usableFromInline
    func target(of node: NodeID, _ index: Int) -> NodeID? { foreignKeys[index].targets[node.index].node }

    @inlinable
    func bindPosition(of node: NodeID, _ index: Int, to statement: some ParameterBinder, at parameter: Int) {
        guard let position = position(of: node, index) else { return statement.bindNull(at: parameter) }
        statement.bind(position, at: parameter)
    }

    @usableFromInline
    func position(of node: NodeID, _ index: Int) -> Int64? {
        foreignKeys[index].positions.isEmpty ? nil : foreignKeys[index].positions[node.index]
    }
}

/// The default values of the model as packed values, with their own texts.
@usableFromInline
struct DefaultValues {
    @usableFromInline private(set) var slots: [PackedValue] = []
    private var arena: [UInt8] = []
    /// The pool of values that are neither text nor blobs.
    @usableFromInline let noTexts: TextPool

    init(_ hierarchy: EntityHierarchy) {
        let none = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
        noTexts = TextPool(payload: none, arena: none)
        for attribute in hierarchy.attributes {
            slots.append(attribute.defaultValue?.slot(arena: &arena) ?? .null)
        }
    }

    @inlinable
    func bind(_ slot: Int, to statement: some ParameterBinder, at parameter: Int) {
        let value = slots[slot]
        switch value.kind {
        case .arenaText: statement.bind(.text(String(decoding: bytes(value), as: UTF8.self)), at: parameter)
        case .arenaBlob: statement.bind(copying: Array(bytes(value)), at: parameter)
        default: statement.bind(value, at: parameter, noTexts)
        }
    }

    @usableFromInline
    func bytes(_ value: PackedValue) -> ArraySlice<UInt8> { arena[value.offset..<value.offset + value.length] }
}

/// Binds the row keys of the nodes of a table. It is a class, so that binding a key copies no part of the payload
/// graph.
@usableFromInline
package final class NodeKeys {
    private let keys: NodeRowKeys
    private let batch: NodeBatch
    @usableFromInline let pool: TextPool
    /// Whether the batch contains the row keys of all nodes, which is the common case.
    @usableFromInline let areInBatch: Bool

    package init(_ table: SyncTable) {
        keys = table.keys
        batch = table.batch
        pool = table.pool
        areInBatch = table.keys.isEmpty
    }

    @inlinable
    @inline(__always)
    package func bind(_ node: NodeID, to statement: some ParameterBinder, at parameter: Int) {
        if !areInBatch, let key = rowKey(of: node) {
            statement.bind(key, at: parameter)
        } else {
            statement.bind(payloadKey(of: node), at: parameter, pool)
        }
    }

    @usableFromInline
    func rowKey(of node: NodeID) -> RowKey? { keys[node] }

    @usableFromInline
    func payloadKey(of node: NodeID) -> PackedValue { batch.nodes[node.index].key }
}
