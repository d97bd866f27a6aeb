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
    public var rows: [RemoteRecord]
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
        rows: [RemoteRecord], next: String? = nil, cursor: String? = nil, isListing: Bool = false, time: Date? = nil,
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
        of records: [JSONValue], _ row: (JSONValue) -> RemoteRecord?
    ) -> (rows: [RemoteRecord], skipped: [Int]) {
        var (rows, skipped): ([RemoteRecord], [Int]) = ([], [])
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
    public var rows: [RemoteRecord]
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
    public init(rows: [RemoteRecord], next: String? = nil) {
        self.rows = rows.filter { $0.record != nil }
        ids = self.rows.map(\.id)
        versions = Dictionary(self.rows.compactMap { row in row.version.map { (row.id, $0) } }) { _, last in last }
        self.next = next
    }
}

/// A change of one row, to be made by a service.
public struct PushOperation: Sendable, Hashable {
    /// What is to be done.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A new row.
        case create
        /// Some members of a row get other values.
        case update
        /// The row goes.
        case delete
    }

    /// The entity.
    public var entity: String
    /// What is to be done.
    public var kind: Kind
    /// What the service calls the row; nil for a new row that it gives an id.
    public var id: JSONValue?
    /// The members of a new row, or those that change.
    public var body: JSONValue
    /// Where the values stand in the body. What is below one of them is a value of its own, and replaced as a whole.
    public var paths: [[String]]
    /// The version that the change was made on; nil if it is not known.
    public var version: String?
    /// What was pulled when the change was made, as the service says it; nil for nothing, or where nobody knows.
    public var cursor: String?
    /// The same for every try.
    public var idempotencyKey: String

    /// A change of one row.
    ///
    /// - Parameter paths: Where the values stand in the body; its members, where nothing is said.
    public init(
        entity: String, kind: Kind, id: JSONValue?, body: JSONValue, paths: [[String]]? = nil, version: String?,
        cursor: String? = nil, idempotencyKey: String
    ) {
        self.entity = entity
        self.kind = kind
        self.id = id
        self.body = body
        self.paths = paths ?? body.memberPaths
        self.version = version
        self.cursor = cursor
        self.idempotencyKey = idempotencyKey
    }
}

extension PushOperation {
    /// Whether it changes parts of a member, which services replace as a whole.
    public var changesParts: Bool { kind == .update && paths.contains { $0.count > 1 } }

    /// A record with what is sent in its place, and all else as it was.
    public func overlaid(on record: JSONValue) -> JSONValue {
        paths.reduce(record) { record, path in
            body.value(at: path).map { record.setting($0, at: path) } ?? record
        }
    }

    /// The same with whole members: of those that it changes a part of, the rest is that of the record that the service has.
    public func completed(by record: JSONValue) -> PushOperation {
        let whole = overlaid(on: record)
        var operation = self
        operation.paths = Set(paths.compactMap(\.first)).sorted().map { [$0] }
        operation.body = operation.paths.reduce(.object([])) { body, path in
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

    /// Without a member, and without the objects that are empty then.
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

/// What became of an operation.
public enum PushOutcome: Sendable, Hashable {
    /// Done; the row as it is now, if the service said.
    case applied(RemoteRecord?)
    /// Not done, because the service has another version; that, if it said.
    case conflict(RemoteRecord?)
    /// Not done, because the service does not have the row any more.
    case gone
    /// Not created, because there is such a row; that, if it said.
    case exists(RemoteRecord?)
    /// Not done, for a reason that passes.
    case retry(after: Duration?)
    /// Not done, and never will be.
    case rejected(String)
    /// Nobody knows.
    case unknown(String)
    /// Not known: a creation was answered with success and nothing else, which what stands between may say too. It is looked for,
    /// and sent once more by a later run.
    case silent
}

/// A row as a service has it.
public struct RemoteRecord: Sendable, Hashable {
    /// What the service calls it.
    public var id: JSONValue
    /// Its members; nil for a row that was deleted.
    public var record: JSONValue?
    /// The service's word for this state of it.
    public var version: String?
    /// When it was last changed, by the clock of the service.
    public var time: Date?
    /// Whether the record has all there is of the row.
    public var isWhole: Bool

    /// A row as a service has it.
    public init(id: JSONValue, record: JSONValue?, version: String? = nil, time: Date? = nil, isWhole: Bool = true) {
        self.id = id
        self.record = record
        self.version = version
        self.time = time
        self.isWhole = isWhole
    }

    /// Why an answer that has this row in place of another one is not believed.
    var otherRowReason: String { "the answer has another row than was asked for: \(id)" }
}

/// What a service says of a row that it was asked for by its id.
public enum FetchOutcome: Sendable, Hashable {
    /// It has it.
    case found(RemoteRecord)
    /// It has none.
    case absent
    /// It does not say: the user may not know.
    case forbidden

    /// Why a change is refused of which that is so.
    static let forbiddenReason = "the user may not see the row"
}

extension JSONValue {
    /// Whether two ids are one, as far as that shows without a model: a number may be written as a text.
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
