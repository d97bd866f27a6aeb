import SyncCore

extension CompiledModel {
    func isKeyless(_ entity: Int) -> Bool { !entities[entity].isKeyed }
}

extension SyncTable {
    /// The key of a node's row as a result names it.
    func reportedKey(of node: NodeID) -> RecordKey {
        let staged = batch.nodes[node.index]
        let type = model.keyType(of: Int(staged.entity))
        return RecordKey(staged.key, type, pool) ?? rowKey(node)?.recordKey(type) ?? .text("")
    }

    func identity(of node: NodeID) -> ChangeReport.Identity {
        .init(entity: entity(of: node), key: reportedKey(of: node))
    }

    /// What the plan itself does with a node's row.
    func fate(of node: NodeID) -> ChangeReport.Fate {
        switch presence(of: node) {
        case .missing: .unmentioned
        case .new: .written
        case .stored where met.changed.contains(node): .written
        case .stored: values.count(for: node) ? .unchanged : .unmentioned
        }
    }
}
