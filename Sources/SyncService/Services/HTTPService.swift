import Foundation
import HTTPTypes
import SyncCore

/// A service whose requests go through one HTTP client.
protocol HTTPService: SyncService {
    var exchange: ServiceHTTPClient { get }
}

extension HTTPService {
    /// The remaining delay from the header `Backoff`, or from `Retry-After` in a successful response.
    package var backoff: Duration? { exchange.backoff }

    /// Masks the secrets of requests in a string.
    package func hidingSecrets(in text: String) -> String { exchange.secrets.hiding(text) }

    /// The base URL.
    package var identity: String { exchange.base.absoluteString }

    /// Fetches records by ID, with one request for each ID.
    ///
    /// - Parameters:
    ///   - list: The path of the list, which is followed by the ID.
    ///   - absent: The statuses of a record that the service does not have.
    ///   - outcome: A closure that reads the response with a record.
    func fetch(
        _ ids: [JSONValue], below list: [String], absent: [Int] = [404, 410],
        _ outcome: (JSONValue, ServiceHTTPClient.Response) throws -> FetchOutcome
    ) async throws -> [FetchOutcome] {
        var outcomes: [FetchOutcome] = []
        for id in ids {
            guard let address = try? RowAddress(id) else {
                outcomes.append(.forbidden)
                continue
            }
            let response = try await exchange.send(.get, exchange.url(list + address.parts))
            switch response.status {
            case 200..<300: outcomes.append(try outcome(id, response))
            case 403: outcomes.append(.forbidden)
            case let status where absent.contains(status): outcomes.append(.notFound)
            default: throw response.refusal
            }
        }
        return outcomes
    }

    /// Completes a partial update with the rest of each member, for a service that replaces members as a whole.
    func completed(_ operation: PushOperation) async throws -> PushOperation {
        guard operation.isPartialUpdate, let id = operation.id,
            case .found(let row)? = try await fetch([id], of: operation.entity).first, row.id == id,
            let record = row.record
        else { return operation }
        var operation = operation.merged(over: record)
        operation.version = operation.version ?? row.version
        return operation
    }
}

/// The request for one change, sent alone or in a batch.
struct ChangeRequest {
    let method: HTTPRequest.Method
    let path: [String]
    /// The header fields in a batch; nil for a service whose batches have none.
    var headers: [String: String]?
    let body: JSONValue?

    /// Returns the body of a batch.
    ///
    /// - Parameters:
    ///   - name: The name of the member with the path of a request.
    ///   - base: The base URL of the service; nil if paths in a batch begin below it.
    static func batch(_ requests: [ChangeRequest], path name: String = "path", below base: URL? = nil) -> JSONValue {
        var prefix = base?.path ?? ""
        if prefix.hasSuffix("/") { prefix.removeLast() }
        return [
            "requests": .array(
                requests.map { request in
                    let path = request.path.map(\.escapedForURL).joined(separator: "/")
                    var members: [JSONValue.Member] = [
                        .init("method", .string(request.method.rawValue)), .init(name, .string("\(prefix)/\(path)")),
                    ]
                    if let headers = request.headers {
                        members.append(.init("headers", .object(headers.map { .init($0.key, .string($0.value)) })))
                    }
                    if let body = request.body { members.append(.init("body", body)) }
                    return .object(members)
                })
        ]
    }
}

extension PushOutcome {
    /// Returns the outcome of a change, also if the change cannot be sent or its outcome is unknown.
    static func of(_ change: () async throws -> PushOutcome) async throws -> PushOutcome {
        do {
            return try await change()
        } catch let refusal as RowAddress.Refusal {
            return .rejected(refusal.description)
        } catch ServiceError.unreachable(let text, _) {
            // The service may have applied the change.
            return .unknown(text)
        } catch ServiceError.invalidResponse(let text) {
            // A proxy may have sent the response.
            return .unknown(text)
        }
    }
}
