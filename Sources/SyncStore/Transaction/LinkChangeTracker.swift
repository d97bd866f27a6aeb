import SyncCore

/// Stored links that a sync changes one by one. They are read in sets, changed in memory, and written in sets.
///
/// Links that ``load(_:_:from:)`` has not loaded are read on demand, so every result is correct. A loop over many rows
/// loads their links first, to read them in one set.
final class LinkChangeTracker {
    private let store: any StoreSession
    private let model: CompiledModel
    private var trackedLinks: [TrackedLinks]

    init(_ store: any StoreSession, _ model: CompiledModel) {
        self.store = store
        self.model = model
        trackedLinks = model.links.map { _ in TrackedLinks() }
    }

    /// Clears the cache. Call it after links were written without this tracker.
    func removeAll() { trackedLinks = model.links.map { _ in TrackedLinks() } }

    // MARK: Reading

    /// Reads the links of rows at an end, except rows whose links are loaded.
    func load(_ rows: some Sequence<RowKey>, _ id: AssociationID, from end: CompiledAssociation.End) throws {
        var seen: Set<RowKey> = []
        let unknown = rows.filter { !trackedLinks[id.index].isLoaded($0, end) && seen.insert($0).inserted }
        guard !unknown.isEmpty else { return }
        let found = try store.links(of: unknown, model[id], from: end)
        trackedLinks[id.index].record(found, of: unknown, end)
        // A foreign key references one row, so all links of the rows at the other end are loaded too.
        if model[id].storage == .foreignKey, end == .second {
            trackedLinks[id.index].recordAll(of: found.map(\.other), .first)
        }
    }

    /// Reads which join rows are stored, except join rows that are known.
    func load(_ keys: [JoinKey], _ id: AssociationID) throws {
        let unknown = keys.filter { !trackedLinks[id.index].isKnown($0) }
        guard !unknown.isEmpty else { return }
        trackedLinks[id.index].record(unknown, stored: try store.stored(unknown, model[id]))
    }

    /// Reads the positions that lists reserve for pending references.
    func loadReservedPositions(in owners: some Sequence<RowKey>, _ id: AssociationID, _ end: CompiledAssociation.End)
        throws
    {
        guard model[id].hasPositions(end) else { return }
        var seen: Set<RowKey> = []
        let unknown = owners.filter {
            trackedLinks[id.index].reservedPositions($0, end) == nil && seen.insert($0).inserted
        }
        guard !unknown.isEmpty else { return }
        for (owner, positions) in zip(unknown, try store.reservedPositions(in: unknown, model[id], end)) {
            trackedLinks[id.index].setReservedPositions(positions, in: owner, end)
        }
    }

    /// Returns the rows at the other end of a row's links, in order. Dangling links are omitted.
    func targets(of row: RowKey, _ id: AssociationID, from end: CompiledAssociation.End) throws -> [RowKey] {
        try loadAll(of: row, id, from: end)
        return trackedLinks[id.index].others(of: row, end)
    }

    /// Returns the row that a foreign key references; nil if it is null or dangling.
    func target(of row: RowKey, _ id: AssociationID) throws -> RowKey? { try targets(of: row, id, from: .first).first }

    /// Returns the list of a row, in order, with positions.
    func list(of owner: RowKey, _ id: AssociationID, _ end: CompiledAssociation.End) throws -> [(
        row: RowKey, position: Int64?
    )] {
        try loadAll(of: owner, id, from: end)
        return trackedLinks[id.index].list(of: owner, end)
    }

    private func loadAll(of row: RowKey, _ id: AssociationID, from end: CompiledAssociation.End) throws {
        if !trackedLinks[id.index].isLoaded(row, end) { try load([row], id, from: end) }
    }

    // MARK: Foreign keys

    /// Sets a foreign key, with the last position in the list of the referenced row.
    func setTarget(_ target: RowKey, of row: RowKey, _ id: AssociationID) throws {
        try clearTarget(of: row, id)
        let position = try model[id].hasPositions(.second) ? nextPosition(in: target, id, .second) : nil
        trackedLinks[id.index].set(JoinKey(first: row, second: target), LinkPositions(second: position))
    }

    /// Clears a foreign key.
    func clearTarget(of row: RowKey, _ id: AssociationID) throws {
        try loadAll(of: row, id, from: .first)
        for key in trackedLinks[id.index].keys(of: row, .first) { trackedLinks[id.index].remove(key) }
    }

    // MARK: Join rows

    /// Inserts a join row at the end of both lists.
    ///
    /// - Returns: Whether the join row is new.
    func add(_ key: JoinKey, _ id: AssociationID) throws -> Bool {
        try load([key], id)
        guard !trackedLinks[id.index].contains(key) else { return false }
        var positions = LinkPositions()
        for end in [CompiledAssociation.End.first, .second] where model[id].hasPositions(end) {
            positions[end] = try nextPosition(in: key.row(end), id, end)
        }
        trackedLinks[id.index].set(key, positions)
        return true
    }

    /// Removes a join row.
    ///
    /// - Returns: Whether the join row existed.
    func remove(_ key: JoinKey, _ id: AssociationID) throws -> Bool {
        // The positions must be known in case the join row is inserted again.
        if !trackedLinks[id.index].isLoaded(key.second, .second) { try loadAll(of: key.first, id, from: .first) }
        guard trackedLinks[id.index].contains(key) else { return false }
        trackedLinks[id.index].remove(key)
        return true
    }

    /// Removes all join rows of a row.
    func removeJoinRows(of row: RowKey, _ id: AssociationID, at end: CompiledAssociation.End) throws {
        try loadAll(of: row, id, from: end)
        for key in trackedLinks[id.index].keys(of: row, end) { trackedLinks[id.index].remove(key) }
    }

    // MARK: Positions

    /// Returns the next free position in a list: after linked rows and after positions reserved for pending references.
    private func nextPosition(in owner: RowKey, _ id: AssociationID, _ end: CompiledAssociation.End) throws -> Int64 {
        try loadReservedPositions(in: [owner], id, end)
        try loadAll(of: owner, id, from: end)
        let links = trackedLinks[id.index]
        return ListOrdering.end(
            of: links.positions(in: owner, end), reserved: links.reservedPositions(owner, end) ?? [])
    }

    /// Reserves a position in a list for a pending reference.
    func reservePosition(_ position: Int64, in owner: RowKey, _ id: AssociationID, _ end: CompiledAssociation.End) {
        trackedLinks[id.index].reserve(position, in: owner, end)
    }

    func releasePosition(_ position: Int64, in owner: RowKey, _ id: AssociationID, _ end: CompiledAssociation.End) {
        trackedLinks[id.index].releasePosition(position, in: owner, end)
    }

    /// Sets the position of a row in the list of another row, if they are linked.
    func setPosition(
        _ position: Int64, of row: RowKey, in owner: RowKey, _ id: AssociationID, _ end: CompiledAssociation.End
    )
        throws
    {
        try loadAll(of: owner, id, from: end)
        let key = TrackedLinks.key(owner, row, end)
        guard model[id].hasPositions(end), var positions = trackedLinks[id.index].positions[key] else { return }
        positions[end] = position
        trackedLinks[id.index].set(key, positions)
    }

    /// Moves a row to the position that a list has reserved for it, if they are linked. A row at that position moves
    /// away.
    func moveToPosition(
        _ position: Int64, of row: RowKey, in owner: RowKey, _ id: AssociationID, _ end: CompiledAssociation.End
    ) throws {
        guard position >= 0, model[id].hasPositions(end) else { return }
        let list = try list(of: owner, id, end)
        guard let index = list.firstIndex(where: { $0.row == row }) else { return }
        let positions = ListOrdering.inserting(index, at: position, in: list.map(\.position))
        try setPositions(positions, of: list, in: owner, id, end)
    }

    /// Sets the positions of the rows of a list, where they differ.
    func setPositions(
        _ positions: [Int64?], of list: [(row: RowKey, position: Int64?)], in owner: RowKey, _ id: AssociationID,
        _ end: CompiledAssociation.End
    ) throws {
        for (known, position) in zip(list, positions) where known.position != position {
            if let position { try setPosition(position, of: known.row, in: owner, id, end) }
        }
    }

    // MARK: Writing

    /// Removes deleted rows and their links from the cache.
    func removeRows(_ rows: [StoredRow]) {
        for link in model.links {
            for row in rows {
                if link.first.table == row.table { trackedLinks[link.id.index].removeRow(row.key, .first) }
                if link.second.table == row.table { trackedLinks[link.id.index].removeRow(row.key, .second) }
            }
        }
    }

    /// Writes the changes to the store.
    ///
    /// - Parameter before: Called with the rows whose foreign keys are about to be written.
    func write(_ before: (_ rows: [StoredRow]) throws -> Void) throws {
        for link in model.links where trackedLinks[link.id.index].hasChanges {
            if link.storage == .foreignKey {
                let changes = trackedLinks[link.id.index].targetChanges
                try before(changes.map { StoredRow(table: link.first.table, key: $0.row) })
                if !changes.isEmpty { try store.setForeignKeys(changes, link) }
            } else {
                try write(trackedLinks[link.id.index].joinRowWrites, link)
            }
            trackedLinks[link.id.index].clearChanges()
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

/// The known links of one association, and their changes since they were last read or written.
final class TrackedLinks {
    /// The stored state of a join row or foreign key, when it was last read or written.
    enum Stored {
        case absent
        case present(LinkPositions)
    }

    /// The known links, with their positions.
    private(set) var positions: [JoinKey: LinkPositions] = [:]
    private var others = PerEnd<[RowKey: Set<RowKey>]>([:], [:])
    /// The rows at each end whose links are all known.
    private var loaded = PerEnd<Set<RowKey>>([], [])
    /// Join rows that were queried individually.
    private var asked: Set<JoinKey> = []
    /// The stored state of each link that was changed in memory.
    private(set) var changed: [JoinKey: Stored] = [:]
    /// The positions that lists reserve for pending references, by the row of the list.
    private var reserved = PerEnd<[RowKey: [Int64]]>([:], [:])

    // MARK: Queries

    func isLoaded(_ row: RowKey, _ end: CompiledAssociation.End) -> Bool { loaded[end].contains(row) }

    func isKnown(_ key: JoinKey) -> Bool {
        asked.contains(key) || changed[key] != nil || isLoaded(key.first, .first) || isLoaded(key.second, .second)
    }

    func contains(_ key: JoinKey) -> Bool { positions[key] != nil }

    /// Returns the links of a row at an end.
    func keys(of row: RowKey, _ end: CompiledAssociation.End) -> [JoinKey] {
        (others[end][row] ?? []).map { Self.key(row, $0, end) }
    }

    /// Returns the rows at the other end of a row's links, by position, then by key.
    func others(of row: RowKey, _ end: CompiledAssociation.End) -> [RowKey] {
        guard let others = others[end][row], let first = others.first else { return [] }
        return others.count == 1 ? [first] : list(of: row, end).map(\.row)
    }

    /// Returns the list of a row with positions, by position, then by key.
    func list(of row: RowKey, _ end: CompiledAssociation.End) -> [(row: RowKey, position: Int64?)] {
        let list = (others[end][row] ?? []).map { other in
            (row: other, position: positions[Self.key(row, other, end)]?[end])
        }
        return list.sorted { left, right in
            let (l, r) = (left.position ?? .max, right.position ?? .max)
            return l != r ? l < r : left.row.precedes(right.row)
        }
    }

    /// Returns the positions in the list of a row, unsorted.
    func positions(in row: RowKey, _ end: CompiledAssociation.End) -> [Int64?] {
        (others[end][row] ?? []).map { positions[Self.key(row, $0, end)]?[end] }
    }

    static func key(_ row: RowKey, _ other: RowKey, _ end: CompiledAssociation.End) -> JoinKey {
        end == .first ? JoinKey(first: row, second: other) : JoinKey(first: other, second: row)
    }

    // MARK: Reading

    /// Records the stored links of rows at an end. Changed links stay as they are.
    func record(_ links: [StoredLink], of rows: [RowKey], _ end: CompiledAssociation.End) {
        for link in links {
            let key = Self.key(link.row, link.other, end)
            guard changed[key] == nil else { continue }
            var stored = LinkPositions()
            stored[end] = link.position
            stored[end.other] = link.otherPosition
            addKey(key, stored)
        }
        recordAll(of: rows, end)
    }

    /// Records that all links of rows at an end are known.
    func recordAll(of rows: [RowKey], _ end: CompiledAssociation.End) { loaded[end].formUnion(rows) }

    /// Records which of the queried join rows are stored.
    func record(_ keys: [JoinKey], stored: Set<JoinKey>) {
        for key in keys where changed[key] == nil {
            asked.insert(key)
            if stored.contains(key), positions[key] == nil { addKey(key, LinkPositions()) }
        }
    }

    // MARK: Changes

    func set(_ key: JoinKey, _ new: LinkPositions) {
        recordStored(key)
        addKey(key, new)
    }

    func remove(_ key: JoinKey) {
        guard contains(key) else { return }
        recordStored(key)
        removeKey(key)
    }

    private func recordStored(_ key: JoinKey) {
        if changed[key] == nil { changed[key] = positions[key].map(Stored.present) ?? .absent }
    }

    private func addKey(_ key: JoinKey, _ new: LinkPositions) {
        positions[key] = new
        others.first[key.first, default: []].insert(key.second)
        others.second[key.second, default: []].insert(key.first)
    }

    private func removeKey(_ key: JoinKey) {
        positions[key] = nil
        others.first[key.first]?.remove(key.second)
        others.second[key.second]?.remove(key.first)
    }

    /// Records that all changes are written.
    func clearChanges() { changed = [:] }

    /// Removes the links of a deleted row at an end.
    func removeRow(_ row: RowKey, _ end: CompiledAssociation.End) {
        for key in keys(of: row, end) {
            removeKey(key)
            changed[key] = nil
        }
    }

    // MARK: Reserved positions

    func reservedPositions(_ row: RowKey, _ end: CompiledAssociation.End) -> [Int64]? { reserved[end][row] }

    func setReservedPositions(_ positions: [Int64], in row: RowKey, _ end: CompiledAssociation.End) {
        reserved[end][row] = positions
    }

    /// Reserves a position in a list, if its reserved positions are loaded.
    func reserve(_ position: Int64, in row: RowKey, _ end: CompiledAssociation.End) {
        reserved[end][row]?.append(position)
    }

    /// Releases a reserved position of a list.
    func releasePosition(_ position: Int64, in row: RowKey, _ end: CompiledAssociation.End) {
        guard let index = reserved[end][row]?.firstIndex(of: position) else { return }
        reserved[end][row]?.remove(at: index)
    }
}

// MARK: - TrackedLinks+Changes

// The changes to write, sorted by key.
extension TrackedLinks {
    /// The changes of a join table.
    struct JoinRowWrites {
        var removed: [JoinKey] = []
        var moved = PerEnd<[(key: JoinKey, position: Int64)]>([], [])
        var added: [JoinRow] = []
    }

    var hasChanges: Bool { !changed.isEmpty }

    /// The rows whose foreign key or position differs from the stored one, with the new values.
    var targetChanges: [ForeignKeyUpdate] {
        var stored: [RowKey: JoinKey] = [:]
        for (key, was) in changed { if case .present = was { stored[key.first] = key } }
        return Set(changed.keys.map(\.first)).sorted { $0.precedes($1) }.compactMap { row in
            let now = keys(of: row, .first).first
            let position = now.flatMap { positions[$0]?.second }
            guard let was = stored[row] else {
                return now.map { .init(row: row, target: $0.second, position: position) }
            }
            if was == now, case .present(let old) = changed[was], old.second == position { return nil }
            return ForeignKeyUpdate(row: row, target: now?.second, position: position)
        }
    }

    var joinRowWrites: JoinRowWrites {
        var changes = JoinRowWrites()
        for key in changed.keys.sorted(by: Self.precedes) {
            switch (changed[key], positions[key]) {
            case (.present, nil): changes.removed.append(key)
            case (.absent, let positions?): changes.added.append(JoinRow(rows: key, positions: positions))
            case (.present(let old), let new?):
                for end in [CompiledAssociation.End.first, .second] {
                    if let position = new[end], position != old[end] { changes.moved[end].append((key, position)) }
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
