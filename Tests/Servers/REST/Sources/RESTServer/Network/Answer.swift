import Foundation

/// The answer to a request, independent of the connection.
struct Answer: Sendable {
    /// The status code.
    var status: Int
    /// The headers by name. The server adds `Date` and `Content-Length`.
    var headers: [String: String] = [:]
    /// The body; empty for none.
    var body = Data()

    /// Creates an answer without a body.
    init(status: Int) {
        self.status = status
    }

    /// Creates an answer with a JSON body.
    init(status: Int, json: JSON) {
        self.init(status: status, type: "application/json", body: json.bytes)
    }

    /// Creates an answer with bytes and a media type.
    init(status: Int, type: String, body: Data) {
        self.status = status
        self.headers = ["Content-Type": type]
        self.body = body
    }
}
