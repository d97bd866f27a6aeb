/// The referenced row of each node at the first end of an association that is stored as a foreign key.
package struct ResolvedForeignKeyTargets: Sendable {
    /// The target of each node at the first end.
    package var nodes: [LinkTarget]
    /// The index of each node in its target's list in the payload, or -1; empty if the lists are not ordered.
    package private(set) var positions: [Int32] = []
    /// The last replacements at the second end.
    package private(set) var second: ReplacedEnd
    /// The effective references by ID to rows that are missing or of another entity.
    package private(set) var pending: [LinkBatch.Assertion] = []

    /// Applies the ``LinkRule`` to the assertions of an association.
    ///
    /// - Parameter stored: The stored targets, in the order of `nodes`.
    package init(_ statements: LinkAssertions, stored: [LinkTarget]) {
        let link = statements.link
        let first = statements.replacedEnd(.first)
        second = statements.replacedEnd(.second)
        if link.isOneToOne, second.isEmpty { second = ReplacedEnd(count: statements.count(.second)) }
        var listed = link.second.isOrdered ? ListPositions(count: stored.count) : nil
        nodes = Array(repeating: .nowhere, count: stored.count)
        var sequences = Array(repeating: LinkRule.never, count: stored.count)
        var preserved: [RowAndTarget: Int64] = [:]
        for assertion in statements.batch.assertions {
            let effect = statements.effect(of: assertion, pending: &pending)
            if effect == .none { continue }
            let sequence = Int64(assertion.sequence)
            if effect == .preserves {
                preserved[RowAndTarget(first: assertion.first, second: LinkTarget(assertion.second))] = sequence
                continue
            }
            // The assertion replaces the link of the referenced row, even if a later statement moves the link.
            if link.isOneToOne { second.record(assertion.second, assertion.sequence, deletes: false) }
            let child = assertion.first.index
            if assertion.assertedBy == .second, assertion.position >= 0 {
                listed?.record(assertion.position, of: child, in: assertion.second, assertion.sequence)
            }
            if sequence >= sequences[child] {
                sequences[child] = sequence
                nodes[child] = LinkTarget(assertion.second)
            }
        }
        for child in nodes.indices {
            let node = NodeID(child)
            let cleared = first.sequence(of: node)
            let isAsserted = sequences[child] >= 0 && sequences[child] >= cleared
            if !isAsserted { nodes[child] = stored[child] }
            let target = nodes[child]
            let holds = LinkRule.holds(
                asserted: isAsserted ? sequences[child] : LinkRule.never,
                preserved: preserved.isEmpty
                    ? LinkRule.never : preserved[RowAndTarget(first: node, second: target)] ?? LinkRule.never,
                firstReplaced: cleared, secondReplaced: second.sequence(of: target))
            if !holds { nodes[child] = .nowhere }
        }
        if let listed { positions = listed.positions(in: nodes, since: second) }
    }

    private struct RowAndTarget: Hashable {
        var first: NodeID
        var second: LinkTarget
    }
}

/// The target of a foreign key: a node, a row without a node, or none.
package struct LinkTarget: Hashable, Sendable {
    /// The number of the node; negative if the target is not a node. Other modules read this stored property without a
    /// call.
    package let number: Int32

    /// The target of a row without a link.
    package static let nowhere = LinkTarget(number: -1)
    /// A row without a node. In a dangling link, the row does not exist.
    package static let unmatched = LinkTarget(number: -2)

    @inlinable package init(_ node: NodeID) { number = node.number }

    private init(number: Int32) { self.number = number }

    /// The node of the target; nil if the target is not a node.
    @inlinable package var node: NodeID? { number < 0 ? nil : NodeID(Int(number)) }

    // Other modules compare targets for every row. A synthesized operator would be a call through the conformance.
    @inlinable
    package static func == (left: LinkTarget, right: LinkTarget) -> Bool { left.number == right.number }

    @inlinable
    package static func != (left: LinkTarget, right: LinkTarget) -> Bool { left.number != right.number }
}

// MARK: - Join rows

/// The links of an association that is stored as a join table, as the payload asserts them.
package struct ResolvedJoinRows: Sendable {
    /// An asserted link, with its index in the list of each end (`firstPosition`, `secondPosition`); -1 outside of
    /// lists.
    package struct Row: Sendable {
        package let first: NodeID
        package let second: NodeID
        var sequence: UInt32
        /// `firstPosition`, below 2^29, in the upper bits. The lowest two bits are flags. This saves memory, because
        /// there may be millions of links.
        private var firstPositionAndFlags: Int32
        package internal(set) var secondPosition: Int32 = -1

        init(first: NodeID, second: NodeID, sequence: UInt32, onlyPreserves: Bool) {
            (self.first, self.second, self.sequence) = (first, second, sequence)
            firstPositionAndFlags = -1 << 2 | (onlyPreserves ? 1 : 0)
        }

        package internal(set) var firstPosition: Int32 {
            get { firstPositionAndFlags >> 2 }
            set { firstPositionAndFlags = newValue << 2 | firstPositionAndFlags & 3 }
        }
        /// Whether the assertion only preserves a stored link, and inserts none.
        package private(set) var onlyPreserves: Bool {
            get { firstPositionAndFlags & 1 != 0 }
            set { firstPositionAndFlags = firstPositionAndFlags & ~1 | (newValue ? 1 : 0) }
        }
        /// Whether the link is known to be stored.
        package var isStored: Bool {
            get { firstPositionAndFlags & 2 != 0 }
            set { firstPositionAndFlags = firstPositionAndFlags & ~2 | (newValue ? 2 : 0) }
        }
        package var isNew: Bool { !isStored && !onlyPreserves }

        /// Merges a later assertion of the same link.
        mutating func merge(_ later: Row) {
            let isSameList = sequence == later.sequence
            if later.firstPosition >= 0, !isSameList || firstPosition < 0 { firstPosition = later.firstPosition }
            if later.secondPosition >= 0, !isSameList || secondPosition < 0 { secondPosition = later.secondPosition }
            if onlyPreserves == later.onlyPreserves {
                sequence = max(sequence, later.sequence)
            } else if onlyPreserves {
                sequence = later.sequence
            }
            onlyPreserves = onlyPreserves && later.onlyPreserves
        }

        /// Returns whether the link holds or may stay. Sets `onlyPreserves` if it can only stay.
        fileprivate mutating func holds(_ first: Int64, _ second: Int64, _ keeping: Preservation) -> Bool {
            if !onlyPreserves, keeping.holds(asserted: Int64(sequence), first, second) { return true }
            onlyPreserves = true
            return keeping.holds(asserted: LinkRule.never, first, second)
        }
    }

    /// The sequence numbers of the last list at each end that preserves a stored link.
    fileprivate struct Preservation: Sendable {
        var first = LinkRule.never
        var second = LinkRule.never

        func holds(asserted: Int64, _ first: Int64, _ second: Int64) -> Bool {
            LinkRule.holds(
                asserted: asserted, preservedByFirst: self.first, preservedBySecond: self.second, firstReplaced: first,
                secondReplaced: second)
        }
    }

    /// The links that hold, or that stay if they are stored. Each link occurs once.
    package var rows: [Row] = []
    /// The last replacements at the first end (`first`) and at the second end (`second`).
    package let first: ReplacedEnd
    package let second: ReplacedEnd
    /// The effective references by ID to rows that are missing or of another entity.
    package private(set) var pending: [LinkBatch.Assertion] = []
    private let order: JoinRowOrder
    /// The lists that preserve stored links, by the code of the link (``JoinRowOrder``).
    private var preservations: [UInt64: Preservation] = [:]

    /// Creates the links of a payload without assertions.
    package init() {
        order = JoinRowOrder(LinkBatch.Assertions())
        (first, second) = (ReplacedEnd(), ReplacedEnd())
    }

    package init(_ statements: LinkAssertions) {
        order = JoinRowOrder(statements.batch.assertions)
        first = statements.replacedEnd(.first)
        second = statements.replacedEnd(.second)
        readRows(statements)
        order.sortAndMerge(&rows)
        if !first.isEmpty || !second.isEmpty { removeStaleRows() }
    }

    private mutating func readRows(_ statements: LinkAssertions) {
        rows.reserveCapacity(statements.batch.assertions.count)
        for assertion in statements.batch.assertions {
            let effect = statements.effect(of: assertion, pending: &pending)
            if effect == .none { continue }
            var row = Row(
                first: assertion.first, second: assertion.second, sequence: assertion.sequence,
                onlyPreserves: effect == .preserves)
            let sequence = Int64(assertion.sequence)
            if effect == .preserves {
                let end = assertion.assertedBy == .first ? \Preservation.first : \Preservation.second
                preservations[order.code(row), default: Preservation()][keyPath: end] = sequence
            }
            // If a later list replaces this list, the index does not apply.
            if assertion.assertedBy == .first, sequence >= first.sequence(of: assertion.first) {
                row.firstPosition = assertion.position
            } else if assertion.assertedBy == .second, sequence >= second.sequence(of: assertion.second) {
                row.secondPosition = assertion.position
            }
            rows.append(row)
        }
    }

    private mutating func removeStaleRows() {
        var count = 0
        for index in rows.indices {
            let holds = rows[index].holds(
                first.sequence(of: rows[index].first), second.sequence(of: rows[index].second),
                preservations.isEmpty ? Preservation() : preservations[order.code(rows[index]), default: Preservation()]
            )
            guard holds else { continue }
            if count != index { rows[count] = rows[index] }
            count += 1
        }
        rows.removeLast(rows.count - count)
    }

    /// Returns the index of a link in `rows`; nil if `rows` does not have the link.
    @inline(__always)
    package func index(of first: NodeID?, _ second: NodeID?) -> Int? {
        guard let first, let second else { return nil }
        return order.index(of: first, second, in: rows)
    }

    /// Returns whether the payload asserts a link that holds.
    package func holds(_ first: NodeID, _ second: NodeID) -> Bool {
        index(of: first, second).map { !rows[$0].onlyPreserves } ?? false
    }

    /// Returns whether a stored link stays although the payload does not assert it. For a row without a node, pass nil.
    package func preserves(_ first: NodeID?, _ second: NodeID?) -> Bool {
        LinkRule.holds(
            asserted: LinkRule.never, preserved: LinkRule.never, firstReplaced: self.first.sequence(of: first),
            secondReplaced: self.second.sequence(of: second))
    }
}

/// The sort order of links: by the node at the major end, then by the other node. The major end is that of the last
/// assertion, because its links are mostly in this order already.
struct JoinRowOrder: Sendable {
    typealias Row = ResolvedJoinRows.Row
    private let bySecond: Bool

    init(_ assertions: LinkBatch.Assertions) { bySecond = assertions.last?.assertedBy == .second }

    @inline(__always)
    private func major(_ row: Row) -> NodeID { bySecond ? row.second : row.first }

    @inline(__always)
    private func code(_ first: NodeID, _ second: NodeID) -> UInt64 {
        let (major, minor) = bySecond ? (second, first) : (first, second)
        return UInt64(UInt32(bitPattern: major.number)) << 32 | UInt64(UInt32(bitPattern: minor.number))
    }

    @inline(__always)
    func code(_ row: Row) -> UInt64 { code(row.first, row.second) }

    /// Returns whether a link comes before another: by code, then in document order for repeated links.
    private func precedes(_ left: Row, _ right: Row) -> Bool {
        let (l, r) = (code(left), code(right))
        if l != r { return l < r }
        return (left.sequence, max(left.firstPosition, left.secondPosition))
            < (right.sequence, max(right.firstPosition, right.secondPosition))
    }

    /// Returns the index of a link among links in this order; nil if there is none.
    @inline(__always)
    func index(of first: NodeID, _ second: NodeID, in rows: [Row]) -> Int? {
        let code = code(first, second)
        var low = 0
        var high = rows.count
        while low < high {
            let middle = (low + high) / 2
            if self.code(rows[middle]) < code { low = middle + 1 } else { high = middle }
        }
        return low < rows.count && self.code(rows[low]) == code ? low : nil
    }

    /// Sorts links by their nodes and merges repeated ones.
    ///
    /// Of repeated links, the last assertion applies, with the index from the last list at each end. Within one list,
    /// the first index applies.
    func sortAndMerge(_ rows: inout [Row]) {
        guard rows.count > 1 else { return }
        if zip(rows, rows.dropFirst()).allSatisfy({ major($0) <= major($1) }) {
            var start = 0
            while start < rows.count {
                var end = start + 1
                while end < rows.count, major(rows[end]) == major(rows[start]) { end += 1 }
                if !isAscending(rows, start, end) { sort(&rows, start, end) }
                start = end
            }
        } else {
            rows.sort(by: precedes)
        }
        var last = 0
        for index in 1..<rows.count {
            if code(rows[index]) == code(rows[last]) {
                rows[last].merge(rows[index])
            } else {
                last += 1
                rows[last] = rows[index]
            }
        }
        rows.removeLast(rows.count - last - 1)
    }

    /// Sorts the links of one list. Most lists are short, for which an insertion sort is faster.
    private func sort(_ rows: inout [Row], _ start: Int, _ end: Int) {
        guard end - start <= 16 else { return rows[start..<end].sort(by: precedes) }
        for index in (start + 1)..<end {
            let row = rows[index]
            var target = index
            while target > start, precedes(row, rows[target - 1]) {
                rows[target] = rows[target - 1]
                target -= 1
            }
            rows[target] = row
        }
    }

    /// Returns whether the links of a range are in ascending order without repeated links.
    private func isAscending(_ rows: [Row], _ start: Int, _ end: Int) -> Bool {
        for index in (start + 1)..<end where code(rows[index - 1]) >= code(rows[index]) { return false }
        return true
    }
}
