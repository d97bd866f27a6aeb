/// The locations of the records in a document.
///
/// Records are in one list at the end of a key path, in several lists, in an object, or in the envelope of a known
/// format. The locations are a tree over the objects around the records, with the document as its root. ``JSONReader``
/// and ``RecordChunker`` both follow it with a ``RecordLocationCursor``, so that they agree on the ends of records.
package struct RecordLocations: Sendable, Hashable {
    /// The container of a list of records.
    package enum Container: Sendable, Hashable {
        case array
        /// An array of objects with the record under `node`.
        case edges
        /// An object whose members are records, identified by their keys.
        case members
    }

    /// Information beside the records.
    enum Metadata: Sendable, Hashable {
        /// The `errors` of a failed request.
        case errors
        /// The URL of the next page.
        case link
        /// Whether there is a next page, and its cursor.
        case pageInfo
    }

    /// The meaning of a value at a node.
    enum Content: Sendable, Hashable {
        /// Not used. It is checked and skipped.
        case passed
        /// An object whose members have nodes.
        case walked
        case list(Int, Container)
        /// The only record of a list, outside an array.
        case record(Int)
        /// No record, where one is possible.
        case nothing(Int)
        case metadata(Metadata)
        /// An error, because records are expected here.
        case refused
    }

    /// A place in a document, with the values that are possible there.
    struct Node: Sendable, Hashable {
        var name = ""
        var array = Content.passed
        var object = Content.passed
        var null = Content.passed
        var scalar = Content.passed
        /// The nodes of the members of a walked object.
        var members: [Int] = []
        /// The node of all other members; -1 if they are skipped.
        var otherMembers = -1
        /// The list that the object is a record of if it has none of the members; -1 if it is no record.
        var bareList = -1
        var isRequired = false
        /// Whether only the first alternative in an object is read, because all of them have the same records.
        var isAlternative = false
    }

    private(set) var nodes = [Node()]
    /// The first part of the paths of each list's records.
    package private(set) var labels = [""]
    /// Whether null is allowed among records.
    private(set) var admitsNull = false
    /// Whether there is one list at the end of a key path.
    private(set) var isPlain = false
}

extension RecordLocations {
    /// Returns the content of a value at a node that begins with `byte`.
    func content(of node: Int, _ byte: UInt8) -> Content {
        switch byte {
        case .openBracket: nodes[node].array
        case .openBrace: nodes[node].object
        case UInt8(ascii: "n"): nodes[node].null
        default: nodes[node].scalar
        }
    }

    /// Returns the node of a member of the object at a node; -1 if it is skipped.
    func member(named name: String, of node: Int) -> Int {
        nodes[node].members.first { nodes[$0].name.utf8.elementsEqual(name.utf8) } ?? nodes[node].otherMembers
    }

    /// Returns the next key of the key path at a node; nil at its end.
    func nextKey(at node: Int) -> String? {
        guard isPlain, node >= 0 else { return nil }
        return nodes[node].members.first.map { nodes[$0].name }
    }

    private mutating func add(_ name: String, to node: Int, _ change: (inout Node) -> Void = { _ in }) -> Int {
        var new = Node(name: name)
        change(&new)
        nodes.append(new)
        nodes[node].members.append(nodes.count - 1)
        return nodes.count - 1
    }

    /// Sets the values that are possible at a node. All others are errors.
    private mutating func set(
        _ node: Int, array: Content = .refused, object: Content = .refused, null: Content = .refused
    ) {
        nodes[node].array = array
        nodes[node].object = object
        nodes[node].null = null
        nodes[node].scalar = .refused
    }

    /// Returns the node at the end of a required path of keys, and adds missing nodes.
    private mutating func walk(_ path: [String], from start: Int = 0) -> Int {
        var node = start
        for key in path {
            set(node, object: .walked)
            let known = member(named: key, of: node)
            node = known >= 0 ? known : add(key, to: node) { $0.isRequired = true }
        }
        return node
    }

    // MARK: Formats

    /// Returns the locations of one list or record at the end of a key path.
    package static func list(at keyPath: [String]) -> RecordLocations {
        var places = lists(at: [keyPath], labels: [""])
        places.isPlain = true
        return places
    }

    /// Returns the locations of records that are members of an object at the end of a key path. In an array they have
    /// no keys.
    package static func members(at keyPath: [String]) -> RecordLocations {
        var places = RecordLocations()
        places.set(places.walk(keyPath), array: .list(0, .array), object: .list(0, .members))
        return places
    }

    /// Returns the locations of several lists, each at the end of a key path.
    package static func lists(at keyPaths: [[String]], labels: [String]) -> RecordLocations {
        var places = RecordLocations()
        places.labels = labels
        for (list, path) in keyPaths.enumerated() {
            places.set(places.walk(path), array: .list(list, .array), object: .record(list))
        }
        return places
    }

    /// The locations of a JSON:API document. The primary data is the first list, the included resources are the second.
    package static var jsonAPI: RecordLocations {
        var places = RecordLocations()
        places.labels = ["data", "included"]
        places.set(places.walk(["data"]), array: .list(0, .array), object: .record(0), null: .nothing(0))
        _ = places.add("included", to: 0) {
            $0.array = .list(1, .array)
            $0.object = .refused
        }
        _ = places.add("errors", to: 0) { $0.array = .metadata(.errors) }
        let links = places.add("links", to: 0) { $0.object = .walked }
        _ = places.add("next", to: links) {
            $0.object = .metadata(.link)
            $0.scalar = .metadata(.link)
        }
        return places
    }

    /// Returns the locations of a GraphQL response, in its `data` or in the value of it.
    ///
    /// - Parameter keyPath: The path from `data`, or from the root if there is no `data`, to the field with the
    ///   records. If it is empty, `data` must have only that field.
    package static func graphQL(at keyPath: [String]) -> RecordLocations {
        var places = RecordLocations()
        places.admitsNull = true
        _ = places.add("errors", to: 0) { $0.array = .metadata(.errors) }
        let data = places.add("data", to: 0)
        if keyPath.isEmpty {
            places.setField(0)
            places.nodes[data].object = .walked
            places.nodes.append(Node())
            places.nodes[data].otherMembers = places.nodes.count - 1
            places.setField(places.nodes.count - 1)
        } else {
            places.set(0, object: .walked)
            places.setField(places.walk(keyPath, from: data))
            if keyPath[0] != "data" { places.setField(places.walk(keyPath)) }
            // One of the two paths is enough.
            for node in places.nodes[0].members { places.nodes[node].isRequired = false }
        }
        places.nodes[data].null = .passed
        return places
    }

    /// Sets a node to a field with a connection, a list or one record.
    private mutating func setField(_ node: Int) {
        set(node, array: .list(0, .array), object: .walked, null: .nothing(0))
        nodes[node].bareList = 0
        for (name, container) in [("nodes", Container.array), ("edges", .edges)] {
            _ = add(name, to: node) {
                $0.array = .list(0, container)
                $0.isAlternative = true
            }
        }
        _ = add("pageInfo", to: node) { $0.object = .metadata(.pageInfo) }
    }

    /// Returns the fields of a GraphQL response that have lists. For a connection it is the field, not the list inside.
    package static func fields(_ paths: [[String]]) -> [[String]] {
        paths.reduce(into: []) { fields, path in
            let field = ["nodes", "edges"].contains(path.last) && path.count > 1 ? path.dropLast() : path
            if !fields.contains(field) { fields.append(field) }
        }
    }
}

extension SyncError {
    /// Returns the error for a key path that leads through a value other than an object.
    static func noObject(withKey key: String, at path: String) -> SyncError {
        SyncError(.keyPathNotFound, "expected an object with the key '\(key)'", path: path)
    }

    /// Returns the error for an object without the next key of a key path.
    static func noKey(_ key: String, among keys: [String], at path: String) -> SyncError {
        let names = keys.isEmpty ? "none" : TruncatedList(keys.map { "'\($0)'" }).text
        return SyncError(.keyPathNotFound, "no key '\(key)'; available: \(names)", path: path)
    }
}

/// The pagination information of a document.
package struct PaginationInfo: Sendable, Hashable {
    /// The URL or cursor of the next page; nil if the document has none.
    package var next: String?
    /// Whether there is a next page, so that the document is incomplete.
    package var hasMore = false
    /// Whether there is a previous page.
    package var hasEarlier = false
    /// Whether null is among the records. The service withholds those records.
    package var hasNulls = false
    /// Whether the document omits records.
    package var isPart: Bool { hasMore || hasEarlier || hasNulls }

    package init() {}

    /// Records a link: `"next": "https://…"` or `{"href": …}`.
    mutating func record(link: JSONValue) {
        switch link {
        case .string(let address): next = address
        case .object: if case .string(let address)? = link["href"] { next = address }
        default: return
        }
        hasMore = next != nil
    }

    /// Records page information: `{"hasNextPage": true, "endCursor": …}`.
    mutating func record(pageInfo: JSONValue) {
        hasEarlier = pageInfo["hasPreviousPage"] == .bool(true)
        guard pageInfo["hasNextPage"] == .bool(true) else { return }
        hasMore = true
        if case .string(let cursor)? = pageInfo["endCursor"] { next = cursor }
    }
}
