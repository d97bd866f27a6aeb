/// What a document looks like that is not one list of records: for those who have to guess how to read it.
package enum DocumentShape: Sendable, Hashable {
    /// JSON:API: `data` of resources with `type` and `id`, or `errors`.
    case jsonAPI
    /// An answer of a GraphQL service: `data` with a connection somewhere in it, or `errors` with messages.
    case graphQL
    /// The members of an object, each a record.
    case keyed
    /// An object with several lists of records, by their names.
    case lists([String])

    /// So many members are looked at.
    private static let sampleSize = 100

    /// What a value looks like; nil for a list, a record, or anything else.
    package init?(of value: JSONValue) {
        guard case .object(let members) = value else { return nil }
        if Self.isJSONAPI(value) {
            self = .jsonAPI
        } else if Self.isGraphQL(value) {
            self = .graphQL
        } else if Self.isKeyed(members) {
            self = .keyed
        } else if case let lists = Self.lists(in: members), lists.count > 1 {
            self = .lists(lists)
        } else {
            return nil
        }
    }

    /// Whether an object is a document of JSON:API.
    package static func isJSONAPI(_ value: JSONValue) -> Bool {
        if value["jsonapi"] != nil { return true }
        switch value["data"] {
        case .array(let resources)?: return !resources.isEmpty && resources.prefix(sampleSize).allSatisfy(isResource)
        case let resource?: return isResource(resource)
        case nil: return false
        }
    }

    private static func isResource(_ value: JSONValue) -> Bool {
        guard case .string? = value["type"], value["id"] != nil else { return false }
        return value["attributes"] != nil || value["relationships"] != nil
    }

    /// Whether an object is an answer of a GraphQL service, or a connection itself.
    package static func isGraphQL(_ value: JSONValue) -> Bool {
        if isConnection(value) { return true }
        if case .object(let fields)? = value["data"] { return fields.contains { hasConnection($0.value, depth: 3) } }
        guard value["data"] == .null, case .array(let errors)? = value["errors"] else { return false }
        return errors.contains { $0["message"] != nil }
    }

    private static func hasConnection(_ value: JSONValue, depth: Int) -> Bool {
        if isConnection(value) { return true }
        guard depth > 0, case .object(let members) = value else { return false }
        return members.prefix(sampleSize).contains { hasConnection($0.value, depth: depth - 1) }
    }

    /// Whether a value is a list with `edges` or `nodes`.
    package static func isConnection(_ value: JSONValue) -> Bool {
        if case .array(let edges)? = value["edges"] { return edges.prefix(sampleSize).allSatisfy { $0["node"] != nil } }
        guard case .array? = value["nodes"] else { return false }
        guard case .object(let members) = value else { return false }
        return members.allSatisfy { ["nodes", "pageInfo", "totalCount", "__typename"].contains($0.key) }
    }

    /// Whether the members of an object are records: two objects or more, which have a key in common.
    package static func isKeyed(_ members: [JSONValue.Member]) -> Bool {
        guard members.count > 1 else { return false }
        var common: Set<String>?
        for member in members.prefix(sampleSize) {
            guard case .object(let record) = member.value else { return false }
            let keys = Set(record.map(\.key))
            common = common?.intersection(keys) ?? keys
        }
        return common?.isEmpty == false
    }

    /// The members of an object that are lists of objects.
    package static func lists(in members: [JSONValue.Member]) -> [String] {
        members.filter { member in
            guard case .array(let elements) = member.value, let first = elements.first else { return false }
            if case .object = first { return true }
            return false
        }.map(\.key)
    }
}
