extension Sequence<LinkBatch.Assertion> {
    /// Of the rows at an end whose lists name rows that are not there, the place after the last of those.
    package func awaitedPlaces(at end: Link.End) -> [NodeID: Int64] {
        var places: [NodeID: Int64] = [:]
        for assertion in self where assertion.saidBy == end && assertion.position >= 0 {
            let owner = end == .first ? assertion.first : assertion.second
            places[owner] = Swift.max(places[owner] ?? 0, Int64(assertion.position) + 1)
        }
        return places
    }
}
