public import Foundation
public import SyncCore

/// A request for a page of remote changes.
public struct PullRequest: Sendable, Hashable {
    /// The entity.
    public var entity: String
    /// The cursor of the last pull; nil to pull all rows.
    public var cursor: String?
    /// The token of the page, from the page before; nil for the first page.
    public var page: String?

    /// Creates a request.
    public init(entity: String, cursor: String?, page: String? = nil) {
        self.entity = entity
        self.cursor = cursor
        self.page = page
    }
}

/// A page of remote changes.
public struct PullPage: Sendable, Hashable {
    /// New and changed rows, and tombstones of deleted rows.
    public var records: [RemoteRecord]
    /// The token of the next page; nil after the last page.
    public var nextPage: String?
    /// The cursor for the next pull. Only the last page has it.
    public var cursor: String?
    /// Whether the pages of this pull list all rows, so that rows that they lack are deleted.
    package var isFullListing: Bool
    /// The clock of the service at the time of the response.
    package var serverTime: Date?
    /// The number of rows of all pages, if the service reports it.
    package var total: Int?
    /// The indexes of records without an ID. They are skipped and reported.
    package var invalidRecords: [Int]

    /// Creates a page of remote changes.
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

    /// Converts records to rows, and collects the indexes of the records without an ID.
    ///
    /// - Parameter row: Returns the row of a record; nil for a record without an ID.
    public static func records(
        of records: [JSONValue], _ row: (JSONValue) -> RemoteRecord?
    ) -> (rows: [RemoteRecord], skipped: [Int]) {
        var (rows, skipped): ([RemoteRecord], [Int]) = ([], [])
        for (place, record) in records.enumerated() {
            if let row = row(record) { rows.append(row) } else { skipped.append(place) }
        }
        return (rows, skipped)
    }
}

/// A page of a full listing of IDs.
public struct ListPage: Sendable, Hashable {
    /// The IDs.
    package var ids: [JSONValue]
    /// The versions of rows by ID, if the listing has them. The engine fetches rows whose stored version differs.
    package var versions: [JSONValue: String]
    /// The rows, if the service lists complete records. The engine does not fetch them.
    package var records: [RemoteRecord]
    /// The token of the next page; nil after the last page.
    package var nextPage: String?

    /// Creates a page of IDs.
    public init(ids: [JSONValue], versions: [JSONValue: String] = [:], nextPage: String? = nil) {
        self.ids = ids
        self.versions = versions
        self.records = []
        self.nextPage = nextPage
    }

    /// Creates a page of complete records. It omits tombstones.
    public init(records: [RemoteRecord], nextPage: String? = nil) {
        self.records = records.filter { $0.record != nil }
        ids = self.records.map(\.id)
        versions = Dictionary(self.records.compactMap { row in row.version.map { (row.id, $0) } }) { _, last in last }
        self.nextPage = nextPage
    }
}

/// A local change of one row, to be applied by a service.
public struct PushOperation: Sendable, Hashable {
    /// The kinds of changes.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Creates a row.
        case create
        /// Updates fields of a row.
        case update
        /// Deletes a row.
        case delete
    }

    /// The entity.
    public var entity: String
    /// The kind of the change.
    public var kind: Kind
    /// The remote ID; nil for a new row whose ID the service assigns.
    public var id: JSONValue?
    /// The fields of a new row, or the changed fields.
    public var record: JSONValue
    /// The key paths of the values in the body. A value is replaced as a whole.
    package var fieldPaths: [[String]]
    /// The version that the change is based on; nil if unknown.
    public var version: String?
    /// The cursor of the last pull before the change, for services that push atomically; nil if there is none.
    public var cursor: String?
    /// The idempotency key, which is the same for every attempt.
    public var idempotencyKey: String

    /// Creates a change.
    ///
    /// - Parameter fieldPaths: The key paths of the values in the record; by default its members.
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
    /// Whether it changes a part of a member. Services replace members as a whole.
    public var isPartialUpdate: Bool { kind == .update && fieldPaths.contains { $0.count > 1 } }

    /// Returns a record with the values of this change. All other values stay.
    public func applied(to other: JSONValue) -> JSONValue {
        fieldPaths.reduce(other) { merged, path in
            record.value(at: path).map { merged.setting($0, at: path) } ?? merged
        }
    }

    /// Returns a change of complete members. The parts that this change omits come from the record of the service.
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

    /// Returns the value without a member, and without objects that are empty then.
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

/// The outcome of a change.
public enum PushOutcome: Sendable, Hashable {
    /// The service applied it, and may have returned the row.
    case applied(RemoteRecord?)
    /// Not applied, because the service has another version, which it may have returned.
    case conflict(RemoteRecord?)
    /// Not applied, because the service does not have the row any more.
    case notFound
    /// Not created, because the row exists. The service may have returned it.
    case alreadyExists(RemoteRecord?)
    /// Not applied, for a transient reason.
    case retry(after: Duration?)
    /// Not applied, and never will be. The text is the reason.
    case rejected(String)
    /// The outcome is unknown. The text is the reason.
    case unknown(String)
    /// A create was answered with success and nothing else, as a proxy may do too. The engine looks for the row, and a
    /// later run sends the create once more.
    case silent
}

/// A row as the service has it.
public struct RemoteRecord: Sendable, Hashable {
    /// The remote ID.
    public var id: JSONValue
    /// The record; nil for a deleted row.
    public var record: JSONValue?
    /// The version of the row, as the service reports it.
    public var version: String?
    /// The time of the last change, by the clock of the service.
    public var modifiedAt: Date?
    /// Whether the record has all fields of the row.
    public var isComplete: Bool

    /// Creates a record.
    public init(
        id: JSONValue, record: JSONValue?, version: String? = nil, modifiedAt: Date? = nil, isComplete: Bool = true
    ) {
        self.id = id
        self.record = record
        self.version = version
        self.modifiedAt = modifiedAt
        self.isComplete = isComplete
    }

    /// The reason for ignoring a response that has this row instead of the requested one.
    var otherRowReason: String { "the service returned another row than the requested one: \(id)" }
}

/// The response to a fetch by ID.
public enum FetchOutcome: Sendable, Hashable {
    /// The service has the row.
    case found(RemoteRecord)
    /// The service does not have the row.
    case notFound
    /// The user must not see the row, so the row may exist.
    case forbidden

    /// The reason for blocking a change of a row that the user must not see.
    static let forbiddenReason = "the row is hidden from the user"
}

extension JSONValue {
    /// Returns whether two IDs are equal, as far as that shows without a model: a number may be written as a string.
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
