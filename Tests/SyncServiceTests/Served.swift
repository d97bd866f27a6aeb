import Foundation
import HTTPTypes
import Sync
import Testing

@testable import SyncService

/// A service as a function.
struct Served: HTTPTransport {
    let answer: @Sendable (HTTPRequest, JSONValue?) async -> (Int, [String: String], JSONValue)

    func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
        let (status, headers, json) = await answer(request, try body.map { try JSONValue(parsing: $0) })
        var fields = HTTPFields()
        for (name, value) in headers { fields[try #require(HTTPField.Name(name))] = value }
        return (
            HTTPResponse(status: .init(code: status), headerFields: fields), Data(CanonicalJSON.bytes(json))
        )
    }
}

/// The state of a service between its answers.
actor ServedMemory {
    var rows: [JSONValue] = []
    var tag = 100
    private(set) var requests: [String] = []
    func note(_ request: HTTPRequest) { requests.append("\(request.method) \(request.path ?? "")") }
    func add(_ row: JSONValue) { rows.append(row) }
    func set(_ rows: [JSONValue], tag: Int = 100) { (self.rows, self.tag) = (rows, tag) }
}
