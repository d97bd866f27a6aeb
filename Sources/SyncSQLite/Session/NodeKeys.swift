import SyncCore
import SyncStore

/// Binds the row keys of a table's nodes. A class, so that no part of the plan is copied for a key.
final class NodeKeys {
    private let keys: RowKeys
    private let batch: RowBatch
    private let pool: TextPool
    /// Whether all keys are in their slots, as they mostly are.
    private let areStaged: Bool

    init(_ table: SyncTable) {
        keys = table.keys
        batch = table.batch
        pool = table.pool
        areStaged = table.keys.isEmpty
    }

    @inline(__always)
    func bind(_ node: NodeID, to statement: RawStatement, at parameter: Int) {
        if !areStaged, let key = keys[node] {
            statement.bind(key, at: parameter)
        } else {
            statement.bind(batch.nodes[node.index].key, at: parameter, pool)
        }
    }
}
