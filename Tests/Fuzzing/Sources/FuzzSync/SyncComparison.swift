import FuzzSupport
import SyncCore

/// The comparisons that are possible for a payload.
struct SyncComparison {
    /// Whether repeated syncs give the same rows. A record without a key gets a new key if its owner stores it.
    var again = true
    /// Whether a sync in chunks gives the same rows. That requires all operations and one record for each row, because
    /// a chunk does not know other records of its rows. They may change the entity of a row, or be inconsistent. It
    /// also excludes ordered lists whose owner is referenced by ID and comes later.
    var inPieces = true
    /// Whether a second sync writes nothing. If children may be inserted but not updated, records nested in a child are
    /// effective only while the child is new. A record without a key describes the previous row of its owner: with
    /// several records for a row, the payload may replace it.
    var writesOnce: Bool

    init(_ call: FuzzCall) {
        writesOnce =
            !call.operations.contains(.insertRelationships) || call.operations.contains(.updateRelationships)
        let builder = try? PayloadGraphBuilder(
            inEntity: call.entity, of: FuzzModel.model, parent: nil, operations: call.operations,
            options: call.options)
        let staged = Result { try builder?.map(call.data, options: call.options).graph }
        if case .failure(let error as SyncError) = staged { inPieces = error.code != .inconsistentRecords }
        guard case .success(let graph?) = staged else { return }
        again = graph.ownedRows.allSatisfy { graph.model[$0.table].keySlot == nil }
        let rows = graph.occurrences.map { [$0.table.index, $0.node?.index ?? -1] }
        let namesOnce = Set(rows).count == rows.count
        let ordersByID = zip(graph.model.links, graph.links).contains { link, batch in
            (link.first.isOrdered || link.second.isOrdered) && batch.assertions.contains(where: \.isByID)
        }
        writesOnce = writesOnce && (namesOnce || again)
        inPieces = again && namesOnce && !ordersByID && call.operations == .all
    }
}
