import SyncCore

/// The stored links while a sync changes single ones of them: read in sets, changed in memory, written in sets.
///
/// Whatever is asked of rows that were not ``load(_:_:from:)``ed is read at once, so that an answer is always right; a loop
/// over many rows loads them before.
final class LinkChangeTracker {
    private let store: any StoreSession
    private let model: CompiledModel
    private var memories: [TrackedLinks]

    init(_ store: any StoreSession, _ model: CompiledModel) {
        self.store = store
        self.model = model
        memories = model.links.map { _ in TrackedLinks() }
    }

    /// Forgets what was read, because links were written by other means.
    func removeAll() { memories = model.links.map { _ in TrackedLinks() } }

    // MARK: Reading

    /// Reads the links that rows have from an end, but for those that are known.
    func load(_ rows: some Sequence<RowKey>, _ id: AssociationID, from end: CompiledAssociation.End) throws {
        var seen: Set<RowKey> = []
        let unknown = rows.filter { !memories[id.index].isLoaded($0, end) && seen.insert($0).inserted }
        guard !unknown.isEmpty else { return }
        let found = try store.links(of: unknown, model[id], from: end)
        memories[id.index].record(found, of: unknown, end)
        // A foreign key leads to one row, so that all is known of those that were met from the other end.
        if model[id].storage == .foreignKey, end == .second {
            memories[id.index].recordAll(of: found.map(\.other), .first)
        }
    }

    /// Reads whether pairs of a join table are stored, but for those that are known.
    func load(_ pairs: [JoinKey], _ id: AssociationID) throws {
        let unknown = pairs.filter { !memories[id.index].knows($0) }
        guard !unknown.isEmpty else { return }
        memories[id.index].record(unknown, stored: try store.stored(unknown, model[id]))
    }

    /// Reads the places that lists keep for awaited rows.
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

    /// The rows at the other end of a row's links, in order. A link to a row that is not stored is none.
    func targets(of row: RowKey, _ id: AssociationID, from end: CompiledAssociation.End) throws -> [RowKey] {
        try loadAll(of: row, id, from: end)
        return memories[id.index].others(of: row, end)
    }

    /// Where a foreign key leads.
    func target(of row: RowKey, _ id: AssociationID) throws -> RowKey? { try targets(of: row, id, from: .first).first }

    /// The list of a row, in order, with the places in it.
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

    /// Points a foreign key at a row, as the last of those that do.
    func setTarget(_ target: RowKey, of row: RowKey, _ id: AssociationID) throws {
        try clearTarget(of: row, id)
        let place = try model[id].hasPlaces(.second) ? nextPosition(in: target, id, .second) : nil
        memories[id.index].set(JoinKey(first: row, second: target), LinkPositions(second: place))
    }

    /// Takes its target from a foreign key.
    func clearTarget(of row: RowKey, _ id: AssociationID) throws {
        try loadAll(of: row, id, from: .first)
        for pair in memories[id.index].pairs(of: row, .first) { memories[id.index].remove(pair) }
    }

    // MARK: Pairs

    /// Adds a pair that is the last one of both rows.
    ///
    /// - Returns: Whether it was not there.
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

    /// - Returns: Whether the pair was there.
    func remove(_ pair: JoinKey, _ id: AssociationID) throws -> Bool {
        // With its places, in case it is added again.
        if !memories[id.index].isLoaded(pair.second, .second) { try loadAll(of: pair.first, id, from: .first) }
        guard memories[id.index].contains(pair) else { return false }
        memories[id.index].remove(pair)
        return true
    }

    /// Removes all pairs of a row.
    func removeJoinRows(of row: RowKey, _ id: AssociationID, at end: CompiledAssociation.End) throws {
        try loadAll(of: row, id, from: end)
        for pair in memories[id.index].pairs(of: row, end) { memories[id.index].remove(pair) }
    }

    // MARK: Places

    /// The place after all others in the list of a row: after those that are linked, and those that it waits for.
    private func nextPosition(in owner: RowKey, _ id: AssociationID, _ end: CompiledAssociation.End) throws -> Int64 {
        try loadPreservedPositions(in: [owner], id, end)
        try loadAll(of: owner, id, from: end)
        let memory = memories[id.index]
        return ListOrdering.end(
            of: memory.places(in: owner, end), reserved: memory.preservedPositions(owner, end) ?? [])
    }

    /// A list keeps a place for a row that it waits for.
    func keep(_ place: Int64, in owner: RowKey, _ id: AssociationID, _ end: CompiledAssociation.End) {
        memories[id.index].keep(place, in: owner, end)
    }

    func release(_ place: Int64, in owner: RowKey, _ id: AssociationID, _ end: CompiledAssociation.End) {
        memories[id.index].release(place, in: owner, end)
    }

    /// Gives a row its place in the list of another, where they are linked.
    func setPlace(_ place: Int64, of row: RowKey, in owner: RowKey, _ id: AssociationID, _ end: CompiledAssociation.End)
        throws
    {
        try loadAll(of: owner, id, from: end)
        let pair = TrackedLinks.pair(owner, row, end)
        guard model[id].hasPlaces(end), var places = memories[id.index].places[pair] else { return }
        places[end] = place
        memories[id.index].set(pair, places)
    }

    /// Gives a row the place that a list has kept for it, where they are linked; what has that place by now moves away.
    func takePlace(
        _ place: Int64, of row: RowKey, in owner: RowKey, _ id: AssociationID, _ end: CompiledAssociation.End
    ) throws {
        guard place >= 0, model[id].hasPlaces(end) else { return }
        let list = try list(of: owner, id, end)
        guard let index = list.firstIndex(where: { $0.row == row }) else { return }
        let places = ListOrdering.inserting(index, at: place, in: list.map(\.place))
        try setPositions(places, of: list, in: owner, id, end)
    }

    /// Gives the rows of a list new places, as far as these are others.
    func setPositions(
        _ places: [Int64?], of list: [(row: RowKey, place: Int64?)], in owner: RowKey, _ id: AssociationID,
        _ end: CompiledAssociation.End
    ) throws {
        for (known, place) in zip(list, places) where known.place != place {
            if let place { try setPlace(place, of: known.row, in: owner, id, end) }
        }
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

/// What is known of one link's stored pairs, and what became of them since they were read.
final class TrackedLinks {
    /// What a pair was when it was last read or written.
    enum Stored {
        case absent
        case present(LinkPositions)
    }

    /// The pairs that hold, as far as they are known.
    private(set) var places: [JoinKey: LinkPositions] = [:]
    private var others = PerEnd<[RowKey: Set<RowKey>]>([:], [:])
    /// The rows at either end whose pairs are all known.
    private var loaded = PerEnd<Set<RowKey>>([], [])
    /// Pairs that were asked about one by one.
    private var asked: Set<JoinKey> = []
    /// What pairs were that are not as they are stored.
    private(set) var changed: [JoinKey: Stored] = [:]
    /// The places that lists keep for awaited rows, by the rows whose lists they are.
    private var kept = PerEnd<[RowKey: [Int64]]>([:], [:])

    // MARK: Asking

    func isLoaded(_ row: RowKey, _ end: CompiledAssociation.End) -> Bool { loaded[end].contains(row) }

    func knows(_ pair: JoinKey) -> Bool {
        asked.contains(pair) || changed[pair] != nil || isLoaded(pair.first, .first) || isLoaded(pair.second, .second)
    }

    func contains(_ pair: JoinKey) -> Bool { places[pair] != nil }

    /// The pairs of a row at an end.
    func pairs(of row: RowKey, _ end: CompiledAssociation.End) -> [JoinKey] {
        (others[end][row] ?? []).map { Self.pair(row, $0, end) }
    }

    /// The rows at the other end of the pairs of a row, by their places in its list, then by key.
    func others(of row: RowKey, _ end: CompiledAssociation.End) -> [RowKey] {
        guard let others = others[end][row], let first = others.first else { return [] }
        return others.count == 1 ? [first] : list(of: row, end).map(\.row)
    }

    /// The same with their places.
    func list(of row: RowKey, _ end: CompiledAssociation.End) -> [(row: RowKey, place: Int64?)] {
        let list = (others[end][row] ?? []).map { other in
            (row: other, place: places[Self.pair(row, other, end)]?[end])
        }
        return list.sorted { left, right in
            let (l, r) = (left.place ?? .max, right.place ?? .max)
            return l != r ? l < r : left.row.precedes(right.row)
        }
    }

    /// The places in the list of a row, in no order.
    func places(in row: RowKey, _ end: CompiledAssociation.End) -> [Int64?] {
        (others[end][row] ?? []).map { places[Self.pair(row, $0, end)]?[end] }
    }

    static func pair(_ row: RowKey, _ other: RowKey, _ end: CompiledAssociation.End) -> JoinKey {
        end == .first ? JoinKey(first: row, second: other) : JoinKey(first: other, second: row)
    }

    // MARK: Reading

    /// What was read of rows at an end. What was changed since it was written stays as it is.
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

    /// All pairs of rows at an end are known.
    func recordAll(of rows: [RowKey], _ end: CompiledAssociation.End) { loaded[end].formUnion(rows) }

    /// Which of some pairs were found to be stored.
    func record(_ pairs: [JoinKey], stored: Set<JoinKey>) {
        for pair in pairs where changed[pair] == nil {
            asked.insert(pair)
            if stored.contains(pair), places[pair] == nil { put(pair, LinkPositions()) }
        }
    }

    // MARK: Changing

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

    /// What was changed is written.
    func markWritten() { changed = [:] }

    /// Rows at an end are gone, and their pairs with them.
    func forget(_ row: RowKey, _ end: CompiledAssociation.End) {
        for pair in pairs(of: row, end) {
            take(pair)
            changed[pair] = nil
        }
    }

    // MARK: Kept places

    func preservedPositions(_ row: RowKey, _ end: CompiledAssociation.End) -> [Int64]? { kept[end][row] }

    func setPreserved(_ places: [Int64], in row: RowKey, _ end: CompiledAssociation.End) { kept[end][row] = places }

    /// A list keeps a place, if it is known which ones it keeps.
    func keep(_ place: Int64, in row: RowKey, _ end: CompiledAssociation.End) { kept[end][row]?.append(place) }

    /// A list keeps a place no more.
    func release(_ place: Int64, in row: RowKey, _ end: CompiledAssociation.End) {
        guard let index = kept[end][row]?.firstIndex(of: place) else { return }
        kept[end][row]?.remove(at: index)
    }
}

// MARK: - TrackedLinks+Changes

// What is to be written: where links are not as they are stored, in the order of keys.
extension TrackedLinks {
    /// What is to be written to a join table.
    struct JoinRowWrites {
        var removed: [JoinKey] = []
        var moved = PerEnd<[(pair: JoinKey, place: Int64)]>([], [])
        var added: [JoinRow] = []
    }

    var hasChanges: Bool { !changed.isEmpty }

    /// Of a foreign key: what each row leads to now, if that is not what is stored.
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
