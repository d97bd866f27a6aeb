import FuzzSupport
import SyncCore

extension FuzzCall {
    /// Whether each row is given by one record at most, and all of it is done: what several records say of one row
    /// together, such as of which entity it is, pieces cannot know.
    var isSameInPieces: Bool {
        guard operations == .all else { return false }
        let staging = try? PayloadStaging(
            inEntity: entity, of: FuzzModel.model, parent: nil, relationship: nil, operations: operations,
            options: options)
        guard let mentions = try? staging?.plan(data, options: options).mentions else { return true }
        return Set(mentions.map { ChangePlan.RowReference(tree: Int($0.tree), node: Int($0.node)) }).count
            == mentions.count
    }

    /// Whether children may be inserted and not updated: what is nested in a child counts while the child is new, and
    /// not when it is stored.
    var mayChangeAgain: Bool {
        operations.contains(.insertRelationships) && !operations.contains(.updateRelationships)
    }
}
