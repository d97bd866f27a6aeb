public import Foundation
public import SyncCore

/// A web service, as the engine needs it: four questions, and what it is able to do.
///
/// A method throws ``ServiceError`` when the service as a whole fails; what becomes of one row is an outcome.
public protocol SyncService: Sendable {
    /// What it is able to do.
    var capabilities: ServiceCapabilities { get }
    /// What tells it from other services, such as its address: a database is in step with one.
    var identity: String { get }
    /// Says of an entity what its rows are asked for with; with another the next pull is a whole one.
    func filter(of entity: String) -> String
    /// The same service, told what the records of its entities consist of: by which members they are known where nothing else was
    /// said, and of which types the others are.
    func knowing(_ entities: [ServiceEntity]) -> Self
    /// The members that only the service writes, by the keys that lead to them: what is sent of those says nothing of a row.
    func ownMembers(of entity: String) -> [[String]]
    /// One page of what changed since a cursor.
    func pull(_ request: PullRequest) async throws -> PullPage
    /// What changed of entities since a cursor that is the same for all; of a service that pulls them together.
    func pull(_ entities: [String], since cursor: String?) async throws -> [String: PullPage]
    /// Does what rows need, in this order; one outcome for each.
    func push(_ operations: [PushOperation]) async throws -> [PushOutcome]
    /// One page of the ids of all rows.
    func ids(_ request: SweepRequest) async throws -> IDPage
    /// How long it wants to be left alone, though it did what it was asked: the next run waits for that.
    var backoff: Duration? { get }
    /// Rows by their ids; one answer for each.
    func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome]
    /// A text that quotes an answer, without the secrets of the requests: the service may have sent one back.
    func hidingSecrets(in text: String) -> String
}

extension SyncService {
    /// It knows by itself.
    public func knowing(_ entities: [ServiceEntity]) -> Self { self }

    /// It pulls them one by one.
    public func pull(_ entities: [String], since cursor: String?) async throws -> [String: PullPage] {
        var pages: [String: PullPage] = [:]
        for entity in entities { pages[entity] = try await pull(PullRequest(entity: entity, cursor: cursor)) }
        return pages
    }

    /// None.
    public func ownMembers(of entity: String) -> [[String]] { [] }

    /// It knows no secrets.
    public func hidingSecrets(in text: String) -> String { text }

    /// It does not say.
    public var backoff: Duration? { nil }

    /// No filter.
    public func filter(of entity: String) -> String { "" }

    /// By pulling all there is.
    public func ids(_ request: SweepRequest) async throws -> IDPage {
        let page = try await pull(PullRequest(entity: request.entity, cursor: nil, page: request.page))
        return IDPage(rows: page.rows, next: page.next)
    }
}

/// What a service is able to do. The engine asks for no more.
public struct ServiceCapabilities: Sendable, Hashable {
    /// Who gives a new row its id.
    public enum IDAssignment: String, Sendable, Hashable, CaseIterable, Codable {
        /// The service.
        case server
        /// Whoever makes the row.
        case client
    }

    /// How a store learns of deletions.
    public enum DeletionDetection: String, Sendable, Hashable, CaseIterable {
        /// A pull has them.
        case tombstones
        /// By listing all ids, or by a pull that has all rows.
        case sweep
    }

    /// What keeps a row that is created twice from being two.
    public enum CreateIdempotency: Sendable, Hashable {
        /// The id that it has from its maker.
        case clientID
        /// A key in a header, which the service remembers.
        case key
        /// A member of the record that carries the key.
        case marker(String)
        /// Nothing: after an answer that got lost, a row that looks the same is taken for it.
        case probe
    }

    /// Who gives a new row its id.
    public var ids: IDAssignment
    /// How a store learns of deletions.
    public var deletions: DeletionDetection
    /// What keeps a row that is created twice from being two.
    public var createIdempotency: CreateIdempotency
    /// Whether rows can be told apart by several values, of which an id is then a list.
    public var takesIDsOfParts: Bool
    /// Whether a change can be made to depend on the version that it was made on.
    public var hasPreconditions: Bool
    /// Whether records say when they were changed.
    public var givesTimes: Bool
    /// How many operations one request has at most.
    public var batchSize: Int
    /// Whether what a deletion takes along by the model's delete rules is deleted by this side.
    public var sendsCascades: Bool
    /// Whether the answer to a change has the whole record.
    public var answersRecords: Bool
    /// How many characters the id of a row has that is made here, of a to z and 0 to 9; nil for a UUID.
    public var idLength: Int?
    /// Whether one request has what changed of all entities, of one moment, with one cursor for all.
    public var pullsTogether: Bool
    /// Whether a push is done whole or not at all, is refused where something changed since the last pull, and does no harm when
    /// it is done once more.
    public var pushesTogether: Bool
    /// Whether a change is sent with the values of its row that stay as they are.
    public var sendsWholeRows: Bool
    /// Whether versions are ordered, as numbers that grow or as times: an older one than is known is of a replica that is behind.
    public var ordersVersions: Bool

    /// What a service is able to do.
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
    /// The member that carries the key of a new row; nil for a service that has another way, or none.
    var marker: String? { if case .marker(let name) = createIdempotency { name } else { nil } }
}

/// A service as a whole fails: nothing of what was asked is known.
public enum ServiceError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// It cannot be reached, or the connection broke.
    case unreachable(String)
    /// It wants to be left alone for a while.
    case busy(after: Duration?, String)
    /// It does not know the user, also with new credentials.
    case unauthorized(String)
    /// It does not know the cursor any more: all has to be pulled again.
    case cursorInvalid
    /// It has less than it had: it was restored from an older copy.
    case restored
    /// The batch is too large.
    case tooLarge
    /// Nothing was done, because something changed that was not pulled: it is pulled, and the changes are sent again.
    case outdated
    /// Nothing was done, because one of the changes is refused.
    case refusedTogether(String)
    /// What it says cannot be understood, or should never happen.
    case malformed(String)
    /// It refuses the request.
    case refused(status: Int, String)

    /// What happened, in a sentence.
    public var description: String { error.message }

    /// The description, so that `localizedDescription` is it too.
    public var errorDescription: String? { description }

    /// Whether another try may succeed.
    var isTransient: Bool {
        switch self {
        case .unreachable, .busy: true
        case .unauthorized, .cursorInvalid, .restored, .tooLarge, .outdated, .refusedTogether, .malformed, .refused:
            false
        }
    }

    /// Whether it may be owed to the page that was asked for.
    var isOfPage: Bool {
        switch self {
        case .malformed, .refused(status: 400..<500, _): true
        case .unreachable, .busy, .unauthorized, .cursorInvalid, .restored, .tooLarge, .outdated, .refusedTogether,
            .refused:
            false
        }
    }

    /// As an error of the engine's.
    var error: SyncError {
        switch self {
        case .unreachable(let text): SyncError(.serviceFailure, "the service fails: \(text)")
        case .busy(_, let text): SyncError(.serviceFailure, "the service asks to wait: \(text)")
        case .unauthorized(let text): SyncError(.unauthorized, "the service does not accept the credentials: \(text)")
        case .cursorInvalid: SyncError(.serviceFailure, "the service does not know where the last pull ended")
        case .restored:
            SyncError(
                .serverRestored,
                "the service has less than it had: it seems to have been restored from an older copy; nothing was deleted"
            )
        case .tooLarge: SyncError(.serviceFailure, "the service takes no request of this size")
        case .outdated:
            SyncError(.serviceFailure, "the service has changes that are not here yet: sync again")
        case .refusedTogether(let text): SyncError(.serviceFailure, "the service refuses the changes: \(text)")
        case .malformed(let text): SyncError(.serviceFailure, "the service's answer cannot be read: \(text)")
        case .refused(let status, let text) where status >= 500:
            SyncError(.serviceFailure, "the service failed with status \(status): \(text)")
        case .refused(let status, let text):
            SyncError(.serviceFailure, "the service refuses with status \(status): \(text)")
        }
    }
}
