import Foundation
import HTTPTypes
import Sync

@testable import SyncService

/// The collections of one test on a PocketBase server, with access as administrator.
struct PocketBaseSpace: Sendable {
    let url: URL
    let token: String
    private let name = UUID().uuidString.prefix(8).lowercased()

    /// The schema of ``Device``, with string keys.
    static let schema = Device.schema.replacingOccurrences(
        of: "\"remoteID\": {\"type\": \"integer\"}", with: "\"remoteID\": {\"type\": \"string\"}")

    init(url: URL, token: String) { (self.url, self.token) = (url, token) }

    var projects: String { "projects_\(name)" }
    var tasks: String { "tasks_\(name)" }
    var tags: String { "tags_\(name)" }
    var paths: [String: String] { ["Project": projects, "Task": tasks, "Tag": tags] }

    // MARK: Collections

    fileprivate static let times: [JSONValue] = [
        ["name": "created", "type": "autodate", "onCreate": true],
        ["name": "updated", "type": "autodate", "onCreate": true, "onUpdate": true],
    ]

    func create(_ rules: [String: JSONValue]) async throws {
        let project = try await create(projects, [["name": "name", "type": "text"]])
        let tag = try await create(tags, [["name": "name", "type": "text"]])
        try await create(
            tasks,
            [
                ["name": "title", "type": "text"], ["name": "note", "type": "text"], ["name": "done", "type": "bool"],
                ["name": "points", "type": "number"], ["name": "due", "type": "date"],
                ["name": "extra", "type": "json"], ["name": "owner", "type": "text"],
                ["name": "picture", "type": "file", "maxSelect": 1, "maxSize": 1_000_000],
                [
                    "name": "project_id", "type": "relation", "collectionId": project, "maxSelect": 1,
                    "cascadeDelete": true,
                ],
                ["name": "tag_ids", "type": "relation", "collectionId": tag, "maxSelect": 999],
            ], rules)
    }

    /// - Returns: The ID of the collection.
    @discardableResult
    func create(
        _ name: String, _ fields: [JSONValue], _ rules: [String: JSONValue] = [:], more: [JSONValue.Member] = []
    ) async throws -> JSONValue {
        let names = ["listRule", "viewRule", "createRule", "updateRule", "deleteRule"]
        let body: [JSONValue.Member] =
            [
                .init("name", .string(name)), .init("type", "base"), .init("fields", .array(fields + Self.times)),
            ] + names.map { .init($0, rules[$0] ?? "") } + more
        return try await changeCollection(.post, "collections", .object(body))["id"] ?? .null
    }

    /// Creates or changes a collection. Changes of the tests of one server run one after the other.
    @discardableResult
    func changeCollection(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue
    ) async throws -> JSONValue {
        try await PocketBaseServer.shared.changeCollections { try await send(method, path, body) }
    }

    // MARK: Services

    func service(
        pageSize: Int = 1000, batchSize: Int = 50, authorization: String? = nil,
        transport: any HTTPTransport = DefaultTransport()
    ) -> PocketBaseService {
        service(
            pageSize: pageSize, batchSize: batchSize, credentials: .authorization(authorization ?? token),
            transport: transport)
    }

    func service(
        pageSize: Int = 1000, batchSize: Int = 50, credentials: ServiceCredentials,
        transport: any HTTPTransport = DefaultTransport()
    ) -> PocketBaseService {
        var options = PocketBaseOptions()
        options.pageSize = pageSize
        options.batchSize = batchSize
        return PocketBaseService(
            baseURL: url, paths: paths, options: options, credentials: credentials, transport: transport)
    }

    func device(
        pageSize: Int = 1000, authorization: String? = nil, transport: any HTTPTransport = DefaultTransport()
    ) throws -> Device {
        try Device(
            service(pageSize: pageSize, authorization: authorization, transport: transport), schema: Self.schema)
    }

    /// Creates a user in the collection `users`.
    func user() async throws -> (id: String, mail: String, token: String) {
        let mail = "\(UUID().uuidString.lowercased())@example.com"
        let answer = try await send(
            .post, "collections/users/records",
            ["email": .string(mail), "password": "password1", "passwordConfirm": "password1"])
        let signedIn = try await Self.send(
            .post, url, "collections/users/auth-with-password", ["identity": .string(mail), "password": "password1"],
            token: nil)
        guard case .string(let id)? = answer["id"], case .string(let token)? = signedIn["token"] else {
            throw ServerFailure(text: "no user: \(answer) \(signedIn)")
        }
        return (id, mail, token)
    }

    // MARK: Rows

    /// Returns all rows of a collection.
    func rows(_ collection: String) async throws -> [JSONValue] {
        let answer = try await send(.get, "collections/\(collection)/records?perPage=1000&sort=id", nil)
        guard case .array(let rows)? = answer["items"] else { throw ServerFailure(text: "no list: \(answer)") }
        return rows
    }

    func row(_ collection: String, _ id: String) async throws -> JSONValue {
        try await send(.get, "collections/\(collection)/records/\(id)", nil)
    }

    @discardableResult
    func add(_ collection: String, _ row: JSONValue) async throws -> JSONValue {
        try await send(.post, "collections/\(collection)/records", row)
    }

    func change(_ collection: String, _ id: String, _ row: JSONValue) async throws {
        try await send(.patch, "collections/\(collection)/records/\(id)", row)
    }

    func remove(_ collection: String, _ id: String) async throws {
        try await send(.delete, "collections/\(collection)/records/\(id)", nil)
    }

    @discardableResult
    func send(_ method: HTTPRequest.Method, _ path: String, _ body: JSONValue?) async throws -> JSONValue {
        try await Self.send(method, url, path, body, token: token)
    }

    @discardableResult
    static func send(
        _ method: HTTPRequest.Method, _ url: URL, _ path: String, _ body: JSONValue?, token: String?
    ) async throws -> JSONValue {
        guard let address = URL(string: "\(url)/api/\(path)") else { throw ServerFailure(text: "no address: \(path)") }
        var request = HTTPRequest(method: method, url: address)
        if body != nil { request.headerFields[.contentType] = "application/json" }
        if let token { request.headerFields[.authorization] = token }
        let data = body.map { Data(CanonicalJSON.bytes($0)) }
        let (response, answer) = try await DefaultTransport().send(request, body: data)
        guard (200..<300).contains(response.status.code) else {
            throw ServerFailure(
                text: "\(method) \(path): \(response.status) \(String(decoding: answer, as: UTF8.self))")
        }
        return answer.isEmpty ? .null : try JSONValue(parsing: answer)
    }
}
