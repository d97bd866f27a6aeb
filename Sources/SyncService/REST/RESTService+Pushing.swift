import Foundation
import HTTPTypes
package import SyncCore

extension RESTService {
    /// Sends the changes one by one.
    package func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
        var outcomes: [PushOutcome] = []
        for operation in operations {
            outcomes.append(try await push(withoutVersion(operation)))
        }
        return outcomes
    }

    /// Removes the version, which only the service sets. Also removes a deletion mark of null from a new row.
    private func withoutVersion(_ operation: PushOperation) -> PushOperation {
        var operation = operation
        for path in [options.versionField, options.deletedField].compactMap(\.self).map(Self.path) {
            let isVersion = path == options.versionField.map(Self.path)
            guard isVersion || operation.kind == .create && operation.record.value(at: path) == .null else { continue }
            operation.record = operation.record.without(at: path)
            operation.fieldPaths.removeAll { $0 == path }
        }
        return operation
    }

    private func push(_ operation: PushOperation) async throws -> PushOutcome {
        try await PushOutcome.of {
            if let id = operation.id { _ = try RowAddress(id) }
            switch operation.kind {
            case .create: return try await create(operation)
            case .update: return try await update(operation)
            case .delete: return try await delete(operation)
            }
        }
    }

    private func create(_ operation: PushOperation) async throws -> PushOutcome {
        var headers: [HTTPField.Name: String] = [:]
        if let name = options.idempotencyHeader.flatMap({ HTTPField.Name($0) }) {
            headers[name] = operation.idempotencyKey
        }
        var body = operation.record
        if let marker = options.markerField { body = body.setting(.string(operation.idempotencyKey), at: [marker]) }
        let response: ServiceHTTPClient.Response
        if options.idAssignment == .client, let id = operation.id {
            if options.preconditionHeader != nil { headers[.ifNoneMatch] = "*" }
            response = try await exchange.send(.put, url(id, operation), body, headers: headers)
        } else {
            response = try await exchange.send(.post, exchange.url(path(of: operation.entity)), body, headers: headers)
        }
        switch response.status {
        case 200..<300:
            if response.isEmpty || response.status == 201, let id = operation.id ?? located(response, operation.entity)
            {
                return .applied((try? record(response, operation.entity)) ?? RemoteRecord(id: id, record: nil))
            }
            let row = try record(response, operation.entity)
            // Without an ID, the engine looks for the row. A proxy may have sent a 200 response.
            guard let id = row?.id ?? operation.id else { return response.status == 200 ? .silent : .applied(nil) }
            return .applied(row ?? RemoteRecord(id: id, record: nil))
        case 409, 412:
            // The body of the response explains the conflict and is not a record.
            if operation.id != nil { return .alreadyExists(nil) }
            return try await existing(response, operation)
        // The ID belongs to a deleted row.
        case 410 where options.idAssignment == .client && operation.id != nil: return .notFound
        case 404 where options.idAssignment == .client && operation.id != nil:
            return try await isList(operation.entity) ? .notFound : refusal(response)
        default: return try refusal(response)
        }
    }

    /// Returns whether the service has the list of an entity. If it does not, status 404 says nothing about the ID.
    private func isList(_ entity: String) async throws -> Bool {
        let response = try await exchange.send(.get, exchange.url(path(of: entity)))
        return (200..<300).contains(response.status)
    }

    /// Returns the ID of a new row from the `Location` header (RFC 9110), or nil. The ID is the part of the path below
    /// the list. The host is ignored, because a service behind a gateway may not know its public host.
    private func located(_ response: ServiceHTTPClient.Response, _ entity: String) -> JSONValue? {
        guard let text = response.headers[.location], let url = URL(string: text, relativeTo: response.url),
            let path = URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedPath
        else { return nil }
        let parts = path.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
        let list = exchange.base.path.split(separator: "/").map(String.init) + self.path(of: entity)
        let id = parts.dropFirst(list.count).map { JSONValue.string($0) }
        guard parts.starts(with: list), id.count == idKeys(of: entity).count else { return nil }
        return id.count == 1 ? id.first : .array(id)
    }

    /// Returns the outcome of a change with status 409. The outcome is a conflict only if the service has another
    /// version than the change is based on. If the service has the same version, or hides the row, it rejects the
    /// change.
    private func contested(_ response: ServiceHTTPClient.Response, _ operation: PushOperation) async throws
        -> PushOutcome
    {
        guard let id = operation.id, let row = try await fetch([id], of: operation.entity).first else {
            return try refusal(response)
        }
        switch row {
        case .found(let row) where row.version != operation.version: return .conflict(row)
        case .found, .forbidden: return try refusal(response)
        case .notFound: return operation.kind == .delete ? .applied(nil) : .notFound
        }
    }

    /// Returns the outcome of a create with status 409 or 412. The row exists already only if the response contains a
    /// record and that record has the values that were sent. Otherwise the service rejects the create.
    private func existing(_ response: ServiceHTTPClient.Response, _ operation: PushOperation) async throws
        -> PushOutcome
    {
        guard let named = try? record(response, operation.entity),
            case .found(let row)? = try await fetch([named.id], of: operation.entity).first,
            row.record?.contains(operation.record) == true
        else { return try refusal(response) }
        return .alreadyExists(row)
    }

    private func update(_ operation: PushOperation) async throws -> PushOutcome {
        guard let id = operation.id else { return .rejected("the row has no remote ID") }
        if operation.record == .object([]) {
            // The only changed field is the version, which is not sent.
            switch try await fetch([id], of: operation.entity).first {
            case .found(let row)?: return .applied(row)
            case .forbidden?: return .rejected(FetchOutcome.forbiddenReason)
            case .notFound?, nil: return .notFound
            }
        }
        var headers = precondition(operation)
        var body = operation.record
        // `PUT` replaces a record, so it needs the fields that the model does not have. A partial update needs the rest
        // of each member.
        if options.updateMethod == .put || operation.isPartialUpdate {
            let response = try await exchange.send(.get, url(id, operation))
            if [404, 410].contains(response.status) { return .notFound }
            guard (200..<300).contains(response.status), let current = try record(response, operation.entity) else {
                return try refusal(response)
            }
            guard current.id.isSpelling(of: id) else { return .unknown(current.otherRowReason) }
            guard let record = current.record else { return .notFound }
            // If the service has another version than the change is based on, the engine merges that version first.
            if let known = operation.version, let version = current.version, version != known {
                return .conflict(current)
            }
            body = options.updateMethod == .put ? operation.applied(to: record) : operation.merged(over: record).record
            if options.preconditionHeader != nil, let version = current.version {
                headers = precondition(PushOperation(operation, version: version))
            }
        }
        let method: HTTPRequest.Method = options.updateMethod == .put ? .put : .patch
        let response = try await exchange.send(method, url(id, operation), body, headers: headers)
        switch response.status {
        case 204: return .applied(nil)
        case 200..<300:
            guard let row = try record(response, operation.entity) else {
                return .unknown("the response has no record")
            }
            return .applied(row)
        case 404, 410:
            // A service that does not support the method also returns 404.
            return try await fetch([id], of: operation.entity) == [.notFound] ? .notFound : try refusal(response)
        case 409: return try await contested(response, operation)
        case 412: return .conflict(nil)
        default: return try refusal(response)
        }
    }

    private func delete(_ operation: PushOperation) async throws -> PushOutcome {
        guard let id = operation.id else { return .rejected("the row has no remote ID") }
        let response = try await exchange.send(.delete, url(id, operation), headers: precondition(operation))
        switch response.status {
        case 202, 204, 404, 410: return .applied(nil)
        case 200..<300:
            // A proxy may have sent the response, so check that the row is gone.
            let rows = try await fetch([id], of: operation.entity)
            return rows == [.notFound]
                ? .applied(nil) : .unknown("the service confirmed the deletion but still has the row")
        case 409: return try await contested(response, operation)
        case 412: return .conflict(nil)
        default: return try refusal(response)
        }
    }

    /// Fetches records by ID, with one request for each ID.
    package func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome] {
        try await fetch(ids, below: path(of: entity)) { id, response in
            guard let row = try record(response, entity) else {
                throw ServiceError.invalidResponse("a record of \(entity) has no ID")
            }
            return row.record == nil && row.id.isSpelling(of: id) ? .notFound : .found(row)
        }
    }

    // MARK: Requests and responses

    private func url(_ id: JSONValue, _ operation: PushOperation) throws -> URL {
        try exchange.url(path(of: operation.entity) + RowAddress(id).parts)
    }

    private func precondition(_ operation: PushOperation) -> [HTTPField.Name: String] {
        guard let name = options.preconditionHeader.flatMap({ HTTPField.Name($0) }), let version = operation.version
        else {
            return [:]
        }
        // An entity tag is quoted (RFC 9110).
        return [name: name == .ifMatch && !version.hasPrefix("\"") ? "\"\(version)\"" : version]
    }

    /// Returns the record of a response; nil if there is none. The response may have the same envelope as a list.
    private func record(_ response: ServiceHTTPClient.Response, _ entity: String) throws -> RemoteRecord? {
        guard !response.isEmpty else { return nil }
        let json = try response.json()
        let inner = options.recordsKeyPath.isEmpty ? nil : json.value(at: Self.path(options.recordsKeyPath))
        for candidate in [inner, json].compactMap(\.self) {
            if case .array(let elements) = candidate, elements.count == 1, let row = row(elements[0], of: entity) {
                return row
            }
            if case .object = candidate, let row = row(candidate, of: entity) { return row }
        }
        return nil
    }

    /// Returns the rejection that a response states.
    ///
    /// - Throws: ``ServiceError`` for a redirect, or for a status of a proxy (407, 511), which says nothing about the
    ///   row.
    private func refusal(_ response: ServiceHTTPClient.Response) throws -> PushOutcome {
        if (300..<400).contains(response.status) || [407, 511].contains(response.status) { throw response.refusal }
        return .rejected("status \(response.status): \(response.message)")
    }
}

extension ServiceHTTPClient.Response {
    /// Whether the body is empty or blank.
    fileprivate var isEmpty: Bool { body.allSatisfy { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D } }
}

extension PushOperation {
    fileprivate init(_ operation: PushOperation, version: String) {
        self = operation
        self.version = version
    }
}
