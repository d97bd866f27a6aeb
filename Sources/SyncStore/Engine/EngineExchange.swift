package import SyncCore

/// Rows of one entity as the server has them.
package struct PulledPage: Sendable {
    package struct Record: Sendable {
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
    package let rows: [Record]
    package let end: End
    /// Whether the pages of the pull have all rows there are, so that what they lack is missing.
    package let isListing: Bool
    /// The server's clock when it answered, in milliseconds since 1970.
    package let serverTime: Int64?
    /// Whether a row is also taken in an older version than is known: all there is was asked for, and the service may have been
    /// brought back to what it was.
    package let takesOlder: Bool

    package init(
        entity: String, rows: [Record], end: End, isListing: Bool, serverTime: Int64?, takesOlder: Bool = false
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
package struct AppliedChanges: Sendable {
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
        package var firstUnreadable: String?
    }

    package var entities: [String: Counts] = [:]

    package init() {}

    package subscript(entity: String) -> Counts {
        get { entities[entity] ?? Counts() }
        set { entities[entity] = newValue }
    }

    package mutating func add(_ other: AppliedChanges) {
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
            self[entity].firstUnreadable = self[entity].firstUnreadable ?? counts.firstUnreadable
        }
    }
}

/// A row as a listing has it.
package struct ListedRecord: Sendable {
    package let id: JSONValue
    /// Nil where the listing does not say.
    package let version: String?

    package init(id: JSONValue, version: String?) {
        self.id = id
        self.version = version
    }
}

/// What a page of a listing has that is not stored.
package struct ListingDifference: Sendable {
    /// The ids of rows that are not stored.
    package var unknown: [JSONValue] = []
    /// Those of rows that are stored in another version, or in an older one where versions have an order.
    package var outdated: [JSONValue] = []

    package init() {}
}

/// What tells a state of a row at a service from another: a word, which is a number or a time where versions have an order.
package struct RowVersion: Sendable {
    private let text: String

    package init(_ text: String) { self.text = text }

    /// Whether two are the same, however a time is spelled.
    package func isSame(as other: RowVersion) -> Bool {
        if text == other.text { return true }
        guard let (time, rest) = time, let (otherTime, otherRest) = other.time else { return false }
        return time == otherTime && rest == otherRest
    }

    /// Whether it comes before another one. Words that are neither numbers nor times have no order.
    private func isOlder(than other: RowVersion) -> Bool {
        if let number = Int64(text), let otherNumber = Int64(other.text) { return number < otherNumber }
        guard let time, let otherTime = other.time else { return false }
        return time < otherTime
    }

    /// Whether it comes before the version that is known of its row: a replica that is behind has it.
    ///
    /// A known version that is a time of the future was never right, or the server's clock was set back since: none is older.
    ///
    /// - Parameters:
    ///   - now: The clock of this device, in milliseconds since 1970.
    ///   - serverTime: The server's clock when it answered. A minute more than that is the future; a day where a version says no
    ///     time zone, or the server no time.
    package func isBehind(_ known: RowVersion, at now: Int64, serverTime: Int64? = nil) -> Bool {
        guard isOlder(than: known) else { return false }
        guard let time = known.time?.0 else { return true }
        if let serverTime, known.hasZone { return time <= serverTime + Self.minute }
        return time <= max(now, serverTime ?? .min) + Self.day
    }

    private static let minute: Int64 = 60_000
    private static let day: Int64 = 86_400_000

    /// Whether a time says its time zone.
    private var hasZone: Bool {
        text.hasSuffix("Z") || text.dropFirst("2026-01-01".count).contains { "+-".contains($0) }
    }

    /// The milliseconds since 1970 of a time that is written as a date, and the digits of its fraction behind those.
    private var time: (Int64, String)? {
        guard text.contains(":"),
            let milliseconds = Array(text.utf8).withUnsafeBufferPointer({ DateParser.milliseconds($0) })
        else { return nil }
        let fraction = text.drop { $0 != "." && $0 != "," }.dropFirst().prefix { $0.isNumber }.dropFirst(3)
        return (milliseconds, String(fraction.reversed().drop { $0 == "0" }.reversed()))
    }
}

/// A change as it is sent, kept so that it can be sent again just so.
package struct OutgoingRequest: Sendable {
    package enum Kind: String, Sendable { case create, update, delete }

    package let id: Int64
    package let entity: String
    package let kind: Kind
    /// What the server calls the row; of a new row the id that it is given here, nil where the server gives it.
    package let remoteID: JSONValue?
    /// The members that are sent.
    package let body: JSONValue
    /// The version that the change was made on.
    package let version: String?
    /// The same for every try to send it.
    package let idempotencyKey: String
    /// The counter of the edit that is sent.
    package let edit: Int64
    /// When it was frozen, in milliseconds since 1970.
    package let frozen: Int64
    /// How often it was sent and never answered; more than 0 if a try may have been carried out.
    package let attempts: Int
    /// What tells whether a row of the server is the one that was sent: the members of its natural key.
    package let naturalKey: JSONValue?
    /// Whether it makes a row anew that the server deleted: another device may have done so already.
    package let isRevival: Bool
    /// The counter of edits when the server said that it took a new row, without saying which it is: it is looked for, and not sent
    /// again but for ``isSentOnceMore``. Nil for other requests.
    package let taken: Int64?

    /// Whether a later run sends it once more if its row is not listed: it is not certain that the server took it.
    package var isSentOnceMore: Bool { taken != nil && attempts == 1 }

    /// Whether it makes a row that an earlier try, which was never answered, may have made.
    package var isTriedAgain: Bool { kind == .create && attempts > 0 }

    package init(
        id: Int64, entity: String, kind: Kind, remoteID: JSONValue?, body: JSONValue, version: String?,
        idempotencyKey: String, edit: Int64, frozen: Int64, attempts: Int, naturalKey: JSONValue?,
        isRevival: Bool = false, taken: Int64? = nil
    ) {
        self.id = id
        self.entity = entity
        self.kind = kind
        self.remoteID = remoteID
        self.body = body
        self.version = version
        self.idempotencyKey = idempotencyKey
        self.edit = edit
        self.frozen = frozen
        self.attempts = attempts
        self.naturalKey = naturalKey
        self.isRevival = isRevival
        self.taken = taken
    }
}

/// What became of a request.
package struct RequestOutcome: Sendable {
    package enum Outcome: Sendable {
        /// The server did it. `row` is what it said of the row: of a new one at least its id.
        case applied(PulledPage.Record?)
        /// The server has another version by now, or the row in another way: it is merged, and sent again.
        case conflict(PulledPage.Record?)
        /// The server does not have the row any more.
        case gone
        /// An earlier try made the row, and the row was deleted on the server since.
        case deletedSinceMade
        /// The server will never take it.
        case rejected(String)
        /// The server refused it, and may have carried out an earlier try, of which nobody heard.
        case refusedAgain(String)
        /// Nobody knows, again and again, of a service that answers otherwise.
        case failing(String)
        /// It was certainly not done, for a reason that passes.
        case postponed
        /// Nobody knows, and it does no harm to do it again: what became of it shows in a pull, or when it is.
        case unanswered
        /// Nobody knows.
        case unknown
        /// The server took a new row, and does not list it yet. If that is not certain, what stands between may have said so.
        case taken(isCertain: Bool)
        /// The server took a new row, and did not list it for as long as that may take: for this reason its row is parked.
        case notListed(String)
    }

    package let request: OutgoingRequest
    package let outcome: Outcome

    package init(request: OutgoingRequest, outcome: Outcome) {
        self.request = request
        self.outcome = outcome
    }
}
