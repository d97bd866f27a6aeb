public import Foundation
public import SyncCore

/// Asks for what changed.
public struct PullRequest: Sendable, Hashable {
    /// The entity.
    public var entity: String
    /// The service's own word for what was pulled before; nil for nothing.
    public var cursor: String?
    /// The page to go on with, as the page before it said; nil for the first.
    public var page: String?

    /// Asks for what changed.
    public init(entity: String, cursor: String?, page: String? = nil) {
        self.entity = entity
        self.cursor = cursor
        self.page = page
    }
}

/// A page of what changed.
public struct PullPage: Sendable, Hashable {
    /// Rows that are new or changed, and those that were deleted.
    public var rows: [RemoteRow]
    /// What to ask for the next page with; nil after the last.
    public var next: String?
    /// What to ask for later changes with; of the last page.
    public var cursor: String?
    /// Whether the pages of this pull have all rows there are, so that what they lack is gone.
    public var isListing: Bool
    /// The clock of the service.
    public var time: Date?
    /// How many rows all pages have, if the service says.
    public var total: Int?
    /// The places, from 0, of the page's records that are no rows because they have no id. They are left out and reported.
    public var skipped: [Int]

    /// A page of what changed.
    public init(
        rows: [RemoteRow], next: String? = nil, cursor: String? = nil, isListing: Bool = false, time: Date? = nil,
        total: Int? = nil, skipped: [Int] = []
    ) {
        self.rows = rows
        self.next = next
        self.cursor = cursor
        self.isListing = isListing
        self.time = time
        self.total = total
        self.skipped = skipped
    }

    /// The rows that records are, and the places of the records that are none.
    ///
    /// - Parameter row: What a record says of its row; nil for one without an id.
    public static func rows(
        of records: [JSONValue], _ row: (JSONValue) -> RemoteRow?
    ) -> (rows: [RemoteRow], skipped: [Int]) {
        var (rows, skipped): ([RemoteRow], [Int]) = ([], [])
        for (place, record) in records.enumerated() {
            if let row = row(record) { rows.append(row) } else { skipped.append(place) }
        }
        return (rows, skipped)
    }
}

/// Asks for ids.
public struct SweepRequest: Sendable, Hashable {
    /// The entity.
    public var entity: String
    /// The page to go on with; nil for the first.
    public var page: String?

    /// Asks for ids.
    public init(entity: String, page: String? = nil) {
        self.entity = entity
        self.page = page
    }
}

/// A page of ids.
public struct IDPage: Sendable, Hashable {
    /// The ids.
    public var ids: [JSONValue]
    /// The versions of rows, by id, as far as the listing says them: a row that is here in another one is fetched.
    public var versions: [JSONValue: String]
    /// The rows, of a service that lists whole records: they are not fetched.
    public var rows: [RemoteRow]
    /// What to ask for the next page with; nil after the last.
    public var next: String?

    /// A page of ids.
    public init(ids: [JSONValue], versions: [JSONValue: String] = [:], next: String? = nil) {
        self.ids = ids
        self.versions = versions
        self.rows = []
        self.next = next
    }

    /// A page of whole records; those of deleted rows are left out.
    public init(rows: [RemoteRow], next: String? = nil) {
        self.rows = rows.filter { $0.record != nil }
        ids = self.rows.map(\.id)
        versions = Dictionary(self.rows.compactMap { row in row.version.map { (row.id, $0) } }) { _, last in last }
        self.next = next
    }
}
