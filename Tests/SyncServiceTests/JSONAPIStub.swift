import Foundation
import HTTPTypes
import Sync

/// A stub of the part of JSON:API 1.1 that a service of the engine uses, in memory. It is written from the
/// specification and lacks what real servers do beyond it.
actor JSONAPIStub: HTTPTransport {
    private static let mediaType = "application/vnd.api+json"
    private let pageSize: Int
    private let takesClientIDs: Bool
    /// The attribute that is unique among resources of a type.
    private let unique: String?
    private var resources: [String: [(id: String, resource: JSONValue)]] = [:]
    private var lastID = 0
    private(set) var requests: [String] = []

    init(pageSize: Int = 3, takesClientIDs: Bool = false, unique: String? = nil) {
        self.pageSize = pageSize
        self.takesClientIDs = takesClientIDs
        self.unique = unique
    }

    // MARK: Calls of tests

    /// Stores a resource as another client would.
    func put(_ type: String, _ id: String, _ attributes: JSONValue, relationships: JSONValue = [:]) {
        let resource: JSONValue = [
            "type": .string(type), "id": .string(id), "attributes": attributes, "relationships": relationships,
        ]
        resources[type, default: []].removeAll { $0.id == id }
        resources[type, default: []].append((id, resource))
    }

    func remove(_ type: String, _ id: String) { resources[type]?.removeAll { $0.id == id } }

    func resource(_ type: String, _ id: String) -> JSONValue? { find(type, id) }

    func all(_ type: String) -> [JSONValue] { resources[type, default: []].map(\.resource) }

    // MARK: The server

    private struct Reply {
        var status: Int
        var body: JSONValue?
    }

    func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
        requests.append("\(request.method) \(request.path ?? "")")
        let reply = try answer(request, body.map { try JSONValue(parsing: $0) })
        let data = try reply.body.map { try JSONEncoder().encode($0) } ?? Data()
        let response = HTTPResponse(
            status: .init(code: reply.status), headerFields: [.contentType: Self.mediaType])
        return (response, data)
    }

    private func answer(_ request: HTTPRequest, _ body: JSONValue?) -> Reply {
        guard request.headerFields[.accept] == Self.mediaType else { return failure(406, "no such media type") }
        guard body == nil || request.headerFields[.contentType] == Self.mediaType else {
            return failure(415, "no such media type")
        }
        let address = URLComponents(string: request.path ?? "/")
        let path = (address?.path ?? "").split(separator: "/").map(String.init)
        guard let type = path.first else { return failure(404, "there is no such list") }
        switch (request.method, path.count) {
        case (.get, 1): return list(type, address?.queryItems?.first { $0.name == "page[number]" }?.value)
        case (.get, 2): return find(type, path[1]).map { Reply(status: 200, body: ["data": $0]) } ?? missing
        case (.post, 1): return create(type, body?["data"])
        case (.patch, 2): return update(type, path[1], body?["data"])
        case (.delete, 2):
            guard find(type, path[1]) != nil else { return missing }
            remove(type, path[1])
            return Reply(status: 204)
        default: return failure(405, "that is not done here")
        }
    }

    private func list(_ type: String, _ page: String?) -> Reply {
        let number = page.flatMap { Int($0) } ?? 1
        let all = resources[type, default: []]
        let part = all.dropFirst((number - 1) * pageSize).prefix(pageSize).map(\.resource)
        let next: JSONValue =
            number * pageSize < all.count ? .string("/\(type)?page%5Bnumber%5D=\(number + 1)") : .null
        // Both forms of a link are in use.
        return Reply(
            status: 200,
            body: ["data": .array(part), "links": ["next": number % 2 == 0 && next != .null ? ["href": next] : next]])
    }

    private func create(_ type: String, _ data: JSONValue?) -> Reply {
        guard let data, data["type"] == .string(type) else { return failure(409, "the type is another", "/data/type") }
        var id = ""
        if case .string(let own)? = data["id"] {
            guard takesClientIDs else { return failure(403, "ids are made here", "/data/id") }
            guard find(type, own) == nil else { return failure(409, "there is one", "/data/id") }
            id = own
        } else {
            lastID += 1
            id = "\(lastID)"
        }
        if let taken = taken(type, id, data) { return taken }
        put(type, id, data["attributes"] ?? [:], relationships: data["relationships"] ?? [:])
        return Reply(status: 201, body: find(type, id).map { ["data": $0] })
    }

    private func update(_ type: String, _ id: String, _ data: JSONValue?) -> Reply {
        guard let old = find(type, id) else { return missing }
        guard let data, data["type"] == .string(type), data["id"] == .string(id) else {
            return failure(409, "type or id are others", "/data/id")
        }
        if let taken = taken(type, id, data) { return taken }
        func merged(_ key: String) -> JSONValue {
            guard case .object(let members)? = old[key], case .object(let new)? = data[key] else {
                return old[key] ?? [:]
            }
            return .object(members.filter { member in !new.contains { $0.key == member.key } } + new)
        }
        put(type, id, merged("attributes"), relationships: merged("relationships"))
        return Reply(status: 200, body: find(type, id).map { ["data": $0] })
    }

    private func taken(_ type: String, _ id: String, _ data: JSONValue) -> Reply? {
        guard let unique, let value = data["attributes"]?[unique] else { return nil }
        let isTaken = resources[type, default: []].contains {
            $0.id != id && $0.resource["attributes"]?[unique] == value
        }
        return isTaken ? failure(409, "is taken", "/data/attributes/\(unique)") : nil
    }

    private func find(_ type: String, _ id: String) -> JSONValue? {
        resources[type]?.first { $0.id == id }?.resource
    }

    private var missing: Reply { failure(404, "there is no such resource") }

    private func failure(_ status: Int, _ detail: String, _ pointer: String? = nil) -> Reply {
        var error: [JSONValue.Member] = [.init("status", .string("\(status)")), .init("detail", .string(detail))]
        if let pointer { error.append(.init("source", ["pointer": .string(pointer)])) }
        return Reply(status: status, body: ["errors": [.object(error)]])
    }
}
