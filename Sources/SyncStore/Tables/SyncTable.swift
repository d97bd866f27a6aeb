package import SyncCore

/// One table during a sync: the nodes of the payload graph and their stored rows.
package final class SyncTable {
    package let id: TableID
    package let hierarchy: EntityHierarchy
    package let model: CompiledModel
    package let pool: TextPool
    /// The nodes of the payload graph.
    package private(set) var batch: NodeBatch
    /// The results of matching.
    package var matches: MatchedNodes
    /// The effective values of each node.
    package private(set) var values: EffectiveValues
    /// The new foreign keys, by index in ``EntityHierarchy/foreignKeys``.
    package var foreignKeys: [ResolvedForeignKeys]
    package var keys: NodeRowKeys
    /// Nodes that the sync skips. It reports a diagnostic for each.
    package private(set) var skippedNodes: Set<NodeID> = []

    init(_ hierarchy: EntityHierarchy, _ batch: NodeBatch, _ model: CompiledModel, _ pool: TextPool) {
        id = hierarchy.id
        self.hierarchy = hierarchy
        self.model = model
        self.pool = pool
        self.batch = batch
        matches = MatchedNodes(hierarchy, batch)
        keys = NodeRowKeys(areSurrogates: hierarchy.keySlot == nil)
        values = EffectiveValues(batch)
        foreignKeys = hierarchy.foreignKeys.map { _ in ResolvedForeignKeys() }
    }

    package var isEmpty: Bool { batch.nodes.isEmpty }
    package var nodes: some Sequence<NodeID> { batch.nodes.indices.lazy.map { NodeID($0) } }
    /// Whether the table has a surrogate key.
    package var hasSurrogateKey: Bool { hierarchy.keySlot == nil }

    // MARK: Nodes

    package func rowState(of node: NodeID) -> RowState { matches.rowStates[node.index] }
    package func isPresent(_ node: NodeID) -> Bool { matches.rowStates[node.index] != .missing }

    package func isPresent(_ node: NodeID, as presence: RowState) -> Bool { matches.rowStates[node.index] == presence }

    /// Returns the nodes with a row state.
    package func nodes(_ presence: RowState) -> [NodeID] {
        let known = matches.rowStates
        return known.indices.lazy.filter { known[$0] == presence }.map { NodeID($0) }
    }

    /// Returns the entity of a node's stored row, or of the node if it has no row.
    package func entity(of node: NodeID) -> Int {
        matches.entities.isEmpty ? hierarchy.root : Int(matches.entities[node.index])
    }

    /// Returns the most specific entity that the payload states for a node.
    package func payloadEntity(of node: NodeID) -> CompiledEntity {
        model.entities[Int(batch.nodes[node.index].entity)]
    }

    /// Returns the effective value of a slot.
    package func value(_ slot: Int, of node: NodeID) -> PackedValue { values.slot(slot, of: node, batch) }

    /// Returns whether a new row lacks a value for a required attribute.
    func lacksValue(_ slot: Int, of node: NodeID) -> Bool {
        switch value(slot, of: node).kind {
        case .absent, .null: needsValue(slot)
        default: false
        }
    }

    /// Returns whether an attribute is required for a new row.
    func needsValue(_ slot: Int) -> Bool {
        !hierarchy.attributes[slot].isOptional && hierarchy.attributes[slot].defaultValue == nil
    }

    // MARK: Keys

    /// Returns the row key of a node; nil if the node has none yet.
    package func rowKey(_ node: NodeID) -> RowKey? {
        if let key = keys[node] { return key }
        return hasSurrogateKey ? nil : RowKey(batch.nodes[node.index].key, pool)
    }

    package func row(_ node: NodeID) -> StoredRow? { rowKey(node).map { StoredRow(table: id, key: $0) } }

    /// Returns the node of a stored row; nil if the row is unmatched.
    package func node(of key: RowKey) -> NodeID? {
        if hasSurrogateKey {
            guard case .integer(let surrogate) = key else { return nil }
            return keys.node(ofSurrogate: surrogate)
        }
        if let owned = keys.owned(key) { return owned }
        guard let slot = hierarchy.keySlot, let keyOwner = model.entities[hierarchy.root].keyOwner else { return nil }
        return node(withKey: key, .single(hierarchy.attributes[slot].type), keyOwner: keyOwner)
    }

    /// Returns the node with a primary key. Keys are unique among the rows of all entities with this key owner.
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

    /// Returns the index of an association in ``EntityHierarchy/foreignKeys``; nil if its foreign key is not in this
    /// table.
    package func foreignKey(_ link: AssociationID) -> Int? { hierarchy.foreignKeys.firstIndex(of: link) }

    package func column(_ index: Int) -> TableColumn {
        let (attributes, foreignKeys) = (hierarchy.attributes.count, hierarchy.foreignKeys.count)
        if index < attributes { return .attribute(index) }
        return index < attributes + foreignKeys
            ? .foreignKey(index - attributes) : .position(index - attributes - foreignKeys)
    }

    func index(of column: TableColumn) -> Int {
        switch column {
        case .attribute(let slot): slot
        case .foreignKey(let index): hierarchy.attributes.count + index
        case .position(let index): hierarchy.attributes.count + hierarchy.foreignKeys.count + index
        }
    }

    /// Returns the name of the attribute or to-one relationship of a column; nil for a position.
    func name(of column: TableColumn) -> String? {
        switch column {
        case .attribute(let slot): hierarchy.attributes[slot].name
        case .foreignKey(let index): model[hierarchy.foreignKeys[index]].first.relationship?.name
        case .position: nil
        }
    }

    // MARK: Effective records

    /// Recomputes the effective values from the effective occurrences.
    func resolveEffectiveValues(isEffective: (_ occurrence: Int32) -> Bool) {
        values.resolve(batch, isEffective: isEffective)
    }

    func skip(_ node: NodeID) { skippedNodes.insert(node) }

    /// Excludes a node without a stored row from insertion, and removes its values.
    func skipNew(_ node: NodeID) {
        skippedNodes.insert(node)
        values.versions[node.index] = EffectiveValues.none
    }

    /// Returns ``matches``, and leaves an empty value in its place. The caller changes the value without a copy, and
    /// assigns it back.
    package func consumeMatches() -> MatchedNodes {
        var consumed = MatchedNodes()
        swap(&consumed, &matches)
        return consumed
    }

    // MARK: Nodes of the same row

    /// Matches a node with the row of another node, until the two nodes are merged.
    func assign(_ key: RowKey, to node: NodeID) {
        matches.rowStates[node.index] = .stored
        keys.assign(key, to: node)
    }

    /// Clears a node whose row has another node, after the two nodes were merged.
    func removeDuplicate(_ node: NodeID) {
        matches.rowStates[node.index] = .missing
        values.versions[node.index] = EffectiveValues.none
        keys.remove(node)
    }

    /// Replaces the batch after nodes were merged.
    func replaceBatch(_ batch: NodeBatch) { self.batch = batch }

    func useFirstValues(of node: NodeID) {
        values.versions[node.index] = batch.nodes[node.index].firstVersion
        matches.changed.removeAll(of: node)
    }
}

/// A column of a table, as ``ChangedColumns`` numbers them.
@usableFromInline
package enum TableColumn: Equatable, Sendable {
    /// An attribute, by its slot.
    case attribute(Int)
    /// A foreign key, by its index in ``EntityHierarchy/foreignKeys``.
    case foreignKey(Int)
    /// The position in the list of the referenced row, by the index of the foreign key.
    case position(Int)
}

/// All tables of a sync, by their ``TableID``.
package struct SyncTables: Sequence {
    private let tables: [SyncTable]

    package init(_ graph: PayloadGraph, _ pool: TextPool) {
        tables = graph.model.hierarchies.map { SyncTable($0, graph[$0.id], graph.model, pool) }
    }

    package subscript(id: TableID) -> SyncTable { tables[id.index] }

    package func makeIterator() -> IndexingIterator<[SyncTable]> { tables.makeIterator() }

    /// Returns the node of a stored row; nil if the row is unmatched.
    package func node(of row: StoredRow) -> NodeID? { self[row.table].node(of: row.key) }

    /// Replaces the batches after nodes were merged.
    func replaceBatches(_ graph: PayloadGraph) {
        for table in tables { table.replaceBatch(graph[table.id]) }
    }

    /// Finds the nodes of referenced rows that were matched after the rows that reference them.
    func resolveTargets() {
        for table in tables {
            for (index, link) in table.hierarchy.foreignKeys.enumerated() {
                resolveTargets(of: table, index, keys: self[table.model[link].second.table].keys)
            }
        }
    }

    private func resolveTargets(of table: SyncTable, _ index: Int, keys: NodeRowKeys) {
        for (node, key) in table.matches.foreignKeys[index].targetsWithoutNode {
            if let target = keys.owned(key) {
                table.matches.foreignKeys[index].targets[node.index] = LinkTarget(target)
            }
        }
        for (node, surrogate) in table.matches.foreignKeys[index].surrogateTargets.enumerated() {
            guard let surrogate else { continue }
            table.matches.foreignKeys[index].targets[node] =
                keys.node(ofSurrogate: surrogate).map(LinkTarget.init) ?? .unmatched
        }
    }
}

// MARK: - New rows

extension SyncTable {
    /// Returns the nodes of new rows, in the order of their row keys if these are all integers or all texts. Insertion
    /// in this order is fastest.
    func newRows() -> [NodeID] {
        let nodes = nodes(.new)
        guard hasSurrogateKey else { return sortedByKey(nodes) }
        let numbers = nodes.compactMap { node -> Int64? in
            guard case .integer(let key) = keys[node] else { return nil }
            return key
        }
        return numbers.count == nodes.count ? sorted(nodes, by: numbers) : nodes
    }

    /// Returns nodes sorted by their primary keys, if all keys are integers or all are texts. Otherwise returns them in
    /// the given order.
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

// MARK: - Results

extension CompiledModel {
    func isKeyless(_ entity: Int) -> Bool { !entities[entity].isKeyed }
}

extension SyncTable {
    /// Returns the key of a node's row for the result.
    func reportedKey(of node: NodeID) -> PrimaryKeyValue {
        let mapped = batch.nodes[node.index]
        let type = model.keyType(of: Int(mapped.entity))
        return PrimaryKeyValue(mapped.key, type, pool) ?? rowKey(node)?.recordKey(type) ?? .text("")
    }

    func identity(of node: NodeID) -> ResultBuilder.Identity {
        .init(entity: entity(of: node), key: reportedKey(of: node))
    }

    /// Returns how the payload graph affects the row of a node.
    func outcome(of node: NodeID) -> ResultBuilder.RowOutcome {
        switch rowState(of: node) {
        case .missing: .notGiven
        case .new: .written
        case .stored where matches.changed.contains(node): .written
        case .stored: values.exist(for: node) ? .unchanged : .notGiven
        }
    }
}
