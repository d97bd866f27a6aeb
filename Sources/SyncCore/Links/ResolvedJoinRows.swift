/// The links of an association that is stored as a join table, as the payload asserts them.
package struct ResolvedJoinRows: Sendable {
    /// An asserted link, with its index in the list of either end; -1 for none.
    package struct Pair: Sendable {
        package let first: NodeID
        package let second: NodeID
        var sequence: UInt32
        package internal(set) var firstPosition: Int32 = -1
        package internal(set) var secondPosition: Int32 = -1
        /// Whether it only keeps a stored link.
        package internal(set) var onlyKeeps: Bool
        /// Whether it is known to be stored.
        package var isStored = false
        package var isNew: Bool { !isStored && !onlyKeeps }

        /// Merges a later assertion of the same link.
        mutating func merge(_ later: Pair) {
            let isSameList = sequence == later.sequence
            if later.firstPosition >= 0, !isSameList || firstPosition < 0 { firstPosition = later.firstPosition }
            if later.secondPosition >= 0, !isSameList || secondPosition < 0 { secondPosition = later.secondPosition }
            if onlyKeeps == later.onlyKeeps {
                sequence = max(sequence, later.sequence)
            } else if onlyKeeps {
                sequence = later.sequence
            }
            onlyKeeps = onlyKeeps && later.onlyKeeps
        }

        /// Returns whether the link holds or may stay. Sets `onlyKeeps` if it can only stay.
        fileprivate mutating func stands(_ first: Int64, _ second: Int64, _ keeping: Keeping) -> Bool {
            if !onlyKeeps, keeping.stands(said: Int64(sequence), first, second) { return true }
            onlyKeeps = true
            return keeping.stands(said: LinkRule.never, first, second)
        }
    }

    /// The sequence of the last list at either end that may only keep the link.
    fileprivate struct Keeping: Sendable {
        var first = LinkRule.never
        var second = LinkRule.never

        func stands(said: Int64, _ first: Int64, _ second: Int64) -> Bool {
            LinkRule.stands(
                said: said, keptByFirst: self.first, keptBySecond: self.second, first: first, second: second)
        }
    }

    /// The links that hold, or that stay if they are stored. Each link occurs once.
    package var pairs: [Pair] = []
    /// The replacements at either end.
    package let first: ReplacedEnd
    package let second: ReplacedEnd
    /// The references by ID to missing rows.
    package private(set) var awaited: [LinkBatch.Assertion] = []
    private let order: JoinRowOrder
    /// The lists that may only keep a link, by the code of the link.
    private var keepings: [UInt64: Keeping] = [:]

    /// Creates the links of a payload without assertions.
    package init() {
        order = JoinRowOrder(LinkBatch.Assertions())
        (first, second) = (ReplacedEnd(), ReplacedEnd())
    }

    package init(_ statements: LinkAssertions) {
        order = JoinRowOrder(statements.batch.assertions)
        first = statements.replacedEnd(.first)
        second = statements.replacedEnd(.second)
        readPairs(statements)
        order.sortAndMerge(&pairs)
        if !first.isEmpty || !second.isEmpty { removeStalePairs() }
    }

    private mutating func readPairs(_ statements: LinkAssertions) {
        pairs.reserveCapacity(statements.batch.assertions.count)
        for assertion in statements.batch.assertions {
            let standing = statements.standing(assertion, awaiting: &awaited)
            if standing == .none { continue }
            var pair = Pair(
                first: assertion.first, second: assertion.second, sequence: assertion.sequence,
                onlyKeeps: standing == .keeps)
            let sequence = Int64(assertion.sequence)
            if standing == .keeps {
                let end = assertion.saidBy == .first ? \Keeping.first : \Keeping.second
                keepings[order.code(pair), default: Keeping()][keyPath: end] = sequence
            }
            // An index in a list that a later list replaces does not apply.
            if assertion.saidBy == .first, sequence >= first.sequence(of: assertion.first) {
                pair.firstPosition = assertion.position
            } else if assertion.saidBy == .second, sequence >= second.sequence(of: assertion.second) {
                pair.secondPosition = assertion.position
            }
            pairs.append(pair)
        }
    }

    private mutating func removeStalePairs() {
        var kept = 0
        for index in pairs.indices {
            let stands = pairs[index].stands(
                first.sequence(of: pairs[index].first), second.sequence(of: pairs[index].second),
                keepings.isEmpty ? Keeping() : keepings[order.code(pairs[index]), default: Keeping()])
            guard stands else { continue }
            if kept != index { pairs[kept] = pairs[index] }
            kept += 1
        }
        pairs.removeLast(pairs.count - kept)
    }

    /// Returns the index of a link in `pairs`; nil if the payload does not assert it.
    @inline(__always)
    package func index(of first: NodeID?, _ second: NodeID?) -> Int? {
        guard let first, let second else { return nil }
        return order.index(of: first, second, in: pairs)
    }

    /// Returns whether the payload asserts a link that holds.
    package func holds(_ first: NodeID, _ second: NodeID) -> Bool {
        index(of: first, second).map { !pairs[$0].onlyKeeps } ?? false
    }

    /// Returns whether a stored link that the payload does not assert stays. A row without a node is nil.
    package func staysStored(_ first: NodeID?, _ second: NodeID?) -> Bool {
        LinkRule.stands(
            said: LinkRule.never, kept: LinkRule.never, first: self.first.sequence(of: first),
            second: self.second.sequence(of: second))
    }
}

/// The order of links. The end whose lists have the last assertion is the major one, since its links come in the order
/// of the payload.
struct JoinRowOrder: Sendable {
    typealias Pair = ResolvedJoinRows.Pair
    private let bySecond: Bool

    init(_ assertions: LinkBatch.Assertions) { bySecond = assertions.last?.saidBy == .second }

    @inline(__always)
    private func major(_ pair: Pair) -> NodeID { bySecond ? pair.second : pair.first }

    @inline(__always)
    private func code(_ first: NodeID, _ second: NodeID) -> UInt64 {
        let (major, minor) = bySecond ? (second, first) : (first, second)
        return UInt64(UInt32(bitPattern: major.number)) << 32 | UInt64(UInt32(bitPattern: minor.number))
    }

    @inline(__always)
    func code(_ pair: Pair) -> UInt64 { code(pair.first, pair.second) }

    /// Orders by code, then repeated links in document order.
    private func precedes(_ left: Pair, _ right: Pair) -> Bool {
        let (l, r) = (code(left), code(right))
        if l != r { return l < r }
        return (left.sequence, max(left.firstPosition, left.secondPosition))
            < (right.sequence, max(right.firstPosition, right.secondPosition))
    }

    /// Returns the index of a link among links in this order; nil if there is none.
    @inline(__always)
    func index(of first: NodeID, _ second: NodeID, in pairs: [Pair]) -> Int? {
        let code = code(first, second)
        var low = 0
        var high = pairs.count
        while low < high {
            let middle = (low + high) / 2
            if self.code(pairs[middle]) < code { low = middle + 1 } else { high = middle }
        }
        return low < pairs.count && self.code(pairs[low]) == code ? low : nil
    }

    /// Sorts links by their nodes and merges repeated ones.
    ///
    /// The last assertion applies, with the last index in a list of each end. Within one list the first index applies.
    func sortAndMerge(_ pairs: inout [Pair]) {
        guard pairs.count > 1 else { return }
        if zip(pairs, pairs.dropFirst()).allSatisfy({ major($0) <= major($1) }) {
            var start = 0
            while start < pairs.count {
                var end = start + 1
                while end < pairs.count, major(pairs[end]) == major(pairs[start]) { end += 1 }
                if !isAscending(pairs, start, end) { sort(&pairs, start, end) }
                start = end
            }
        } else {
            pairs.sort(by: precedes)
        }
        var last = 0
        for index in 1..<pairs.count {
            if code(pairs[index]) == code(pairs[last]) {
                pairs[last].merge(pairs[index])
            } else {
                last += 1
                pairs[last] = pairs[index]
            }
        }
        pairs.removeLast(pairs.count - last - 1)
    }

    /// Sorts the links of one list. Most lists are short.
    private func sort(_ pairs: inout [Pair], _ start: Int, _ end: Int) {
        guard end - start <= 16 else { return pairs[start..<end].sort(by: precedes) }
        for index in (start + 1)..<end {
            let pair = pairs[index]
            var place = index
            while place > start, precedes(pair, pairs[place - 1]) {
                pairs[place] = pairs[place - 1]
                place -= 1
            }
            pairs[place] = pair
        }
    }

    /// Returns whether each link of a range comes after the one before it.
    private func isAscending(_ pairs: [Pair], _ start: Int, _ end: Int) -> Bool {
        for index in (start + 1)..<end where code(pairs[index - 1]) >= code(pairs[index]) { return false }
        return true
    }
}
