/// What a payload makes of a link that rows at both ends may have several of: the pairs it says there are.
package struct ResolvedJoinRows: Sendable {
    /// A pair that was said to be linked, with its place in the order of either end; -1 for none.
    package struct Pair: Sendable {
        package let first: NodeID
        package let second: NodeID
        var sequence: UInt32
        package internal(set) var firstPosition: Int32 = -1
        package internal(set) var secondPosition: Int32 = -1
        /// Whether it counts only where it is stored.
        package internal(set) var onlyKeeps: Bool
        /// Whether it is known to be stored.
        package var isStored = false
        package var isNew: Bool { !isStored && !onlyKeeps }

        /// Takes over what a later statement says of the same pair.
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

        /// Whether it holds, or may only be kept, or neither.
        fileprivate mutating func stands(_ first: Int64, _ second: Int64, _ keeping: Keeping) -> Bool {
            if !onlyKeeps, keeping.stands(said: Int64(sequence), first, second) { return true }
            onlyKeeps = true
            return keeping.stands(said: LinkRule.never, first, second)
        }
    }

    /// When a list of the row at either end last had a pair that may only keep it.
    fileprivate struct Keeping: Sendable {
        var first = LinkRule.never
        var second = LinkRule.never

        func stands(said: Int64, _ first: Int64, _ second: Int64) -> Bool {
            LinkRule.stands(
                said: said, keptByFirst: self.first, keptBySecond: self.second, first: first, second: second)
        }
    }

    /// The pairs that hold, or that are kept where they are stored; each once.
    package var pairs: [Pair] = []
    /// When the links of rows at either end were last spoken for.
    package let first: ReplacedEnd
    package let second: ReplacedEnd
    /// References by id to rows that are not there.
    package private(set) var awaited: [LinkBatch.Assertion] = []
    private let order: JoinRowOrder
    /// By pair, of those that lists may only keep.
    private var keepings: [UInt64: Keeping] = [:]

    /// Of a payload that says nothing.
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
            // A place in a list that another list came after is none.
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

    /// The place of a pair among those that were said; nil if it was not.
    @inline(__always)
    package func index(of first: NodeID?, _ second: NodeID?) -> Int? {
        guard let first, let second else { return nil }
        return order.index(of: first, second, in: pairs)
    }

    /// Whether it is said of a pair that it holds.
    package func holds(_ first: NodeID, _ second: NodeID) -> Bool {
        index(of: first, second).map { !pairs[$0].onlyKeeps } ?? false
    }

    /// Whether a stored pair that was not said stays; a row that the payload does not speak of is no node.
    package func staysStored(_ first: NodeID?, _ second: NodeID?) -> Bool {
        LinkRule.stands(
            said: LinkRule.never, kept: LinkRule.never, first: self.first.sequence(of: first),
            second: self.second.sequence(of: second))
    }
}

/// How pairs are put in order: by the end that says most of them, which comes in the order of the payload.
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

    /// Repeated pairs in document order.
    private func precedes(_ left: Pair, _ right: Pair) -> Bool {
        let (l, r) = (code(left), code(right))
        if l != r { return l < r }
        return (left.sequence, max(left.firstPosition, left.secondPosition))
            < (right.sequence, max(right.firstPosition, right.secondPosition))
    }

    /// The place of a pair among pairs in this order.
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

    /// Puts pairs in the order of their nodes and makes repeated ones one: the last statement counts, with the position
    /// each end last gave (in one list the first).
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

    /// Sorts the pairs of one list, which are few mostly.
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

    /// Whether no pair of a range comes before, or is the same as, the one before it.
    private func isAscending(_ pairs: [Pair], _ start: Int, _ end: Int) -> Bool {
        for index in (start + 1)..<end where code(pairs[index - 1]) >= code(pairs[index]) { return false }
        return true
    }
}
