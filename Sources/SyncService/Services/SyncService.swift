public import Foundation
public import SyncCore

/// A web service that a ``SyncEngine`` syncs a store with.
///
/// A method throws ``ServiceError`` if a request as a whole fails. It reports the result for a single row as a
/// ``PushOutcome`` or a ``FetchOutcome``.
public protocol SyncService: Sendable {
    /// The capabilities of the service. The engine adapts its requests to them.
    var capabilities: ServiceCapabilities { get }
    /// A text that identifies the service, such as its address. The engine rejects a database that was synced with
    /// another service.
    var identity: String { get }
    /// Returns a text that describes which records the pulls of an entity return, such as a path and a condition. If
    /// the text changes, the next pull requests all records.
    func filter(of entity: String) -> String
    /// Returns a copy of the service that knows the fields of the entities. Configuration that the caller set
    /// explicitly takes precedence.
    func configured(for entities: [ServiceEntity]) -> Self
    /// Returns the key paths of the fields that only the service writes. The engine ignores their values when it
    /// searches the service for a row that it sent.
    func serverOwnedFields(of entity: String) -> [[String]]
    /// Returns one page of an entity's remote changes since a cursor.
    func pull(_ request: PullRequest) async throws -> PullPage
    /// Returns the changes of several entities since one cursor, with one complete page for each entity. The engine
    /// calls it only if the service has the capability `hasSharedCursor`.
    func pull(_ entities: [String], since cursor: String?) async throws -> [String: PullPage]
    /// Applies changes in the given order. Returns one outcome for each change, in the same order.
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
    /// Masks the secrets of requests in a text, such as an error message that quotes a response.
    func hidingSecrets(in text: String) -> String
}

extension SyncService {
    /// Returns the service unchanged.
    public func configured(for entities: [ServiceEntity]) -> Self { self }

    /// Returns the first page of each entity.
    public func pull(_ entities: [String], since cursor: String?) async throws -> [String: PullPage] {
        var pages: [String: PullPage] = [:]
        for entity in entities { pages[entity] = try await pull(PullRequest(entity: entity, cursor: cursor)) }
        return pages
    }

    /// Returns an empty list.
    public func serverOwnedFields(of entity: String) -> [[String]] { [] }

    /// Returns the text unchanged.
    public func hidingSecrets(in text: String) -> String { text }

    /// Nil: the service asks for no delay.
    public var backoff: Duration? { nil }

    /// Returns an empty text.
    public func filter(of entity: String) -> String { "" }

    /// Lists the IDs by pulling all records.
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
        /// The device that creates the row assigns the ID.
        case client
    }

    /// The way in which the engine detects remote deletions.
    public enum DeletionDetection: String, Sendable, Hashable, CaseIterable {
        /// Pulls return tombstones of deleted records.
        case tombstones
        /// The engine compares a full listing of IDs, or a pull of all records, with the store.
        case listing
    }

    /// The means that prevents a duplicate when the engine repeats a create.
    public enum CreateIdempotency: Sendable, Hashable {
        /// The ID that the client assigned: a repeated create does not create a second record.
        case clientID
        /// An idempotency key in the request: the service returns the record that it created for the key.
        case idempotencyKey
        /// A field with this name contains the idempotency key. After a lost response, the engine searches for a record
        /// with the key.
        case markerField(String)
        /// The service has no such means. After a lost response, the engine searches for a record with the same natural
        /// key, or with the same values.
        case matchByContent
    }

    /// The side that assigns the ID of a new row.
    package var idAssignment: IDAssignment
    /// The way in which the engine detects remote deletions.
    package var deletionDetection: DeletionDetection
    /// The means that prevents a duplicate when the engine repeats a create.
    package var createIdempotency: CreateIdempotency
    /// Whether the service supports composite IDs. A composite ID is a JSON array.
    package var supportsCompositeIDs: Bool
    /// Whether the service rejects a change that is based on an old version of the record.
    package var supportsPreconditions: Bool
    /// Whether records have a modification time.
    package var providesModificationTimes: Bool
    /// The largest number of changes in one request.
    package var maxBatchSize: Int
    /// Whether the engine pushes the local deletions that a remote deletion causes through delete rules. If false, the
    /// service deletes those records itself.
    package var requiresClientCascades: Bool
    /// Whether the response to a change contains the complete record.
    package var returnsRecords: Bool
    /// The number of characters (a to z, 0 to 9) of an ID that the client assigns; nil for UUIDs.
    package var generatedIDLength: Int?
    /// Whether one request returns the changes of all entities, with one cursor for all of them.
    package var hasSharedCursor: Bool
    /// Whether the service applies all changes of a push or none. Such a service rejects a push if a row changed since
    /// the last pull. Repeating a push must be harmless.
    package var pushesAtomically: Bool
    /// Whether each change must contain all values of its row, including unchanged ones.
    package var requiresCompleteRecords: Bool
    /// Whether versions are ordered: increasing numbers, or times. The engine can then recognize and skip the outdated
    /// records of a stale replica.
    package var hasOrderedVersions: Bool

    /// Creates a set of capabilities.
    ///
    /// - Parameters:
    ///   - idAssignment: The side that assigns the ID of a new row.
    ///   - deletionDetection: The way in which the engine detects remote deletions.
    ///   - createIdempotency: The means that prevents a duplicate when the engine repeats a create.
    ///   - supportsPreconditions: Whether the service rejects a change that is based on an old version of the record.
    ///   - providesModificationTimes: Whether records have a modification time.
    ///   - maxBatchSize: The largest number of changes in one request.
    ///   - requiresClientCascades: Whether the engine pushes the local deletions that a remote deletion causes through
    ///     delete rules.
    ///   - returnsRecords: Whether the response to a change contains the complete record.
    ///   - supportsCompositeIDs: Whether the service supports composite IDs. A composite ID is a JSON array.
    ///   - generatedIDLength: The number of characters (a to z, 0 to 9) of an ID that the client assigns; nil for
    ///     UUIDs.
    ///   - hasSharedCursor: Whether one request returns the changes of all entities, with one cursor for all of them.
    ///   - pushesAtomically: Whether the service applies all changes of a push or none. Such a service rejects a push
    ///     if a row changed since the last pull. Repeating a push must be harmless.
    ///   - requiresCompleteRecords: Whether each change must contain all values of its row.
    ///   - hasOrderedVersions: Whether versions are ordered: increasing numbers, or times.
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
    /// The name of the field for the idempotency key of a new row; nil for a service without such a field.
    var markerField: String? { if case .markerField(let name) = createIdempotency { name } else { nil } }
}

/// A failure of a whole request.
public enum ServiceError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// The cause of a failure to reach the service.
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
    /// The service asks the client to retry later, after the delay if it states one.
    case retryLater(after: Duration?, String)
    /// The service rejects the credentials, or they are invalid.
    case unauthorized(String)
    /// The service no longer accepts the cursor. The engine pulls all records again.
    case cursorInvalid
    /// The service has older data than the cursor: it seems to have been restored from a backup.
    case serverRestored
    /// The request is too large.
    case payloadTooLarge
    /// The service applied no change, because a row changed since the last pull. The engine pulls, then pushes again.
    case stalePush
    /// The service applied no change, because it rejects one of them.
    case batchRejected(String)
    /// The response cannot be read or is invalid.
    case invalidResponse(String)
    /// The service rejects the request with an HTTP status.
    case rejected(status: Int, String)

    /// A message that states the failure.
    public var description: String { error.message }

    /// The message of ``description``. It is also the text of `localizedDescription`.
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
            SyncError(.notFound, "the service has no such address (status \(status)): \(text)")
        case .rejected(let status, let text):
            SyncError(.serviceFailure, "the service rejected the request with status \(status): \(text)")
        }
    }
}
