/// How pairs are put in order: by the end that says most of them, which comes in the order of the payload.
struct PairOrder: Sendable {
    typealias Pair = LinkPairs.Pair
    private let bySecond: Bool

    init(_ assertions: [LinkBatch.Assertion]) { bySecond = assertions.last?.saidBy == .second }

    @inline(__always)
    private func major(_ pair: Pair) -> NodeID { bySecond ? pair.second : pair.first }

    @inline(__always)
    private func code(_ first: NodeID, _ second: NodeID) -> UInt64 {
        let (major, minor) = bySecond ? (second, first) : (first, second)
        return UInt64(UInt32(bitPattern: major.number)) << 32 | UInt64(UInt32(bitPattern: minor.number))
    }

    @inline(__always)
    private func code(_ pair: Pair) -> UInt64 { code(pair.first, pair.second) }

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
