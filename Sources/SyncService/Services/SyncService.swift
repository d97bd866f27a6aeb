public import SyncCore

/// A web service, as the engine needs it: four questions, and what it is able to do.
///
/// A method throws ``ServiceFailure`` when the service as a whole fails; what becomes of one row is an outcome.
public protocol SyncService: Sendable {
    /// What it is able to do.
    var capabilities: ServiceCapabilities { get }
    /// What tells it from other services, such as its address: a database is in step with one.
    var identity: String { get }
    /// Says of an entity what its rows are asked for with; with another the next pull is a whole one.
    func filter(of entity: String) -> String
    /// The same service, told what the records of its entities consist of: by which members they are known where nothing else was
    /// said, and of which types the others are.
    func knowing(_ entities: [ServedEntity]) -> Self
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
    func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchedRow]
    /// A text that quotes an answer, without the secrets of the requests: the service may have sent one back.
    func hidingSecrets(in text: String) -> String
}

extension SyncService {
    /// It knows by itself.
    public func knowing(_ entities: [ServedEntity]) -> Self { self }

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
