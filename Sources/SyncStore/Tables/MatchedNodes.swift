package import SyncCore

/// The results of matching, by node: the state, entity and foreign keys of its row, and the columns that change.
package struct MatchedNodes: Sendable {
    package var rowStates: [RowState]
    /// The entity of each node's stored row, or of the node if it has no row. Empty if the table has only one entity.
    package var entities: [Int32]
    /// The stored values of each foreign key, in the order of ``EntityHierarchy/foreignKeys``.
    package var foreignKeys: [StoredForeignKeys]
    package var changed: ChangedColumns
    package var unmatchedRows = UnmatchedRows()
    /// Whether the session read every stored row of the table.
    package var isScanned = false
    /// Nodes whose stored row is of an entity that their records cannot be of, with that entity. After each pass over
    /// stored rows, the sync reports them and clears the list.
    package var mismatches: [(node: NodeID, entity: Int)] = []

    /// Creates a value for no nodes.
    init() {
        rowStates = []
        entities = []
        foreignKeys = []
        changed = ChangedColumns(columnCount: 0, nodeCount: 0)
    }

    init(_ hierarchy: EntityHierarchy, _ batch: NodeBatch) {
        let count = batch.nodes.count
        rowStates = Array(repeating: .missing, count: count)
        entities = hierarchy.hasSubEntities ? batch.nodes.map { Int32($0.entity) } : []
        foreignKeys = hierarchy.foreignKeys.map { _ in StoredForeignKeys(count: count) }
        changed = ChangedColumns(
            columnCount: hierarchy.attributes.count + 2 * hierarchy.foreignKeys.count, nodeCount: count)
    }
}

/// The columns to update in the stored row of each node, with one bit for each column.
package struct ChangedColumns: Sendable {
    /// The number of columns: attributes, foreign keys, and positions of foreign keys.
    package let columnCount: Int
    private let bytes: Int
    private let nodeCount: Int
    /// Empty until a column is inserted.
    private var bits: [UInt8] = []

    init(columnCount: Int, nodeCount: Int) {
        self.columnCount = columnCount
        self.nodeCount = nodeCount
        bytes = (columnCount + 7) / 8
    }

    package mutating func insert(_ column: Int, of node: NodeID) {
        if bits.isEmpty { bits = Array(repeating: 0, count: nodeCount * bytes) }
        bits[node.index * bytes + column >> 3] |= 1 << UInt8(column & 7)
    }

    mutating func removeAll(of node: NodeID) {
        guard !bits.isEmpty else { return }
        for byte in 0..<bytes { bits[node.index * bytes + byte] = 0 }
    }

    package func contains(_ node: NodeID) -> Bool {
        guard !bits.isEmpty else { return false }
        for byte in 0..<bytes where bits[node.index * bytes + byte] != 0 { return true }
        return false
    }

    /// Returns the bits of a node. Nodes with the same changed columns have equal masks.
    package func mask(of node: NodeID) -> [UInt8] {
        bits.isEmpty ? [] : Array(bits[node.index * bytes..<(node.index + 1) * bytes])
    }

    /// Returns the columns of a mask, ascending.
    package func columns(_ mask: [UInt8]) -> [Int] {
        mask.isEmpty ? [] : (0..<columnCount).filter { mask[$0 >> 3] & (1 << UInt8($0 & 7)) != 0 }
    }
}

/// The effective values of each node. A version is a set of values that records give for a node. The values are those
/// of one version, or of several merged versions.
package struct EffectiveValues: Sendable {
    /// The version of a node without effective records.
    package static let none: Int32 = -1

    /// The version of each node that has its effective values: a version of the batch, a larger number for a merged
    /// version, or ``none``.
    package var versions: [Int32]
    /// The values of the merged versions, with the same slots as in the batch.
    package private(set) var merged: [PackedValue] = []

    init(_ batch: NodeBatch) { versions = batch.nodes.map(\.firstVersion) }

    package func exist(for node: NodeID) -> Bool { versions[node.index] >= 0 }

    /// Returns the effective value of a slot.
    func slot(_ slot: Int, of node: NodeID, _ batch: NodeBatch) -> PackedValue {
        let version = Int(versions[node.index])
        if version < 0 { return .absent }
        if slot < batch.firstSlot { return batch.nodes[node.index].key }
        let index = slot - batch.firstSlot
        if version < batch.versionCount { return batch.slots[version * batch.stride + index] }
        return merged[(version - batch.versionCount) * batch.stride + index]
    }

    /// Merges, for each node, the versions whose occurrences are effective. Later values replace earlier ones, except
    /// absent values.
    mutating func resolve(_ batch: NodeBatch, isEffective: (_ occurrence: Int32) -> Bool) {
        merged.removeAll()
        for node in batch.nodes.indices {
            var values = Self.none
            var version = batch.nodes[node].firstVersion
            while version >= 0 {
                defer { version = batch.version(after: version) }
                guard isEffective(batch.occurrence(ofVersion: version)) else { continue }
                values = values < 0 ? version : merge(version, over: values, batch)
            }
            versions[node] = values
        }
    }

    private mutating func merge(_ version: Int32, over earlier: Int32, _ batch: NodeBatch) -> Int32 {
        func slots(_ version: Int32) -> ArraySlice<PackedValue> {
            let index = Int(version)
            guard index >= batch.versionCount else { return batch.slots[batch.indexes(ofVersion: index)] }
            return merged[batch.indexes(ofVersion: index - batch.versionCount)]
        }
        let values = zip(slots(earlier), slots(version)).map { $1.kind == .absent ? $0 : $1 }
        let index = batch.versionCount + merged.count / max(batch.stride, 1)
        merged += values
        return Int32(truncatingIfNeeded: index)
    }
}

/// The stored values of one foreign key, by node.
package struct StoredForeignKeys: Sendable {
    package var targets: [LinkTarget]
    /// Positions in the lists of the referenced rows; empty if the lists are not ordered or no row is matched.
    package var positions: [Int64?] = []
    /// The surrogate keys of the referenced rows; empty if there are none. ``SyncTables`` finds their nodes after all
    /// tables are matched.
    package var surrogateTargets: [Int64?] = []
    /// The referenced rows for which no node with their key exists. They can still be matched with nodes without a key,
    /// through their owners.
    package var targetsWithoutNode: [NodeID: RowKey] = [:]

    init(count: Int) { targets = Array(repeating: .nowhere, count: count) }
}

/// The new values of one foreign key, by node.
package struct ResolvedForeignKeys: Sendable {
    package var targets: [LinkTarget] = []
    /// Positions in the lists of the referenced rows; empty if the lists are not ordered.
    package var positions: [Int64?] = []
}

/// Stored rows without a node that reference a node or are in scope.
package struct UnmatchedRows: Sendable {
    package struct Row: Sendable {
        package var key: RowKey
        package var entity: Int
        /// Whether the row was matched with a node later, through its owner.
        package var isMatched = false

        package init(key: RowKey, entity: Int) {
            self.key = key
            self.entity = entity
        }
    }

    /// A reference from an unmatched row to a node.
    package struct Reference: Sendable {
        /// The index in `rows`.
        package var row: Int
        package var link: AssociationID
        package var target: NodeID

        package init(row: Int, link: AssociationID, target: NodeID) {
            self.row = row
            self.link = link
            self.target = target
        }
    }

    package var rows: [Row] = []
    package var references: [Reference] = []
}
