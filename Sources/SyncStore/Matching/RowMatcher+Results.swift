public import SyncCore

// Records what the matcher read. These functions are not generic, so that each database adds little code.
extension RowMatcher {
    // MARK: Matched rows

    @usableFromInline
    mutating func setStored(_ node: Int, _ entity: Int) {
        if !matches.entities.isEmpty {
            let given = batch.nodes[node]
            if given.isGiven, !model.entity(entity, isKindOf: Int(given.entity)) {
                matches.mismatches.append((NodeID(node), entity))
            }
            matches.entities[node] = Int32(truncatingIfNeeded: entity)
        }
        matches.rowStates[node] = .stored
    }

    @usableFromInline
    mutating func setSurrogate(_ key: Int64, of node: Int) { table.keys.match(NodeID(node), surrogate: key) }

    @usableFromInline
    mutating func setPosition(_ position: Int64?, of node: Int, _ index: Int) {
        if matches.foreignKeys[index].positions.isEmpty {
            matches.foreignKeys[index].positions = Array(repeating: nil, count: matches.rowStates.count)
        }
        matches.foreignKeys[index].positions[node] = position
    }

    @usableFromInline
    mutating func setSurrogateTarget(_ key: Int64, of node: Int, _ index: Int) {
        if matches.foreignKeys[index].surrogateTargets.isEmpty {
            matches.foreignKeys[index].surrogateTargets = Array(repeating: nil, count: matches.rowStates.count)
        }
        matches.foreignKeys[index].surrogateTargets[node] = key
    }

    /// - Parameter target: The node of the referenced row; nil if it has none.
    @usableFromInline
    mutating func setTarget(_ target: Int?, of node: Int, _ index: Int) {
        matches.foreignKeys[index].targets[node] = target.map { LinkTarget(NodeID($0)) } ?? .unmatched
    }

    @usableFromInline
    mutating func setTargetWithoutNode(_ key: RowKey, of node: Int, _ index: Int) {
        matches.foreignKeys[index].targetsWithoutNode[NodeID(node)] = key
    }

    // MARK: Values

    @usableFromInline
    mutating func setChanged(_ slot: Int, of node: Int) { matches.changed.insert(slot, of: NodeID(node)) }

    @usableFromInline
    static func isSameJSON(_ stored: UnsafeBufferPointer<UInt8>, _ value: PackedValue, _ pool: TextPool) -> Bool {
        guard let stored = try? JSONValue(parsing: Array(stored)) else { return false }
        return CanonicalJSON.bytes(stored).elementsEqual(pool.bytes(value))
    }

    @usableFromInline
    static func isSameDecimal(_ stored: UnsafeBufferPointer<UInt8>, _ value: PackedValue, _ pool: TextPool) -> Bool {
        var canonical: [UInt8] = []
        return DecimalText.append(stored, to: &canonical) && canonical.elementsEqual(pool.bytes(value))
    }

    // MARK: Unmatched rows

    @usableFromInline
    mutating func isInScope(_ entity: Int) -> Bool { filter?.scope.map { model.entity(entity, isKindOf: $0) } ?? false }

    @usableFromInline
    mutating func isWatched(_ index: Int) -> Bool { filter?.watched[index] ?? false }

    @usableFromInline
    mutating func addDanglingCandidate(_ key: RowKey?, _ index: Int) {
        danglingCandidates[table.hierarchy.foreignKeys[index], default: DanglingCandidates()].record(key, at: .second)
    }

    /// Records that the next unmatched row references a node.
    @usableFromInline
    mutating func addReference(_ index: Int, to target: Int) {
        let (row, link) = (matches.unmatchedRows.rows.count, table.hierarchy.foreignKeys[index])
        matches.unmatchedRows.references.append(.init(row: row, link: link, target: NodeID(target)))
    }

    @usableFromInline
    mutating func addUnmatchedRow(_ key: RowKey, _ entity: Int) {
        matches.unmatchedRows.rows.append(.init(key: key, entity: entity))
    }
}

// MARK: - DanglingCandidates

/// Rows that have no node, but that links reference. These rows may be missing from the store.
package struct DanglingCandidates {
    package private(set) var first: Set<RowKey> = []
    package private(set) var second: Set<RowKey> = []
    /// Whether these are all rows that have no node, but that the links reference. If so, only these rows need to be
    /// looked up.
    package private(set) var areAll: Bool

    package init(areAll: Bool = true) { self.areAll = areAll }

    /// - Parameter row: The key of a row; nil if the column contains a value that is not a key.
    package mutating func record(_ row: RowKey?, at end: CompiledAssociation.End) {
        guard let row else {
            areAll = false
            return
        }
        switch end {
        case .first: first.insert(row)
        case .second: second.insert(row)
        }
    }
}
