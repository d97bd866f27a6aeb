import Foundation
import HTTPTypes
import Sync

/// A service that speaks [JSON:API](https://jsonapi.org/format/).
struct JSONAPIService: SyncService {
    private let exchange: ServiceHTTPClient
    /// The `type` of resources by entity, which is also the path of their list.
    private let types: [String: String]
    private let ids: ServiceCapabilities.IDAssignment
    /// The attribute with the time of the last change; nil for none.
    private let updated: String?
    /// The fields with IDs of other rows, by entity.
    private var references: [String: [ServiceEntity.Field]] = [:]

    init(
        baseURL: URL, types: [String: String], ids: ServiceCapabilities.IDAssignment = .server, updated: String? = nil,
        credentials: ServiceCredentials = .none, transport: any HTTPTransport = DefaultTransport()
    ) {
        let mediaType = "application/vnd.api+json"
        exchange = ServiceHTTPClient(
            baseURL: baseURL, headers: [.accept: mediaType, .contentType: mediaType], credentials: credentials,
            transport: transport)
        self.types = types
        self.ids = ids
        self.updated = updated
    }

    var capabilities: ServiceCapabilities {
        ServiceCapabilities(
            idAssignment: ids, deletionDetection: .listing,
            createIdempotency: ids == .client ? .clientID : .matchByContent,
            supportsPreconditions: false, providesModificationTimes: updated != nil)
    }

    var identity: String { exchange.base.absoluteString }
    var backoff: Duration? { exchange.backoff }

    func serverOwnedFields(of entity: String) -> [[String]] { updated.map { [[$0]] } ?? [] }

    func configured(for entities: [ServiceEntity]) -> JSONAPIService {
        var service = self
        for entity in entities {
            service.references[entity.name] = entity.fields.filter { member in
                switch member.type {
                case .reference, .references: true
                case .value, .converted: false
                }
            }
        }
        return service
    }

    private func type(_ entity: String) throws -> String {
        guard let type = types[entity] else { throw ServiceError.invalidResponse("\(entity) has no resource type") }
        return type
    }

    private func url(_ entity: String, _ id: JSONValue? = nil) throws -> URL {
        try exchange.url([try type(entity)] + (try id.map { try RowAddress($0).parts } ?? []))
    }

    private static func text(_ id: JSONValue) -> String { if case .string(let text) = id { text } else { "\(id)" } }
}

// MARK: Rows

extension JSONAPIService {
    /// Converts `{"type": "tasks", "id": "1", "attributes": {…}, "relationships": {…}}`; returns nil without an ID.
    private func row(_ json: JSONValue, of entity: String) -> RemoteRecord? {
        guard let id = json["id"], case .string = id else { return nil }
        var members: [JSONValue.Member] = []
        if case .object(let attributes)? = json["attributes"] { members = attributes }
        for reference in references[entity] ?? [] {
            // A relationship without `data` changes nothing.
            guard let data = json["relationships"]?[reference.name]?["data"] else { continue }
            if case .array(let others) = data {
                members.append(.init(reference.key, .array(others.compactMap { $0["id"] })))
            } else {
                members.append(.init(reference.key, data["id"] ?? .null))
            }
        }
        var row = RemoteRecord(id: id, record: .object([.init("id", id)] + members))
        if let updated, case .string(let text)? = json["attributes"]?[updated] {
            row.version = text
            row.modifiedAt = try? Date(text, strategy: .iso8601)
            // Two changes may have the same time.
            row.isComplete = false
        }
        return row
    }

    /// Returns the document for a change.
    private func document(_ operation: PushOperation) throws -> JSONValue {
        var (attributes, relationships): ([JSONValue.Member], [JSONValue.Member]) = ([], [])
        if case .object(let members) = operation.record {
            for member in members where member.key != "id" {
                if let reference = references[operation.entity]?.first(where: { $0.key == member.key }) {
                    let data = try linkage(member.value, reference)
                    relationships.append(.init(reference.name, ["data": data]))
                } else {
                    attributes.append(member)
                }
            }
        }
        var data: [JSONValue.Member] = [.init("type", .string(try type(operation.entity)))]
        if let id = operation.id { data.append(.init("id", .string(Self.text(id)))) }
        data.append(.init("attributes", .object(attributes)))
        data.append(.init("relationships", .object(relationships)))
        return ["data": .object(data)]
    }

    private func linkage(_ value: JSONValue, _ reference: ServiceEntity.Field) throws -> JSONValue {
        switch (value, reference.type) {
        case (.null, _): .null
        case (.array(let ids), _): .array(try ids.map { try linkage($0, reference) })
        case (_, .reference(let entity)), (_, .references(let entity)):
            ["type": .string(try type(entity)), "id": .string(Self.text(value))]
        case (_, .value), (_, .converted): value
        }
    }
}

extension ServiceEntity.Field {
    /// The key in a record. Of a key path, which JSON:API does not have, the last part.
    fileprivate var key: String { keyPath.last ?? name }
}

// MARK: Pulling

extension JSONAPIService {
    func pull(_ request: PullRequest) async throws -> PullPage {
        let url =
            try request.page.map { try exchange.url(following: $0, from: exchange.base) } ?? url(request.entity)
        let response = try await exchange.send(.get, url)
        guard (200..<300).contains(response.status) else { throw response.refusal }
        let json = try response.json()
        guard case .array(let data)? = json["data"] else {
            throw ServiceError.invalidResponse("no list at 'data'")
        }
        let (rows, invalidRecords) = PullPage.parse(data) { row($0, of: request.entity) }
        let link = json["links"]?["next"]
        var next: String?
        if case .string(let address)? = link?["href"] ?? link {
            next = try exchange.url(following: address, from: response.url).absoluteString
        }
        return PullPage(
            records: rows, nextPage: next, isFullListing: true, serverTime: response.time,
            invalidRecords: invalidRecords)
    }

    func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome] {
        var rows: [FetchOutcome] = []
        for id in ids {
            // The URL of such an ID is that of another resource.
            guard let address = try? url(entity, id) else {
                rows.append(.forbidden)
                continue
            }
            let response = try await exchange.send(.get, address)
            switch response.status {
            case 200..<300:
                // `null` means that there is no row.
                rows.append(try response.json()["data"].flatMap { row($0, of: entity) }.map { .found($0) } ?? .notFound)
            case 404, 410: rows.append(.notFound)
            case 403: rows.append(.forbidden)
            default: throw response.refusal
            }
        }
        return rows
    }
}

// MARK: Pushing

extension JSONAPIService {
    func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
        var outcomes: [PushOutcome] = []
        for operation in operations {
            do {
                outcomes.append(try await push(operation))
            } catch let refusal as RowAddress.Refusal {
                outcomes.append(.rejected(refusal.description))
            } catch ServiceError.unreachable(let text, _) {
                // The service may have applied the change before the response was lost.
                outcomes.append(.unknown(text))
            } catch ServiceError.invalidResponse(let text) {
                outcomes.append(.unknown(text))
            }
        }
        return outcomes
    }

    private func push(_ operation: PushOperation) async throws -> PushOutcome {
        var operation = operation
        if operation.isPartialUpdate, let id = operation.id {
            // The service replaces whole attributes: send the rest of a changed part too.
            guard case .found(let row)? = try await fetch([id], of: operation.entity).first, let record = row.record
            else { return .notFound }
            operation = operation.merged(over: record)
        }
        let response: ServiceHTTPClient.Response
        switch operation.kind {
        case .create:
            response = try await exchange.send(.post, url(operation.entity), document(operation))
        case .update:
            response = try await exchange.send(
                .patch, url(operation.entity, operation.id ?? .null), document(operation))
        case .delete:
            response = try await exchange.send(.delete, url(operation.entity, operation.id ?? .null))
        }
        return try await outcome(response, operation)
    }

    private func outcome(_ response: ServiceHTTPClient.Response, _ operation: PushOperation) async throws -> PushOutcome
    {
        let errors = Errors(response)
        switch response.status {
        // The service may apply the change later.
        case 202: return .unknown("status 202")
        case 200..<300: return try applied(response, operation)
        case 404 where operation.kind == .delete, 410 where operation.kind == .delete: return .applied(nil)
        case 404, 410:
            // The missing row may be one that a relationship references.
            guard let id = operation.id, operation.kind == .update else { return .rejected(errors.text) }
            let row = try await fetch([id], of: operation.entity).first
            return row == .notFound ? .notFound : .rejected(errors.text)
        // The reason is a member, such as a value that is taken.
        case 409 where !errors.areOfResource: return .rejected(errors.text)
        case 409 where operation.kind == .create:
            return operation.id == nil ? .rejected(errors.text) : .alreadyExists(nil)
        case 409: return .conflict(nil)
        // Another server responds.
        case 300..<400, 407: throw response.refusal
        default: return .rejected(errors.text)
        }
    }

    private func applied(_ response: ServiceHTTPClient.Response, _ operation: PushOperation) throws -> PushOutcome {
        if operation.kind == .delete { return .applied(nil) }
        if response.status == 204 { return .applied(operation.id.map { RemoteRecord(id: $0, record: nil) }) }
        guard let data = try response.json()["data"], let row = row(data, of: operation.entity) else {
            return .unknown("the response has no resource with an ID")
        }
        return .applied(row)
    }

    /// `{"errors": [{"detail": "is taken", "source": {"pointer": "/data/attributes/title"}}]}`
    private struct Errors {
        let text: String
        /// Whether the errors concern the resource as a whole, and not a member.
        let areOfResource: Bool

        init(_ response: ServiceHTTPClient.Response) {
            var (texts, pointers): ([String], [String]) = ([], [])
            if let json = try? response.json(), case .array(let errors)? = json["errors"] {
                for error in errors {
                    var pointer = ""
                    if case .string(let text)? = error["source"]?["pointer"] { pointer = text }
                    if case .string(let text)? = error["detail"] ?? error["title"] {
                        texts.append(pointer.isEmpty ? text : "\(pointer): \(text)")
                    }
                    pointers.append(pointer)
                }
            }
            text = "status \(response.status): \(texts.isEmpty ? response.message : texts.joined(separator: "; "))"
            areOfResource = pointers.allSatisfy { ["", "/data", "/data/id"].contains($0) }
        }
    }
}
