public import Foundation

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
    /// The token of the next page; nil if this is the last page.
    public var nextPage: String?
    /// The cursor for the next pull; nil if that pull must return all records. The engine uses only the cursor of the
    /// last page.
    public var cursor: String?
    /// Whether the pages of this pull list all records. If true, the service has no other records of the entity.
    package var isFullListing: Bool
    /// The time of the response, according to the clock of the service; nil if unknown.
    package var serverTime: Date?
    /// The number of records in all pages; nil if the service does not report the number.
    package var total: Int?
    /// The indexes of records without an ID. Each index is the place of a record in the list of the response. The
    /// engine only reports these records.
    package var invalidRecords: [Int]

    /// Creates a page of remote changes.
    ///
    /// - Parameters:
    ///   - records: New and changed records, and tombstones of deleted records.
    ///   - nextPage: The token of the next page; nil if this is the last page.
    ///   - cursor: The cursor for the next pull; nil if that pull must return all records. Only the last page needs a
    ///     cursor.
    ///   - isFullListing: Whether the pages of this pull list all records. If true, the service has no other records of
    ///     the entity. All pages of a pull must have the same value.
    ///   - serverTime: The time of the response, according to the clock of the service; nil if unknown.
    ///   - total: The number of records in all pages; nil if the service does not report the number.
    ///   - invalidRecords: The indexes of records without an ID. Each index is the place of a record in the list of the
    ///     response. The engine only reports these records.
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
    /// - Parameter record: A closure that converts a JSON object to a record, or returns nil if the object has no ID.
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
    /// The versions of the records, by ID; empty if the listing has no versions. To find outdated rows, the engine
    /// compares these versions with the stored versions.
    package var versions: [JSONValue: String]
    /// The complete records; empty if the listing has only IDs. The engine does not fetch these records again.
    package var records: [RemoteRecord]
    /// The token of the next page; nil if this is the last page.
    package var nextPage: String?

    /// Creates a page of IDs.
    ///
    /// - Parameters:
    ///   - versions: The versions of the records, by ID; empty if the listing has no versions. To find outdated rows,
    ///     the engine compares these versions with the stored versions.
    ///   - nextPage: The token of the next page; nil if this is the last page.
    public init(ids: [JSONValue], versions: [JSONValue: String] = [:], nextPage: String? = nil) {
        self.ids = ids
        self.versions = versions
        self.records = []
        self.nextPage = nextPage
    }

    /// Creates a page of complete records. Omits tombstones.
    package init(records: [RemoteRecord], nextPage: String? = nil) {
        self.records = records.filter { $0.record != nil }
        ids = self.records.map(\.id)
        versions = Dictionary(self.records.compactMap { row in row.version.map { (row.id, $0) } }) { _, last in last }
        self.nextPage = nextPage
    }
}

/// A change of one record, to be sent to a service.
public struct PushOperation: Sendable, Hashable {
    /// The kind of a change.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The change creates a record.
        case create
        /// The change updates fields of a record.
        case update
        /// The change deletes a record.
        case delete
    }

    /// The name of the record's entity.
    public var entity: String
    /// Whether the change creates, updates or deletes the record.
    public var kind: Kind
    /// The ID of the record; nil for a new record whose ID the service assigns.
    public var id: JSONValue?
    /// The fields of a new record, or the changed fields of an existing record; an empty object for a deletion. If the
    /// service requires complete records, an update has all fields.
    public var record: JSONValue
    /// The key paths of the changed values in the record. The change replaces each of these values as a whole.
    package var fieldPaths: [[String]]
    /// The version that the change is based on; nil if unknown.
    public var version: String?
    /// The cursor of the last pull, for a service with atomic pushes; nil if there is no cursor.
    public var cursor: String?
    /// The idempotency key, which is the same for every attempt to send the change.
    public var idempotencyKey: String

    /// Creates a change of one record. The default of `idempotencyKey` is a new key, so create the change once, and pass
    /// it again to repeat it.
    ///
    /// - Parameter fieldPaths: The key paths of the changed values in the record; by default the top-level members of
    ///   the record. The change replaces each of these values as a whole.
    public init(
        entity: String, kind: Kind, id: JSONValue? = nil, record: JSONValue = [:], fieldPaths: [[String]]? = nil,
        version: String? = nil, cursor: String? = nil, idempotencyKey: String = UUID().uuidString
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
    /// Whether the change updates a part of a top-level member, such as `address.city`. For a service that replaces
    /// whole members, ``merged(over:)`` adds the other parts.
    public var isPartialUpdate: Bool { kind == .update && fieldPaths.contains { $0.count > 1 } }

    /// Returns a copy of a record with the changed values of this change. All other values stay.
    public func applied(to other: JSONValue) -> JSONValue {
        fieldPaths.reduce(other) { merged, path in
            record.value(at: path).map { merged.setting($0, at: path) } ?? merged
        }
    }

    /// Returns a copy of this change with complete top-level members.
    ///
    /// - Parameter record: The current record of the service, which provides the missing parts of the members.
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
    package func without(at path: [String]) -> JSONValue { without(path[...]) ?? .object([]) }

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
    /// The service applied the change. The value is the record in the response; nil if the response has no record. If
    /// the service assigns the ID of a new record, provide a record with that ID. Without an ID, the engine must search
    /// for the new record.
    case applied(RemoteRecord?)
    /// The service did not apply the change, because the service has another version of the record. The value is the
    /// record with that version; nil if the response has no record.
    case conflict(RemoteRecord?)
    /// The service did not apply the change, because the service does not have the record. For a create, this outcome
    /// means that the service does not accept the ID of the new record.
    case notFound
    /// The service did not create the record, because the record exists already. The value is the existing record; nil
    /// if the response has no record.
    case alreadyExists(RemoteRecord?)
    /// The service did not apply the change, for a temporary reason. `after` is the delay that the service asked for;
    /// nil if there is none.
    case retry(after: Duration?)
    /// The service rejected the change permanently. The string is the reason.
    case rejected(String)
    /// The outcome is unknown: the service may have applied the change. The string is the reason.
    case unknown(String)
    /// The response to a create reports success and has no ID. A proxy may have sent the response. The engine searches
    /// for the new record. If the service does not list the record, a later run sends the create once more.
    case silent
}

/// A record of the service, or the tombstone of a deleted record.
public struct RemoteRecord: Sendable, Hashable {
    /// The ID of the record.
    public var id: JSONValue
    /// The JSON of the record. In a pull, nil means that the record was deleted. In the response to a change, nil means
    /// that the response does not contain the record.
    public var record: JSONValue?
    /// The version that the service reports for the record; nil if the service reports no version.
    public var version: String?
    /// The time of the last change, according to the clock of the service; nil if the service does not report the time.
    public var modifiedAt: Date?
    /// Whether the record has all fields, and every change of the record results in a new version. If true, the engine
    /// may skip other records with the same ID and version.
    public var isComplete: Bool

    /// Creates a record of the service. In a pull, `record` is nil for the tombstone of a deleted record.
    public init(
        id: JSONValue, record: JSONValue?, version: String? = nil, modifiedAt: Date? = nil, isComplete: Bool = true
    ) {
        self.id = id
        self.record = record
        self.version = version
        self.modifiedAt = modifiedAt
        self.isComplete = isComplete
    }

    /// The time of the last change, in milliseconds since 1970 and limited to the years 1 to 9999; nil if the service
    /// does not report a finite time.
    package var time: Int64? { modifiedAt?.reportedMilliseconds }

    /// The reason why the engine ignores a response with this record: the request was for another row.
    package var otherRowReason: String { "the service returned a row other than the requested one: \(id)" }
}

/// The outcome of fetching one record by ID.
public enum FetchOutcome: Sendable, Hashable {
    /// The service has the record.
    case found(RemoteRecord)
    /// The service does not have a record with the ID. The engine may then delete the row with this ID.
    case notFound
    /// The service hides the record from the user, or the ID cannot be part of a URL. The record may exist, so the
    /// engine does not delete the row with this ID.
    case forbidden

    /// The reason for blocking a change of a row that the service hides from the user.
    package static let forbiddenReason = "the row is hidden from the user"
}

extension JSONValue {
    /// Returns whether two IDs are equal if numbers may be written as strings and the case of letters does not matter.
    package func isSpelling(of other: JSONValue) -> Bool {
        switch (self, other) {
        case (.array(let parts), .array(let others)):
            parts.count == others.count && zip(parts, others).allSatisfy { $0.isSpelling(of: $1) }
        case (.string(let text), .number(let other)), (.number(let text), .string(let other)): text == other
        case (.string(let text), .string(let other)): text.lowercased() == other.lowercased()
        default: self == other
        }
    }
}
