package import SyncCore

/// A writer of the links of a new row to stored rows. The row comes last in each list.
///
/// It reads and writes links one by one, because a new row has few, and ``LinkChangeTracker`` would read whole lists.
package struct RowLinker {
    private let store: any StoreSession
    private let model: CompiledModel

    package init(_ store: any StoreSession, _ model: CompiledModel) {
        self.store = store
        self.model = model
    }

    /// Links a row to stored rows.
    ///
    /// - Parameter targets: Stored rows of the relationship's destination; at most one for a to-one relationship.
    package func link(_ row: RowKey, by relationship: CompiledRelationship, to targets: [RowKey]) throws {
        let link = model[relationship.link]
        for target in targets {
            let key = TrackedLinks.key(row, target, relationship.end)
            try add(key, link)
            if link.isSymmetric { try add(JoinKey(first: key.second, second: key.first), link) }
        }
    }

    private func add(_ key: JoinKey, _ link: CompiledAssociation) throws {
        switch link.storage {
        case .foreignKey: try point(key.first, at: key.second, link)
        case .joinTable:
            guard try store.stored([key], link).isEmpty else { return }
            var positions = LinkPositions()
            for end in [CompiledAssociation.End.first, .second] where link.hasPositions(end) {
                positions[end] = try nextPosition(in: key.row(end), link, end)
            }
            try store.insert([JoinRow(rows: key, positions: positions)], link)
        }
    }

    /// Sets a foreign key. In a one-to-one association, clears the foreign key of the row that references the target.
    private func point(_ row: RowKey, at target: RowKey, _ link: CompiledAssociation) throws {
        if link.isOneToOne {
            let holders = try store.links(of: [target], link, from: .second).map(\.other)
            try store.setForeignKeys(holders.map { ForeignKeyUpdate(row: $0) }, link)
        }
        let position = try link.hasPositions(.second) ? nextPosition(in: target, link, .second) : nil
        try store.setForeignKeys([ForeignKeyUpdate(row: row, target: target, position: position)], link)
    }

    private func nextPosition(in owner: RowKey, _ link: CompiledAssociation, _ end: CompiledAssociation.End) throws
        -> Int64?
    {
        try store.nextPositions(in: [owner], link, end).first
    }
}
