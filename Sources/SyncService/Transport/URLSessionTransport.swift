public import Foundation
public import HTTPTypes
import HTTPTypesFoundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests by Foundation's `URLSession`.
public struct URLSessionTransport: HTTPTransport {
    private let session: URLSession

    /// Requests by a session without cache and cookies.
    ///
    /// - Parameter timeout: How long to wait for an answer that does not come.
    public init(timeout: Duration = .seconds(60)) {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.urlCache = nil
        configuration.httpShouldSetCookies = false
        configuration.timeoutIntervalForRequest = timeout.seconds
        session = URLSession(configuration: configuration)
    }

    /// Sends a request once.
    public func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
        guard var urlRequest = URLRequest(httpRequest: request) else {
            throw ServiceFailure.malformed("the address of the request is none")
        }
        urlRequest.httpBody = body
        do {
            let (data, response) = try await session.data(for: urlRequest)
            guard let answer = (response as? HTTPURLResponse)?.httpResponse else {
                throw ServiceFailure.malformed("the answer is not of HTTP")
            }
            return (answer, data)
        } catch let error as URLError where error.code == .cancelled {
            throw CancellationError()
        }
    }
}

extension Duration {
    /// In seconds.
    var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
