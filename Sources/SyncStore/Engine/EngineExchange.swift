package import SyncCore

/// Records of one entity as a service returned them.
package struct PulledPage: Sendable {
    package struct Record: Sendable {
        package let id: JSONValue
        /// Nil if the service deleted the row.
        package let record: JSONValue?
        package let version: String?
        /// When the service last changed the row, in milliseconds since 1970.
        package let time: Int64?
        /// Whether the record has all values of the row.
        package let isWhole: Bool

        package init(id: JSONValue, record: JSONValue?, version: String?, time: Int64?, isWhole: Bool = true) {
            self.id = id
            self.record = record
            self.version = version
            self.time = time
            self.isWhole = isWhole
        }
    }

    /// How the pull continues after the page.
    package enum End: Sendable {
        /// The page is not part of a pull: its records were requested by ID.
        case none
        case more(next: String)
        /// The pull was abandoned. The next one starts at the first page.
        case anew
        /// The page is the last of a pull.
        case last(cursor: String?)
    }

    package let entity: String
    package let rows: [Record]
    package let end: End
    /// Whether the pages of the pull list all rows, so that rows they omit are missing from the service.
    package let isListing: Bool
    /// The clock of the service when it responded, in milliseconds since 1970.
    package let serverTime: Int64?
    /// Whether a record is applied even if a newer version of it is known. True for a pull without a cursor, because
    /// the service may have been restored from a backup.
    package let acceptsOlderVersions: Bool

    package init(
        entity: String, rows: [Record], end: End, isListing: Bool, serverTime: Int64?,
        acceptsOlderVersions: Bool = false
    ) {
        self.entity = entity
        self.rows = rows
        self.end = end
        self.isListing = isListing
        self.serverTime = serverTime
        self.acceptsOlderVersions = acceptsOlderVersions
    }
}

/// The changes of one engine transaction, by entity.
package struct AppliedChanges: Sendable {
    package struct Counts: Sendable {
        package var inserted = 0
        package var updated = 0
        package var deleted = 0
        package var linksAdded = 0
        package var linksRemoved = 0
        /// Rows with new entries in the conflict log.
        package var conflicts = 0
        /// New entries in the conflict log.
        package var conflictingValues = 0
        /// Changes that were blocked and records that were quarantined.
        package var blocked = 0
        /// Values that the model cannot read.
        package var unreadable = 0
        /// A description of the first unreadable value and its row.
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
            self[entity].blocked += counts.blocked
            self[entity].unreadable += counts.unreadable
            self[entity].firstUnreadable = self[entity].firstUnreadable ?? counts.firstUnreadable
        }
    }
}

/// A row in a full listing of IDs.
package struct ListedRecord: Sendable {
    package let id: JSONValue
    /// Nil if the listing has no versions.
    package let version: String?

    package init(id: JSONValue, version: String?) {
        self.id = id
        self.version = version
    }
}

/// The rows in a page of a listing that the store lacks or has in another version.
package struct ListingDifference: Sendable {
    /// The IDs of rows that are not stored.
    package var unknown: [JSONValue] = []
    /// The IDs of rows with another version in the store; where versions are ordered, with an older one.
    package var outdated: [JSONValue] = []

    package init() {}
}

/// The version of a record: any text. If the service orders versions, the text is an integer or a time.
package struct RowVersion: Sendable {
    private let text: String

    package init(_ text: String) { self.text = text }

    /// Returns whether two versions are the same. Times may be spelled differently.
    package func isSame(as other: RowVersion) -> Bool {
        if text == other.text { return true }
        guard let (time, rest) = time, let (otherTime, otherRest) = other.time else { return false }
        return time == otherTime && rest == otherRest
    }

    /// Returns whether the version is older than another one. Only integers and times have an order.
    private func isOlder(than other: RowVersion) -> Bool {
        if let number = Int64(text), let otherNumber = Int64(other.text) { return number < otherNumber }
        guard let time, let otherTime = other.time else { return false }
        return time < otherTime
    }

    /// Returns whether the version is older than the known version of its row, as in a response of a replica that lags
    /// behind.
    ///
    /// Nothing is behind a known version in the future: that time was never right, or the clock of the service was set
    /// back since.
    ///
    /// - Parameters:
    ///   - now: The clock of this device, in milliseconds since 1970.
    ///   - serverTime: The clock of the service when it responded. A known version is in the future if it is more than
    ///     a minute later. Without a time zone or a time of the service, the tolerance is a day.
    package func isBehind(_ known: RowVersion, at now: Int64, serverTime: Int64? = nil) -> Bool {
        guard isOlder(than: known) else { return false }
        guard let time = known.time?.0 else { return true }
        if let serverTime, known.hasZone { return time <= serverTime + Self.minute }
        return time <= max(now, serverTime ?? .min) + Self.day
    }

    private static let minute: Int64 = 60_000
    private static let day: Int64 = 86_400_000

    /// Whether the time has a time zone.
    private var hasZone: Bool {
        text.hasSuffix("Z") || text.dropFirst("2026-01-01".count).contains { "+-".contains($0) }
    }

    /// The time in milliseconds since 1970, and the remaining digits of its fraction.
    private var time: (Int64, String)? {
        guard text.contains(":"),
            let milliseconds = Array(text.utf8).withUnsafeBufferPointer({ DateParser.milliseconds($0) })
        else { return nil }
        let fraction = text.drop { $0 != "." && $0 != "," }.dropFirst().prefix { $0.isNumber }.dropFirst(3)
        return (milliseconds, String(fraction.reversed().drop { $0 == "0" }.reversed()))
    }
}

/// A change as the engine sends it, stored so that it can be sent again unchanged.
package struct OutgoingRequest: Sendable {
    package enum Kind: String, Sendable { case create, update, delete }

    package let id: Int64
    package let entity: String
    package let kind: Kind
    /// The remote ID of the row. For a new row, it is the ID that the client assigned, or nil if the service assigns
    /// IDs.
    package let remoteID: JSONValue?
    /// The members to send.
    package let body: JSONValue
    /// The version of the record that the change is based on.
    package let version: String?
    /// The idempotency key: the same for every attempt.
    package let idempotencyKey: String
    /// The number of the local edit that the request sends.
    package let edit: Int64
    /// When the request was built, in milliseconds since 1970.
    package let preparedAt: Int64
    /// The number of attempts without a response. If it is more than 0, the service may have carried out an earlier
    /// one.
    package let attempts: Int
    /// The members of the natural key. They tell whether a record of the service is the row that was sent.
    package let naturalKey: JSONValue?
    /// Whether the request recreates a row that the service deleted. Another device may have recreated it already.
    package let isRestoration: Bool
    /// The edit counter when the service accepted a new row without returning its ID; nil for other requests. The
    /// engine looks for the row in listings. It does not send the request again, except if ``isSentOnceMore``.
    package let acceptedAtEdit: Int64?

    /// Whether a later run sends the request once more if no listing has the row: it is uncertain that the service
    /// accepted it.
    package var isSentOnceMore: Bool { acceptedAtEdit != nil && attempts == 1 }

    /// Whether the request creates a row that an earlier attempt without a response may have created.
    package var isTriedAgain: Bool { kind == .create && attempts > 0 }

    package init(
        id: Int64, entity: String, kind: Kind, remoteID: JSONValue?, body: JSONValue, version: String?,
        idempotencyKey: String, edit: Int64, preparedAt: Int64, attempts: Int, naturalKey: JSONValue?,
        isRestoration: Bool = false, acceptedAtEdit: Int64? = nil
    ) {
        self.id = id
        self.entity = entity
        self.kind = kind
        self.remoteID = remoteID
        self.body = body
        self.version = version
        self.idempotencyKey = idempotencyKey
        self.edit = edit
        self.preparedAt = preparedAt
        self.attempts = attempts
        self.naturalKey = naturalKey
        self.isRestoration = isRestoration
        self.acceptedAtEdit = acceptedAtEdit
    }
}

/// The outcome of one request.
package struct RequestOutcome: Sendable {
    package enum Outcome: Sendable {
        /// The service carried out the request and returned this record. For a new row, it has at least the ID.
        case applied(PulledPage.Record?)
        /// The service has another version of the row, or the row exists already. The engine merges the record and
        /// sends the change again.
        case conflict(PulledPage.Record?)
        /// The service no longer has the row.
        case notFound
        /// An earlier attempt created the row, and the service deleted it since.
        case deletedSinceMade
        /// The service rejected the request for good.
        case rejected(String)
        /// The service rejected the request, but may have carried out an earlier attempt without a response.
        case rejectedAfterRetry(String)
        /// The outcome is still unknown after many attempts, although the service responds to other requests.
        case failing(String)
        /// The service did not carry out the request, for a temporary reason.
        case postponed
        /// The outcome is unknown, and a repeat is harmless. A pull or the next attempt shows the outcome.
        case inDoubt
        /// The outcome is unknown.
        case unknown
        /// The service accepted a new row and does not list it yet. If uncertain, an intermediary may have responded in
        /// place of the service.
        case accepted(isCertain: Bool)
        /// The service accepted a new row and did not list it in time. The change is blocked with this reason.
        case notListed(String)
    }

    package let request: OutgoingRequest
    package let outcome: Outcome

    package init(request: OutgoingRequest, outcome: Outcome) {
        self.request = request
        self.outcome = outcome
    }
}
