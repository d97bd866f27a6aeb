/// The settings of a space.
struct Settings: Sendable, Equatable {
    /// The paging of lists.
    enum Paging: String, CaseIterable {
        /// One page with all rows.
        case none
        /// The parameters `page` and `per_page`.
        case page
        /// The parameters `offset` and `limit`.
        case offset
        /// The parameter `limit`, and URLs in the header `Link`.
        case link
        /// The parameter `limit`, and a URL beside the rows.
        case next
        /// The parameters `limit` and `cursor`, and a cursor beside the rows.
        case cursor
    }

    /// Who assigns the ID of a new row.
    enum IDs: String, CaseIterable {
        /// The server assigns integers from 1.
        case server
        /// The client assigns the ID, in the path of a PUT or the body of a POST.
        case client
    }

    /// The methods that update a row.
    enum Updates: String, CaseIterable {
        /// PATCH only.
        case patch
        /// PUT only.
        case put
        /// PATCH and PUT.
        case both
    }

    /// The API of a space.
    enum Dialect: String, CaseIterable {
        /// A generic REST API.
        case rest
        /// The API of Parse, as documented.
        case parse
        /// The sync protocol of WatermelonDB, as documented.
        case changes
    }

    /// The API of the space.
    var dialect = Dialect.rest
    /// The required application ID, in the dialect of Parse.
    var applicationID: String?
    /// The required session token, in the dialect of Parse.
    var session: String?
    /// The most bytes of a file, in the dialect of Parse.
    var fileSize = 20 << 20
    /// Whether each pull returns all rows, in the dialect of changes.
    var isReplacement = false
    /// The status of a push that conflicts with an earlier change, in the dialect of changes.
    var conflictStatus = 409
    /// The paging of lists.
    var paging = Paging.none
    /// The most rows of a page, and the default.
    var pageSize = 100
    /// The key path of the rows in an answer; empty for none.
    var envelope: [String] = []
    /// Whether a page after the last one is 404.
    var endIs404 = false
    /// Who assigns the IDs.
    var ids = IDs.server
    /// The parameter for the changes since a time.
    var since: String?
    /// Whether lists of changes contain deleted rows.
    var softDelete = false
    /// The methods that update a row.
    var updates = Updates.both
    /// Whether rows have versions, and changes may have preconditions.
    var preconditions = false
    /// The header for the idempotency key of a POST.
    var idempotency: String?
    /// The member whose values are unique.
    var unique: String?
    /// The members that a POST requires.
    var required: [String] = []
    /// The required bearer token.
    var token: String?
    /// Whether times are whole seconds.
    var coarseTimes = false

    /// The member beside the rows with information about other pages; nil for none.
    var pagingMember: String? {
        switch paging {
        case .page: "total_pages"
        case .offset: "total"
        case .next: "next"
        case .cursor: "next_cursor"
        case .none, .link: nil
        }
    }

    /// Returns an answer with the rows at the key path of the envelope.
    func wrapped(_ rows: JSON, beside others: [String: JSON] = [:]) -> JSON {
        let body = envelope.reversed().reduce(rows) { inner, name in .object([name: inner]) }
        guard !envelope.isEmpty, let members = body.members else { return body }
        return .object(members.merging(others) { rows, _ in rows })
    }
}
