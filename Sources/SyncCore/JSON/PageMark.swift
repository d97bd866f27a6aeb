/// What a document says of the page after it.
package struct PageMark: Sendable, Hashable {
    /// What to ask for the next page with: an address, or a cursor; nil if there is none, or nothing is said of it.
    package var next: String?
    /// Whether there is a next page, so that the document is not all there is.
    package var hasMore = false
    /// Whether there is a page before it.
    package var hasEarlier = false
    /// Whether null stands among the records, for some that the service keeps to itself.
    package var hasNulls = false
    /// Whether there are records that the document does not have.
    package var isPart: Bool { hasMore || hasEarlier || hasNulls }

    package init() {}

    /// `"next": "https://…"` or `{"href": …}`.
    mutating func note(link: JSONValue) {
        switch link {
        case .string(let address): next = address
        case .object: if case .string(let address)? = link["href"] { next = address }
        default: return
        }
        hasMore = next != nil
    }

    /// `{"hasNextPage": true, "endCursor": …}`.
    mutating func note(pageInfo: JSONValue) {
        hasEarlier = pageInfo["hasPreviousPage"] == .bool(true)
        guard pageInfo["hasNextPage"] == .bool(true) else { return }
        hasMore = true
        if case .string(let cursor)? = pageInfo["endCursor"] { next = cursor }
    }
}
