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
    /// The version that the change was made on; nil if it is not known.
    public var version: String?
    /// The same for every try.
    public var idempotencyKey: String

    /// A change of one row.
    public init(
        entity: String, kind: Kind, id: JSONValue?, body: JSONValue, version: String?, idempotencyKey: String
    ) {
        self.entity = entity
        self.kind = kind
        self.id = id
        self.body = body
        self.version = version
        self.idempotencyKey = idempotencyKey
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
}
