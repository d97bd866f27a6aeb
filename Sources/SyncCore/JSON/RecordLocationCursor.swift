/// A cursor over the parts of a document around its records. It follows the tree of ``RecordLocations``.
///
/// ``JSONReader`` and ``RecordBoundaryScanner`` each have a cursor. In a valid document, both cursors enter and leave
/// the same location nodes.
struct RecordLocationCursor: Sendable {
    /// The next part of the document.
    enum Next: Sendable {
        /// A line with a record, in NDJSON.
        case line
        /// The value at a location node; -1 for a value that is skipped.
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
        /// The byte offset at which the object begins.
        let start: Int
        /// The location nodes of the members found so far.
        fileprivate(set) var visited: [Int] = []
        /// The keys of the members found so far.
        fileprivate(set) var names: [String] = []
    }

    let locations: RecordLocations
    private(set) var next: Next
    private(set) var levels: [Level] = []
    /// The number of objects and arrays that are open before the next part.
    private(set) var depth = 0

    init(_ form: JSONReader.Form) {
        switch form {
        case .ndjson: (locations, next) = (RecordLocations(), .line)
        case .locations(let found): (locations, next) = (found, .value(0))
        }
    }

    // MARK: Moving

    /// Moves to the value at a location node, and returns the meaning of the value. `byte` is the first byte of the
    /// value.
    ///
    /// A list, or an object around records, is open afterwards. The cursor moves past any other value.
    ///
    /// - Parameter start: The byte offset at which the value begins.
    @discardableResult
    mutating func enter(_ node: Int, _ byte: UInt8, at start: Int = 0) -> RecordLocations.Content {
        let content = visit(node) ? locations.content(of: node, byte) : .passed
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

    /// Records that the innermost object has a member at a location node. Returns false if the member is skipped.
    private mutating func visit(_ node: Int) -> Bool {
        guard node >= 0 else { return false }
        guard let visited = levels.last?.visited else { return true }
        levels[levels.count - 1].visited.append(node)
        return !locations.nodes[node].isAlternative || !visited.contains { locations.nodes[$0].isAlternative }
    }

    /// Moves past the key of a member of the innermost object. Returns the location node of the member; -1 if the
    /// member is skipped.
    @discardableResult
    mutating func pass(key: String) -> Int {
        guard !levels.isEmpty else { return -1 }
        levels[levels.count - 1].names.append(key)
        let node = locations.member(named: key, of: levels[levels.count - 1].node)
        next = .value(node)
        return node
    }

    /// Returns whether the innermost object has already had a member at a location node.
    func hasVisited(_ node: Int) -> Bool { levels.last?.visited.contains(node) ?? false }

    /// Leaves the open list, or the innermost object if no list is open.
    mutating func leaveContainer() {
        if case .element = next {} else { _ = levels.popLast() }
        goOn()
    }

    /// Moves to the part after a value.
    private mutating func goOn() {
        next = levels.isEmpty ? .end : .member
        depth = levels.count
    }

    // MARK: Paths

    /// The keys that lead to the last member of the innermost object.
    var keys: [String] { levels.compactMap(\.names.last) }

    /// The path to the last member of the innermost object.
    var path: String { Self.path(keys) }

    /// The path to the innermost object.
    var objectPath: String {
        let keys = levels.dropLast().compactMap(\.names.last)
        return Self.path(locations.recordsText != nil || keys.isEmpty ? keys : ["$"] + keys)
    }

    private static func path(_ keys: [String]) -> String {
        let path = keys.joined(separator: ".")
        return path.isEmpty ? "$" : path
    }
}
