/// The order of a list that both sides may have changed. Pure.
///
/// Which elements the list has is settled before, by what was added and removed; here is only in which order they come.
package enum ListOrder<Element: Hashable> {
    /// Whether elements that two lists have in common come in another order.
    package static func isMoved(_ list: [Element], from base: [Element]) -> Bool {
        let common = Set(base).intersection(list)
        return list.filter(common.contains) != base.filter(common.contains)
    }

    /// The elements in the order of one list; those that only the other one has follow what precedes them there.
    ///
    /// - Parameter elements: What the list has; what neither list has comes last.
    package static func merged(leader: [Element], follower: [Element], of elements: [Element]) -> [Element] {
        let all = Set(elements)
        let led = leader.filter(all.contains)
        let known = Set(led)
        // What comes behind each element of the leader, or before the first.
        var behind: [Element?: [Element]] = [:]
        var last: Element?
        for element in follower where all.contains(element) {
            if known.contains(element) { last = element } else { behind[last, default: []].append(element) }
        }
        let list = (behind[nil] ?? []) + led.flatMap { [$0] + (behind[$0] ?? []) }
        let placed = Set(list)
        return list + elements.filter { !placed.contains($0) }
    }

    /// Whose order counts.
    package enum Outcome: Equatable, Sendable {
        /// What only the other list has follows what precedes it there.
        case local, remote
        /// Both moved elements, to different places.
        case conflict
    }

    /// - Parameter base: What both sides had; nil if nobody knows.
    package static func outcome(base: [Element]?, local: [Element], remote: [Element]) -> Outcome {
        guard let base, isMoved(local, from: base) else { return .remote }
        guard isMoved(remote, from: base) else { return .local }
        return isMoved(local, from: remote) ? .conflict : .remote
    }
}
