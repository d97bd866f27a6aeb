public import Foundation
public import SyncCore

/// A web service for the engine.
///
/// A method throws ``ServiceError`` if the request as a whole fails. The result for a single row is a ``PushOutcome``
/// or a ``FetchOutcome``.
public protocol SyncService: Sendable {
    /// The capabilities of the service.
    var capabilities: ServiceCapabilities { get }
    /// The identity of the service, such as its address. A database is synced with one service.
    var identity: String { get }
    /// Returns the filter of an entity: what restricts its pulls. After a change of the filter, the next pull pulls all
    /// rows.
    func filter(of entity: String) -> String
    /// Returns the service configured for the entities of a model: for the names and types of their fields.
    /// Configuration that the caller gave explicitly stays.
    func knowing(_ entities: [ServiceEntity]) -> Self
    /// Returns the key paths of server-owned fields. The engine ignores them when it compares a record with a local
    /// row.
    func ownMembers(of entity: String) -> [[String]]
    /// Returns one page of the changes since a cursor.
    func pull(_ request: PullRequest) async throws -> PullPage
    /// Returns the changes of several entities since their shared cursor, if the service has one.
    func pull(_ entities: [String], since cursor: String?) async throws -> [String: PullPage]
    /// Applies changes in this order, and returns one outcome for each.
    func push(_ operations: [PushOperation]) async throws -> [PushOutcome]
    /// Returns one page of a full listing of IDs: the first one, or the one that the page before named.
    func ids(of entity: String, page: String?) async throws -> IDPage
    /// The delay that the service asked for in a successful response; nil for none. The next run observes it.
    var backoff: Duration? { get }
    /// Fetches rows by ID, and returns one outcome for each.
    func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome]
    /// Returns a text without the secrets of the requests, which a response may repeat.
    func hidingSecrets(in text: String) -> String
}

extension SyncService {
    /// Returns the service unchanged.
    public func knowing(_ entities: [ServiceEntity]) -> Self { self }

    /// Pulls the first page of each entity.
    public func pull(_ entities: [String], since cursor: String?) async throws -> [String: PullPage] {
        var pages: [String: PullPage] = [:]
        for entity in entities { pages[entity] = try await pull(PullRequest(entity: entity, cursor: cursor)) }
        return pages
    }

    /// Returns no fields.
    public func ownMembers(of entity: String) -> [[String]] { [] }

    /// Returns the text unchanged.
    public func hidingSecrets(in text: String) -> String { text }

    /// No delay.
    public var backoff: Duration? { nil }

    /// Returns no filter.
    public func filter(of entity: String) -> String { "" }

    /// Lists the IDs by pulling all rows.
    public func ids(of entity: String, page: String?) async throws -> IDPage {
        let page = try await pull(PullRequest(entity: entity, cursor: nil, page: page))
        return IDPage(rows: page.rows, next: page.next)
    }
}

/// The capabilities of a service. The engine uses no others.
public struct ServiceCapabilities: Sendable, Hashable {
    /// Who assigns the ID of a new row.
    public enum IDAssignment: String, Sendable, Hashable, CaseIterable, Codable {
        /// The service.
        case server
        /// The client that creates the row.
        case client
    }

    /// How the engine detects remote deletions.
    public enum DeletionDetection: String, Sendable, Hashable, CaseIterable {
        /// By tombstones in pulls.
        case tombstones
        /// By a full listing of IDs, or a pull of all rows.
        case sweep
    }

    /// What prevents duplicates if a create is repeated.
    public enum CreateIdempotency: Sendable, Hashable {
        /// The ID that the client assigned.
        case clientID
        /// An idempotency key in a header.
        case key
        /// A field of the record with the idempotency key.
        case marker(String)
        /// Nothing. After a lost response, the engine looks for a row with the same values.
        case probe
    }

    /// Who assigns the ID of a new row.
    package var ids: IDAssignment
    /// How the engine detects remote deletions.
    package var deletions: DeletionDetection
    /// What prevents duplicates if a create is repeated.
    package var createIdempotency: CreateIdempotency
    /// Whether the service supports composite IDs. Such an ID is a list.
    package var takesIDsOfParts: Bool
    /// Whether a change can depend on the version that it is based on.
    package var hasPreconditions: Bool
    /// Whether records have a modification time.
    package var givesTimes: Bool
    /// The most changes in one request.
    package var batchSize: Int
    /// Whether the engine pushes the deletions that a remote deletion causes by the delete rules of the model.
    package var sendsCascades: Bool
    /// Whether the response to a change has the complete record.
    package var answersRecords: Bool
    /// The length of IDs that the client assigns, in characters of a to z and 0 to 9; nil for UUIDs.
    package var idLength: Int?
    /// Whether one request returns the changes of all entities as one snapshot, with a shared cursor.
    package var pullsTogether: Bool
    /// Whether a push is atomic, is rejected if something changed since the last pull, and is harmless when repeated.
    package var pushesTogether: Bool
    /// Whether a change is sent with the unchanged values of its row.
    package var sendsWholeRows: Bool
    /// Whether versions are ordered, as growing numbers or times. An older version than the known one comes from a
    /// stale replica.
    package var ordersVersions: Bool

    /// Creates capabilities.
    public init(
        ids: IDAssignment, deletions: DeletionDetection, createIdempotency: CreateIdempotency, hasPreconditions: Bool,
        givesTimes: Bool,
        batchSize: Int = 1, sendsCascades: Bool = false, answersRecords: Bool = true, takesIDsOfParts: Bool = false,
        idLength: Int? = nil, pullsTogether: Bool = false, pushesTogether: Bool = false, sendsWholeRows: Bool = false,
        ordersVersions: Bool = false
    ) {
        self.ids = ids
        self.deletions = deletions
        self.createIdempotency = createIdempotency
        self.hasPreconditions = hasPreconditions
        self.givesTimes = givesTimes
        self.batchSize = batchSize
        self.sendsCascades = sendsCascades
        self.answersRecords = answersRecords
        self.takesIDsOfParts = takesIDsOfParts
        self.idLength = idLength
        self.pullsTogether = pullsTogether
        self.pushesTogether = pushesTogether
        self.sendsWholeRows = sendsWholeRows
        self.ordersVersions = ordersVersions
    }
}

extension ServiceCapabilities {
    /// The field with the idempotency key of a new row; nil for services without such a field.
    var marker: String? { if case .marker(let name) = createIdempotency { name } else { nil } }
}

/// A failure of a whole request.
public enum ServiceError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The service cannot be reached, or the connection broke.
    case unreachable(String)
    /// The service asks for a delay.
    case busy(after: Duration?, String)
    /// The service rejects the credentials, also after a refresh.
    case unauthorized(String)
    /// The service does not accept the cursor any more. The engine pulls all rows again.
    case cursorInvalid
    /// The service has less data than before: it was restored from a backup.
    case restored
    /// The request is too large.
    case tooLarge
    /// The service applied nothing, because something changed since the last pull. The engine pulls and pushes again.
    case outdated
    /// The service applied nothing, because it rejects one of the changes.
    case refusedTogether(String)
    /// The response cannot be read or is invalid.
    case malformed(String)
    /// The service rejects the request.
    case refused(status: Int, String)

    /// The description of the failure.
    public var description: String { error.message }

    /// The description.
    public var errorDescription: String? { description }

    /// Whether another attempt may succeed.
    var isTransient: Bool {
        switch self {
        case .unreachable, .busy: true
        case .unauthorized, .cursorInvalid, .restored, .tooLarge, .outdated, .refusedTogether, .malformed, .refused:
            false
        }
    }

    /// Whether the page token may be the cause.
    var isOfPage: Bool {
        switch self {
        case .malformed, .refused(status: 400..<500, _): true
        case .unreachable, .busy, .unauthorized, .cursorInvalid, .restored, .tooLarge, .outdated, .refusedTogether,
            .refused:
            false
        }
    }

    /// The failure as an error of the engine.
    var error: SyncError {
        switch self {
        case .unreachable(let text): SyncError(.serviceFailure, "the service failed: \(text)")
        case .busy(_, let text): SyncError(.serviceFailure, "the service asks to wait: \(text)")
        case .unauthorized(let text): SyncError(.unauthorized, "the service rejected the credentials: \(text)")
        case .cursorInvalid: SyncError(.serviceFailure, "the service rejected the cursor of the last pull")
        case .restored:
            SyncError(
                .serverRestored,
                "the service seems to have been restored from an older copy; nothing was deleted"
            )
        case .tooLarge:
            SyncError(.serviceFailure, "the service rejected the request as too large (HTTP 413); lower the batch size")
        case .outdated:
            SyncError(.serviceFailure, "the service has changes that were not pulled yet; sync again")
        case .refusedTogether(let text): SyncError(.serviceFailure, "the service rejected the changes: \(text)")
        case .malformed(let text): SyncError(.serviceFailure, "invalid response of the service: \(text)")
        case .refused(let status, let text) where status >= 500:
            SyncError(.serviceFailure, "the service failed with status \(status): \(text)")
        case .refused(let status, let text):
            SyncError(.serviceFailure, "the service rejected the request with status \(status): \(text)")
        }
    }
}
