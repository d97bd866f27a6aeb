import SyncCore

/// The stored links while a sync changes single ones of them: read in sets, changed in memory, written in sets.
///
/// Whatever is asked of rows that were not ``load(_:_:from:)``ed is read at once, so that an answer is always right; a loop
/// over many rows loads them before.
final class WorkingLinks {
    private let store: any StoreSession
    private let model: CompiledModel
    private var memories: [LinkMemory]

    init(_ store: any StoreSession, _ model: CompiledModel) {
        self.store = store
        self.model = model
        memories = model.links.map { _ in LinkMemory() }
    }

    /// Forgets what was read, because links were written by other means.
    func removeAll() { memories = model.links.map { _ in LinkMemory() } }

    // MARK: Reading

    /// Reads the links that rows have from an end, but for those that are known.
    func load(_ rows: some Sequence<RowKey>, _ id: LinkID, from end: Link.End) throws {
        var seen: Set<RowKey> = []
        let unknown = rows.filter { !memories[id.index].isLoaded($0, end) && seen.insert($0).inserted }
        guard !unknown.isEmpty else { return }
        let found = try store.links(of: unknown, model[id], from: end)
        memories[id.index].note(found, of: unknown, end)
        // A foreign key leads to one row, so that all is known of those that were met from the other end.
        if model[id].storage == .foreignKey, end == .second {
            memories[id.index].noteAll(of: found.map(\.other), .first)
        }
    }

    /// Reads whether pairs of a join table are stored, but for those that are known.
    func load(_ pairs: [LinkedRows], _ id: LinkID) throws {
        let unknown = pairs.filter { !memories[id.index].knows($0) }
        guard !unknown.isEmpty else { return }
        memories[id.index].note(unknown, stored: try store.stored(unknown, model[id]))
    }

    /// Reads the places that lists keep for awaited rows.
    func loadKeptPlaces(in owners: some Sequence<RowKey>, _ id: LinkID, _ end: Link.End) throws {
        guard model[id].hasPlaces(end) else { return }
        var seen: Set<RowKey> = []
        let unknown = owners.filter { memories[id.index].keptPlaces($0, end) == nil && seen.insert($0).inserted }
        guard !unknown.isEmpty else { return }
        for (owner, places) in zip(unknown, try store.keptPlaces(in: unknown, model[id], end)) {
            memories[id.index].noteKept(places, in: owner, end)
        }
    }

    /// The rows at the other end of a row's links, in order. A link to a row that is not stored is none.
    func targets(of row: RowKey, _ id: LinkID, from end: Link.End) throws -> [RowKey] {
        try list(of: row, id, end).map(\.row)
    }

    /// Where a foreign key leads.
    func target(of row: RowKey, _ id: LinkID) throws -> RowKey? { try targets(of: row, id, from: .first).first }

    /// The list of a row, in order, with the places in it.
    func list(of owner: RowKey, _ id: LinkID, _ end: Link.End) throws -> [(row: RowKey, place: Int64?)] {
        try load([owner], id, from: end)
        return memories[id.index].list(of: owner, end)
    }

    // MARK: Foreign keys

    /// Points a foreign key at a row, as the last of those that do.
    func setTarget(_ target: RowKey, of row: RowKey, _ id: LinkID) throws {
        try clearTarget(of: row, id)
        let place = try model[id].hasPlaces(.second) ? freePlace(in: target, id, .second) : nil
        memories[id.index].set(LinkedRows(first: row, second: target), LinkPlaces(second: place))
    }

    /// Takes its target from a foreign key.
    func clearTarget(of row: RowKey, _ id: LinkID) throws {
        try load([row], id, from: .first)
        for pair in memories[id.index].pairs(of: row, .first) { memories[id.index].remove(pair) }
    }

    // MARK: Pairs

    /// Adds a pair that is the last one of both rows.
    ///
    /// - Returns: Whether it was not there.
    func add(_ pair: LinkedRows, _ id: LinkID) throws -> Bool {
        try load([pair], id)
        guard !memories[id.index].contains(pair) else { return false }
        var places = LinkPlaces()
        for end in [Link.End.first, .second] where model[id].hasPlaces(end) {
            places[end] = try freePlace(in: pair.row(end), id, end)
        }
        memories[id.index].set(pair, places)
        return true
    }

    /// - Returns: Whether the pair was there.
    func remove(_ pair: LinkedRows, _ id: LinkID) throws -> Bool {
        // With its places, in case it is added again.
        if !memories[id.index].isLoaded(pair.second, .second) { try load([pair.first], id, from: .first) }
        guard memories[id.index].contains(pair) else { return false }
        memories[id.index].remove(pair)
        return true
    }

    /// Removes all pairs of a row.
    func removePairs(of row: RowKey, _ id: LinkID, at end: Link.End) throws {
        try load([row], id, from: end)
        for pair in memories[id.index].pairs(of: row, end) { memories[id.index].remove(pair) }
    }

    // MARK: Places

    /// The place after all others in the list of a row: after those that are linked, and those that it waits for.
    private func freePlace(in owner: RowKey, _ id: LinkID, _ end: Link.End) throws -> Int64 {
        try loadKeptPlaces(in: [owner], id, end)
        try load([owner], id, from: end)
        let kept = memories[id.index].keptPlaces(owner, end)?.max() ?? -1
        return max(memories[id.index].lastPlace(in: owner, end), kept) + 1
    }

    /// A list keeps a place for a row that it waits for.
    func keep(_ place: Int64, in owner: RowKey, _ id: LinkID, _ end: Link.End) {
        memories[id.index].keep(place, in: owner, end)
    }

    func release(_ place: Int64, in owner: RowKey, _ id: LinkID, _ end: Link.End) {
        memories[id.index].release(place, in: owner, end)
    }

    /// Gives a row its place in the list of another, where they are linked.
    func setPlace(_ place: Int64, of row: RowKey, in owner: RowKey, _ id: LinkID, _ end: Link.End) throws {
        try load([owner], id, from: end)
        let pair = LinkMemory.pair(owner, row, end)
        guard model[id].hasPlaces(end), var places = memories[id.index].places[pair] else { return }
        places[end] = place
        memories[id.index].set(pair, places)
    }

    /// Gives a row the place that a list has kept for it, where they are linked; what has that place by now moves away.
    func takePlace(_ place: Int64, of row: RowKey, in owner: RowKey, _ id: LinkID, _ end: Link.End) throws {
        guard place >= 0, model[id].hasPlaces(end) else { return }
        let list = try list(of: owner, id, end)
        guard let known = list.first(where: { $0.row == row }), known.place != place else { return }
        if list.contains(where: { $0.place == place }) {
            for (other, taken) in list {
                if let taken, taken >= place { try setPlace(taken + 1, of: other, in: owner, id, end) }
            }
        }
        try setPlace(place, of: row, in: owner, id, end)
    }

    // MARK: Writing

    /// Rows are gone, and their links with them.
    func forget(_ rows: [StoredRow]) {
        for link in model.links {
            for row in rows {
                if link.first.table == row.table { memories[link.id.index].forget(row.key, .first) }
                if link.second.table == row.table { memories[link.id.index].forget(row.key, .second) }
            }
        }
    }

    /// Writes what changed.
    ///
    /// - Parameter before: Called with rows whose foreign keys are about to be written.
    func write(_ before: (_ rows: [StoredRow]) throws -> Void) throws {
        for link in model.links where memories[link.id.index].hasChanges {
            if link.storage == .foreignKey {
                let changes = memories[link.id.index].targetChanges
                try before(changes.map { StoredRow(table: link.first.table, key: $0.row) })
                if !changes.isEmpty { try store.setTargets(changes, link) }
            } else {
                try write(memories[link.id.index].pairWrites, link)
            }
            memories[link.id.index].noteWritten()
        }
    }

    private func write(_ changes: LinkMemory.PairWrites, _ link: Link) throws {
        if !changes.removed.isEmpty { try store.remove(changes.removed, link) }
        for end in [Link.End.first, .second] where !changes.moved[end].isEmpty {
            try store.setPlaces(changes.moved[end], link, end)
        }
        if !changes.added.isEmpty { try store.insert(changes.added, link) }
    }
}
