/// How a REST service of no particular make is asked, and how it answers.
public struct RESTOptions: Sendable, Hashable {
    /// How it hands out lists page by page.
    public enum Paging: Sendable, Hashable {
        /// All at once.
        case none
        /// By number, from 1. `total` is the key path of the number of pages in an answer.
        case page(page: String = "page", size: String? = nil, limit: Int = 100, total: String? = nil)
        /// By how many rows to pass over. `total` is the key path of the number of rows.
        case offset(offset: String = "offset", size: String? = "limit", limit: Int = 100, total: String? = nil)
        /// By the header `Link` with `rel="next"` (RFC 8288).
        case link(size: String? = nil, limit: Int = 100)
        /// By an address in the answer, at this key path.
        case next(String, size: String? = nil, limit: Int = 100)
        /// By a word in the answer, at the key path `next`, that is given back as a parameter.
        case cursor(cursor: String, next: String, size: String? = nil, limit: Int = 100)
    }

    /// How a row is changed.
    public enum Update: String, Sendable, Hashable, CaseIterable, Codable {
        /// By the members that change.
        case patch
        /// By all members: they are fetched before, so that those that the model does not know stay.
        case put
    }

    /// The key path of the list in an answer; empty for a bare array.
    public var records = ""
    /// How it hands out lists page by page.
    public var paging = Paging.none
    /// The query parameter that asks for what changed since a time, which is in it; nil for a service that always lists all.
    public var since: String?
    /// How much of the time before is asked for again: clocks and transactions of a service do not keep to the second.
    public var overlap = Duration.seconds(60)
    /// The member that orders the versions of a row.
    public var version: String?
    /// The member that says a row was deleted; nil for a service that forgets deleted rows.
    public var deleted: String?
    /// How a row is changed.
    public var update = Update.patch
    /// Who gives a new row its id.
    public var ids = ServiceCapabilities.IDs.server
    /// The header with the key of a new row.
    public var idempotency: String?
    /// The member that carries the key of a new row, where no header does.
    public var marker: String?
    /// The header with the version that a change was made on, such as `If-Match`.
    public var preconditions: String?

    /// A service that answers with all rows in an array, and changes rows by `PATCH`.
    public init() {}
}
