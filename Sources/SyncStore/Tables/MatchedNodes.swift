package import SyncCore

/// What is stored of a table's nodes.
package struct MatchedNodes: Sendable {
    package var presence: [RowState]
    /// The entity each stored row is of, of others the node's own; empty where the table has one only.
    package var entities: [Int32]
    /// By position in ``EntityHierarchy/foreignKeys``.
    package var foreignKeys: [StoredForeignKeys]
    package var changed: ChangedColumns
    package var strays = UnmatchedRows()
    /// Whether every stored row was looked at.
    package var isScanned = false
    /// Nodes that met a row of another entity than theirs, and that entity; reported and forgotten after each pass.
    package var mismatches: [(node: NodeID, entity: Int)] = []

    /// Of no nodes.
    init() {
        presence = []
        entities = []
        foreignKeys = []
        changed = ChangedColumns(columnCount: 0, nodeCount: 0)
    }

    init(_ tree: EntityHierarchy, _ batch: NodeBatch) {
        let count = batch.nodes.count
        presence = Array(repeating: .missing, count: count)
        entities = tree.hasSubEntities ? batch.nodes.map { Int32($0.entity) } : []
        foreignKeys = tree.foreignKeys.map { _ in StoredForeignKeys(count: count) }
        changed = ChangedColumns(columnCount: tree.attributes.count + 2 * tree.foreignKeys.count, nodeCount: count)
    }
}

/// Which columns of stored rows must be written: a bit for each.
package struct ChangedColumns: Sendable {
    /// How many columns there are: attributes, then foreign keys, then their places.
    package let columnCount: Int
    private let bytes: Int
    private let nodeCount: Int
    /// Empty as long as there are none.
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

    /// The bits of a node; the same for nodes of which the same columns changed.
    package func mask(of node: NodeID) -> [UInt8] {
        bits.isEmpty ? [] : Array(bits[node.index * bytes..<(node.index + 1) * bytes])
    }

    /// The columns of a mask, ascending.
    package func columns(_ mask: [UInt8]) -> [Int] {
        mask.isEmpty ? [] : (0..<columnCount).filter { mask[$0 >> 3] & (1 << UInt8($0 & 7)) != 0 }
    }
}

/// Which values count for each node: those of one version, or of several merged.
package struct EffectiveValues: Sendable {
    /// No version of the node counts.
    package static let none: Int32 = -1

    /// By node: the version in the batch, or beyond those the place among the merged ones; ``none`` for none.
    package var versions: [Int32]
    /// A row of slots for each merged version.
    package private(set) var merged: [PackedValue] = []

    init(_ batch: NodeBatch) { versions = batch.nodes.map(\.firstVersion) }

    package func count(for node: NodeID) -> Bool { versions[node.index] >= 0 }

    /// The value of a slot.
    func slot(_ slot: Int, of node: NodeID, _ batch: NodeBatch) -> PackedValue {
        let version = Int(versions[node.index])
        if version < 0 { return .absent }
        if version < batch.versionCount { return batch.slots[version * batch.stride + slot] }
        return merged[(version - batch.versionCount) * batch.stride + slot]
    }

    /// Takes the versions whose mentions count, later values over earlier ones.
    mutating func weigh(_ batch: NodeBatch, counts: (_ mention: Int32) -> Bool) {
        merged.removeAll()
        for node in batch.nodes.indices {
            var values = Self.none
            var version = batch.nodes[node].firstVersion
            while version >= 0 {
                defer { version = batch.version(after: version) }
                guard counts(batch.mention(ofVersion: version)) else { continue }
                values = values < 0 ? version : merge(version, over: values, batch)
            }
            versions[node] = values
        }
    }

    private mutating func merge(_ version: Int32, over earlier: Int32, _ batch: NodeBatch) -> Int32 {
        let stride = batch.stride
        func slots(_ version: Int32) -> ArraySlice<PackedValue> {
            let index = Int(version)
            guard index >= batch.versionCount else { return batch.slots[index * stride..<(index + 1) * stride] }
            let place = index - batch.versionCount
            return merged[place * stride..<(place + 1) * stride]
        }
        let values = zip(slots(earlier), slots(version)).map { $1.kind == .absent ? $0 : $1 }
        let place = batch.versionCount + merged.count / max(stride, 1)
        merged += values
        return Int32(truncatingIfNeeded: place)
    }
}

/// What a foreign key of stored nodes is, by node.
package struct StoredForeignKeys: Sendable {
    package var targets: [LinkTarget]
    /// Places in the lists of the targets; empty if those are in no order.
    package var places: [Int64?] = []
    /// Targets of tables with hidden keys, until their nodes are known; empty if there are none.
    package var hiddenTargets: [Int64?] = []
    /// Targets that no key of the payload names, where they may turn out to be rows that are met through their owners.
    package var unnamedTargets: [NodeID: RowKey] = [:]

    init(count: Int) { targets = Array(repeating: .nowhere, count: count) }
}

/// What a foreign key of nodes shall be, by node.
package struct ResolvedForeignKeys: Sendable {
    package var targets: [LinkTarget] = []
    /// Places in the lists of the targets; empty if those are in no order.
    package var places: [Int64?] = []
}

/// Stored rows of a table that no node is, seen because they point to a node or are in scope.
package struct UnmatchedRows: Sendable {
    package struct Row: Sendable {
        package var key: RowKey
        package var entity: Int
        /// Whether it turned out to be a node that met its row through its owner.
        package var isNode = false

        package init(key: RowKey, entity: Int) {
            self.key = key
            self.entity = entity
        }
    }

    /// That a stray points to a node.
    package struct Reference: Sendable {
        /// Its position in `rows`.
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
    package var pointers: [Reference] = []
}

// MARK: - NodeID+Index

extension NodeID {
    /// The same as ``SyncCore``'s, which would be a call from here: functions of other modules are not inlined, and loops
    /// over millions of rows notice.
    @inline(__always)
    var index: Int { Int(number) }
}
