/// How far a document was followed through the objects around its records: which of them are open, and what comes next.
///
/// ``JSONReader`` and ``RecordBoundaryScanner`` own one each. Where a document is right, both enter and leave the same places.
struct RecordLocationCursor: Sendable {
    /// What comes next.
    enum Next: Sendable {
        /// A record on a line.
        case line
        /// The value at a place; at -1 it does not matter.
        case value(Int)
        /// A member of the innermost object, or its end.
        case member
        /// An element of a list of records, or the end of the list.
        case element(RecordLocations.Container)
        /// The end of the document.
        case end
    }

    /// An open object around records.
    struct Level: Sendable {
        let node: Int
        /// Where it begins.
        let start: Int
        /// The places of its members that were met.
        fileprivate(set) var met: [Int] = []
        /// The names of its members so far.
        fileprivate(set) var names: [String] = []
    }

    let places: RecordLocations
    private(set) var next: Next
    private(set) var levels: [Level] = []
    /// How many objects and arrays are open around what comes next.
    private(set) var depth = 0

    init(_ form: JSONReader.Form) {
        switch form {
        case .ndjson: (places, next) = (RecordLocations(), .line)
        case .places(let found): (places, next) = (found, .value(0))
        }
    }

    // MARK: Moving

    /// Meets the value at a place, which begins with `byte`, and says what it is. An object that is walked and a list are
    /// open from here on; any other value is taken as passed.
    ///
    /// - Parameter start: Where it begins.
    @discardableResult
    mutating func enter(_ node: Int, _ byte: UInt8, at start: Int = 0) -> RecordLocations.Content {
        let content = meet(node) ? places.content(of: node, byte) : .passed
        switch content {
        case .walked:
            levels.append(Level(node: node, start: start))
            goOn()
        case .list(_, let container):
            next = .element(container)
            depth = levels.count + 1
        default: goOn()
        }
        return content
    }

    /// Records that the innermost object has a member at a path. False if that does not matter.
    private mutating func meet(_ node: Int) -> Bool {
        guard node >= 0 else { return false }
        guard let met = levels.last?.met else { return true }
        levels[levels.count - 1].met.append(node)
        return !places.nodes[node].isAlternative || !met.contains { places.nodes[$0].isAlternative }
    }

    /// Passes the key of a member of the innermost object. Returns the place of the member; -1 if it does not matter.
    @discardableResult
    mutating func pass(key: String) -> Int {
        guard !levels.isEmpty else { return -1 }
        levels[levels.count - 1].names.append(key)
        let node = places.member(named: key, of: levels[levels.count - 1].node)
        next = .value(node)
        return node
    }

    /// Whether the innermost object has had a value at a place.
    func hasMet(_ node: Int) -> Bool { levels.last?.met.contains(node) ?? false }

    /// Leaves the list that is open, or else the innermost object.
    mutating func leave() {
        if case .element = next {} else { _ = levels.popLast() }
        goOn()
    }

    /// Goes on after a value.
    private mutating func goOn() {
        next = levels.isEmpty ? .end : .member
        depth = levels.count
    }

    // MARK: Paths

    /// The keys that lead to the member of the innermost object that was met last.
    var keys: [String] { levels.compactMap(\.names.last) }

    /// The path to that member.
    var path: String { Self.path(keys) }

    /// The path to the innermost object.
    var objectPath: String {
        let keys = levels.dropLast().compactMap(\.names.last)
        return Self.path(places.isPlain || keys.isEmpty ? keys : ["$"] + keys)
    }

    private static func path(_ keys: [String]) -> String {
        let path = keys.joined(separator: ".")
        return path.isEmpty ? "$" : path
    }
}
