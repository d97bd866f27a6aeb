package import Foundation
package import HTTPTypes
package import SyncCore

/// The service of a [Kinto](https://docs.kinto-storage.org) server, with ordered versions, tombstones, and IDs that the
/// client assigns.
///
/// The implementation relies on these properties:
///
/// - The parameter `_since` is exclusive, and its value is quoted. The server returns tombstones only with `_since`.
/// - `PUT` recreates a deleted record. `PATCH` and `DELETE` of a deleted record return 404.
/// - `POST` of an existing ID returns 200 and ignores the body. Therefore rows are created with `PUT` and
///   `If-None-Match: *`.
/// - A batch has at most 25 requests.
package struct KintoService: SyncService, HTTPService {
    private static let batchSize = 25
    let exchange: ServiceHTTPClient
    private let bucket: String
    private let collection: String
    private let paths: [String: String]
    private let pageSize: Int

    /// Creates a service for the collections of a bucket. See ``BuiltInService``.
    package init(
        baseURL: URL, bucket: String = "default", collection: String = "{path}", paths: [String: String] = [:],
        pageSize: Int = 1000, headers: [HTTPField.Name: String] = [:], credentials: ServiceCredentials = .none,
        transport: any HTTPTransport = DefaultTransport()
    ) {
        exchange = ServiceHTTPClient(baseURL, headers: headers, transport, credentials)
        self.bucket = bucket
        self.collection = collection
        self.paths = paths
        self.pageSize = pageSize
    }

    /// Ordered versions, tombstones, and IDs that the client assigns.
    package var capabilities: ServiceCapabilities {
        ServiceCapabilities(
            idAssignment: .client, deletionDetection: .tombstones, createIdempotency: .clientID,
            supportsPreconditions: true,
            providesModificationTimes: true,
            maxBatchSize: Self.batchSize, requiresClientCascades: true, hasOrderedVersions: true)
    }

    /// The base URL and the bucket.
    package var identity: String { "\(exchange.base.absoluteString) \(bucket)" }

    private func path(of entity: String) -> [String] {
        let path = (paths[entity] ?? Inflection.plural(Inflection.snakeCase(entity))).split(separator: "/")
            .joined(separator: "/")
        let name = collection.replacingOccurrences(of: "{path}", with: path)
        return ["buckets", bucket, "collections", name, "records"]
    }

    // MARK: Pulling

    /// Returns one page of changes, oldest first. Therefore the next pull may begin after the last record of any page.
    package func pull(_ request: PullRequest) async throws -> PullPage {
        let isListing = request.cursor == nil
        let url: URL
        if let page = request.page {
            url = try exchange.url(following: page, from: exchange.base)
        } else {
            var query = [("_sort", "last_modified"), ("_limit", "\(pageSize)")]
            if let cursor = request.cursor { query.append(("_since", "\"\(cursor)\"")) }
            url = try exchange.url(path(of: request.entity), query)
        }
        let response = try await exchange.send(.get, url)
        switch response.status {
        case 200..<300: break
        case 403, 404:
            // Errors of Kinto have the member `errno`. Other servers do not send it.
            guard case .number? = (try? response.json())?["errno"] else {
                throw ServiceError.invalidResponse(
                    "no Kinto server at \(exchange.base.absoluteString): the address of one ends with /v1 "
                        + "(\(response.endpoint))"
                )
            }
            // Kinto returns 403 or 404 for a collection without any write. A collection with a cursor or a further page
            // had records: it was deleted, or the user may no longer read it. Without a cursor, the next pull is a
            // complete one.
            guard request.page == nil, [nil, "0"].contains(request.cursor) else { throw response.refusal }
            return PullPage(records: [], cursor: nil, isFullListing: false, serverTime: response.time)
        case 410 where request.cursor != nil: throw ServiceError.cursorInvalid
        default: throw response.refusal
        }
        guard case .array(let records)? = try response.json()["data"] else {
            throw ServiceError.invalidResponse("no list at 'data'")
        }
        // The timestamp of a collection never decreases, unless the server was restored.
        let (now, known) = (tag(response).flatMap { Int64($0) }, request.cursor.flatMap { Int64($0) })
        if let now, let known, now < known { throw ServiceError.serverRestored }
        let (rows, invalidRecords) = PullPage.parse(records, row)
        // The collection changed, but no record is newer than the cursor: the server purged the tombstones.
        if let now, let known, now > known, known > 0, rows.isEmpty, request.page == nil {
            throw ServiceError.cursorInvalid
        }
        let next = HTTPField.Name("Next-Page").flatMap { response.headers[$0] }
        // The server reads the entity tag before the records. All records up to the tag are in this page or in earlier
        // pages.
        let last = [rows.last?.version.flatMap { Int64($0) }, now, known].compactMap(\.self).max() ?? 0
        // A response without records does not move the cursor, because a stale replica may have sent it.
        let isEmpty = records.isEmpty && request.page == nil && next == nil
        return PullPage(
            records: rows,
            nextPage: try next.map { try exchange.url(following: $0, from: response.url).absoluteString },
            cursor: isEmpty ? request.cursor : "\(last)", isFullListing: isListing, serverTime: response.time,
            invalidRecords: invalidRecords)
    }

    private func row(_ record: JSONValue) -> RemoteRecord? {
        guard let id = record["id"], case .number(let version)? = record["last_modified"] else { return nil }
        let time = Double(version).map { Date(timeIntervalSince1970: $0 / 1000) }
        return RemoteRecord(
            id: id, record: record["deleted"] == .bool(true) ? JSONValue?.none : record, version: version,
            modifiedAt: time)
    }

    private func tag(_ response: ServiceHTTPClient.Response) -> String? {
        response.headers[.eTag]?.trimmingCharacters(in: CharacterSet(charactersIn: "\""))
    }

    /// Fetches records by ID, with one request for each ID.
    package func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome] {
        try await fetch(ids, below: path(of: entity)) { _, response in
            guard let row = try response.json()["data"].flatMap(self.row) else {
                throw ServiceError.invalidResponse("a record has no 'id' or no 'last_modified'")
            }
            return .found(row)
        }
    }

    // MARK: Pushing

    /// Sends the changes as one batch.
    package func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
        var requests: [ChangeRequest] = []
        var refused: [Int: PushOutcome] = [:]
        for (index, operation) in operations.enumerated() {
            do {
                requests.append(try request(try await completed(operation)))
            } catch let refusal as RowAddress.Refusal {
                refused[index] = .rejected(refusal.description)
            }
        }
        guard !requests.isEmpty else { return operations.indices.compactMap { refused[$0] } }
        let body = ChangeRequest.batch(requests, below: exchange.base)
        let response: ServiceHTTPClient.Response
        do {
            response = try await exchange.send(.post, exchange.url(["batch"]), body)
        } catch ServiceError.unreachable(let text, _) {
            return operations.indices.map { refused[$0] ?? .unknown(text) }
        }
        guard (200..<300).contains(response.status) else {
            throw response.refusal
        }
        // The server has applied the batch, or an intermediary responded in its place.
        guard case .array(let responses)? = (try? response.json())?["responses"] else {
            return operations.indices.map {
                refused[$0] ?? .unknown("the response to a batch has no 'responses' (\(response.endpoint))")
            }
        }
        // Responses are in the order of the requests. If a response is missing, the outcome is unknown.
        var answers = responses[...]
        return operations.enumerated().map { index, operation in
            if let outcome = refused[index] { return outcome }
            return answers.popFirst().map { outcome($0, operation) }
                ?? .unknown("the response to the batch does not include the change")
        }
    }

    private func request(_ operation: PushOperation) throws -> ChangeRequest {
        let path = try path(of: operation.entity) + RowAddress(operation.id ?? .null).parts
        let match = operation.version.map { ["If-Match": "\"\($0)\""] } ?? [:]
        // The ID is in the path, and only the server writes `last_modified`.
        let data: JSONValue = ["data": operation.record.without(["last_modified", "id"])]
        switch operation.kind {
        case .create: return ChangeRequest(method: .put, path: path, headers: ["If-None-Match": "*"], body: data)
        case .update: return ChangeRequest(method: .patch, path: path, headers: match, body: data)
        case .delete: return ChangeRequest(method: .delete, path: path, headers: match, body: nil)
        }
    }

    private func outcome(_ response: JSONValue, _ operation: PushOperation) -> PushOutcome {
        guard case .number(let text)? = response["status"], let status = Int(text) else {
            return .unknown("a response in the batch has no status")
        }
        let body = response["body"]
        let row = body?["data"].flatMap(row)
        switch status {
        case 200..<300: return .applied(operation.kind == .delete ? nil : row)
        case 404 where operation.kind == .delete: return .applied(nil)
        case 404, 410: return .notFound
        case 412:
            let existing = body?["details"]?["existing"].flatMap(self.row)
            return operation.kind == .create ? .alreadyExists(existing) : .conflict(existing)
        case 429, 503: return .retry(after: nil)
        case 500...: return .unknown("status \(status)")
        default:
            var text = "status \(status)"
            if case .string(let message)? = body?["message"] { text += ": \(message)" }
            return .rejected(text)
        }
    }
}

extension JSONValue {
    fileprivate func without(_ keys: [String]) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { !keys.contains($0.key) })
    }
}
