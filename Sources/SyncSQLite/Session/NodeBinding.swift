import SyncCore
import SyncStore

/// Binds the values of the nodes of a table to the parameters of statements that write them.
struct NodeBinding {
    private let table: SyncTable
    private let columns: RowColumns
    private let batch: NodeBatch
    private let values: EffectiveValues
    private let foreignKeys: [ResolvedForeignKeys]
    private let keys: NodeKeys
    private let targets: [NodeKeys]
    private let defaults: DefaultValues
    /// By entity and slot, whether a new row without a value gets the default of the model.
    private let takesDefault: [Int: [Bool]]
    private let pool: TextPool

    init(_ table: SyncTable, _ session: SQLiteSession) {
        self.table = table
        columns = session.columns(table.id)
        batch = table.batch
        values = table.values
        foreignKeys = table.foreignKeys
        keys = NodeKeys(table)
        targets = session.columns(table.id).targets.compactMap { target in
            session.tables.map { NodeKeys($0[target]) }
        }
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
    func name(of node: NodeID) -> String {
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
    func bindRow(of node: NodeID, to statement: RawStatement, _ offset: Int) {
        bindKey(of: node, to: statement, at: offset + 1)
        if let entity = columns.entity {
            statement.bind(.text(table.payloadEntity(of: node).name), at: offset + entity + 1)
        }
        bindValues(of: node, to: statement, offset)
        for index in columns.targets.indices {
            bindTarget(of: node, index, to: statement, at: offset + columns.foreignKeys + index + 1)
            if let position = columns.orders[index] {
                bindPosition(of: node, index, to: statement, at: offset + position + 1)
            }
        }
    }

    /// Binds the attributes of a new row to the values of the payload or the defaults of the model. Keys have no
    /// defaults.
    private func bindValues(of node: NodeID, to statement: RawStatement, _ offset: Int) {
        let keyColumn = columns.hasSurrogateKey ? -1 : columns.keySlot
        let (slots, start) = slots(of: node)
        for slot in 0..<batch.stride where slot != keyColumn {
            let parameter = offset + columns.attributes + slot + 1
            let value = slots.isEmpty ? PackedValue.absent : slots[start + slot]
            if value.kind == .absent, takesDefault[Int(batch.nodes[node.index].entity)]?[slot] == true {
                defaults.bind(slot, to: statement, at: parameter)
            } else {
                statement.bind(value, at: parameter, pool)
            }
        }
    }

    /// Returns the array that contains the effective values of a node, and the index of its first value. The array is
    /// empty if the node has no effective values.
    @inline(__always)
    private func slots(of node: NodeID) -> (slots: [PackedValue], start: Int) {
        let version = Int(values.versions[node.index])
        if version < 0 { return ([], 0) }
        if version < batch.versionCount { return (batch.slots, version * batch.stride) }
        return (values.merged, (version - batch.versionCount) * batch.stride)
    }

    // MARK: Columns

    func bind(_ column: TableColumn, of node: NodeID, to statement: RawStatement, at parameter: Int) {
        switch column {
        case .attribute(let slot): statement.bind(table.value(slot, of: node), at: parameter, pool)
        case .foreignKey(let index): bindTarget(of: node, index, to: statement, at: parameter)
        case .position(let index): bindPosition(of: node, index, to: statement, at: parameter)
        }
    }

    func bindKey(of node: NodeID, to statement: RawStatement, at parameter: Int) {
        keys.bind(node, to: statement, at: parameter)
    }

    private func bindTarget(of node: NodeID, _ index: Int, to statement: RawStatement, at parameter: Int) {
        guard let target = foreignKeys[index].targets[node.index].node else { return statement.bindNull(at: parameter) }
        targets[index].bind(target, to: statement, at: parameter)
    }

    private func bindPosition(of node: NodeID, _ index: Int, to statement: RawStatement, at parameter: Int) {
        guard !foreignKeys[index].positions.isEmpty, let position = foreignKeys[index].positions[node.index] else {
            return statement.bindNull(at: parameter)
        }
        statement.bind(position, at: parameter)
    }
}

/// The default values of the model as packed values, with their own texts.
struct DefaultValues {
    private var slots: [PackedValue] = []
    private var arena: [UInt8] = []

    init(_ hierarchy: EntityHierarchy) {
        for attribute in hierarchy.attributes {
            slots.append(attribute.defaultValue?.slot(arena: &arena) ?? .null)
        }
    }

    func bind(_ slot: Int, to statement: RawStatement, at parameter: Int) {
        let value = slots[slot]
        switch value.kind {
        case .arenaText:
            let bytes = arena[value.offset..<value.offset + value.length]
            statement.bind(.text(String(decoding: bytes, as: UTF8.self)), at: parameter)
        case .arenaBlob:
            statement.bind(copying: Array(arena[value.offset..<value.offset + value.length]), at: parameter)
        default:
            let none = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
            statement.bind(value, at: parameter, TextPool(payload: none, arena: none))
        }
    }
}

/// Binds the row keys of the nodes of a table. It is a class, so that binding a key copies no part of the payload
/// graph.
final class NodeKeys {
    private let keys: NodeRowKeys
    private let batch: NodeBatch
    private let pool: TextPool
    /// Whether the batch contains the row keys of all nodes, which is the common case.
    private let areInBatch: Bool

    init(_ table: SyncTable) {
        keys = table.keys
        batch = table.batch
        pool = table.pool
        areInBatch = table.keys.isEmpty
    }

    @inline(__always)
    func bind(_ node: NodeID, to statement: RawStatement, at parameter: Int) {
        if !areInBatch, let key = keys[node] {
            statement.bind(key, at: parameter)
        } else {
            statement.bind(batch.nodes[node.index].key, at: parameter, pool)
        }
    }
}
