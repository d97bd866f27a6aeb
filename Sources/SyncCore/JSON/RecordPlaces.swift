/// Where the records of a document stand, where that is not one list at the end of a key path: as the members of an
/// object, in several lists, or in an envelope of a known form.
///
/// A tree over the objects around the records; the root is the document. Who reads a document and who cuts it into
/// pieces both follow it with a ``PlaceTracker``, so that they agree on where records end.
package struct RecordPlaces: Sendable, Hashable {
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
    package private(set) var labels: [String] = []
    /// Whether null among records is no error.
    private(set) var admitsNull = false
}

extension RecordPlaces {
    /// The place of a value that begins with `byte`.
    func content(of node: Int, _ byte: UInt8) -> Content {
        switch byte {
        case .openBracket: nodes[node].array
        case .openBrace: nodes[node].object
        case UInt8(ascii: "n"): nodes[node].null
        default: nodes[node].scalar
        }
    }

    private mutating func add(_ name: String, to node: Int, _ change: (inout Node) -> Void = { _ in }) -> Int {
        var new = Node(name: name)
        change(&new)
        nodes.append(new)
        nodes[node].members.append(nodes.count - 1)
        return nodes.count - 1
    }

    /// The place at the end of a path of keys that must be there.
    private mutating func walk(_ path: [String], from start: Int = 0) -> Int {
        var node = start
        for key in path {
            nodes[node].object = .walked
            for kind in [\Node.array, \Node.null, \Node.scalar] { nodes[node][keyPath: kind] = .refused }
            let known = nodes[node].members.first { nodes[$0].name.utf8.elementsEqual(key.utf8) }
            node = known ?? add(key, to: node) { $0.isRequired = true }
        }
        return node
    }

    // MARK: Forms

    /// Records that are the members of an object at the end of a key path. An array has its records without names.
    package static func members(at keyPath: [String]) -> RecordPlaces {
        var places = RecordPlaces()
        places.labels = [""]
        let node = places.walk(keyPath)
        places.nodes[node].object = .list(0, .members)
        places.nodes[node].array = .list(0, .array)
        places.nodes[node].null = .refused
        places.nodes[node].scalar = .refused
        return places
    }

    /// Several lists of one document, each at the end of a key path.
    package static func lists(at keyPaths: [[String]], labels: [String]) -> RecordPlaces {
        var places = RecordPlaces()
        places.labels = labels
        for (list, path) in keyPaths.enumerated() {
            let node = places.walk(path)
            places.nodes[node].array = .list(list, .array)
            places.nodes[node].object = .record(list)
            places.nodes[node].null = .refused
            places.nodes[node].scalar = .refused
        }
        return places
    }

    /// A document of JSON:API: the primary data is the first list, what is included the second.
    package static var jsonAPI: RecordPlaces {
        var places = RecordPlaces()
        places.labels = ["data", "included"]
        let data = places.walk(["data"])
        places.nodes[data].array = .list(0, .array)
        places.nodes[data].object = .record(0)
        places.nodes[data].null = .nothing(0)
        places.nodes[data].scalar = .refused
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
    package static func graphQL(at keyPath: [String]) -> RecordPlaces {
        var places = RecordPlaces()
        places.labels = [""]
        places.admitsNull = true
        places.nodes[0].scalar = .refused
        places.nodes[0].null = .refused
        _ = places.add("errors", to: 0) { $0.array = .remark(.errors) }
        if keyPath.isEmpty {
            places.setField(0)
        } else {
            places.nodes[0].object = .walked
            places.nodes[0].array = .refused
        }
        let data = places.add("data", to: 0)
        if keyPath.isEmpty {
            places.nodes[data].object = .walked
            places.nodes.append(Node())
            places.nodes[data].otherMembers = places.nodes.count - 1
            places.setField(places.nodes.count - 1)
        } else {
            places.setField(places.walk(keyPath, from: data))
            if keyPath[0] != "data" { places.setField(places.walk(keyPath)) }
            // Either is enough.
            for node in places.nodes.indices where places.nodes[0].members.contains(node) {
                places.nodes[node].isRequired = false
            }
        }
        places.nodes[data].null = .passed
        return places
    }

    /// A field that has a connection, a list, or one record.
    private mutating func setField(_ node: Int) {
        nodes[node].array = .list(0, .array)
        nodes[node].object = .walked
        nodes[node].null = .nothing(0)
        nodes[node].scalar = .refused
        nodes[node].bareList = 0
        for (name, container) in [("nodes", Container.array), ("edges", .edges)] {
            _ = add(name, to: node) {
                $0.array = .list(0, container)
                $0.isAlternative = true
            }
        }
        _ = add("pageInfo", to: node) { $0.object = .remark(.pageInfo) }
    }
}

/// What a document says of the page after it.
package struct PageMark: Sendable, Hashable {
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
    mutating func note(link: JSONValue) {
        switch link {
        case .string(let address): next = address
        case .object: if case .string(let address)? = link["href"] { next = address }
        default: return
        }
        hasMore = next != nil
    }

    /// `{"hasNextPage": true, "endCursor": …}`.
    mutating func note(pageInfo: JSONValue) {
        hasEarlier = pageInfo["hasPreviousPage"] == .bool(true)
        guard pageInfo["hasNextPage"] == .bool(true) else { return }
        hasMore = true
        if case .string(let cursor)? = pageInfo["endCursor"] { next = cursor }
    }
}
