public import Foundation
public import HTTPTypes
public import SyncCore

/// A changes endpoint, as [WatermelonDB's sync protocol](https://watermelondb.dev/docs/Sync/Backend) has it: one address that is
/// asked for what changed in all tables since a timestamp, and sent what changed here.
///
/// Known of it, and relied on: an answer is of one moment; a push is one transaction, refused as a whole where a row of it was
/// changed there since the last pull, and then pulled, merged and sent again; a new row that is there already is updated, so that
/// what was sent and never answered is simply sent again; ids are from here, 16 characters. Rows are sent whole.
///
/// A status that says neither yes nor why (400, 422) may mean a conflict too: it is pulled first, and if that does not help, the
/// changes are halved until the one is found that is refused.
public struct ChangesService: SyncService {
    let exchange: HTTPExchange
    private let tables: [String: String]
    let schemaVersion: Int
    private var keyPaths: [String: [String]] = [:]

    /// An endpoint.
    ///
    /// - Parameters:
    ///   - url: The whole address of the endpoint.
    ///   - tables: The table of an entity; its name in snake_case, in the plural, where none is given.
    ///   - schemaVersion: Which version of the tables is asked for.
    public init(
        url: URL, tables: [String: String] = [:], schemaVersion: Int = 1, headers: [HTTPField.Name: String] = [:],
        credentials: ServiceCredentials = .none, transport: any HTTPTransport = DefaultTransport()
    ) {
        exchange = HTTPExchange(url, headers: headers, transport, credentials)
        self.tables = tables
        self.schemaVersion = schemaVersion
    }

    /// All entities at once, tombstones, ids from here, a push that is done whole or not at all.
    public var capabilities: ServiceCapabilities {
        ServiceCapabilities(
            ids: .client, deletions: .tombstones, createIdempotency: .clientID, hasPreconditions: false,
            givesTimes: false, batchSize: 1000, sendsCascades: true, answersRecords: false, idLength: 16,
            pullsTogether: true, pushesTogether: true, sendsWholeRows: true)
    }

    /// By the header `Backoff`, or `Retry-After` of an answer that is no error.
    public var backoff: Duration? { exchange.backoff }

    /// Without the headers that say who asks.
    public func hidingSecrets(in text: String) -> String { exchange.secrets.hiding(text) }

    /// Its address.
    public var identity: String { exchange.base.absoluteString }

    /// The table.
    public func filter(of entity: String) -> String { table(of: entity) }

    /// The same service, told where the model has ids.
    public func knowing(_ entities: [ServedEntity]) -> ChangesService {
        var service = self
        for entity in entities { service.keyPaths[entity.name] = entity.keyPaths.first }
        return service
    }

    func table(of entity: String) -> String { tables[entity] ?? Inflection.plural(Inflection.snakeCase(entity)) }

    func keyPath(of entity: String) -> [String] { keyPaths[entity] ?? ["id"] }

    func url(since cursor: String?, _ more: [(String, String)] = []) throws -> URL {
        try exchange.url([], [("last_pulled_at", cursor ?? "null")] + more)
    }

    /// What tells one state of a row from another, where nobody says: all that it holds. What is null may be left out.
    static func version(of record: JSONValue) -> String {
        guard case .object(let members) = record else { return "" }
        let held = members.filter { $0.value != .null && !PulledChanges.ofClients.contains($0.key) }
        let hasher = RecordHasher(seed: RecordHash(low: 0x4368_616E, high: 0x6765_7300))
        let hash = CanonicalJSON.bytes(.object(held)).withUnsafeBytes { hasher.hash($0) }
        return String(hash.low, radix: 36) + "-" + String(hash.high, radix: 36)
    }

    // MARK: Pulling

    /// What changed in the tables of entities since a timestamp, in one request.
    public func pull(_ entities: [String], since cursor: String?) async throws -> [String: PullPage] {
        // Where the model has changed all is asked for, so there is never a migration.
        let url = try url(since: cursor, [("schema_version", "\(schemaVersion)"), ("migration", "null")])
        let answer = try await exchange.send(.get, url)
        switch answer.status {
        case 200..<300: break
        case 410 where cursor != nil: throw ServiceFailure.cursorInvalid
        default: throw answer.refusal
        }
        let changes = try PulledChanges(answer.json(), answer.place)
        var pages: [String: PullPage] = [:]
        for entity in entities {
            let table = table(of: entity)
            let rows = try changes.rows(of: table).map { row in named(row, entity) }
            pages[entity] = PullPage(
                rows: rows, cursor: changes.timestamp,
                isListing: changes.has(table) && (cursor == nil || changes.isReplacement(table)), time: answer.time)
        }
        return pages
    }

    /// With its id where the model has it.
    private func named(_ row: RemoteRow, _ entity: String) -> RemoteRow {
        var row = row
        row.record = row.record?.setting(row.id, at: keyPath(of: entity))
        return row
    }

    /// What changed in one table; the others are in the answer too.
    public func pull(_ request: PullRequest) async throws -> PullPage {
        let pages = try await pull([request.entity], since: request.cursor)
        return pages[request.entity] ?? PullPage(rows: [], cursor: request.cursor)
    }

    /// Rows by their ids, by pulling all there is: the protocol has no other way.
    public func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchedRow] {
        let rows = try await pull(PullRequest(entity: entity, cursor: nil)).rows
        return ids.map { id in
            rows.first { $0.id == id && $0.record != nil }.map { .found($0) } ?? .absent
        }
    }
}
