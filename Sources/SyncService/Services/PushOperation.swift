public import SyncCore

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
    case applied(RemoteRow?)
    /// Not done, because the service has another version; that, if it said.
    case conflict(RemoteRow?)
    /// Not done, because the service does not have the row any more.
    case gone
    /// Not created, because there is such a row; that, if it said.
    case exists(RemoteRow?)
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
