import SyncCore
import SyncStore

/// Matches the stored rows of one table with nodes, and records which columns differ.
///
/// It owns the matches of the table during the loop that reads the rows. ``finish()`` returns them to the table.
struct RowMatcher {
    /// The properties of a referenced table that are needed to find its nodes.
    private struct Target {
        let lookup: NodeLookup
        let key: (type: AttributeType, owner: Int)?
        let hasSurrogateKey: Bool
    }

    private let table: SyncTable
    private let columns: RowColumns
    private let targets: [Target]
    private let lookup: NodeLookup
    private let model: CompiledModel
    private let batch: NodeBatch
    private let values: EffectiveValues
    private let pool: TextPool
    private let matchesRows: Bool
    private let compares: Bool
    /// By foreign key and node, the last target that the payload asserts, as a guess of the stored target. Empty for a
    /// foreign key without assertions.
    private let expected: [[Int32]]
    private var keyText = CompositeKeyText()
    private(set) var matches: MatchedNodes
    /// By association, the rows that have no node, but that unmatched rows reference.
    private(set) var danglingCandidates: [AssociationID: DanglingCandidates] = [:]

    init(_ table: SyncTable, _ session: SQLiteSession, _ pass: MatchPass, expecting expected: [[Int32]] = []) {
        self.table = table
        columns = session.columns(table.id)
        targets = session.columns(table.id).targets.map { target in
            let columns = session.columns(target)
            return Target(
                lookup: session.lookups[target.index], key: columns.commonKey, hasSurrogateKey: columns.hasSurrogateKey)
        }
        lookup = session.lookups[table.id.index]
        model = table.model
        batch = table.batch
        values = table.values
        pool = table.pool
        matchesRows = pass != .diff
        compares = pass != .match
        self.expected = expected
        matches = table.consumeMatches()
    }

    /// Returns the matches to the table.
    mutating func finish() {
        table.matches = matches
    }

    /// Records that every stored row is read.
    mutating func isScanned() { matches.isScanned = true }

    // MARK: Finding nodes

    /// Returns the node of a stored row; nil for an unmatched row.
    mutating func node(_ statement: RawStatement, entity: Int, guess: Int) -> Int? {
        let compiled = model.entities[entity]
        if columns.hasSurrogateKey, let known = table.keys.node(ofSurrogate: statement.integer(0)) {
            return known.index
        }
        guard let keyOwner = compiled.keyOwner else { return nil }
        guard let slot = compiled.keySlot else { return node(statement, compositeKeyOf: keyOwner, guess: guess) }
        guard columns.hasSurrogateKey else {
            return lookup.node(statement, 0, columns.types[slot], keyOwner, pool, guess: guess)
        }
        let column = columns.attributes + slot
        // A guess with a different key owner may have an equal key and be a different row.
        let guess = batch.hasKeys(of: keyOwner) ? guess : -1
        return lookup.node(statement, column, columns.types[slot], keyOwner, pool, guess: guess)
    }

    private mutating func node(_ statement: RawStatement, compositeKeyOf keyOwner: Int, guess: Int) -> Int? {
        guard let position = columns.compositeKey(keyOwner) else { return nil }
        keyText.removeAll()
        guard position.key.read(statement, at: position.first, into: &keyText) else { return nil }
        return keyText.bytes.withUnsafeBufferPointer { lookup.node($0, keyOwner, pool, guess: guess) }
    }

    /// Returns the node that a foreign key references, in a table without surrogate keys. Mutating, so that the call
    /// does not copy the matcher.
    private mutating func target(_ statement: RawStatement, _ index: Int, guess: Int = -1) -> Int? {
        let target = targets[index]
        guard let key = target.key, !target.lookup.isEmpty else { return nil }
        return target.lookup.node(
            statement, columns.foreignKeys + index, key.type, key.owner, pool, guess: guess)
    }

    /// Prefetches the nodes of upcoming rows.
    @inline(__always)
    func prefetch(_ cursor: SortedKeyIterator) {
        if let node = cursor.node(ahead: 16) { lookup.prefetch(node, version: Int(values.versions[node])) }
        if let node = cursor.node(ahead: 8) { lookup.prefetchTexts(version: Int(values.versions[node]), pool) }
    }

    // MARK: Matching

    mutating func accept(_ statement: RawStatement, node: Int, entity: Int) {
        if matchesRows { match(statement, node: node, entity: entity) }
        if compares, matches.rowStates[node] == .stored { compare(statement, node: node) }
    }

    private mutating func match(_ statement: RawStatement, node: Int, entity: Int) {
        if !matches.entities.isEmpty {
            let given = batch.nodes[node]
            if given.isGiven, !model.entity(entity, isKindOf: Int(given.entity)) {
                matches.mismatches.append((NodeID(node), entity))
            }
            matches.entities[node] = Int32(truncatingIfNeeded: entity)
        }
        matches.rowStates[node] = .stored
        if columns.hasSurrogateKey { table.keys.match(NodeID(node), surrogate: statement.integer(0)) }
        for index in columns.targets.indices {
            readTarget(statement, node: node, index: index)
            guard let position = columns.orders[index] else { continue }
            if matches.foreignKeys[index].positions.isEmpty {
                matches.foreignKeys[index].positions = Array(repeating: nil, count: matches.rowStates.count)
            }
            matches.foreignKeys[index].positions[node] = statement.isNull(position) ? nil : statement.integer(position)
        }
    }

    private mutating func readTarget(_ statement: RawStatement, node: Int, index: Int) {
        let column = columns.foreignKeys + index
        guard !statement.isNull(column) else { return }
        guard !targets[index].hasSurrogateKey else {
            if matches.foreignKeys[index].surrogateTargets.isEmpty {
                matches.foreignKeys[index].surrogateTargets = Array(repeating: nil, count: matches.rowStates.count)
            }
            matches.foreignKeys[index].surrogateTargets[node] = statement.integer(column)
            return
        }
        let guess = expected.isEmpty || expected[index].isEmpty ? -1 : Int(expected[index][node])
        if let found = target(statement, index, guess: guess) {
            matches.foreignKeys[index].targets[node] = LinkTarget(NodeID(found))
            return
        }
        matches.foreignKeys[index].targets[node] = .unmatched
        if targets[index].lookup.hasOwned, let key = statement.key(column) {
            matches.foreignKeys[index].targetsWithoutNode[NodeID(node)] = key
        }
    }

    // MARK: Comparing

    /// Records the columns that differ from the payload.
    private mutating func compare(_ statement: RawStatement, node: Int) {
        let version = Int(values.versions[node])
        guard version >= 0 else { return }
        // A row that was matched by its key has the same key, so do not compare it.
        let key = batch.nodes[node].key.kind == .absent ? -1 : columns.keySlot
        let differing =
            version < batch.versionCount
            ? batch.slots.withUnsafeBufferPointer { differingSlots(statement, $0, version, key) }
            : values.merged.withUnsafeBufferPointer { differingSlots(statement, $0, version - batch.versionCount, key) }
        for slot in differing { matches.changed.insert(slot, of: NodeID(node)) }
    }

    @inline(__always)
    private func differingSlots(
        _ statement: RawStatement, _ slots: UnsafeBufferPointer<PackedValue>, _ version: Int, _ key: Int
    ) -> [Int] {
        let stride = columns.types.count
        let base = columns.attributes
        let row = UnsafeBufferPointer(rebasing: slots[version * stride..<(version + 1) * stride])
        var differing: [Int] = []
        for slot in 0..<stride where slot != key {
            let value = row[slot]
            if value.kind == .absent || statement.column(base + slot, equals: value, pool) { continue }
            if isSameValue(statement, base + slot, value, columns.types[slot]) { continue }
            differing.append(slot)
        }
        return differing
    }

    /// Returns whether a stored text is the same value in another form: JSON or a decimal that another program wrote.
    private func isSameValue(_ statement: RawStatement, _ column: Int, _ slot: PackedValue, _ type: AttributeType)
        -> Bool
    {
        guard slot.isText, !statement.isNull(column) else { return false }
        switch type {
        case .json:
            guard let value = try? JSONValue(parsing: Array(statement.text(column))) else { return false }
            return CanonicalJSON.bytes(value).elementsEqual(pool.bytes(slot))
        case .decimal:
            var canonical: [UInt8] = []
            return DecimalText.append(statement.text(column), to: &canonical)
                && canonical.elementsEqual(pool.bytes(slot))
        default:
            return false
        }
    }

    // MARK: Unmatched rows

    /// Records an unmatched row if it is of the entity in scope, or if a watched foreign key references a node.
    mutating func addUnmatchedRow(_ statement: RawStatement, entity: Int, _ watch: UnmatchedRowFilter) {
        guard let key = statement.key(0) else { return }
        var isNeeded = watch.scope.map { model.entity(entity, isKindOf: $0) } ?? false
        for (index, link) in table.hierarchy.foreignKeys.enumerated() where watch.watched[index] {
            let column = columns.foreignKeys + index
            if statement.isNull(column) || targets[index].hasSurrogateKey { continue }
            guard let target = target(statement, index) else {
                if watch.coversAll {
                    danglingCandidates[link, default: DanglingCandidates()].record(statement.key(column), at: .second)
                }
                continue
            }
            matches.unmatchedRows.references.append(
                .init(row: matches.unmatchedRows.rows.count, link: link, target: NodeID(target)))
            isNeeded = true
        }
        if isNeeded { matches.unmatchedRows.rows.append(.init(key: key, entity: entity)) }
    }
}
