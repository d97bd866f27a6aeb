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
}
