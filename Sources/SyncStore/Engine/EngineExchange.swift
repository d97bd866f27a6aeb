package import SyncCore

/// Records of one entity that a service returned.
package struct PulledPage: Sendable {
    package let entity: String
    package let rows: [RemoteRecord]
    /// The page of a pull; nil for records outside a pull, for example records that were requested by ID.
    package let pull: PullPage?
    /// Whether a record is applied even if a newer version of it is known. True for a pull without a cursor, because
    /// the service may have been restored from a backup.
    package let acceptsOlderVersions: Bool
    /// Whether a row keeps its known version if its record has none. True for records that the app passed.
    package let keepsVersions: Bool

    /// Creates a page of a pull.
    package init(_ pull: PullPage, of entity: String, acceptsOlderVersions: Bool = false) {
        (self.entity, rows, self.pull) = (entity, pull.records, pull)
        (self.acceptsOlderVersions, keepsVersions) = (acceptsOlderVersions, false)
    }

    /// Creates a page of records outside a pull.
    package init(_ rows: [RemoteRecord], of entity: String, keepsVersions: Bool = false) {
        (self.entity, self.rows, pull) = (entity, rows, nil)
        (acceptsOlderVersions, self.keepsVersions) = (false, keepsVersions)
    }

    /// The clock of the service when it responded, in milliseconds since 1970; nil if not known.
    package var serverTime: Int64? { pull?.serverTime?.reportedMilliseconds }
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

/// The rows in a page of a listing that are unknown, or known in another version.
package struct ListingDifference: Sendable {
    /// The IDs of rows that are not known.
    package var unknown: [JSONValue] = []
    /// The IDs of rows that are known in another version, or without one. If versions are ordered, rows whose listed
    /// version is older are left out.
    package var outdated: [JSONValue] = []

    package init() {}
}

/// The version of a record: any text. If the service orders versions, the text is an integer or a time.
package struct RowVersion: Sendable {
    private let text: String

    package init(_ text: String) { self.text = text }

    /// Returns whether two versions are the same. One time may be written in several ways.
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

    /// Returns whether the version is older than the known version of its row, as in a response of a stale replica.
    ///
    /// Returns false if the known version is a time in the future. That time was wrong, or the clock of the service was
    /// set back since.
    ///
    /// - Parameters:
    ///   - now: The clock of this device, in milliseconds since 1970.
    ///   - serverTime: The clock of the service when it responded. A known version is in the future if it is more than
    ///     a minute later. If the known version has no time zone, or `serverTime` is nil, it must be more than a day
    ///     later than both clocks.
    package func isBehind(_ known: RowVersion, at now: Int64, serverTime: Int64? = nil) -> Bool {
        guard isOlder(than: known) else { return false }
        guard let time = known.time?.0 else { return true }
        if let serverTime, known.hasZone { return time <= serverTime + Self.minute }
        return time <= max(now, serverTime ?? .min) + Self.day
    }

    private static let minute: Int64 = 60_000
    private static let day: Int64 = 86_400_000

    /// Whether the version states a time zone.
    private var hasZone: Bool {
        text.hasSuffix("Z") || text.dropFirst("2026-01-01".count).contains { "+-".contains($0) }
    }

    /// The time in milliseconds since 1970, and the remaining digits of its fraction; nil if the version is not a time.
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
    package let id: Int64
    /// The change. For a new row, its ID is the ID that the client assigned, or nil if the service assigns IDs. All
    /// attempts use the same idempotency key.
    package let operation: PushOperation
    /// The edit counter of the last local edit that the request contains.
    package let edit: Int64
    /// When the request was built, or when an attempt last ended without a final outcome, in milliseconds since 1970.
    package let preparedAt: Int64
    /// The number of attempts that the service may have carried out, although the outcome is not final.
    package let attempts: Int
    /// The members of the natural key, which identify the sent row among records of the service; nil if the entity has
    /// none.
    package let naturalKey: JSONValue?
    /// Whether the request creates a row again that the service deleted. Another device may already have done this.
    package let isRestoration: Bool
    /// The edit counter when the service accepted a new row without returning its ID; nil for other requests. The
    /// engine looks for the row. It sends the request again only if ``isSentOnceMore``.
    package let acceptedAtEdit: Int64?

    /// Whether a later run sends the request once more if it does not find the row. The service may have
    /// accepted the request without storing the row. After ``EngineReset/cursors``, it may also have lost the row.
    package var isSentOnceMore: Bool { acceptedAtEdit != nil && attempts == 1 }

    /// Whether the request creates a row that an earlier attempt may have created.
    package var isTriedAgain: Bool { operation.kind == .create && attempts > 0 }

    package init(
        id: Int64, _ operation: PushOperation, edit: Int64, preparedAt: Int64, attempts: Int, naturalKey: JSONValue?,
        isRestoration: Bool = false, acceptedAtEdit: Int64? = nil
    ) {
        self.id = id
        self.operation = operation
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
        /// The service carried out the request and returned this record; nil if it returned none. The record of a new
        /// row has at least the ID.
        case applied(RemoteRecord?)
        /// The service has another version of the row, or the row exists already. The engine merges the record, and
        /// sends the remaining differences again a limited number of times.
        case conflict(RemoteRecord?)
        /// The service does not have the row, or does not accept new rows at its URL.
        case notFound
        /// An earlier attempt created the row, and the service deleted it since.
        case createdThenDeleted
        /// The service rejected the request permanently.
        case rejected(String)
        /// The service rejected the request, but may have carried out an earlier attempt that got no response.
        case rejectedAfterRetry(String)
        /// The outcome is still unknown after many attempts, although the service responds to other requests.
        case failing(String)
        /// The service did not carry out the request, for a temporary reason.
        case postponed
        /// The outcome is unknown, and a repetition is harmless. A pull or the next attempt shows the outcome.
        case inDoubt
        /// The outcome is unknown.
        case unknown
        /// The service accepted a new row and does not list it yet. If `isCertain` is false, an intermediary may have
        /// responded in place of the service.
        case accepted(isCertain: Bool)
        /// The service accepted a new row and did not list it in time. The text is the reason of the change if it is
        /// blocked.
        case notListed(String)
    }

    /// The reason of a create that is blocked because its outcome was `notFound`.
    package static let unacceptedRowReason = "the service does not accept new rows at the URL of this entity"

    package let request: OutgoingRequest
    package let outcome: Outcome

    package init(request: OutgoingRequest, outcome: Outcome) {
        self.request = request
        self.outcome = outcome
    }
}

// MARK: - Files

/// The hash, name and type of a file.
package struct FileContent: Sendable, Hashable {
    /// The SHA-256 of the bytes.
    package let hash: String
    package let name: String
    package let type: String

    package init(hash: String, name: String, type: String) {
        self.hash = hash
        self.name = name
        self.type = type
    }
}

/// A file that is attached to a row and not uploaded yet.
package struct PendingUpload: Sendable {
    package enum Outcome: Sendable {
        /// The service has the file.
        case sent
        /// The service rejected the file permanently.
        case rejected(String)
        /// The upload failed, or its outcome is unknown.
        case failed
    }

    package let number: Int64
    package let entity: String
    package let key: PrimaryKeyValue
    /// The remote ID of the row, or its primary key if the service does not have the row.
    package let remoteID: JSONValue
    package let attribute: String
    /// The key path of the attribute in a record.
    package let path: [String]
    package let content: FileContent
    /// Why the service rejected the file; nil if it did not.
    package let reason: String?

    package init(
        number: Int64, entity: String, key: PrimaryKeyValue, remoteID: JSONValue, attribute: String, path: [String],
        content: FileContent, reason: String?
    ) {
        self.number = number
        self.entity = entity
        self.key = key
        self.remoteID = remoteID
        self.attribute = attribute
        self.path = path
        self.content = content
        self.reason = reason
    }
}

/// The file of an attribute: the pending upload and the stored name.
package struct FileAttributeState: Sendable {
    /// The hash of the pending upload, if there is one.
    package let pendingHash: String?
    /// The stored value of the attribute, which is the name of the file at the service.
    package let name: String?
    /// The remote ID of the row, or its primary key if the service does not have the row.
    package let remoteID: JSONValue

    package init(pendingHash: String?, name: String?, remoteID: JSONValue) {
        self.pendingHash = pendingHash
        self.name = name
        self.remoteID = remoteID
    }
}
