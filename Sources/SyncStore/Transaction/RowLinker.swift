package import SyncCore

/// Links a new row to stored ones, each as the last in the list of the other.
///
/// It asks and writes at once: a row has few links, and ``LinkChangeTracker`` reads whole lists.
package struct RowLinker {
    private let store: any StoreSession
    private let model: CompiledModel

    package init(_ store: any StoreSession, _ model: CompiledModel) {
        self.store = store
        self.model = model
    }

    /// - Parameter targets: Stored rows of the entity that the relationship leads to; of a to-one relationship one at most.
    package func link(_ row: RowKey, by relationship: CompiledRelationship, to targets: [RowKey]) throws {
        let link = model[relationship.link]
        for target in targets {
            let pair = TrackedLinks.pair(row, target, relationship.end)
            try add(pair, link)
            if link.isSymmetric { try add(JoinKey(first: pair.second, second: pair.first), link) }
        }
    }

    private func add(_ pair: JoinKey, _ link: CompiledAssociation) throws {
        switch link.storage {
        case .foreignKey: try point(pair.first, at: pair.second, link)
        case .joinTable:
            guard try store.stored([pair], link).isEmpty else { return }
            var places = LinkPositions()
            for end in [CompiledAssociation.End.first, .second] where link.hasPlaces(end) {
                places[end] = try nextPosition(in: pair.row(end), link, end)
            }
            try store.insert([JoinRow(rows: pair, places: places)], link)
        }
    }

    /// The last row that is pointed at a target of a one-to-one link is the only one.
    private func point(_ row: RowKey, at target: RowKey, _ link: CompiledAssociation) throws {
        if link.isOneToOne {
            let holders = try store.links(of: [target], link, from: .second).map(\.other)
            try store.setTargets(holders.map { ForeignKeyUpdate(row: $0) }, link)
        }
        let place = try link.hasPlaces(.second) ? nextPosition(in: target, link, .second) : nil
        try store.setTargets([ForeignKeyUpdate(row: row, target: target, place: place)], link)
    }

    private func nextPosition(in owner: RowKey, _ link: CompiledAssociation, _ end: CompiledAssociation.End) throws
        -> Int64?
    {
        try store.nextPositions(in: [owner], link, end).first
    }
}
