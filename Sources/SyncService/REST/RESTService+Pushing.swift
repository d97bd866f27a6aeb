import Foundation
import HTTPTypes
package import SyncCore

extension RESTService {
    /// Sends one request for each change.
    package func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
        var outcomes: [PushOutcome] = []
        for operation in operations {
            outcomes.append(try await push(withoutVersion(operation)))
        }
        return outcomes
    }

    /// Removes the version, which only the service sets, and from a new row the deletion mark if it is null.
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
        do {
            if let id = operation.id { _ = try RowAddress(id) }
            switch operation.kind {
            case .create: return try await create(operation)
            case .update: return try await update(operation)
            case .delete: return try await delete(operation)
            }
        } catch let refusal as RowAddress.Refusal {
            return .rejected(refusal.description)
        } catch ServiceError.unreachable(let text) {
            // The service may have applied the request.
            return .unknown(text)
        } catch ServiceError.invalidResponse(let text) {
            // A proxy may have sent the response.
            return .unknown(text)
        }
    }

    private func create(_ operation: PushOperation) async throws -> PushOutcome {
        var headers: [HTTPField.Name: String] = [:]
        if let name = options.idempotencyHeader.flatMap({ HTTPField.Name($0) }) {
            headers[name] = operation.idempotencyKey
        }
        var body = operation.record
        if let marker = options.markerField { body = body.setting(.string(operation.idempotencyKey), at: [marker]) }
        let answer: ServiceHTTPClient.Response
        if options.idAssignment == .client, let id = operation.id {
            if options.preconditionHeader != nil { headers[.ifNoneMatch] = "*" }
            answer = try await exchange.send(.put, url(id, operation), body, headers: headers)
        } else {
            answer = try await exchange.send(.post, exchange.url(path(of: operation.entity)), body, headers: headers)
        }
        switch answer.status {
        case 200..<300:
            if answer.isEmpty || answer.status == 201, let id = operation.id ?? located(answer, operation.entity) {
                return .applied((try? record(answer, operation.entity)) ?? RemoteRecord(id: id, record: nil))
            }
            let row = try record(answer, operation.entity)
            // The service created the row: look for it.
            if row == nil, operation.id == nil, answer.isEmpty || answer.status == 202 {
                return answer.status == 200 ? .silent : .applied(nil)
            }
            guard let id = row?.id ?? operation.id else {
                throw ServiceError.invalidResponse("the response to a new row of \(operation.entity) has no ID")
            }
            return .applied(row ?? RemoteRecord(id: id, record: nil))
        case 409, 412:
            // The body of the response explains the conflict and is no record.
            if operation.id != nil { return .alreadyExists(nil) }
            return try await existing(answer, operation)
        // The ID belongs to a deleted row.
        case 410 where options.idAssignment == .client && operation.id != nil: return .notFound
        case 404 where options.idAssignment == .client && operation.id != nil:
            return try await isList(operation.entity) ? .notFound : refusal(answer)
        default: return try refusal(answer)
        }
    }

    /// Returns whether the service has the list of an entity. If not, the 404 is not about the ID.
    private func isList(_ entity: String) async throws -> Bool {
        let answer = try await exchange.send(.get, exchange.url(path(of: entity)))
        return (200..<300).contains(answer.status)
    }

    /// Returns the ID of a new row from the `Location` header (RFC 9110): the part of its path below the list. The host
    /// is ignored, because a service behind a gateway may not know its public host.
    private func located(_ answer: ServiceHTTPClient.Response, _ entity: String) -> JSONValue? {
        guard let text = answer.headers[.location], let url = URL(string: text, relativeTo: answer.url),
            let path = URLComponents(url: url, resolvingAgainstBaseURL: true)?.percentEncodedPath
        else { return nil }
        let parts = path.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
        let list = exchange.base.path.split(separator: "/").map(String.init) + self.path(of: entity)
        let id = parts.dropFirst(list.count).map { JSONValue.string($0) }
        guard parts.starts(with: list), id.count == idKeys(of: entity).count else { return nil }
        return id.count == 1 ? id.first : .array(id)
    }

    /// Returns the outcome of a change that was answered with 409. It is a conflict only if the row has another version
    /// than the change is based on. Otherwise the service rejects the change.
    private func contested(_ answer: ServiceHTTPClient.Response, _ operation: PushOperation) async throws -> PushOutcome
    {
        guard let id = operation.id, let row = try await fetch([id], of: operation.entity).first else {
            return try refusal(answer)
        }
        switch row {
        case .found(let row) where row.version != operation.version: return .conflict(row)
        case .found, .forbidden: return try refusal(answer)
        case .notFound: return operation.kind == .delete ? .applied(nil) : .notFound
        }
    }

    /// Returns the existing row that the response to a create names. It counts only if it has the values that were
    /// sent.
    private func existing(_ answer: ServiceHTTPClient.Response, _ operation: PushOperation) async throws -> PushOutcome
    {
        guard let named = try? record(answer, operation.entity),
            case .found(let row)? = try await fetch([named.id], of: operation.entity).first,
            row.record?.contains(operation.record) == true
        else { return try refusal(answer) }
        return .alreadyExists(row)
    }

    private func update(_ operation: PushOperation) async throws -> PushOutcome {
        guard let id = operation.id else { return .rejected("the row has no ID") }
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
        // `PUT` replaces a record, so it needs the fields that the model does not know. A partial update needs the rest
        // of the member.
        if options.updateMethod == .put || operation.isPartialUpdate {
            let answer = try await exchange.send(.get, url(id, operation))
            if [404, 410].contains(answer.status) { return .notFound }
            guard (200..<300).contains(answer.status), let current = try record(answer, operation.entity) else {
                return try refusal(answer)
            }
            guard current.id.isSpelling(of: id) else { return .unknown(current.otherRowReason) }
            guard let record = current.record else { return .notFound }
            // If the row has another version than the change is based on, it is merged first.
            if let known = operation.version, let version = current.version, version != known {
                return .conflict(current)
            }
            body = options.updateMethod == .put ? operation.applied(to: record) : operation.merged(over: record).record
            if options.preconditionHeader != nil, let version = current.version {
                headers = precondition(PushOperation(operation, version: version))
            }
        }
        let method: HTTPRequest.Method = options.updateMethod == .put ? .put : .patch
        let answer = try await exchange.send(method, url(id, operation), body, headers: headers)
        switch answer.status {
        case 204: return .applied(nil)
        case 200..<300:
            guard let row = try record(answer, operation.entity) else { return .unknown("the response has no record") }
            return .applied(row)
        case 404, 410:
            // A service without this method answers 404 too.
            return try await fetch([id], of: operation.entity) == [.notFound] ? .notFound : try refusal(answer)
        case 409: return try await contested(answer, operation)
        case 412: return .conflict(nil)
        default: return try refusal(answer)
        }
    }

    private func delete(_ operation: PushOperation) async throws -> PushOutcome {
        guard let id = operation.id else { return .rejected("the row has no ID") }
        let answer = try await exchange.send(.delete, url(id, operation), headers: precondition(operation))
        switch answer.status {
        case 202, 204, 404, 410: return .applied(nil)
        case 200..<300:
            // A proxy may have sent the response, so check that the row is gone.
            let rows = try await fetch([id], of: operation.entity)
            return rows == [.notFound]
                ? .applied(nil) : .unknown("the service confirmed the deletion but still has the row")
        case 409: return try await contested(answer, operation)
        case 412: return .conflict(nil)
        default: return try refusal(answer)
        }
    }

    /// Fetches rows by ID, with one request for each.
    package func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome] {
        var rows: [FetchOutcome] = []
        for id in ids {
            guard let address = try? RowAddress(id) else {
                rows.append(.forbidden)
                continue
            }
            let answer = try await exchange.send(.get, exchange.url(path(of: entity) + address.parts))
            switch answer.status {
            case 200..<300:
                guard let row = try record(answer, entity) else {
                    throw ServiceError.invalidResponse("a record of \(entity) has no ID")
                }
                rows.append(row.record == nil && row.id.isSpelling(of: id) ? .notFound : .found(row))
            case 404, 410: rows.append(.notFound)
            case 403: rows.append(.forbidden)
            default: throw answer.refusal
            }
        }
        return rows
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

    /// Returns the record of a response, which may have the envelope of the lists; nil if it has no record.
    private func record(_ answer: ServiceHTTPClient.Response, _ entity: String) throws -> RemoteRecord? {
        guard !answer.isEmpty else { return nil }
        let json = try answer.json()
        let inner = options.recordsKeyPath.isEmpty ? nil : json.value(at: Self.path(options.recordsKeyPath))
        for candidate in [inner, json].compactMap(\.self) {
            if case .array(let elements) = candidate, elements.count == 1, let row = row(elements[0], of: entity) {
                return row
            }
            if case .object = candidate, let row = row(candidate, of: entity) { return row }
        }
        return nil
    }

    /// - Throws: ``ServiceError`` for a redirect or a status of a proxy, which says nothing about the row.
    private func refusal(_ answer: ServiceHTTPClient.Response) throws -> PushOutcome {
        if (300..<400).contains(answer.status) || [407, 511].contains(answer.status) { throw answer.refusal }
        return .rejected("status \(answer.status): \(answer.message)")
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
