import SyncCore

// What is to be written: where links are not as they are stored, in the order of keys.
extension LinkMemory {
    /// What is to be written to a join table.
    struct PairChanges {
        var removed: [LinkedRows] = []
        var moved = BothEnds<[(pair: LinkedRows, place: Int64)]>([], [])
        var added: [PlacedPair] = []
    }

    var hasChanges: Bool { !changed.isEmpty }

    /// Of a foreign key.
    var targetChanges: [TargetChange] {
        var changes: [RowKey: TargetChange] = [:]
        for (pair, stored) in changed {
            if case .present(let old) = stored, old == places[pair] { continue }
            guard changes[pair.first] == nil else { continue }
            let now = pairs(of: pair.first, .first).first
            changes[pair.first] = TargetChange(
                row: pair.first, target: now?.second, place: now.flatMap { places[$0]?.second })
        }
        return changes.values.sorted { $0.row.precedes($1.row) }
    }

    var pairChanges: PairChanges {
        var changes = PairChanges()
        for pair in changed.keys.sorted(by: Self.precedes) {
            switch (changed[pair], places[pair]) {
            case (.present, nil): changes.removed.append(pair)
            case (.absent, let places?): changes.added.append(PlacedPair(rows: pair, places: places))
            case (.present(let old), let new?):
                for end in [Link.End.first, .second] {
                    if let place = new[end], place != old[end] { changes.moved[end].append((pair, place)) }
                }
            case (.absent, nil), (nil, _): break
            }
        }
        return changes
    }

    private static func precedes(_ left: LinkedRows, _ right: LinkedRows) -> Bool {
        left.first != right.first ? left.first.precedes(right.first) : left.second.precedes(right.second)
    }
}
