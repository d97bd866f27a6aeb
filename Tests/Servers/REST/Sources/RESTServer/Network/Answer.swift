import Foundation

/// What a request is answered with, as the state says it: without a connection.
struct Answer: Sendable {
    /// The number that says how it went.
    var status: Int
    /// By their names; `Date` and `Content-Length` are added on the way.
    var headers: [String: String] = [:]
    /// The bytes; none for an answer without a body.
    var body = Data()

    /// An answer without a body.
    init(status: Int) {
        self.status = status
    }

    /// An answer whose body is JSON.
    init(status: Int, json: JSON) {
        self.init(status: status, type: "application/json", body: json.bytes)
    }

    /// An answer with bytes that are of a media type, or claim to be.
    init(status: Int, type: String, body: Data) {
        self.status = status
        self.headers = ["Content-Type": type]
        self.body = body
    }
}
