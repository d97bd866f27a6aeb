/// Where the records of a document stand: in one list at the end of a key path, as the members of an object, in several
/// lists, or in an envelope of a known form.
///
/// A tree over the objects around the records; the root is the document. The reader of a document and the scan that cuts
/// it into pieces both follow it with a ``RecordLocationCursor``, so that they agree on where records end.
package struct RecordLocations: Sendable, Hashable {
    /// What a list of records stands in.
    package enum Container: Sendable, Hashable {
        case array
        /// An array of objects that have their record under `node`.
        case edges
        /// An object: each member is a record, its name says which.
        case members
    }

    /// What is said beside the records.
    enum Remark: Sendable, Hashable {
        /// `errors` of a service that could not answer.
        case errors
        /// The address of the next page.
        case link
        /// Whether there is a next page, and what to ask it with.
        case pageInfo
    }

    /// What a value at a place is.
    enum Content: Sendable, Hashable {
        /// Of no interest; checked, and passed over.
        case passed
        /// An object whose members have places.
        case walked
        case list(Int, Container)
        /// The only record of a list, in no array.
        case record(Int)
        /// No record, where one might have been.
        case nothing(Int)
        case remark(Remark)
        /// Records are expected here, and this is none.
        case refused
    }

    /// A place and what may stand there.
    struct Node: Sendable, Hashable {
        var name = ""
        var array = Content.passed
        var object = Content.passed
        var null = Content.passed
        var scalar = Content.passed
        /// The nodes of its members, of an object that is walked.
        var members: [Int] = []
        /// The node of any other member; -1 if those do not matter.
        var otherMembers = -1
        /// The list of which the object is a record if it has none of the members; -1 if it is none.
        var bareList = -1
        var isRequired = false
        /// Whether only the first of its kind in an object counts, because all of them have the same records.
        var isAlternative = false
    }

    private(set) var nodes = [Node()]
    /// How the paths of each list's records begin.
    package private(set) var labels = [""]
    /// Whether null among records is no error.
    private(set) var admitsNull = false
    /// Whether it is one list at the end of a key path.
    private(set) var isPlain = false
}

extension RecordLocations {
    /// The place of a value that begins with `byte`.
    func content(of node: Int, _ byte: UInt8) -> Content {
        switch byte {
        case .openBracket: nodes[node].array
        case .openBrace: nodes[node].object
        case UInt8(ascii: "n"): nodes[node].null
        default: nodes[node].scalar
        }
    }

    /// The place of a member of the object at a place; -1 if it does not matter.
    func member(named name: String, of node: Int) -> Int {
        nodes[node].members.first { nodes[$0].name.utf8.elementsEqual(name.utf8) } ?? nodes[node].otherMembers
    }

    /// The key that a key path goes on with at a place; nil at its end.
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

    /// Says what the value at a place may be; it is refused if it is anything else.
    private mutating func set(
        _ node: Int, array: Content = .refused, object: Content = .refused, null: Content = .refused
    ) {
        nodes[node].array = array
        nodes[node].object = object
        nodes[node].null = null
        nodes[node].scalar = .refused
    }

    /// The place at the end of a path of keys that must be there.
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

    /// One list at the end of a key path, or one record there.
    package static func list(at keyPath: [String]) -> RecordLocations {
        var places = lists(at: [keyPath], labels: [""])
        places.isPlain = true
        return places
    }

    /// Records that are the members of an object at the end of a key path. An array has its records without names.
    package static func members(at keyPath: [String]) -> RecordLocations {
        var places = RecordLocations()
        places.set(places.walk(keyPath), array: .list(0, .array), object: .list(0, .members))
        return places
    }

    /// Several lists of one document, each at the end of a key path.
    package static func lists(at keyPaths: [[String]], labels: [String]) -> RecordLocations {
        var places = RecordLocations()
        places.labels = labels
        for (list, path) in keyPaths.enumerated() {
            places.set(places.walk(path), array: .list(list, .array), object: .record(list))
        }
        return places
    }

    /// A document of JSON:API: the primary data is the first list, what is included the second.
    package static var jsonAPI: RecordLocations {
        var places = RecordLocations()
        places.labels = ["data", "included"]
        places.set(places.walk(["data"]), array: .list(0, .array), object: .record(0), null: .nothing(0))
        _ = places.add("included", to: 0) {
            $0.array = .list(1, .array)
            $0.object = .refused
        }
        _ = places.add("errors", to: 0) { $0.array = .remark(.errors) }
        let links = places.add("links", to: 0) { $0.object = .walked }
        _ = places.add("next", to: links) {
            $0.object = .remark(.link)
            $0.scalar = .remark(.link)
        }
        return places
    }

    /// An answer of a GraphQL service: its `data`, or what that holds.
    ///
    /// - Parameter keyPath: Leads from `data`, or from the root where there is none, to the field that has the records;
    ///   if it is empty, they are in the only field of `data`.
    package static func graphQL(at keyPath: [String]) -> RecordLocations {
        var places = RecordLocations()
        places.admitsNull = true
        _ = places.add("errors", to: 0) { $0.array = .remark(.errors) }
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
            // Either is enough.
            for node in places.nodes[0].members { places.nodes[node].isRequired = false }
        }
        places.nodes[data].null = .passed
        return places
    }

    /// A field that has a connection, a list, or one record.
    private mutating func setField(_ node: Int) {
        set(node, array: .list(0, .array), object: .walked, null: .nothing(0))
        nodes[node].bareList = 0
        for (name, container) in [("nodes", Container.array), ("edges", .edges)] {
            _ = add(name, to: node) {
                $0.array = .list(0, container)
                $0.isAlternative = true
            }
        }
        _ = add("pageInfo", to: node) { $0.object = .remark(.pageInfo) }
    }

    /// The fields of a GraphQL answer that have lists: of a connection the field, not what is in it.
    package static func fields(_ paths: [[String]]) -> [[String]] {
        paths.reduce(into: []) { fields, path in
            let field = ["nodes", "edges"].contains(path.last) && path.count > 1 ? path.dropLast() : path
            if !fields.contains(field) { fields.append(field) }
        }
    }
}

extension SyncError {
    /// Something else is where a key path leads on.
    static func noObject(withKey key: String, at path: String) -> SyncError {
        SyncError(.keyPathNotFound, "an object with the key '\(key)' is expected", path: path)
    }

    /// An object has other keys than that of a key path.
    static func noKey(_ key: String, among keys: [String], at path: String) -> SyncError {
        let names = keys.isEmpty ? "none" : TruncatedList(keys.map { "'\($0)'" }).text
        return SyncError(.keyPathNotFound, "there is no key '\(key)'; there is \(names)", path: path)
    }
}

/// What a document says of the page after it.
package struct PaginationInfo: Sendable, Hashable {
    /// What to ask for the next page with: an address, or a cursor; nil if there is none, or nothing is said of it.
    package var next: String?
    /// Whether there is a next page, so that the document is not all there is.
    package var hasMore = false
    /// Whether there is a page before it.
    package var hasEarlier = false
    /// Whether null stands among the records, for some that the service keeps to itself.
    package var hasNulls = false
    /// Whether there are records that the document does not have.
    package var isPart: Bool { hasMore || hasEarlier || hasNulls }

    package init() {}

    /// `"next": "https://…"` or `{"href": …}`.
    mutating func record(link: JSONValue) {
        switch link {
        case .string(let address): next = address
        case .object: if case .string(let address)? = link["href"] { next = address }
        default: return
        }
        hasMore = next != nil
    }

    /// `{"hasNextPage": true, "endCursor": …}`.
    mutating func record(pageInfo: JSONValue) {
        hasEarlier = pageInfo["hasPreviousPage"] == .bool(true)
        guard pageInfo["hasNextPage"] == .bool(true) else { return }
        hasMore = true
        if case .string(let cursor)? = pageInfo["endCursor"] { next = cursor }
    }
}
