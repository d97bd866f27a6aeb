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

/// How far the reading of a document is whose records have several places.
package struct PlaceWalk {
    enum State {
        /// The value at a place is next.
        case value(Int)
        /// A member of the innermost object, or its end.
        case members
        case list(RecordPlaces.Container)
        case ended
    }

    /// An open object around records.
    struct Level {
        /// Where it begins.
        let start: Int
        /// Its members so far.
        var names: [String] = []
    }

    var tracker: PlaceTracker
    var state = State.value(0)
    var levels: [Level] = []
    /// The list that the record last read is in, and the lists that are one object instead.
    package var list = 0
    var loneLists: Set<Int> = []
    /// Whether a place of records was met.
    var hasPlace = false
    var page = PageMark()
    /// What is passed over is read into it.
    var spare = JSONTape()

    init(_ places: RecordPlaces) { tracker = PlaceTracker(places) }

    var places: RecordPlaces { tracker.places }

    /// How the path of the record last read begins.
    var label: String { places.labels.indices.contains(list) ? places.labels[list] : "" }

    /// The keys that lead to the innermost object.
    var path: String {
        levels.isEmpty ? "$" : (["$"] + levels.dropLast().compactMap(\.names.last)).joined(separator: ".")
    }

    /// The key path to the value that is read, from inside the envelope.
    package var fieldPath: [String] {
        let names = levels.compactMap(\.names.last)
        return names.first == "data" ? Array(names.dropFirst()) : names
    }

    /// Goes on after a value.
    mutating func goOn() { state = levels.isEmpty ? .ended : .members }
}

// MARK: - PlaceWalk+Fields

extension PlaceWalk {
    /// The fields that have lists: of a connection the field, not what is in it.
    package static func fields(_ paths: [[String]]) -> [[String]] {
        paths.reduce(into: []) { fields, path in
            let field = ["nodes", "edges"].contains(path.last) && path.count > 1 ? path.dropLast() : path
            if !fields.contains(field) { fields.append(field) }
        }
    }
}
