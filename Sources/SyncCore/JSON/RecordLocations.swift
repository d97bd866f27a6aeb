/// The locations of the records in a document.
///
/// Records are in one list at the end of a key path, in several lists, in an object, or in a standard envelope. The
/// locations form a tree of nodes: the document is the root, and the other nodes are the values around the records.
/// ``JSONReader`` and ``RecordChunker`` follow the tree with a ``RecordLocationCursor``. The reader and the chunker
/// therefore find the same ends of records.
package struct RecordLocations: Sendable, Hashable {
    /// The container of a list of records.
    package enum Container: Sendable, Hashable {
        case array
        /// An array of objects with the record under `node`.
        case edges
        /// An object whose members are records. The object keys identify the records.
        case members
    }

    /// Information besides the records.
    enum Metadata: Sendable, Hashable {
        /// The `errors` of a failed request.
        case errors
        /// The URL of the next page.
        case link
        /// The link to the previous page.
        case previousLink
        /// Whether there is a next page, and its cursor.
        case pageInfo
    }

    /// The meaning of a value at a node.
    enum Content: Sendable, Hashable {
        /// A value that is not used. It is checked and skipped.
        case passed
        /// An object around records, whose members have nodes.
        case walked
        case list(Int, Container)
        /// The only record of a list, outside an array.
        case record(Int)
        /// Null in place of a list or record. It stands for no records.
        case nothing(Int)
        case metadata(Metadata)
        /// A value that is an error, because records are expected in its place.
        case refused
    }

    /// A location in a document, with the meaning of each type of value at the location.
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
        /// The list that the object itself is a record of, if it has none of `members`; -1 if the object cannot be a
        /// record.
        var bareList = -1
        var isRequired = false
        /// Whether the node is one of several alternatives with the same records. Only the first alternative in an
        /// object is read.
        var isAlternative = false
    }

    private(set) var nodes = [Node()]
    /// The first part of the paths of each list's records.
    package private(set) var labels = [""]
    /// Whether null is allowed among records.
    private(set) var admitsNull = false
    /// A description of the only value with records, which is at the end of a key path; nil in other documents.
    private(set) var recordsText: String?
}

extension RecordLocations {
    /// Returns the meaning of a value at a node. `byte` is the first byte of the value.
    func content(of node: Int, _ byte: UInt8) -> Content {
        switch byte {
        case .openBracket: nodes[node].array
        case .openBrace: nodes[node].object
        case UInt8(ascii: "n"): nodes[node].null
        default: nodes[node].scalar
        }
    }

    /// Returns the node of a member of the object at a node; -1 if the member is skipped.
    func member(named name: String, of node: Int) -> Int {
        nodes[node].members.first { nodes[$0].name.utf8.elementsEqual(name.utf8) } ?? nodes[node].otherMembers
    }

    /// Returns the next key of the key path at a node; nil at its end, or if there is not one key path.
    func nextKey(at node: Int) -> String? {
        guard recordsText != nil, node >= 0 else { return nil }
        return nodes[node].members.first.map { nodes[$0].name }
    }

    private mutating func add(_ name: String, to node: Int, _ change: (inout Node) -> Void = { _ in }) -> Int {
        var new = Node(name: name)
        change(&new)
        nodes.append(new)
        nodes[node].members.append(nodes.count - 1)
        return nodes.count - 1
    }

    /// Sets the values that are possible at a node. All other values are errors.
    private mutating func set(
        _ node: Int, array: Content = .refused, object: Content = .refused, null: Content = .refused
    ) {
        nodes[node].array = array
        nodes[node].object = object
        nodes[node].null = null
        nodes[node].scalar = .refused
    }

    /// Returns the node at the end of a path of required keys, and adds missing nodes.
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
        places.recordsText = "an array of records or an object"
        return places
    }

    /// Returns the locations of records that are members of an object at the end of a key path. If the value is an
    /// array, its elements are records without object keys.
    package static func members(at keyPath: [String]) -> RecordLocations {
        var places = RecordLocations()
        places.set(places.walk(keyPath), array: .list(0, .array), object: .list(0, .members))
        places.recordsText = "an object or an array of records"
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
        _ = places.add("prev", to: links) {
            $0.object = .metadata(.previousLink)
            $0.scalar = .metadata(.previousLink)
        }
        return places
    }

    /// Returns the locations of the records in a GraphQL response, with or without the envelope `data`.
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
            // A document needs only one of the two paths.
            for node in places.nodes[0].members { places.nodes[node].isRequired = false }
        }
        places.nodes[data].null = .passed
        return places
    }

    /// Makes a node a GraphQL field with a connection, a list or one record.
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

    /// Returns the paths of the GraphQL fields that have these lists. For a list in a connection, it is the path of the
    /// connection.
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

    /// Returns the error for a payload with a key path that is a string, a number, a boolean or null. Its code is the
    /// same as without a key path.
    static func noDocument(withKey key: String) -> SyncError {
        SyncError(.recordExpected, "expected an object with the key '\(key)', found a single value", path: "$")
    }

    /// Returns the error for an object without the next key of a key path.
    static func noKey(_ key: String, among keys: [String], at path: String) -> SyncError {
        let names = keys.isEmpty ? "none" : TruncatedList(keys.map { "'\($0)'" }).text
        // An object with very many keys has records, not names.
        let hint = SimilarName.hint(for: key, among: keys.prefix(1000))
        return SyncError(.keyPathNotFound, "no key '\(key)'; available: \(names)\(hint)", path: path)
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
    /// Whether null is among the records, in place of records that the service withholds.
    package var hasNulls = false
    /// Whether the document omits records.
    package var isPart: Bool { hasMore || hasEarlier || hasNulls }

    package init() {}

    /// Records the link to the previous page. Null states that there is none.
    mutating func record(previousLink: JSONValue) {
        switch previousLink {
        case .string, .object: hasEarlier = true
        case .null, .bool, .number, .array: break
        }
    }

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
