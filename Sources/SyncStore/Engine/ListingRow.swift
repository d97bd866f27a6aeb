package import SyncCore

/// A row as a listing has it.
package struct ListingRow: Sendable {
    package let id: JSONValue
    /// Nil where the listing does not say.
    package let version: String?

    package init(id: JSONValue, version: String?) {
        self.id = id
        self.version = version
    }
}

/// What a page of a listing has that is not stored.
package struct ListingNews: Sendable {
    /// The ids of rows that are not stored.
    package var unknown: [JSONValue] = []
    /// Those of rows that are stored in another version, or in an older one where versions have an order.
    package var outdated: [JSONValue] = []

    package init() {}
}
