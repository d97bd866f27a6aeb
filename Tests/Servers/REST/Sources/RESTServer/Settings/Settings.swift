/// How a space behaves.
struct Settings: Sendable, Equatable {
    /// How a list is cut into pages.
    enum Paging: String, CaseIterable {
        /// Not at all.
        case none
        /// By `page` and `per_page`.
        case page
        /// By `offset` and `limit`.
        case offset
        /// By `limit`, and addresses in the header `Link`.
        case link
        /// By `limit`, and an address beside the rows.
        case next
        /// By `limit` and `cursor`, which is beside the rows.
        case cursor
    }

    /// Who chooses the id of a new row.
    enum IDs: String, CaseIterable {
        /// The server, which takes integers from 1.
        case server
        /// The client, in the path of a PUT or the body of a POST.
        case client
    }

    /// The methods that change a row.
    enum Updates: String, CaseIterable {
        /// PATCH alone.
        case patch
        /// PUT alone.
        case put
        /// PATCH and PUT.
        case both
    }

    /// What a space speaks.
    enum Dialect: String, CaseIterable {
        /// REST of no particular make.
        case rest
        /// That of Parse, as its documentation has it.
        case parse
        /// That of WatermelonDB's sync protocol, as its documentation has it.
        case changes
    }

    /// What it speaks.
    var dialect = Dialect.rest
    /// The application that a request has to name, in the dialect of Parse.
    var applicationID: String?
    /// The session that a request has to show, in the dialect of Parse.
    var session: String?
    /// How many bytes a file has at most, in the dialect of Parse.
    var fileSize = 20 << 20
    /// Whether a pull has all there is, in the dialect of changes.
    var isReplacement = false
    /// What a push is answered that changes what was changed since, in the dialect of changes.
    var conflictStatus = 409
    /// What pages a list has.
    var paging = Paging.none
    /// The rows of a page, unless the client asks for fewer.
    var pageSize = 100
    /// The key path to the rows in an answer; empty for none.
    var envelope: [String] = []
    /// Whether a page after the last is 404.
    var endIs404 = false
    /// Who chooses the ids.
    var ids = IDs.server
    /// The parameter that asks for what changed since a time.
    var since: String?
    /// Whether deleted rows stay in lists of what changed.
    var softDelete = false
    /// What changes rows.
    var updates = Updates.both
    /// Whether rows have versions, and changes can ask for one.
    var preconditions = false
    /// The header with the key of a POST that may come twice.
    var idempotency: String?
    /// The member that no two rows have in common.
    var unique: String?
    /// The members a POST has to have.
    var required: [String] = []
    /// The word that a request has to show.
    var token: String?
    /// Whether times are whole seconds.
    var coarseTimes = false

    /// The member beside the rows that tells of other pages; nil where there is none.
    var pagingMember: String? {
        switch paging {
        case .page: "total_pages"
        case .offset: "total"
        case .next: "next"
        case .cursor: "next_cursor"
        case .none, .link: nil
        }
    }

    /// Puts rows where the answer has them.
    func wrapped(_ rows: JSON, beside others: [String: JSON] = [:]) -> JSON {
        let body = envelope.reversed().reduce(rows) { inner, name in .object([name: inner]) }
        guard !envelope.isEmpty, let members = body.members else { return body }
        return .object(members.merging(others) { rows, _ in rows })
    }
}
