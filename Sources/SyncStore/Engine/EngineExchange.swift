package import SyncCore

/// Rows of one entity as the server has them.
package struct PulledPage: Sendable {
    package struct Row: Sendable {
        package let id: JSONValue
        /// Nil for a row that the server says was deleted.
        package let record: JSONValue?
        package let version: String?
        /// The server's time of its last change, in milliseconds since 1970.
        package let time: Int64?
        /// Whether the record has all there is of the row.
        package let isWhole: Bool

        package init(id: JSONValue, record: JSONValue?, version: String?, time: Int64?, isWhole: Bool = true) {
            self.id = id
            self.record = record
            self.version = version
            self.time = time
            self.isWhole = isWhole
        }
    }

    /// How it goes on after the page.
    package enum End: Sendable {
        /// Not of a pull: single rows that were asked for.
        case none
        case more(next: String)
        /// The pull was given up: the next one begins with the first page.
        case anew
        /// The last page of a pull.
        case last(cursor: String?)
    }

    package let entity: String
    package let rows: [Row]
    package let end: End
    /// Whether the pages of the pull have all rows there are, so that what they lack is missing.
    package let isListing: Bool
    /// The server's clock when it answered, in milliseconds since 1970.
    package let serverTime: Int64?
    /// Whether a row is also taken in an older version than is known: all there is was asked for, and the service may have been
    /// brought back to what it was.
    package let takesOlder: Bool

    package init(
        entity: String, rows: [Row], end: End, isListing: Bool, serverTime: Int64?, takesOlder: Bool = false
    ) {
        self.entity = entity
        self.rows = rows
        self.end = end
        self.isListing = isListing
        self.serverTime = serverTime
        self.takesOlder = takesOlder
    }
}

/// What a transaction of the engine changed, by entity.
package struct PageOutcome: Sendable {
    package struct Counts: Sendable {
        package var inserted = 0
        package var updated = 0
        package var deleted = 0
        package var linksAdded = 0
        package var linksRemoved = 0
        /// Rows with new lines in the log of conflicts.
        package var conflicts = 0
        /// Those lines.
        package var conflictingValues = 0
        /// Rows that were parked or set aside.
        package var parked = 0
        /// Values that the model cannot read.
        package var unread = 0
        /// The first of them, and its row.
        package var firstUnread: String?
    }

    package var entities: [String: Counts] = [:]

    package init() {}

    package subscript(entity: String) -> Counts {
        get { entities[entity] ?? Counts() }
        set { entities[entity] = newValue }
    }

    package mutating func add(_ other: PageOutcome) {
        for (entity, counts) in other.entities {
            self[entity].inserted += counts.inserted
            self[entity].updated += counts.updated
            self[entity].deleted += counts.deleted
            self[entity].linksAdded += counts.linksAdded
            self[entity].linksRemoved += counts.linksRemoved
            self[entity].conflicts += counts.conflicts
            self[entity].conflictingValues += counts.conflictingValues
            self[entity].parked += counts.parked
            self[entity].unread += counts.unread
            self[entity].firstUnread = self[entity].firstUnread ?? counts.firstUnread
        }
    }
}
