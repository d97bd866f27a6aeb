import SyncCore

/// Stored links that a sync changes one by one: read in sets, changed in memory, written in sets.
///
/// Rows that were not ``load(_:_:from:)``ed are read on demand, so every result is correct. A loop over many rows loads
/// them first.
final class LinkChangeTracker {
    private let store: any StoreSession
    private let model: CompiledModel
    private var memories: [TrackedLinks]

    init(_ store: any StoreSession, _ model: CompiledModel) {
        self.store = store
        self.model = model
        memories = model.links.map { _ in TrackedLinks() }
    }

    /// Clears the cache after links were written by other means.
    func removeAll() { memories = model.links.map { _ in TrackedLinks() } }

    // MARK: Reading

    /// Reads the links of rows at an end, except rows that are loaded.
    func load(_ rows: some Sequence<RowKey>, _ id: AssociationID, from end: CompiledAssociation.End) throws {
        var seen: Set<RowKey> = []
        let unknown = rows.filter { !memories[id.index].isLoaded($0, end) && seen.insert($0).inserted }
        guard !unknown.isEmpty else { return }
        let found = try store.links(of: unknown, model[id], from: end)
        memories[id.index].record(found, of: unknown, end)
        // A foreign key references one row, so all links of the rows at the other end are loaded too.
        if model[id].storage == .foreignKey, end == .second {
            memories[id.index].recordAll(of: found.map(\.other), .first)
        }
    }

    /// Reads which join rows are stored, except those that are known.
    func load(_ pairs: [JoinKey], _ id: AssociationID) throws {
        let unknown = pairs.filter { !memories[id.index].knows($0) }
        guard !unknown.isEmpty else { return }
        memories[id.index].record(unknown, stored: try store.stored(unknown, model[id]))
    }

    /// Reads the positions that lists reserve for pending references.
    func loadPreservedPositions(in owners: some Sequence<RowKey>, _ id: AssociationID, _ end: CompiledAssociation.End)
        throws
    {
        guard model[id].hasPlaces(end) else { return }
        var seen: Set<RowKey> = []
        let unknown = owners.filter {
            memories[id.index].preservedPositions($0, end) == nil && seen.insert($0).inserted
        }
        guard !unknown.isEmpty else { return }
        for (owner, places) in zip(unknown, try store.preservedPositions(in: unknown, model[id], end)) {
            memories[id.index].setPreserved(places, in: owner, end)
        }
    }

    /// Returns the rows at the other end of a row's links, in order. Dangling links are omitted.
    func targets(of row: RowKey, _ id: AssociationID, from end: CompiledAssociation.End) throws -> [RowKey] {
        try loadAll(of: row, id, from: end)
        return memories[id.index].others(of: row, end)
    }

    /// Returns the referenced row of a foreign key.
    func target(of row: RowKey, _ id: AssociationID) throws -> RowKey? { try targets(of: row, id, from: .first).first }

    /// Returns the list of a row, in order, with positions.
    func list(of owner: RowKey, _ id: AssociationID, _ end: CompiledAssociation.End) throws -> [(
        row: RowKey, place: Int64?
    )] {
        try loadAll(of: owner, id, from: end)
        return memories[id.index].list(of: owner, end)
    }

    private func loadAll(of row: RowKey, _ id: AssociationID, from end: CompiledAssociation.End) throws {
        if !memories[id.index].isLoaded(row, end) { try load([row], id, from: end) }
    }

    // MARK: Foreign keys

    /// Sets a foreign key, with the last position in the list of the referenced row.
    func setTarget(_ target: RowKey, of row: RowKey, _ id: AssociationID) throws {
        try clearTarget(of: row, id)
        let place = try model[id].hasPlaces(.second) ? nextPosition(in: target, id, .second) : nil
        memories[id.index].set(JoinKey(first: row, second: target), LinkPositions(second: place))
    }

    /// Clears a foreign key.
    func clearTarget(of row: RowKey, _ id: AssociationID) throws {
        try loadAll(of: row, id, from: .first)
        for pair in memories[id.index].pairs(of: row, .first) { memories[id.index].remove(pair) }
    }

    // MARK: Join rows

    /// Inserts a join row at the end of both lists.
    ///
    /// - Returns: Whether the join row is new.
    func add(_ pair: JoinKey, _ id: AssociationID) throws -> Bool {
        try load([pair], id)
        guard !memories[id.index].contains(pair) else { return false }
        var places = LinkPositions()
        for end in [CompiledAssociation.End.first, .second] where model[id].hasPlaces(end) {
            places[end] = try nextPosition(in: pair.row(end), id, end)
        }
        memories[id.index].set(pair, places)
        return true
    }

    /// Removes a join row.
    ///
    /// - Returns: Whether the join row was stored.
    func remove(_ pair: JoinKey, _ id: AssociationID) throws -> Bool {
        // The positions must be known in case the join row is inserted again.
        if !memories[id.index].isLoaded(pair.second, .second) { try loadAll(of: pair.first, id, from: .first) }
        guard memories[id.index].contains(pair) else { return false }
        memories[id.index].remove(pair)
        return true
    }

    /// Removes all join rows of a row.
    func removeJoinRows(of row: RowKey, _ id: AssociationID, at end: CompiledAssociation.End) throws {
        try loadAll(of: row, id, from: end)
        for pair in memories[id.index].pairs(of: row, end) { memories[id.index].remove(pair) }
    }

    // MARK: Positions

    /// Returns the next free position in a list: after linked rows and after positions reserved for pending references.
    private func nextPosition(in owner: RowKey, _ id: AssociationID, _ end: CompiledAssociation.End) throws -> Int64 {
        try loadPreservedPositions(in: [owner], id, end)
        try loadAll(of: owner, id, from: end)
        let memory = memories[id.index]
        return ListOrdering.end(
            of: memory.places(in: owner, end), reserved: memory.preservedPositions(owner, end) ?? [])
    }

    /// Reserves a position in a list for a pending reference.
    func keep(_ place: Int64, in owner: RowKey, _ id: AssociationID, _ end: CompiledAssociation.End) {
        memories[id.index].keep(place, in: owner, end)
    }

    func release(_ place: Int64, in owner: RowKey, _ id: AssociationID, _ end: CompiledAssociation.End) {
        memories[id.index].release(place, in: owner, end)
    }

    /// Sets the position of a row in the list of another row, if they are linked.
    func setPlace(_ place: Int64, of row: RowKey, in owner: RowKey, _ id: AssociationID, _ end: CompiledAssociation.End)
        throws
    {
        try loadAll(of: owner, id, from: end)
        let pair = TrackedLinks.pair(owner, row, end)
        guard model[id].hasPlaces(end), var places = memories[id.index].places[pair] else { return }
        places[end] = place
        memories[id.index].set(pair, places)
    }

    /// Moves a row to the position that a list has reserved for it, if they are linked. A row at that position moves
    /// away.
    func takePlace(
        _ place: Int64, of row: RowKey, in owner: RowKey, _ id: AssociationID, _ end: CompiledAssociation.End
    ) throws {
        guard place >= 0, model[id].hasPlaces(end) else { return }
        let list = try list(of: owner, id, end)
        guard let index = list.firstIndex(where: { $0.row == row }) else { return }
        let places = ListOrdering.inserting(index, at: place, in: list.map(\.place))
        try setPositions(places, of: list, in: owner, id, end)
    }

    /// Sets the positions of the rows of a list, where they differ.
    func setPositions(
        _ places: [Int64?], of list: [(row: RowKey, place: Int64?)], in owner: RowKey, _ id: AssociationID,
        _ end: CompiledAssociation.End
    ) throws {
        for (known, place) in zip(list, places) where known.place != place {
            if let place { try setPlace(place, of: known.row, in: owner, id, end) }
        }
    }

    // MARK: Writing

    /// Removes deleted rows and their links from the cache.
    func forget(_ rows: [StoredRow]) {
        for link in model.links {
            for row in rows {
                if link.first.table == row.table { memories[link.id.index].forget(row.key, .first) }
                if link.second.table == row.table { memories[link.id.index].forget(row.key, .second) }
            }
        }
    }

    /// Writes the changes.
    ///
    /// - Parameter before: Called with the rows whose foreign keys are about to be written.
    func write(_ before: (_ rows: [StoredRow]) throws -> Void) throws {
        for link in model.links where memories[link.id.index].hasChanges {
            if link.storage == .foreignKey {
                let changes = memories[link.id.index].targetChanges
                try before(changes.map { StoredRow(table: link.first.table, key: $0.row) })
                if !changes.isEmpty { try store.setTargets(changes, link) }
            } else {
                try write(memories[link.id.index].pairWrites, link)
            }
            memories[link.id.index].markWritten()
        }
    }

    private func write(_ changes: TrackedLinks.JoinRowWrites, _ link: CompiledAssociation) throws {
        if !changes.removed.isEmpty { try store.remove(changes.removed, link) }
        for end in [CompiledAssociation.End.first, .second] where !changes.moved[end].isEmpty {
            try store.setPositions(changes.moved[end], link, end)
        }
        if !changes.added.isEmpty { try store.insert(changes.added, link) }
    }
}

/// The known links of one association, and their changes since they were read.
final class TrackedLinks {
    /// The stored state of a join row or foreign key, when it was last read or written.
    enum Stored {
        case absent
        case present(LinkPositions)
    }

    /// The known links, with their positions.
    private(set) var places: [JoinKey: LinkPositions] = [:]
    private var others = PerEnd<[RowKey: Set<RowKey>]>([:], [:])
    /// The rows at each end whose links are all known.
    private var loaded = PerEnd<Set<RowKey>>([], [])
    /// Join rows that were queried individually.
    private var asked: Set<JoinKey> = []
    /// The stored state of changed links.
    private(set) var changed: [JoinKey: Stored] = [:]
    /// The positions that lists reserve for pending references, by the row of the list.
    private var kept = PerEnd<[RowKey: [Int64]]>([:], [:])

    // MARK: Queries

    func isLoaded(_ row: RowKey, _ end: CompiledAssociation.End) -> Bool { loaded[end].contains(row) }

    func knows(_ pair: JoinKey) -> Bool {
        asked.contains(pair) || changed[pair] != nil || isLoaded(pair.first, .first) || isLoaded(pair.second, .second)
    }

    func contains(_ pair: JoinKey) -> Bool { places[pair] != nil }

    /// Returns the links of a row at an end.
    func pairs(of row: RowKey, _ end: CompiledAssociation.End) -> [JoinKey] {
        (others[end][row] ?? []).map { Self.pair(row, $0, end) }
    }

    /// Returns the rows at the other end of a row's links, by position, then by key.
    func others(of row: RowKey, _ end: CompiledAssociation.End) -> [RowKey] {
        guard let others = others[end][row], let first = others.first else { return [] }
        return others.count == 1 ? [first] : list(of: row, end).map(\.row)
    }

    /// Returns the list of a row with positions, by position, then by key.
    func list(of row: RowKey, _ end: CompiledAssociation.End) -> [(row: RowKey, place: Int64?)] {
        let list = (others[end][row] ?? []).map { other in
            (row: other, place: places[Self.pair(row, other, end)]?[end])
        }
        return list.sorted { left, right in
            let (l, r) = (left.place ?? .max, right.place ?? .max)
            return l != r ? l < r : left.row.precedes(right.row)
        }
    }

    /// Returns the positions in the list of a row, unsorted.
    func places(in row: RowKey, _ end: CompiledAssociation.End) -> [Int64?] {
        (others[end][row] ?? []).map { places[Self.pair(row, $0, end)]?[end] }
    }

    static func pair(_ row: RowKey, _ other: RowKey, _ end: CompiledAssociation.End) -> JoinKey {
        end == .first ? JoinKey(first: row, second: other) : JoinKey(first: other, second: row)
    }

    // MARK: Reading

    /// Records the stored links of rows at an end. Changed links stay as they are.
    func record(_ links: [StoredLink], of rows: [RowKey], _ end: CompiledAssociation.End) {
        for link in links {
            let pair = Self.pair(link.row, link.other, end)
            guard changed[pair] == nil else { continue }
            var stored = LinkPositions()
            stored[end] = link.place
            stored[end.other] = link.otherPlace
            put(pair, stored)
        }
        recordAll(of: rows, end)
    }

    /// Records that all links of rows at an end are known.
    func recordAll(of rows: [RowKey], _ end: CompiledAssociation.End) { loaded[end].formUnion(rows) }

    /// Records which of the queried join rows are stored.
    func record(_ pairs: [JoinKey], stored: Set<JoinKey>) {
        for pair in pairs where changed[pair] == nil {
            asked.insert(pair)
            if stored.contains(pair), places[pair] == nil { put(pair, LinkPositions()) }
        }
    }

    // MARK: Changes

    func set(_ pair: JoinKey, _ new: LinkPositions) {
        remember(pair)
        put(pair, new)
    }

    func remove(_ pair: JoinKey) {
        guard contains(pair) else { return }
        remember(pair)
        take(pair)
    }

    private func remember(_ pair: JoinKey) {
        if changed[pair] == nil { changed[pair] = places[pair].map(Stored.present) ?? .absent }
    }

    private func put(_ pair: JoinKey, _ new: LinkPositions) {
        places[pair] = new
        others.first[pair.first, default: []].insert(pair.second)
        others.second[pair.second, default: []].insert(pair.first)
    }

    private func take(_ pair: JoinKey) {
        places[pair] = nil
        others.first[pair.first]?.remove(pair.second)
        others.second[pair.second]?.remove(pair.first)
    }

    /// Records that all changes are written.
    func markWritten() { changed = [:] }

    /// Removes the links of a deleted row at an end.
    func forget(_ row: RowKey, _ end: CompiledAssociation.End) {
        for pair in pairs(of: row, end) {
            take(pair)
            changed[pair] = nil
        }
    }

    // MARK: Reserved positions

    func preservedPositions(_ row: RowKey, _ end: CompiledAssociation.End) -> [Int64]? { kept[end][row] }

    func setPreserved(_ places: [Int64], in row: RowKey, _ end: CompiledAssociation.End) { kept[end][row] = places }

    /// Reserves a position in a list, if its reserved positions are loaded.
    func keep(_ place: Int64, in row: RowKey, _ end: CompiledAssociation.End) { kept[end][row]?.append(place) }

    /// Releases a reserved position of a list.
    func release(_ place: Int64, in row: RowKey, _ end: CompiledAssociation.End) {
        guard let index = kept[end][row]?.firstIndex(of: place) else { return }
        kept[end][row]?.remove(at: index)
    }
}

// MARK: - TrackedLinks+Changes

// The changes to write, sorted by key.
extension TrackedLinks {
    /// The changes of a join table.
    struct JoinRowWrites {
        var removed: [JoinKey] = []
        var moved = PerEnd<[(pair: JoinKey, place: Int64)]>([], [])
        var added: [JoinRow] = []
    }

    var hasChanges: Bool { !changed.isEmpty }

    /// The rows whose foreign key differs from the stored one.
    var targetChanges: [ForeignKeyUpdate] {
        var stored: [RowKey: JoinKey] = [:]
        for (pair, was) in changed { if case .present = was { stored[pair.first] = pair } }
        return Set(changed.keys.map(\.first)).sorted { $0.precedes($1) }.compactMap { row in
            let now = pairs(of: row, .first).first
            let place = now.flatMap { places[$0]?.second }
            guard let was = stored[row] else { return now.map { .init(row: row, target: $0.second, place: place) } }
            if was == now, case .present(let old) = changed[was], old.second == place { return nil }
            return ForeignKeyUpdate(row: row, target: now?.second, place: place)
        }
    }

    var pairWrites: JoinRowWrites {
        var changes = JoinRowWrites()
        for pair in changed.keys.sorted(by: Self.precedes) {
            switch (changed[pair], places[pair]) {
            case (.present, nil): changes.removed.append(pair)
            case (.absent, let places?): changes.added.append(JoinRow(rows: pair, places: places))
            case (.present(let old), let new?):
                for end in [CompiledAssociation.End.first, .second] {
                    if let place = new[end], place != old[end] { changes.moved[end].append((pair, place)) }
                }
            case (.absent, nil), (nil, _): break
            }
        }
        return changes
    }

    private static func precedes(_ left: JoinKey, _ right: JoinKey) -> Bool {
        left.first != right.first ? left.first.precedes(right.first) : left.second.precedes(right.second)
    }
}
