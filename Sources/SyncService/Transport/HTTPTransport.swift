public import Foundation
public import HTTPTypes

/// What carries requests to a service and brings its answers: `URLSession` by default, anything else by conforming.
public protocol HTTPTransport: Sendable {
    /// Sends a request once.
    ///
    /// - Throws: Whatever says that no whole answer came; whether the service did what it was asked is not known then.
    ///   `CancellationError` if the task was cancelled.
    func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data)
}
