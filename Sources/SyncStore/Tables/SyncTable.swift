package import SyncCore

/// One table while a sync runs: the nodes that the plan has of it, and the rows they met.
package final class SyncTable {
    package let id: TableID
    package let tree: EntityHierarchy
    package let model: CompiledModel
    package let pool: TextPool
    /// What the plan has of the table.
    package private(set) var batch: NodeBatch
    /// What is stored of the nodes.
    package var met: MatchedNodes
    /// Which of the values that the payload has for them count.
    package private(set) var values: EffectiveValues
    /// What their foreign keys shall be, by position in ``EntityHierarchy/foreignKeys``.
    package var foreignKeys: [ResolvedForeignKeys]
    package var keys: NodeRowKeys
    /// Nodes that are skipped, for which there is a diagnostic.
    package private(set) var refused: Set<NodeID> = []

    init(_ tree: EntityHierarchy, _ batch: NodeBatch, _ model: CompiledModel, _ pool: TextPool) {
        id = tree.id
        self.tree = tree
        self.model = model
        self.pool = pool
        self.batch = batch
        met = MatchedNodes(tree, batch)
        keys = NodeRowKeys(areHidden: tree.keySlot == nil)
        values = EffectiveValues(batch)
        foreignKeys = tree.foreignKeys.map { _ in ResolvedForeignKeys() }
    }

    package var isEmpty: Bool { batch.nodes.isEmpty }
    package var nodes: some Sequence<NodeID> { batch.nodes.indices.lazy.map { NodeID($0) } }
    /// Whether rows are stored under a key of the store's, because they have none in common.
    package var hasHiddenKey: Bool { tree.keySlot == nil }

    // MARK: Nodes

    package func presence(of node: NodeID) -> RowState { met.presence[node.index] }
    package func isPresent(_ node: NodeID) -> Bool { met.presence[node.index] != .missing }

    package func isPresent(_ node: NodeID, as presence: RowState) -> Bool { met.presence[node.index] == presence }

    /// The nodes whose rows are new, stored, or missing.
    package func nodes(_ presence: RowState) -> [NodeID] {
        let known = met.presence
        return known.indices.lazy.filter { known[$0] == presence }.map { NodeID($0) }
    }

    /// The entity a stored row is of; of others the node's own.
    package func entity(of node: NodeID) -> Int {
        met.entities.isEmpty ? tree.root : Int(met.entities[node.index])
    }

    /// The most specific entity that the payload gives a node as.
    package func wantedEntity(of node: NodeID) -> CompiledEntity {
        model.entities[Int(batch.nodes[node.index].entity)]
    }

    /// The value of a slot, from whichever version of the node counts.
    package func value(_ slot: Int, of node: NodeID) -> PackedValue { values.slot(slot, of: node, batch) }

    /// Whether a row that is new has no value for an attribute that must have one.
    func lacksValue(_ slot: Int, of node: NodeID) -> Bool {
        switch value(slot, of: node).kind {
        case .absent, .null: needsValue(slot)
        default: false
        }
    }

    /// Whether a new row must have a value for an attribute.
    func needsValue(_ slot: Int) -> Bool {
        !tree.attributes[slot].isOptional && tree.attributes[slot].defaultValue == nil
    }

    // MARK: Keys

    /// The key a node's row is stored under, or will be; nil if the store has made none yet.
    package func rowKey(_ node: NodeID) -> RowKey? {
        if let key = keys[node] { return key }
        return hasHiddenKey ? nil : RowKey(batch.nodes[node.index].key, pool)
    }

    package func row(_ node: NodeID) -> StoredRow? { rowKey(node).map { StoredRow(table: id, key: $0) } }

    /// The node of a stored row.
    package func node(of key: RowKey) -> NodeID? {
        if hasHiddenKey {
            guard case .integer(let hidden) = key else { return nil }
            return keys.node(ofHidden: hidden)
        }
        if let owned = keys.owned(key) { return owned }
        guard let slot = tree.keySlot, let keyOwner = model.entities[tree.root].keyOwner else { return nil }
        return node(withKey: key, .single(tree.attributes[slot].type), keyOwner: keyOwner)
    }

    /// The node of a key of an entity.
    private func node(withKey key: RowKey, _ type: KeyType?, keyOwner: Int) -> NodeID? {
        switch key {
        case .integer(let value): return batch.node(forKey: .integer(value), keyOwner: keyOwner, pool)
        case .real(let value): return batch.node(forKey: .real(value), keyOwner: keyOwner, pool)
        case .text(let text):
            return Array(text.utf8).withUnsafeBufferPointer { bytes in
                guard type == .single(.date) else { return batch.node(forText: bytes, keyOwner: keyOwner, pool) }
                return DateParser.milliseconds(bytes).flatMap {
                    batch.node(forKey: .date($0), keyOwner: keyOwner, pool)
                }
            }
        }
    }

    // MARK: Columns

    /// The position of a link among the foreign keys; nil if it is not one of this table's.
    package func foreignKey(_ link: AssociationID) -> Int? { tree.foreignKeys.firstIndex(of: link) }

    package func column(_ index: Int) -> TableColumn {
        let (attributes, foreignKeys) = (tree.attributes.count, tree.foreignKeys.count)
        if index < attributes { return .attribute(index) }
        return index < attributes + foreignKeys
            ? .foreignKey(index - attributes) : .place(index - attributes - foreignKeys)
    }

    func index(of column: TableColumn) -> Int {
        switch column {
        case .attribute(let slot): slot
        case .foreignKey(let index): tree.attributes.count + index
        case .place(let index): tree.attributes.count + tree.foreignKeys.count + index
        }
    }

    /// The name of the attribute or to-one relationship behind a column; nil for places.
    func name(of column: TableColumn) -> String? {
        switch column {
        case .attribute(let slot): tree.attributes[slot].name
        case .foreignKey(let index): model[tree.foreignKeys[index]].first.relationship?.name
        case .place: nil
        }
    }

    // MARK: Deciding

    /// The values of the versions that count.
    func resolveEffectiveValues(counts: (_ mention: Int32) -> Bool) { values.weigh(batch, counts: counts) }

    func refuse(_ node: NodeID) { refused.insert(node) }

    /// A node that is not stored is not to be inserted, and has no values.
    func refuseNew(_ node: NodeID) {
        refused.insert(node)
        values.versions[node.index] = EffectiveValues.none
    }

    /// Hands out what is stored of the nodes, to be given back with what else is found.
    package func consumeMatches() -> MatchedNodes {
        var taken = MatchedNodes()
        swap(&taken, &met)
        return taken
    }

    // MARK: Nodes that are one row

    /// A node met the row that another one had met, and stands for it until they are made one.
    func lend(_ key: RowKey, to node: NodeID) {
        met.presence[node.index] = .stored
        keys.lend(key, to: node)
    }

    /// Forgets a node whose row is another's.
    func drop(_ node: NodeID) {
        met.presence[node.index] = .missing
        values.versions[node.index] = EffectiveValues.none
        keys.forget(node)
    }

    /// The plan has made nodes one.
    func replaceBatch(_ batch: NodeBatch) { self.batch = batch }

    func useFirstValues(of node: NodeID) {
        values.versions[node.index] = batch.nodes[node.index].firstVersion
        met.changed.removeAll(of: node)
    }
}

/// A column of a table, as ``ChangedColumns`` counts them.
package enum TableColumn: Equatable, Sendable {
    /// The attribute of a slot.
    case attribute(Int)
    /// A foreign key, by its position in ``EntityHierarchy/foreignKeys``.
    case foreignKey(Int)
    /// The place of rows in the lists of what a foreign key leads to.
    case place(Int)
}

/// The tables of a sync.
package struct SyncTables: Sequence {
    private let tables: [SyncTable]

    package init(_ plan: PayloadGraph, _ pool: TextPool) {
        tables = plan.model.trees.map { SyncTable($0, plan[$0.id], plan.model, pool) }
    }

    package subscript(id: TableID) -> SyncTable { tables[id.index] }

    package func makeIterator() -> IndexingIterator<[SyncTable]> { tables.makeIterator() }

    /// The node of a stored row.
    package func node(of row: StoredRow) -> NodeID? { self[row.table].node(of: row.key) }

    /// The plan has made nodes one.
    func replaceBatches(_ plan: PayloadGraph) {
        for table in tables { table.replaceBatch(plan[table.id]) }
    }

    /// Foreign keys to rows that were met only after the rows that point to them.
    func resolveTargets() {
        for table in tables {
            for (index, link) in table.tree.foreignKeys.enumerated() {
                resolveTargets(of: table, index, keys: self[table.model[link].second.table].keys)
            }
        }
    }

    private func resolveTargets(of table: SyncTable, _ index: Int, keys: NodeRowKeys) {
        for (node, key) in table.met.foreignKeys[index].unnamedTargets {
            if let target = keys.owned(key) { table.met.foreignKeys[index].targets[node.index] = LinkTarget(target) }
        }
        for (node, hidden) in table.met.foreignKeys[index].hiddenTargets.enumerated() {
            guard let hidden else { continue }
            table.met.foreignKeys[index].targets[node] =
                keys.node(ofHidden: hidden).map(LinkTarget.init) ?? .unmentioned
        }
    }
}

// MARK: - New rows

extension SyncTable {
    /// The new rows, in the order in which the table takes them best: that of the keys it has them by.
    func newRows() -> [NodeID] {
        let nodes = nodes(.new)
        guard hasHiddenKey else { return sortedByKey(nodes) }
        let numbers = nodes.compactMap { node -> Int64? in
            guard case .integer(let key) = keys[node] else { return nil }
            return key
        }
        return numbers.count == nodes.count ? sorted(nodes, by: numbers) : nodes
    }

    /// Nodes in the order of the keys that JSON names their rows by, if all have one.
    func sortedByKey(_ nodes: [NodeID]) -> [NodeID] {
        func key(_ node: NodeID) -> PackedValue { batch.nodes[node.index].key }
        if nodes.allSatisfy({ key($0).kind == .integer }) { return sorted(nodes, by: nodes.map { key($0).integer }) }
        guard nodes.allSatisfy({ key($0).isText }) else { return nodes }
        return nodes.sorted { TextPool.precedes(pool.bytes(key($0)), pool.bytes(key($1))) }
    }

    private func sorted(_ nodes: [NodeID], by keys: [Int64]) -> [NodeID] {
        let order = KeySorter.ascending(keys)
        return order.isEmpty ? nodes : order.map { nodes[Int($0)] }
    }
}

// MARK: - Reporting

extension CompiledModel {
    func isKeyless(_ entity: Int) -> Bool { !entities[entity].isKeyed }
}

extension SyncTable {
    /// The key of a node's row as a result names it.
    func reportedKey(of node: NodeID) -> PrimaryKeyValue {
        let staged = batch.nodes[node.index]
        let type = model.keyType(of: Int(staged.entity))
        return PrimaryKeyValue(staged.key, type, pool) ?? rowKey(node)?.recordKey(type) ?? .text("")
    }

    func identity(of node: NodeID) -> ResultBuilder.Identity {
        .init(entity: entity(of: node), key: reportedKey(of: node))
    }

    /// What the plan itself does with a node's row.
    func fate(of node: NodeID) -> ResultBuilder.RowOutcome {
        switch presence(of: node) {
        case .missing: .unmentioned
        case .new: .written
        case .stored where met.changed.contains(node): .written
        case .stored: values.count(for: node) ? .unchanged : .unmentioned
        }
    }
}
