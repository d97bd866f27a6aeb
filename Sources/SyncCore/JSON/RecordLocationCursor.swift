/// The position in a document, relative to the objects around its records.
///
/// ``JSONReader`` and ``RecordBoundaryScanner`` each have a cursor. In a valid document, both enter and leave the same
/// nodes.
struct RecordLocationCursor: Sendable {
    /// The next part of the document.
    enum Next: Sendable {
        /// A record on a line.
        case line
        /// The value at a node; -1 for a value that is skipped.
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
        /// The position where it begins.
        let start: Int
        /// The nodes of the members found so far.
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

    /// Enters the value at a node, which begins with `byte`, and returns its content.
    ///
    /// A walked object or a list is open afterwards. Any other value is treated as passed.
    ///
    /// - Parameter start: The position where the value begins.
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

    /// Records that the innermost object has a member at a node. Returns false if the member is skipped.
    private mutating func visit(_ node: Int) -> Bool {
        guard node >= 0 else { return false }
        guard let visited = levels.last?.visited else { return true }
        levels[levels.count - 1].visited.append(node)
        return !locations.nodes[node].isAlternative || !visited.contains { locations.nodes[$0].isAlternative }
    }

    /// Passes the key of a member of the innermost object. Returns the node of the member; -1 if it is skipped.
    @discardableResult
    mutating func pass(key: String) -> Int {
        guard !levels.isEmpty else { return -1 }
        levels[levels.count - 1].names.append(key)
        let node = locations.member(named: key, of: levels[levels.count - 1].node)
        next = .value(node)
        return node
    }

    /// Returns whether the innermost object has had a value at a node.
    func hasVisited(_ node: Int) -> Bool { levels.last?.visited.contains(node) ?? false }

    /// Leaves the open list, or the innermost object if no list is open.
    mutating func leaveContainer() {
        if case .element = next {} else { _ = levels.popLast() }
        goOn()
    }

    /// Continues after a value.
    private mutating func goOn() {
        next = levels.isEmpty ? .end : .member
        depth = levels.count
    }

    // MARK: Paths

    /// The keys that lead to the last member of the innermost object.
    var keys: [String] { levels.compactMap(\.names.last) }

    /// The path to that member.
    var path: String { Self.path(keys) }

    /// The path to the innermost object.
    var objectPath: String {
        let keys = levels.dropLast().compactMap(\.names.last)
        return Self.path(locations.isPlain || keys.isEmpty ? keys : ["$"] + keys)
    }

    private static func path(_ keys: [String]) -> String {
        let path = keys.joined(separator: ".")
        return path.isEmpty ? "$" : path
    }
}
