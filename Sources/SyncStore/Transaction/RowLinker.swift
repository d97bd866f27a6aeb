package import SyncCore

/// Links a new row to stored rows, at the end of each list.
///
/// It reads and writes directly: a row has few links, and ``LinkChangeTracker`` reads whole lists.
package struct RowLinker {
    private let store: any StoreSession
    private let model: CompiledModel

    package init(_ store: any StoreSession, _ model: CompiledModel) {
        self.store = store
        self.model = model
    }

    /// Links a row to others.
    ///
    /// - Parameter targets: Stored rows of the relationship's destination; at most one for a to-one relationship.
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

    /// Sets a foreign key. A one-to-one association removes the link of the previous referencing row.
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
