import SyncCore

// What is to be written: where links are not as they are stored, in the order of keys.
extension LinkMemory {
    /// What is to be written to a join table.
    struct PairWrites {
        var removed: [LinkedRows] = []
        var moved = BothEnds<[(pair: LinkedRows, place: Int64)]>([], [])
        var added: [PlacedPair] = []
    }

    var hasChanges: Bool { !changed.isEmpty }

    /// Of a foreign key: what each row leads to now, if that is not what is stored.
    var targetChanges: [TargetChange] {
        var stored: [RowKey: LinkedRows] = [:]
        for (pair, was) in changed { if case .present = was { stored[pair.first] = pair } }
        return Set(changed.keys.map(\.first)).sorted { $0.precedes($1) }.compactMap { row in
            let now = pairs(of: row, .first).first
            let place = now.flatMap { places[$0]?.second }
            guard let was = stored[row] else { return now.map { .init(row: row, target: $0.second, place: place) } }
            if was == now, case .present(let old) = changed[was], old.second == place { return nil }
            return TargetChange(row: row, target: now?.second, place: place)
        }
    }

    var pairWrites: PairWrites {
        var changes = PairWrites()
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
