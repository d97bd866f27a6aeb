public import Foundation
public import SyncCore

/// A request for a page of remote changes.
public struct PullRequest: Sendable, Hashable {
    /// The name of the entity to pull.
    public var entity: String
    /// The cursor of the last pull; nil to pull all records.
    public var cursor: String?
    /// The token of the page, from the previous page; nil for the first page.
    public var page: String?

    /// Creates a request for a page of an entity's changes.
    public init(entity: String, cursor: String?, page: String? = nil) {
        self.entity = entity
        self.cursor = cursor
        self.page = page
    }
}

/// A page of remote changes.
public struct PullPage: Sendable, Hashable {
    /// New and changed records, and tombstones of deleted records.
    public var records: [RemoteRecord]
    /// The token of the next page; nil after the last page.
    public var nextPage: String?
    /// The cursor for the next pull. The engine uses only the cursor of the last page.
    public var cursor: String?
    /// Whether the pages of this pull list all records. Rows that no page lists are then missing at the service.
    package var isFullListing: Bool
    /// The time of the response by the clock of the service; nil if unknown.
    package var serverTime: Date?
    /// The number of records in all pages; nil if the service does not report it.
    package var total: Int?
    /// The indexes, in the list of the response, of records without an ID. The engine skips and reports such records.
    package var invalidRecords: [Int]

    /// Creates a page of remote changes.
    ///
    /// - Parameters:
    ///   - records: New and changed records, and tombstones of deleted records.
    ///   - nextPage: The token of the next page; nil after the last page.
    ///   - cursor: The cursor for the next pull. Only the last page needs it.
    ///   - isFullListing: Whether the pages of this pull list all records. Rows that no page lists are then missing at
    ///     the service.
    ///   - serverTime: The time of the response by the clock of the service; nil if unknown.
    ///   - total: The number of records in all pages; nil if the service does not report it.
    ///   - invalidRecords: The indexes, in the list of the response, of records without an ID.
    public init(
        records: [RemoteRecord], nextPage: String? = nil, cursor: String? = nil, isFullListing: Bool = false,
        serverTime: Date? = nil,
        total: Int? = nil, invalidRecords: [Int] = []
    ) {
        self.records = records
        self.nextPage = nextPage
        self.cursor = cursor
        self.isFullListing = isFullListing
        self.serverTime = serverTime
        self.total = total
        self.invalidRecords = invalidRecords
    }

    /// Converts the JSON objects of a response to records, and collects the indexes of the objects without an ID.
    ///
    /// - Parameter record: A closure that converts a JSON object to a record. It returns nil if the object has no ID.
    public static func parse(
        _ objects: [JSONValue], _ record: (JSONValue) -> RemoteRecord?
    ) -> (records: [RemoteRecord], invalidRecords: [Int]) {
        var (records, invalidRecords): ([RemoteRecord], [Int]) = ([], [])
        for (index, object) in objects.enumerated() {
            if let record = record(object) { records.append(record) } else { invalidRecords.append(index) }
        }
        return (records, invalidRecords)
    }
}

/// A page of a full listing of IDs.
public struct ListPage: Sendable, Hashable {
    /// The IDs on the page.
    package var ids: [JSONValue]
    /// The versions of records by ID, if the listing has them. The engine compares them with the stored versions to
    /// find outdated records.
    package var versions: [JSONValue: String]
    /// The records, if the service lists complete records. The engine does not fetch these records again.
    package var records: [RemoteRecord]
    /// The token of the next page; nil after the last page.
    package var nextPage: String?

    /// Creates a page of IDs.
    ///
    /// - Parameter versions: The versions of records by ID, if the listing has them.
    public init(ids: [JSONValue], versions: [JSONValue: String] = [:], nextPage: String? = nil) {
        self.ids = ids
        self.versions = versions
        self.records = []
        self.nextPage = nextPage
    }

    /// Creates a page of complete records, without the tombstones among them.
    package init(records: [RemoteRecord], nextPage: String? = nil) {
        self.records = records.filter { $0.record != nil }
        ids = self.records.map(\.id)
        versions = Dictionary(self.records.compactMap { row in row.version.map { (row.id, $0) } }) { _, last in last }
        self.nextPage = nextPage
    }
}

/// A local change of one row, which a service applies.
public struct PushOperation: Sendable, Hashable {
    /// The kind of a change.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The change creates a row.
        case create
        /// The change updates fields of a row.
        case update
        /// The change deletes a row.
        case delete
    }

    /// The name of the row's entity.
    public var entity: String
    /// Whether the change creates, updates or deletes the row.
    public var kind: Kind
    /// The remote ID; nil for a new row whose ID the service assigns.
    public var id: JSONValue?
    /// The fields of a new row, or the changed fields; empty for a deletion. If the service requires complete records,
    /// an update has all fields.
    public var record: JSONValue
    /// The key paths of the changed values in the record. The change replaces each of these values as a whole.
    package var fieldPaths: [[String]]
    /// The version that the change is based on; nil if unknown.
    public var version: String?
    /// The cursor of the last pull, which a service that pushes atomically needs; nil if there is none.
    public var cursor: String?
    /// The idempotency key: the same for every attempt.
    public var idempotencyKey: String

    /// Creates a change of one row.
    ///
    /// - Parameter fieldPaths: The key paths of the changed values in the record; by default its top-level members.
    public init(
        entity: String, kind: Kind, id: JSONValue?, record: JSONValue, fieldPaths: [[String]]? = nil, version: String?,
        cursor: String? = nil, idempotencyKey: String
    ) {
        self.entity = entity
        self.kind = kind
        self.id = id
        self.record = record
        self.fieldPaths = fieldPaths ?? record.memberPaths
        self.version = version
        self.cursor = cursor
        self.idempotencyKey = idempotencyKey
    }
}

extension PushOperation {
    /// Whether the change updates only a part of a top-level member, such as `address.city`. A service that replaces
    /// members as a whole then needs the other parts of the member.
    public var isPartialUpdate: Bool { kind == .update && fieldPaths.contains { $0.count > 1 } }

    /// Returns a copy of a record with the values of this change. All other values stay.
    public func applied(to other: JSONValue) -> JSONValue {
        fieldPaths.reduce(other) { merged, path in
            record.value(at: path).map { merged.setting($0, at: path) } ?? merged
        }
    }

    /// Returns a change that replaces whole top-level members. The parts that this change omits come from `record`, the
    /// record of the service.
    public func merged(over record: JSONValue) -> PushOperation {
        let whole = applied(to: record)
        var operation = self
        operation.fieldPaths = Set(fieldPaths.compactMap(\.first)).sorted().map { [$0] }
        operation.record = operation.fieldPaths.reduce(.object([])) { body, path in
            whole.value(at: path).map { body.setting($0, at: path) } ?? body
        }
        return operation
    }
}

extension JSONValue {
    fileprivate var memberPaths: [[String]] {
        guard case .object(let members) = self else { return [] }
        return members.map { [$0.key] }
    }

    /// Returns the value without the member at a key path. Also removes objects that become empty.
    func without(at path: [String]) -> JSONValue { without(path[...]) ?? .object([]) }

    private func without(_ path: ArraySlice<String>) -> JSONValue? {
        guard let key = path.first else { return nil }
        guard case .object(let members) = self else { return self }
        return .object(
            members.compactMap { member in
                guard member.key == key else { return member }
                guard let rest = member.value.without(path.dropFirst()), rest != .object([]) else { return nil }
                return Member(key, rest)
            })
    }
}

/// The outcome of a change that was sent to a service.
public enum PushOutcome: Sendable, Hashable {
    /// The service applied the change. The value is the record in the response, if there is one.
    case applied(RemoteRecord?)
    /// The service did not apply the change, because it has another version of the row. The value is that version, if
    /// the response has it.
    case conflict(RemoteRecord?)
    /// The service did not apply the change, because it no longer has the row. For a create, the service does not
    /// accept rows with the ID.
    case notFound
    /// The service did not create the row, because the row exists already. The value is the existing record, if the
    /// response has it.
    case alreadyExists(RemoteRecord?)
    /// The service did not apply the change, for a temporary reason. The value is the delay that the service asked for,
    /// if any.
    case retry(after: Duration?)
    /// The service rejected the change permanently. The text is the reason.
    case rejected(String)
    /// The outcome is unknown. The text is the reason.
    case unknown(String)
    /// The response to a create reports success and has no body. A proxy may have sent the response. The engine looks
    /// for the row. If the service does not list the row, a later run sends the create once more.
    case silent
}

/// A record of the service, or the tombstone of a deleted record.
public struct RemoteRecord: Sendable, Hashable {
    /// The ID of the record.
    public var id: JSONValue
    /// The JSON of the record. In a pull, nil means that the record was deleted. In the response to a change, nil means
    /// that the response does not contain the record.
    public var record: JSONValue?
    /// The version of the record, as the service reports it; nil if it reports none.
    public var version: String?
    /// The time of the last change by the clock of the service; nil if the service does not report it.
    public var modifiedAt: Date?
    /// Whether the record has all fields, and every change gives it a new version. The engine then skips the record if
    /// its version is already stored.
    public var isComplete: Bool

    /// Creates a record, or a tombstone if `record` is nil.
    public init(
        id: JSONValue, record: JSONValue?, version: String? = nil, modifiedAt: Date? = nil, isComplete: Bool = true
    ) {
        self.id = id
        self.record = record
        self.version = version
        self.modifiedAt = modifiedAt
        self.isComplete = isComplete
    }

    /// The reason why the engine ignores a response with this record: the request was for another row.
    var otherRowReason: String { "the service returned a row other than the requested one: \(id)" }
}

/// The outcome of fetching one record by ID.
public enum FetchOutcome: Sendable, Hashable {
    /// The service has the record.
    case found(RemoteRecord)
    /// The service does not have a record with the ID.
    case notFound
    /// The service hides the record from the user, or the ID cannot be part of a URL. The record may exist, so the
    /// engine does not delete its row.
    case forbidden

    /// The reason for blocking a change of a row that the service hides from the user.
    static let forbiddenReason = "the row is hidden from the user"
}

extension JSONValue {
    /// Returns whether two IDs are equal if numbers may be written as strings and the case of letters does not matter.
    func isSpelling(of other: JSONValue) -> Bool {
        switch (self, other) {
        case (.array(let parts), .array(let others)):
            parts.count == others.count && zip(parts, others).allSatisfy { $0.isSpelling(of: $1) }
        case (.string(let text), .number(let other)), (.number(let text), .string(let other)): text == other
        case (.string(let text), .string(let other)): text.lowercased() == other.lowercased()
        default: self == other
        }
    }
}
