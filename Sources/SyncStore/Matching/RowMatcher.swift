public import SyncCore

/// Matches the stored rows of one table with nodes, and records which columns differ.
///
/// It owns the matches of the table during the loop that reads the rows. ``finish()`` returns them to the table.
///
/// Functions that are called for each row are mutating or static. A call of another function copies the matcher.
@usableFromInline
package struct RowMatcher {
    /// The properties of a referenced table that are needed to find its nodes.
    @usableFromInline
    struct Target {
        @usableFromInline let lookup: NodeLookup
        @usableFromInline let key: (type: AttributeType, owner: Int)?
        @usableFromInline let hasSurrogateKey: Bool
    }

    let table: SyncTable
    @usableFromInline let columns: RowColumns
    @usableFromInline let targets: [Target]
    @usableFromInline let lookup: NodeLookup
    let model: CompiledModel
    let batch: NodeBatch
    /// The values of the batch, of the merged versions, and the version of each node: parts of ``EffectiveValues``.
    @usableFromInline let slots: [PackedValue]
    @usableFromInline let merged: [PackedValue]
    @usableFromInline let versions: [Int32]
    @usableFromInline let versionCount: Int
    @usableFromInline let firstSlot: Int
    @usableFromInline let pool: TextPool
    @usableFromInline let matchesRows: Bool
    @usableFromInline let compares: Bool
    /// The unmatched rows to collect; nil for none.
    let filter: UnmatchedRowFilter?
    @usableFromInline let collectsUnmatchedRows: Bool
    @usableFromInline let collectsDanglingCandidates: Bool
    /// By foreign key and node, the last target that the payload asserts, as a guess of the stored target. Empty for a
    /// foreign key without assertions.
    @usableFromInline let expected: [[Int32]]
    private var keyText = CompositeKeyText()
    var matches: MatchedNodes
    /// By association, the rows that have no node, but that unmatched rows reference.
    package internal(set) var danglingCandidates: [AssociationID: DanglingCandidates] = [:]

    /// - Parameters:
    ///   - columns: The columns of any table.
    ///   - lookups: The lookups of all tables, in the order of their IDs.
    ///   - filter: The unmatched rows to collect while all rows of the table are read; nil for none.
    package init(
        _ table: SyncTable, _ pass: MatchPass, _ lookups: [NodeLookup], columns: (TableID) -> RowColumns,
        collecting filter: UnmatchedRowFilter? = nil, expecting expected: [[Int32]] = []
    ) {
        self.table = table
        self.columns = columns(table.id)
        targets = self.columns.targets.map { target in
            let columns = columns(target)
            return Target(
                lookup: lookups[target.index], key: columns.commonKey, hasSurrogateKey: columns.hasSurrogateKey)
        }
        lookup = lookups[table.id.index]
        model = table.model
        batch = table.batch
        slots = table.batch.slots
        merged = table.values.merged
        versions = table.values.versions
        versionCount = table.batch.versionCount
        firstSlot = table.batch.firstSlot
        pool = table.pool
        matchesRows = pass != .diff
        compares = pass != .match
        self.filter = filter
        collectsUnmatchedRows = filter != nil
        collectsDanglingCandidates = filter?.coversAll ?? false
        self.expected = expected
        matches = table.consumeMatches()
        if filter != nil { matches.isScanned = true }
    }

    /// Returns the matches to the table.
    package mutating func finish() {
        table.matches = matches
    }

    // MARK: Rows

    /// Matches all rows of a result.
    @inlinable
    package mutating func matchAll(_ rows: some StoredRowReader, _ counter: inout ProgressCounter) throws {
        var last = -1
        while try rows.step() {
            try counter.advance()
            let entity = try columns.entity(rows)
            if let node = node(rows, entity: entity, guess: last + 1) {
                last = node
                accept(rows, node: node, entity: entity)
            } else if collectsUnmatchedRows {
                addUnmatchedRow(rows, entity: entity)
            }
        }
    }

    /// Matches all rows of a result whose integer keys are in ascending order.
    @inlinable
    package mutating func matchAll(
        _ rows: some StoredRowReader, inOrderOf keys: SortedKeyIterator, _ counter: inout ProgressCounter
    ) throws {
        var keys = keys
        while try rows.step() {
            try counter.advance()
            prefetch(keys.node(ahead: 16), texts: keys.node(ahead: 8))
            let entity = try columns.entity(rows)
            if let node = keys.node(for: rows.integer(0)) {
                accept(rows, node: node, entity: entity)
            } else if collectsUnmatchedRows {
                addUnmatchedRow(rows, entity: entity)
            }
        }
    }

    /// Matches the current row with a node.
    @inlinable
    package mutating func accept(_ row: some StoredRowReader, node: Int) throws {
        accept(row, node: node, entity: try columns.entity(row))
    }

    @inlinable
    mutating func accept(_ row: some StoredRowReader, node: Int, entity: Int) {
        if matchesRows { match(row, node: node, entity: entity) }
        if compares, matchesRows || isStored(node) { compare(row, node: node) }
    }

    /// Prefetches the nodes of upcoming rows.
    @inlinable
    @inline(__always)
    mutating func prefetch(_ node: Int?, texts next: Int?) {
        if let node { prefetch(node) }
        if let next { prefetchTexts(next) }
    }

    @usableFromInline
    mutating func prefetch(_ node: Int) { lookup.prefetch(node, version: Int(versions[node])) }

    @usableFromInline
    mutating func prefetchTexts(_ node: Int) { lookup.prefetchTexts(version: Int(versions[node]), pool) }

    // MARK: Finding nodes

    /// Returns the node of a stored row; nil for an unmatched row.
    @inlinable
    mutating func node(_ row: some StoredRowReader, entity: Int, guess: Int) -> Int? {
        if columns.hasSurrogateKey, let known = node(ofSurrogate: row.integer(0)) { return known }
        guard let (keyOwner, slot) = key(of: entity) else { return nil }
        guard let slot else { return node(row, compositeKeyOf: keyOwner, guess: guess) }
        guard columns.hasSurrogateKey else {
            return lookup.node(row, 0, columns.types[slot], keyOwner, pool, guess: guess)
        }
        let column = columns.attributes + slot
        // A guess with a different key owner may have an equal key and be a different row.
        let guess = hasKeys(of: keyOwner) ? guess : -1
        return lookup.node(row, column, columns.types[slot], keyOwner, pool, guess: guess)
    }

    @usableFromInline
    mutating func node(ofSurrogate key: Int64) -> Int? { table.keys.node(ofSurrogate: key)?.index }

    /// Returns the key owner of an entity, and the slot of its key; nil as the slot of a composite key.
    @usableFromInline
    mutating func key(of entity: Int) -> (owner: Int, slot: Int?)? {
        model.entities[entity].keyOwner.map { ($0, model.entities[entity].keySlot) }
    }

    @usableFromInline
    mutating func hasKeys(of keyOwner: Int) -> Bool { batch.hasKeys(of: keyOwner) }

    @usableFromInline
    mutating func node(_ row: some StoredRowReader, compositeKeyOf keyOwner: Int, guess: Int) -> Int? {
        guard let position = columns.compositeKey(keyOwner) else { return nil }
        keyText.removeAll()
        guard position.key.read(row, at: position.first, into: &keyText) else { return nil }
        return keyText.bytes.withUnsafeBufferPointer { lookup.node($0, keyOwner, pool, guess: guess) }
    }

    /// Returns the node that a foreign key references, in a table without surrogate keys.
    @inlinable
    mutating func target(_ row: some StoredRowReader, _ index: Int, guess: Int = -1) -> Int? {
        let target = targets[index]
        guard let key = target.key, !target.lookup.isEmpty else { return nil }
        return target.lookup.node(row, columns.foreignKeys + index, key.type, key.owner, pool, guess: guess)
    }

    // MARK: Matching

    @inlinable
    mutating func match(_ row: some StoredRowReader, node: Int, entity: Int) {
        setStored(node, entity)
        if columns.hasSurrogateKey { setSurrogate(row.integer(0), of: node) }
        for index in targets.indices {
            readTarget(row, node: node, index: index)
            guard let position = columns.orders[index] else { continue }
            setPosition(row.isNull(position) ? nil : row.integer(position), of: node, index)
        }
    }

    @inlinable
    mutating func readTarget(_ row: some StoredRowReader, node: Int, index: Int) {
        let column = columns.foreignKeys + index
        guard !row.isNull(column) else { return }
        guard !targets[index].hasSurrogateKey else {
            return setSurrogateTarget(row.integer(column), of: node, index)
        }
        let guess = expected.isEmpty || expected[index].isEmpty ? -1 : Int(expected[index][node])
        let found = target(row, index, guess: guess)
        setTarget(found, of: node, index)
        if found == nil, targets[index].lookup.hasOwned, let key = row.key(column) {
            setTargetWithoutNode(key, of: node, index)
        }
    }

    // MARK: Comparing

    @usableFromInline
    mutating func isStored(_ node: Int) -> Bool { matches.rowStates[node] == .stored }

    /// Records the columns that differ from the payload.
    @inlinable
    mutating func compare(_ row: some StoredRowReader, node: Int) {
        let version = Int(versions[node])
        guard version >= 0 else { return }
        let key = comparedKeySlot(of: node)
        let (columns, pool, versionCount, firstSlot) = (columns, pool, versionCount, firstSlot)
        let differing =
            version < versionCount
            ? slots.withUnsafeBufferPointer { Self.differingSlots(row, $0, version, firstSlot, key, columns, pool) }
            : merged.withUnsafeBufferPointer {
                Self.differingSlots(row, $0, version - versionCount, firstSlot, key, columns, pool)
            }
        for slot in differing { setChanged(slot, of: node) }
    }

    /// Returns the slot that ``compare(_:node:)`` skips: a row that was matched by its key has the same key. Returns -1
    /// for a row that was matched otherwise.
    @usableFromInline
    mutating func comparedKeySlot(of node: Int) -> Int { batch.nodes[node].key.kind == .absent ? -1 : columns.keySlot }

    @inlinable
    @inline(__always)
    static func differingSlots(
        _ row: some StoredRowReader, _ slots: UnsafeBufferPointer<PackedValue>, _ version: Int, _ firstSlot: Int,
        _ key: Int, _ columns: RowColumns, _ pool: TextPool
    ) -> [Int] {
        let stride = columns.types.count - firstSlot
        let base = columns.attributes
        let values = UnsafeBufferPointer(rebasing: slots[version * stride..<(version + 1) * stride])
        var differing: [Int] = []
        for slot in firstSlot..<columns.types.count where slot != key {
            let value = values[slot - firstSlot]
            if value.kind == .absent || row.column(base + slot, equals: value, pool) { continue }
            if isSameValue(row, base + slot, value, columns.types[slot], pool) { continue }
            differing.append(slot)
        }
        return differing
    }

    /// Returns whether a stored text is the same value in another form: JSON or a decimal that another program wrote.
    @inlinable
    static func isSameValue(
        _ row: some StoredRowReader, _ column: Int, _ value: PackedValue, _ type: AttributeType, _ pool: TextPool
    ) -> Bool {
        guard value.isText, !row.isNull(column) else { return false }
        switch type {
        case .json: return isSameJSON(row.text(column), value, pool)
        case .decimal: return isSameDecimal(row.text(column), value, pool)
        default: return false
        }
    }

    // MARK: Unmatched rows

    /// Records an unmatched row if it is of the entity in scope, or if a watched foreign key references a node.
    @inlinable
    mutating func addUnmatchedRow(_ row: some StoredRowReader, entity: Int) {
        guard let key = row.key(0) else { return }
        var isNeeded = isInScope(entity)
        for index in targets.indices where isWatched(index) {
            let column = columns.foreignKeys + index
            if row.isNull(column) || targets[index].hasSurrogateKey { continue }
            guard let target = target(row, index) else {
                if collectsDanglingCandidates { addDanglingCandidate(row.key(column), index) }
                continue
            }
            addReference(index, to: target)
            isNeeded = true
        }
        if isNeeded { addUnmatchedRow(key, entity) }
    }
}
