import SyncCore

/// Finds entities that are one under several names, each compared only with those that have an equal row.
struct InferredTwins {
    /// What twins have in common.
    private struct Shape: Hashable {
        let key: [String]
        let keys: Set<String>
    }

    private struct Row: Hashable {
        let shape: Int
        let id: String
        let scalars: [String: JSONValue]
    }

    private struct Entity {
        let name: String
        var rows: [String: [String: JSONValue]]
    }

    /// Entity → the earlier one that it is.
    private(set) var unified: [String: String] = [:]
    private var entities: [Entity] = []
    private var shapes: [Shape: Int] = [:]
    /// By row: the entities that have it.
    private var owners: [Row: [Int]] = [:]

    /// Compares an entity with those before it. A root has its name from the caller and is nobody's twin, but others may
    /// be its.
    mutating func add(_ name: String, _ object: ObservedObject, key: [String], isRoot: Bool) {
        let shape = Shape(key: key, keys: Set(object.keys))
        let scalars = object.things.scalars
        let number = shapes[shape] ?? shapes.count
        shapes[shape] = number
        // A row with nothing but its id proves nothing.
        let rows = scalars.filter { $0.value.count > 1 }
            .map { Row(shape: number, id: $0.key, scalars: $0.value) }
        let candidates = isRoot ? [] : Set(rows.flatMap { owners[$0] ?? [] })
        let twin = candidates.sorted().first { Self.agree(entities[$0].rows, scalars) }
        let place = twin ?? entities.count
        if let twin {
            unified[name] = entities[twin].name
            entities[twin].rows.merge(scalars) { known, _ in known }
        } else {
            entities.append(Entity(name: name, rows: scalars))
        }
        for row in rows where owners[row]?.last != place { owners[row, default: []].append(place) }
    }

    /// Whether all rows of the same id are equal.
    private static func agree(
        _ known: [String: [String: JSONValue]], _ other: [String: [String: JSONValue]]
    ) -> Bool {
        let (small, large) = known.count < other.count ? (known, other) : (other, known)
        return small.allSatisfy { id, scalars in large[id].map { $0 == scalars } ?? true }
    }
}
