import Foundation

/// A request, independent of the connection.
struct Call: Sendable {
    /// The method, such as `GET`.
    let method: String
    /// The decoded components of the path after the space.
    let path: [String]
    /// The query.
    let query: Query
    /// The headers by name in lower case.
    let headers: [String: String]
    /// The body.
    let body: Data
    /// The URL of the request without its query, for links to other pages.
    let address: String

    /// Whether the call controls the server (`_settings`, `_log`, …) instead of being a request that a test is about.
    var isControl: Bool { path.first?.hasPrefix("_") ?? false }

    /// The path after the space, for the log.
    var shownPath: String { "/" + path.joined(separator: "/") }

    /// Returns the value of a header. Names ignore case.
    func header(_ name: String) -> String? { headers[name.lowercased()] }

    /// Returns the members of the body; 400 if it is no object.
    func members() throws(Refusal) -> [String: JSON] {
        guard let members = try JSON(reading: body).members else { throw Refusal(400, "the body is not an object") }
        return members
    }
}
