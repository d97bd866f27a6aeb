/// Finds where records stand that contradict each other, of rows that are known to be contested.
struct ContradictionWatch {
    /// That a record says another value of an attribute or a link than an earlier one.
    struct Found {
        let record: Int32
        let earlier: Int32
        let name: String
        let value: String
        let earlierValue: String
    }

    private struct Place {
        let path: String
        let entity: String
        let key: String?
    }

    private struct Member: Hashable {
        let row: ChangePlan.RowReference
        let name: String
    }

    let rows: Set<ChangePlan.RowReference>
    private var places: [Place] = []
    /// The last record that says each of the values.
    private var said: [Member: [(value: String, record: Int32)]] = [:]
    private var found: [Found] = []

    var lastRecord: Int32 { Int32(truncatingIfNeeded: places.count - 1) }

    init(_ rows: Set<ChangePlan.RowReference>) { self.rows = rows }

    mutating func add(
        _ path: String, entity: String, key: String?, of row: ChangePlan.RowReference,
        values: some Sequence<(name: String, value: String)>
    ) {
        places.append(Place(path: path, entity: entity, key: key))
        for (name, value) in values {
            let member = Member(row: row, name: name)
            var known = said.removeValue(forKey: member) ?? []
            if let earlier = known.last(where: { $0.value != value }) {
                add(
                    Found(
                        record: lastRecord, earlier: earlier.record, name: name, value: value,
                        earlierValue: earlier.value))
            }
            known.removeAll { $0.value == value }
            known.append((value, lastRecord))
            said[member] = known
        }
    }

    mutating func add(_ contradiction: Found) { found.append(contradiction) }

    /// In document order, what a record says otherwise than the same earlier one together.
    var contradictions: [Contradiction] {
        var result: [Contradiction] = []
        var last: (Int32, Int32)?
        for one in found.enumerated().sorted(by: {
            ($0.element.record, $0.element.earlier, $0.offset) < ($1.element.record, $1.element.earlier, $1.offset)
        }).map(\.element) {
            let difference = Contradiction.Difference(
                name: one.name, value: one.value, earlierValue: one.earlierValue)
            if let last, last == (one.record, one.earlier) {
                result[result.count - 1].differences.append(difference)
                continue
            }
            last = (one.record, one.earlier)
            let (place, earlier) = (places[Int(one.record)], places[Int(one.earlier)])
            result.append(
                Contradiction(
                    entity: place.entity, key: place.key, path: place.path, earlierPath: earlier.path,
                    differences: [difference]))
        }
        return result
    }
}
