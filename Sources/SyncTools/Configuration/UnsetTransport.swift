import Foundation
import HTTPTypes
import SyncCore
import SyncService

/// Makes no request, because a variable of the configuration is not set.
struct UnsetTransport: HTTPTransport {
    let error: SyncError

    func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) { throw error }
}
