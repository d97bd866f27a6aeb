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
}
