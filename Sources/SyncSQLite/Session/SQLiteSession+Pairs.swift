import GRDB
package import SyncCore
package import SyncStore

// The pairs of a join table meet those that a payload says there are.
extension SQLiteSession {
    /// Reads the stored pairs that matter: all of them when the payload speaks of many rows, else those of each row
    /// whose links are replaced, and each other pair by itself.
    package func compare(_ said: inout LinkPairs, _ link: Link, speaksOfAll: Bool) throws -> ComparedPairs {
        guard let stored = StoredPairs(link.id, layout, db), let tables else { return ComparedPairs() }
        let ends = (tables[link.first.table], tables[link.second.table])
        var reader = PairMatcher(said, of: link, ends, lookups, notingUnmentioned: speaksOfAll, self)
        said = LinkPairs()
        defer { said = reader.said }
        let firsts = reader.said.first.nodes.filter { ends.0.isPresent($0, as: .stored) }
        let seconds = reader.said.second.nodes.filter { ends.1.isPresent($0, as: .stored) }
        let others = reader.unspokenPairs()
        let limit = (firsts.count + seconds.count) * 12 + others.count * 6
        guard limit > 0 else { return ComparedPairs() }
        let size = try size(of: stored.table, limit: limit)
        switch size {
        case .empty: return ComparedPairs()
        case .small:
            try reader.compareAll(stored.all(), isOrdered: stored.isOrdered, steps)
        case .large:
            try comparePairs(of: firsts, at: .first, stored, &reader, isOnlyEnd: seconds.isEmpty)
            try comparePairs(of: seconds, at: .second, stored, &reader, isOnlyEnd: firsts.isEmpty)
            try compare(others, stored, &reader)
        }
        if speaksOfAll, reader.metUnmentioned {
            doubtfulEnds[link.id] = size == .small ? reader.unmentioned : DoubtfulEnds(areAll: false)
        }
        return reader.compared
    }

    /// The pairs of rows whose links are replaced.
    private func comparePairs(
        of nodes: [NodeID], at end: Link.End, _ stored: StoredPairs, _ reader: inout PairMatcher, isOnlyEnd: Bool
    ) throws {
        guard !nodes.isEmpty else { return }
        let table = reader.table(end)
        let keys = lookups[table.id.index].integerKeys
        // A pair may be met again at the other end, which only matters where it has a place.
        if !stored.isOrdered, isOnlyEnd, !keys.isEmpty, let range = KeyRange(nodes.map { keys[$0.index] }, factor: 12) {
            return try reader.compareAll(stored.pairs(of: range, at: end), isOrdered: false, steps)
        }
        let statement = try stored.pairs(ofRowAt: end)
        let rows = NodeKeys(table)
        var counter = StepCounter(steps)
        for node in nodes {
            try counter.advance()
            rows.bind(node, to: statement, at: 1)
            while try statement.step() { reader.compareOnce(statement) }
            statement.reset()
        }
        try counter.finish()
    }

    /// Pairs of which no end is spoken for.
    private func compare(_ pairs: [LinkPairs.Pair], _ stored: StoredPairs, _ reader: inout PairMatcher) throws {
        guard !pairs.isEmpty else { return }
        let statement = try stored.one()
        let (first, second) = (NodeKeys(reader.table(.first)), NodeKeys(reader.table(.second)))
        var counter = StepCounter(steps)
        for pair in pairs {
            try counter.advance()
            first.bind(pair.first, to: statement, at: 1)
            second.bind(pair.second, to: statement, at: 2)
            if try statement.step() { _ = reader.compare(statement) }
            statement.reset()
        }
        try counter.finish()
    }
}
