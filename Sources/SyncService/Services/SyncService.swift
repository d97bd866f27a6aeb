public import Foundation
public import SyncCore

/// A web service with which a ``SyncEngine`` syncs a store.
///
/// A method throws ``ServiceError`` if a request as a whole fails. The outcome of a single change is a ``PushOutcome``.
/// The outcome of fetching a single record is a ``FetchOutcome``. `Docs/AddingAService.md` shows a complete service.
public protocol SyncService: Sendable {
    /// The capabilities of the service. The engine adapts its requests to the capabilities. The value of this property
    /// must never change.
    var capabilities: ServiceCapabilities { get }
    /// A string that identifies the service, such as its URL. The engine rejects a database that was synced with
    /// another service.
    var identity: String { get }
    /// Returns a string that describes which records the pulls of an entity return, such as a path and a condition. If
    /// the string changes, the next pull requests all records.
    func filter(of entity: String) -> String
    /// Returns a copy of the service, configured for the fields of the given entities. Options that the app set
    /// explicitly take precedence. The initializer of the engine calls the method once.
    func configured(for entities: [ServiceEntity]) -> Self
    /// Returns the key paths of server-owned fields: the fields that only the service writes. To find a created record,
    /// the engine may compare values. The comparison ignores these fields.
    func serverOwnedFields(of entity: String) -> [[String]]
    /// Returns one page of an entity's remote changes since a cursor.
    ///
    /// - Throws: ``ServiceError``, such as ``ServiceError/cursorInvalid`` if the service no longer accepts the cursor.
    func pull(_ request: PullRequest) async throws -> PullPage
    /// Returns the changes of several entities since one cursor: one page for each entity, by the name of the entity.
    /// Each page contains all changes of the entity, and has no next page. The engine calls the method only if the
    /// capabilities of the service include `hasSharedCursor`.
    ///
    /// - Parameter cursor: The cursor of the last pull; nil to pull all records.
    func pull(_ entities: [String], since cursor: String?) async throws -> [String: PullPage]
    /// Applies changes in the given order. Returns one outcome for each change, in the same order.
    ///
    /// - Throws: ``ServiceError``, but only if the service applied no change, or if repeating the push is harmless.
    ///   After the error, the engine may send the changes again. Otherwise, return ``PushOutcome/unknown(_:)`` for each
    ///   change that the service may have applied.
    func push(_ operations: [PushOperation]) async throws -> [PushOutcome]
    /// Returns one page of a full listing of an entity's IDs.
    ///
    /// - Parameter page: The token of the page, from the previous page; nil for the first page.
    func list(of entity: String, page: String?) async throws -> ListPage
    /// The remaining delay that the service asked for; nil for none. At the end of a successful run, the engine stores
    /// the delay for the next run.
    var backoff: Duration? { get }
    /// Fetches records by ID. Returns one outcome for each ID, in the same order.
    func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome]
    /// Returns a copy of a string in which the secrets of requests are masked. The string may be an error message that
    /// quotes a response.
    func hidingSecrets(in text: String) -> String
}

extension SyncService {
    /// Returns the service unchanged.
    public func configured(for entities: [ServiceEntity]) -> Self { self }

    /// Pulls each entity separately, and returns the first page of each entity.
    public func pull(_ entities: [String], since cursor: String?) async throws -> [String: PullPage] {
        var pages: [String: PullPage] = [:]
        for entity in entities { pages[entity] = try await pull(PullRequest(entity: entity, cursor: cursor)) }
        return pages
    }

    /// Returns an empty list.
    public func serverOwnedFields(of entity: String) -> [[String]] { [] }

    /// Returns the string unchanged.
    public func hidingSecrets(in text: String) -> String { text }

    /// Nil, which means that the service asks for no delay.
    public var backoff: Duration? { nil }

    /// Returns an empty string.
    public func filter(of entity: String) -> String { "" }

    /// Pulls one page of a list of all records, and returns the page without tombstones.
    public func list(of entity: String, page: String?) async throws -> ListPage {
        let page = try await pull(PullRequest(entity: entity, cursor: nil, page: page))
        return ListPage(records: page.records, nextPage: page.nextPage)
    }
}

/// The features that a service supports or requires.
public struct ServiceCapabilities: Sendable, Hashable {
    /// The side that assigns the ID of a new row.
    public enum IDAssignment: String, Sendable, Hashable, CaseIterable, Codable {
        /// The service assigns the ID.
        case server
        /// The client assigns the ID: the app, or the engine if the row has a temporary key.
        case client
    }

    /// The way in which the engine detects remote deletions.
    public enum DeletionDetection: String, Sendable, Hashable, CaseIterable {
        /// Pulls return tombstones of deleted records.
        case tombstones
        /// The engine compares a full listing of IDs, or a pull of all records, with the store.
        case listing
    }

    /// The method that prevents duplicate records when the engine repeats a create.
    public enum CreateIdempotency: Sendable, Hashable {
        /// The ID that the client assigned. A repeated create with the same ID does not create a second record.
        case clientID
        /// An idempotency key in the request. A repeated create returns the record that was created with the same key.
        case idempotencyKey
        /// A top-level field with this name, which contains an idempotency key. After a lost response, the engine
        /// searches for a record with the key.
        case markerField(String)
        /// A comparison of values. After a lost response, the engine searches for a record with the same natural key,
        /// or with the same values. The engine may confuse records with equal values.
        case matchByContent
    }

    /// The side that assigns the ID of a new row.
    package var idAssignment: IDAssignment
    /// The way in which the engine detects remote deletions.
    package var deletionDetection: DeletionDetection
    /// The method that prevents duplicate records when the engine repeats a create.
    package var createIdempotency: CreateIdempotency
    /// Whether the service supports composite IDs. A composite ID is a JSON array.
    package var supportsCompositeIDs: Bool
    /// Whether the service rejects a change that is based on an old version of the record.
    package var supportsPreconditions: Bool
    /// Whether records have a modification time.
    package var providesModificationTimes: Bool
    /// The largest number of changes in one call of ``SyncService/push(_:)``.
    package var maxBatchSize: Int
    /// The largest number of calls of ``SyncService/push(_:)`` at the same time.
    package var maxConcurrentRequests: Int
    /// Whether the engine pushes the local deletions that a remote deletion causes through delete rules. If false, the
    /// service itself deletes the corresponding records.
    package var requiresClientCascades: Bool
    /// Whether the response to a change contains the complete record.
    package var returnsRecords: Bool
    /// The number of characters (a to z, 0 to 9) of an ID that the engine assigns; nil for UUIDs.
    package var generatedIDLength: Int?
    /// Whether one request with one cursor returns the changes of all entities.
    package var hasSharedCursor: Bool
    /// Whether the service applies either all changes of a push or no change. Such a service rejects a push if a record
    /// changed since the last pull. Repeating a push must be harmless.
    package var pushesAtomically: Bool
    /// Whether each update must contain all values of the record, including unchanged values.
    package var requiresCompleteRecords: Bool
    /// Whether versions are ordered: increasing numbers, or times. If true, the engine skips outdated records, such as
    /// those of a stale replica.
    package var hasOrderedVersions: Bool

    /// Creates a set of capabilities.
    ///
    /// - Parameters:
    ///   - idAssignment: The side that assigns the ID of a new row.
    ///   - deletionDetection: The way in which the engine detects remote deletions.
    ///   - createIdempotency: The method that prevents duplicate records when the engine repeats a create.
    ///   - supportsPreconditions: Whether the service rejects a change that is based on an old version of the record.
    ///   - providesModificationTimes: Whether each record has a modification time, ``RemoteRecord/modifiedAt``. The
    ///     policy ``ConflictPolicy/lastWriterWins`` requires modification times.
    ///   - maxBatchSize: The largest number of changes in one call of ``SyncService/push(_:)``.
    ///   - maxConcurrentRequests: The largest number of calls of ``SyncService/push(_:)`` at the same time, at most
    ///     100. The engine sends only changes of one entity at the same time, and no change that references another
    ///     one. The service may apply them in any order.
    ///   - requiresClientCascades: Whether the engine pushes the local deletions that a remote deletion causes through
    ///     delete rules. If false, the service itself deletes the corresponding records.
    ///   - returnsRecords: Whether the response to a change contains the complete record.
    ///   - supportsCompositeIDs: Whether the service supports composite IDs. A composite ID is a JSON array.
    ///   - generatedIDLength: The number of characters (a to z, 0 to 9) of an ID that the engine assigns, from 1 to
    ///     255; nil for UUIDs.
    ///   - hasSharedCursor: Whether one request with one cursor returns the changes of all entities.
    ///   - pushesAtomically: Whether the service applies either all changes of a push or no change. Such a service
    ///     rejects a push if a record changed since the last pull. Repeating a push must be harmless.
    ///   - requiresCompleteRecords: Whether each update must contain all values of the record, including unchanged
    ///     values.
    ///   - hasOrderedVersions: Whether versions are ordered: increasing numbers, or times. If true, the engine skips
    ///     outdated records, such as those of a stale replica.
    public init(
        idAssignment: IDAssignment, deletionDetection: DeletionDetection, createIdempotency: CreateIdempotency,
        supportsPreconditions: Bool,
        providesModificationTimes: Bool,
        maxBatchSize: Int = 1, maxConcurrentRequests: Int = 1, requiresClientCascades: Bool = false,
        returnsRecords: Bool = true,
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
        self.maxConcurrentRequests = maxConcurrentRequests
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
    /// The name of the field for the idempotency key of a new row; nil for a service without such a field.
    var markerField: String? { if case .markerField(let name) = createIdempotency { name } else { nil } }
}

/// A failure of a whole request.
public enum ServiceError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The cause of an ``unreachable(_:cause:)`` error.
    public enum ConnectionFailure: String, Sendable, Hashable, CaseIterable {
        /// No address is known for the host name.
        case hostNotFound
        /// The server refuses the connection, or its address cannot be reached.
        case connectionRefused
        /// The server did not respond in time.
        case timedOut
        /// Another cause: the connection broke, or the service failed, as with status 500.
        case other
    }

    /// The service cannot be reached, the connection broke, or the service failed, as with status 500.
    case unreachable(String, cause: ConnectionFailure = .other)
    /// The service asks the client to retry later. `after` is the requested delay; nil if the service does not state a
    /// delay.
    case retryLater(after: Duration?, String)
    /// The service rejects the credentials, or the credentials cannot be used.
    case unauthorized(String)
    /// The service no longer accepts the cursor. The engine pulls all records again.
    case cursorInvalid
    /// The data of the service is older than the cursor. The service seems to have been restored from a backup. The
    /// engine ends the run with an error.
    case serverRestored
    /// The service did not apply the request, because the request is too large. The engine then sends fewer changes in
    /// each request. If the request contains only one change, the engine blocks the change.
    case payloadTooLarge
    /// The service applied no change of an atomic push, because a record changed since the last pull. The engine pulls,
    /// then pushes again.
    case stalePush
    /// The service applied no change of an atomic push, because the service rejects one of the changes.
    case batchRejected(String)
    /// The response cannot be read or is invalid.
    case invalidResponse(String)
    /// The response has an HTTP status that no other case represents, such as 404 or a redirection.
    case rejected(status: Int, String)

    /// A message that states the failure.
    public var description: String { error.message }

    /// The value of ``description``, for use as `localizedDescription`.
    public var errorDescription: String? { description }

    /// Whether the same request may succeed later.
    var isTransient: Bool {
        switch self {
        case .unreachable, .retryLater: true
        case .unauthorized, .cursorInvalid, .serverRestored, .payloadTooLarge, .stalePush, .batchRejected,
            .invalidResponse, .rejected:
            false
        }
    }

    /// Whether an invalid page token may be the cause.
    var isOfPage: Bool {
        switch self {
        case .invalidResponse, .rejected(status: 400..<500, _): true
        case .unreachable, .retryLater, .unauthorized, .cursorInvalid, .serverRestored, .payloadTooLarge, .stalePush,
            .batchRejected,
            .rejected:
            false
        }
    }

    /// The ``SyncError`` that the engine throws for the failure.
    var error: SyncError {
        switch self {
        case .unreachable(let text, .hostNotFound): SyncError(.hostNotFound, "the service was not found: \(text)")
        case .unreachable(let text, .connectionRefused):
            SyncError(.connectionRefused, "the service refuses the connection: \(text)")
        case .unreachable(let text, .timedOut): SyncError(.timedOut, "the service did not respond in time: \(text)")
        case .unreachable(let text, .other): SyncError(.serviceUnavailable, "the service failed: \(text)")
        case .retryLater(_, let text): SyncError(.serviceUnavailable, "the service asks to wait: \(text)")
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
            SyncError(.serviceUnavailable, "the service has changes that were not pulled yet; sync again")
        case .batchRejected(let text): SyncError(.serviceFailure, "the service rejected the changes: \(text)")
        case .invalidResponse(let text): SyncError(.serviceFailure, "invalid response of the service: \(text)")
        case .rejected(let status, let text) where status >= 500:
            SyncError(.serviceFailure, "the service failed with status \(status): \(text)")
        case .rejected(let status, let text) where status == 404 || status == 410:
            SyncError(.notFound, "the service has nothing at the address, with status \(status): \(text)")
        case .rejected(let status, let text):
            SyncError(.serviceFailure, "the service rejected the request with status \(status): \(text)")
        }
    }
}
