package import SyncCore

/// What is stored of a table's nodes.
package struct MetNodes: Sendable {
    package var presence: [RowPresence]
    /// The entity each stored row is of, of others the node's own; empty where the table has one only.
    package var entities: [Int32]
    /// By position in ``EntityTree/foreignKeys``.
    package var foreignKeys: [StoredForeignKey]
    package var changed: ChangedColumns
    package var strays = Strays()
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

    init(_ tree: EntityTree, _ batch: RowBatch) {
        let count = batch.nodes.count
        presence = Array(repeating: .missing, count: count)
        entities = tree.hasSubEntities ? batch.nodes.map { Int32($0.entity) } : []
        foreignKeys = tree.foreignKeys.map { _ in StoredForeignKey(count: count) }
        changed = ChangedColumns(columnCount: tree.attributes.count + 2 * tree.foreignKeys.count, nodeCount: count)
    }
}
