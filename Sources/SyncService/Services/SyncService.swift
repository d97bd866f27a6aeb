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
    func configured(for entities: [ServiceEntity]) -> Self
    /// Returns the key paths of server-owned fields. The engine ignores them when it compares a record with a local
    /// row.
    func serverOwnedFields(of entity: String) -> [[String]]
    /// Returns one page of the changes since a cursor.
    func pull(_ request: PullRequest) async throws -> PullPage
    /// Returns the changes of several entities since their shared cursor, if the service has one.
    func pull(_ entities: [String], since cursor: String?) async throws -> [String: PullPage]
    /// Applies changes in this order, and returns one outcome for each.
    func push(_ operations: [PushOperation]) async throws -> [PushOutcome]
    /// Returns one page of a full listing of IDs: the first one, or the one that the page before named.
    func list(of entity: String, page: String?) async throws -> ListPage
    /// The delay that the service asked for in a successful response; nil for none. The next run observes it.
    var backoff: Duration? { get }
    /// Fetches rows by ID, and returns one outcome for each.
    func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome]
    /// Returns a text without the secrets of the requests, which a response may repeat.
    func hidingSecrets(in text: String) -> String
}

extension SyncService {
    /// Returns the service unchanged.
    public func configured(for entities: [ServiceEntity]) -> Self { self }

    /// Pulls the first page of each entity.
    public func pull(_ entities: [String], since cursor: String?) async throws -> [String: PullPage] {
        var pages: [String: PullPage] = [:]
        for entity in entities { pages[entity] = try await pull(PullRequest(entity: entity, cursor: cursor)) }
        return pages
    }

    /// Returns no fields.
    public func serverOwnedFields(of entity: String) -> [[String]] { [] }

    /// Returns the text unchanged.
    public func hidingSecrets(in text: String) -> String { text }

    /// No delay.
    public var backoff: Duration? { nil }

    /// Returns no filter.
    public func filter(of entity: String) -> String { "" }

    /// Lists the IDs by pulling all rows.
    public func list(of entity: String, page: String?) async throws -> ListPage {
        let page = try await pull(PullRequest(entity: entity, cursor: nil, page: page))
        return ListPage(records: page.records, nextPage: page.nextPage)
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
        case listing
    }

    /// What prevents duplicates if a create is repeated.
    public enum CreateIdempotency: Sendable, Hashable {
        /// The ID that the client assigned.
        case clientID
        /// An idempotency key in a header.
        case idempotencyKey
        /// A field of the record with the idempotency key.
        case markerField(String)
        /// Nothing. After a lost response, the engine looks for a row with the same values.
        case matchByContent
    }

    /// Who assigns the ID of a new row.
    package var idAssignment: IDAssignment
    /// How the engine detects remote deletions.
    package var deletionDetection: DeletionDetection
    /// What prevents duplicates if a create is repeated.
    package var createIdempotency: CreateIdempotency
    /// Whether the service supports composite IDs. Such an ID is a list.
    package var supportsCompositeIDs: Bool
    /// Whether a change can depend on the version that it is based on.
    package var supportsPreconditions: Bool
    /// Whether records have a modification time.
    package var providesModificationTimes: Bool
    /// The most changes in one request.
    package var maxBatchSize: Int
    /// Whether the engine pushes the deletions that a remote deletion causes by the delete rules of the model.
    package var requiresClientCascades: Bool
    /// Whether the response to a change has the complete record.
    package var returnsRecords: Bool
    /// The length of IDs that the client assigns, in characters of a to z and 0 to 9; nil for UUIDs.
    package var generatedIDLength: Int?
    /// Whether one request returns the changes of all entities as one snapshot, with a shared cursor.
    package var hasSharedCursor: Bool
    /// Whether a push is atomic, is rejected if something changed since the last pull, and is harmless when repeated.
    package var pushesAtomically: Bool
    /// Whether a change is sent with the unchanged values of its row.
    package var requiresCompleteRecords: Bool
    /// Whether versions are ordered, as growing numbers or times. An older version than the known one comes from a
    /// stale replica.
    package var hasOrderedVersions: Bool

    /// Creates capabilities.
    public init(
        idAssignment: IDAssignment, deletionDetection: DeletionDetection, createIdempotency: CreateIdempotency,
        supportsPreconditions: Bool,
        providesModificationTimes: Bool,
        maxBatchSize: Int = 1, requiresClientCascades: Bool = false, returnsRecords: Bool = true,
        supportsCompositeIDs: Bool = false,
        generatedIDLength: Int? = nil, hasSharedCursor: Bool = false, pushesAtomically: Bool = false,
        requiresCompleteRecords: Bool = false,
        hasOrderedVersions: Bool = false
    ) {
        self.idAssignment = idAssignment
        self.deletionDetection = deletionDetection
        self.createIdempotency = createIdempotency
        self.supportsPreconditions = supportsPreconditions
        self.providesModificationTimes = providesModificationTimes
        self.maxBatchSize = maxBatchSize
        self.requiresClientCascades = requiresClientCascades
        self.returnsRecords = returnsRecords
        self.supportsCompositeIDs = supportsCompositeIDs
        self.generatedIDLength = generatedIDLength
        self.hasSharedCursor = hasSharedCursor
        self.pushesAtomically = pushesAtomically
        self.requiresCompleteRecords = requiresCompleteRecords
        self.hasOrderedVersions = hasOrderedVersions
    }
}

extension ServiceCapabilities {
    /// The field with the idempotency key of a new row; nil for services without such a field.
    var markerField: String? { if case .markerField(let name) = createIdempotency { name } else { nil } }
}

/// A failure of a whole request.
public enum ServiceError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The service cannot be reached, or the connection broke.
    case unreachable(String)
    /// The service asks for a delay.
    case retryLater(after: Duration?, String)
    /// The service rejects the credentials, also after a refresh.
    case unauthorized(String)
    /// The service does not accept the cursor any more. The engine pulls all rows again.
    case cursorInvalid
    /// The service has less data than before: it was restored from a backup.
    case serverRestored
    /// The request is too large.
    case payloadTooLarge
    /// The service applied nothing, because something changed since the last pull. The engine pulls and pushes again.
    case stalePush
    /// The service applied nothing, because it rejects one of the changes.
    case batchRejected(String)
    /// The response cannot be read or is invalid.
    case invalidResponse(String)
    /// The service rejects the request.
    case rejected(status: Int, String)

    /// The description of the failure.
    public var description: String { error.message }

    /// The description.
    public var errorDescription: String? { description }

    /// Whether another attempt may succeed.
    var isTransient: Bool {
        switch self {
        case .unreachable, .retryLater: true
        case .unauthorized, .cursorInvalid, .serverRestored, .payloadTooLarge, .stalePush, .batchRejected,
            .invalidResponse, .rejected:
            false
        }
    }

    /// Whether the page token may be the cause.
    var isOfPage: Bool {
        switch self {
        case .invalidResponse, .rejected(status: 400..<500, _): true
        case .unreachable, .retryLater, .unauthorized, .cursorInvalid, .serverRestored, .payloadTooLarge, .stalePush,
            .batchRejected,
            .rejected:
            false
        }
    }

    /// The failure as an error of the engine.
    var error: SyncError {
        switch self {
        case .unreachable(let text): SyncError(.serviceFailure, "the service failed: \(text)")
        case .retryLater(_, let text): SyncError(.serviceFailure, "the service asks to wait: \(text)")
        case .unauthorized(let text): SyncError(.unauthorized, "the service rejected the credentials: \(text)")
        case .cursorInvalid: SyncError(.serviceFailure, "the service rejected the cursor of the last pull")
        case .serverRestored:
            SyncError(
                .serverRestored,
                "the service seems to have been restored from an older copy; nothing was deleted"
            )
        case .payloadTooLarge:
            SyncError(.serviceFailure, "the service rejected the request as too large (HTTP 413); lower the batch size")
        case .stalePush:
            SyncError(.serviceFailure, "the service has changes that were not pulled yet; sync again")
        case .batchRejected(let text): SyncError(.serviceFailure, "the service rejected the changes: \(text)")
        case .invalidResponse(let text): SyncError(.serviceFailure, "invalid response of the service: \(text)")
        case .rejected(let status, let text) where status >= 500:
            SyncError(.serviceFailure, "the service failed with status \(status): \(text)")
        case .rejected(let status, let text):
            SyncError(.serviceFailure, "the service rejected the request with status \(status): \(text)")
        }
    }
}
