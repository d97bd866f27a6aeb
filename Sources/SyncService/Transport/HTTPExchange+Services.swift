public import Foundation
public import HTTPTypes
import SyncCore

extension HTTPExchange {
    /// Requests of a service.
    ///
    /// - Parameter headers: Fields that every request has; `Accept` and `Content-Type` say JSON where they say nothing else.
    public init(
        baseURL: URL, headers: [HTTPField.Name: String] = [:], credentials: ServiceCredentials = .none,
        transport: any HTTPTransport = DefaultTransport()
    ) {
        self.init(baseURL, headers: headers, transport, credentials)
    }

    /// How long the service wants to be left alone, by what it said last; nil for not at all. For ``SyncService/backoff``.
    public var backoff: Duration? {
        guard let seconds = restEnd.value?.timeIntervalSinceNow, seconds > 0 else { return nil }
        return .seconds(seconds)
    }

    /// A text that quotes an answer, without the secrets of the requests. For ``SyncService/hidingSecrets(in:)``.
    public func hidingSecrets(in text: String) -> String { secrets.hiding(text) }
}
