import FuzzSupport
import SyncCore

/// With what the sync of a payload can be compared.
struct SyncComparison {
    /// Whether all of it comes out the same each time. A record without a key whose owner says where it belongs is
    /// stored under a key made for it.
    var again = true
    /// Whether each row is given by one record at most, and all of it is done: what several records say of one row
    /// together, such as of which entity it is, pieces cannot know, nor
    /// what they contradict each other about. Nor can they know the order of rows whose owner is named by its id and
    /// comes later.
    var inPieces = true
    /// Whether the same payload again must write nothing. Where children may be inserted and not updated, what is nested
    /// in a child counts while the child is new, and not when it is stored. A record without a key speaks of the row that
    /// its owner had before: where rows are given twice, the payload may say that it is another.
    var writesOnce: Bool

    init(_ call: FuzzCall) {
        writesOnce =
            !call.operations.contains(.insertRelationships) || call.operations.contains(.updateRelationships)
        let staging = try? PayloadGraphBuilder(
            inEntity: call.entity, of: FuzzModel.model, parent: nil, relationship: nil, operations: call.operations,
            options: call.options)
        let staged = Result { try staging?.stage(call.data, options: call.options).plan }
        if case .failure(let error as SyncError) = staged { inPieces = error.code != .contradictingRecords }
        guard case .success(let plan?) = staged else { return }
        again = plan.ownedRows.allSatisfy { plan.model[$0.table].keySlot == nil }
        let rows = plan.mentions.map { [$0.table.index, $0.node?.index ?? -1] }
        let namesOnce = Set(rows).count == rows.count
        let ordersByID = zip(plan.model.links, plan.links).contains { link, batch in
            (link.first.isOrdered || link.second.isOrdered) && batch.assertions.contains(where: \.isByID)
        }
        writesOnce = writesOnce && (namesOnce || again)
        inPieces = again && namesOnce && !ordersByID && call.operations == .all
    }
}
