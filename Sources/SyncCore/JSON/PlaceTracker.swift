/// Follows the places of records through a document: which object around them is open, and what comes next.
struct PlaceTracker: Sendable {
    /// An open object whose members have places.
    private struct Level: Sendable {
        let node: Int
        /// The places of its members that were met.
        var met: [Int] = []
    }

    let places: RecordPlaces
    private var levels: [Level] = []

    init(_ places: RecordPlaces) { self.places = places }

    /// How many objects around records are open.
    var depth: Int { levels.count }

    /// The place of the innermost open object.
    var node: Int { levels.last?.node ?? 0 }

    /// The place of a member of the innermost object; -1 if it does not matter.
    func node(named name: some Sequence<UInt8>) -> Int {
        guard let level = levels.last else { return -1 }
        let node = places.nodes[level.node]
        return node.members.first { places.nodes[$0].name.utf8.elementsEqual(name) } ?? node.otherMembers
    }

    /// Whether the innermost object has had a member with this place.
    func hasMet(_ node: Int) -> Bool { levels.last?.met.contains(node) ?? false }

    /// Whether the innermost object has had a member with any place.
    var hasMetAny: Bool { !(levels.last?.met.isEmpty ?? true) }

    /// What the value at a place is, which begins with `byte`; an object that is walked is open from here on.
    mutating func enter(_ node: Int, _ byte: UInt8) -> RecordPlaces.Content {
        guard node >= 0 else { return .passed }
        let content = places.content(of: node, byte)
        if !levels.isEmpty {
            let met = levels[levels.count - 1].met
            levels[levels.count - 1].met.append(node)
            if places.nodes[node].isAlternative, met.contains(where: { places.nodes[$0].isAlternative }) {
                return .passed
            }
        }
        if content == .walked { levels.append(Level(node: node)) }
        return content
    }

    /// The innermost object was closed.
    mutating func leave() {
        if !levels.isEmpty { levels.removeLast() }
    }
}
