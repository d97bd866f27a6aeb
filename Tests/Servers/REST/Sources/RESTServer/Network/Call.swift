import Foundation

/// A request as the state sees it: what was read off the connection.
struct Call: Sendable {
    /// Such as `GET`.
    let method: String
    /// The components of the path after the space, decoded.
    let path: [String]
    /// What follows the question mark.
    let query: Query
    /// By their names in lower case.
    let headers: [String: String]
    /// The bytes that were sent.
    let body: Data
    /// The URL of the request without its query, for the links to other pages.
    let address: String

    /// Whether this is about the server itself (`_settings`, `_log`, …) and no request that a test is about.
    var isControl: Bool { path.first?.hasPrefix("_") ?? false }

    /// The path after the space, as the log shows it.
    var shownPath: String { "/" + path.joined(separator: "/") }

    /// The value of a header, whatever the case of its name.
    func header(_ name: String) -> String? { headers[name.lowercased()] }

    /// The members of the body, which is refused with 400 if it is no object.
    func members() throws(Refusal) -> [String: JSON] {
        guard let members = try JSON(reading: body).members else { throw Refusal(400, "the body is not an object") }
        return members
    }
}
