import SyncCore

extension JSONValue {
    /// Whether two values that are said of the same thing cannot both be true: other scalars, lists that differ, or objects
    /// that differ in a key both have. An object may say less than another one.
    func contradicts(_ other: JSONValue) -> Bool {
        switch (self, other) {
        case (.object(let members), .object):
            members.contains { member in
                guard let value = other[member.key] else { return false }
                return member.value.contradicts(value)
            }
        case (.array(let elements), .array(let others)):
            elements.count != others.count || zip(elements, others).contains { $0.contradicts($1) }
        default: self != other
        }
    }
}

/// What objects in one place say of the things that have an id.
struct KnownThings {
    /// By the text of the id, then by key.
    private(set) var values: [String: [String: JSONValue]] = [:]
    /// How often a thing was seen again, and how often what was said of it then could not be true with the earlier.
    private(set) var repeats = 0
    private(set) var contradictions = 0
    /// Whether a thing was said to be of two kinds.
    private(set) var mixesKinds = false

    /// So many things are enough to compare two places by.
    static let maximum = 10_000

    /// Members that say of which kind a thing is.
    private static let kindKeys: Set<String> = ["type", "__typename"]

    mutating func note(_ members: [JSONValue.Member], id: String) {
        guard var known = values[id] else {
            guard values.count < Self.maximum else { return }
            values[id] = Dictionary(members.map { ($0.key, $0.value) }, uniquingKeysWith: { _, later in later })
            return
        }
        repeats += 1
        var contradicts = false
        for member in members {
            if let value = known[member.key], value.contradicts(member.value) {
                contradicts = true
                if Self.kindKeys.contains(member.key) { mixesKinds = true }
            }
            known[member.key] = member.value
        }
        if contradicts { contradictions += 1 }
        values[id] = known
    }

    /// Whether what was seen again is so often contradicted that the ids are no ids of rows.
    var areUnsound: Bool { mixesKinds || contradictions * 20 > repeats }

    /// Whether another place says of some thing what cannot be true with this.
    func contradicts(_ other: KnownThings) -> Bool {
        let (small, large) = values.count < other.values.count ? (values, other.values) : (other.values, values)
        return small.contains { id, members in
            guard let known = large[id] else { return false }
            return members.contains { key, value in known[key]?.contradicts(value) ?? false }
        }
    }

    mutating func merge(_ other: KnownThings) {
        values.merge(other.values) { $0.merging($1) { _, later in later } }
        repeats += other.repeats
        contradictions += other.contradictions
        if other.mixesKinds { mixesKinds = true }
    }

    /// The scalars alone, of each thing.
    var scalars: [String: [String: JSONValue]] { values.mapValues { $0.filter { $0.value.isScalar } } }
}

extension JSONValue {
    var isScalar: Bool {
        switch self {
        case .array, .object: false
        default: true
        }
    }
}
