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
public struct WatermelonService: SyncService {
    let exchange: ServiceHTTPClient
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
        exchange = ServiceHTTPClient(url, headers: headers, transport, credentials)
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
    public func knowing(_ entities: [ServiceEntity]) -> WatermelonService {
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
        case 410 where cursor != nil: throw ServiceError.cursorInvalid
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
    private func named(_ row: RemoteRecord, _ entity: String) -> RemoteRecord {
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
    public func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome] {
        let rows = try await pull(PullRequest(entity: entity, cursor: nil)).rows
        return ids.map { id in
            rows.first { $0.id == id && $0.record != nil }.map { .found($0) } ?? .absent
        }
    }
}

/// An answer to a pull: what changed, by table, and until when.
struct PulledChanges {
    /// Columns that only a client has, for itself.
    static let ofClients = ["_status", "_changed"]

    /// What to ask for later changes with.
    let timestamp: String
    private let changes: JSONValue
    private let strategy: JSONValue?

    /// - Throws: ``ServiceError`` `malformed`.
    init(_ json: JSONValue, _ place: String) throws {
        guard let changes = json["changes"], case .object = changes else {
            throw ServiceError.malformed("there is no object at 'changes' (\(place))")
        }
        switch json["timestamp"] {
        case .number(let text)?, .string(let text)?: timestamp = text
        default: throw ServiceError.malformed("there is no 'timestamp' (\(place))")
        }
        self.changes = changes
        strategy = json["experimentalStrategy"]
    }

    /// Whether anything is said of a table.
    func has(_ table: String) -> Bool { changes[table] != nil }

    /// Whether what is said of a table is all there is of it.
    func isReplacement(_ table: String) -> Bool {
        let own = strategy?["override"]?[table] ?? strategy?["default"] ?? strategy
        return own == "replacement"
    }

    /// New and changed rows, and those that were deleted.
    ///
    /// - Throws: ``ServiceError`` `malformed`.
    func rows(of table: String) throws -> [RemoteRecord] {
        guard let changes = changes[table] else { return [] }
        func list(_ name: String) throws -> [JSONValue] {
            switch changes[name] {
            case .array(let elements)?: return elements
            case nil, .null?: return []
            default: throw ServiceError.malformed("'\(name)' of '\(table)' is no list")
            }
        }
        let there = try (list("created") + list("updated")).map { record in
            guard let id = record["id"], id.isID else {
                throw ServiceError.malformed("a record of '\(table)' has no 'id'")
            }
            return RemoteRecord(
                id: id, record: Self.ofClients.reduce(record) { $0.without(at: [$1]) },
                version: WatermelonService.version(of: record))
        }
        let gone = try list("deleted").map { id in
            guard id.isID else { throw ServiceError.malformed("'deleted' of '\(table)' has what is no id") }
            return RemoteRecord(id: id, record: nil)
        }
        return there + gone
    }
}

extension JSONValue {
    fileprivate var isID: Bool {
        switch self {
        case .string(let text): !text.isEmpty
        case .number: true
        default: false
        }
    }
}

// MARK: - Pushing

extension WatermelonService {
    /// All in one request, which is done whole or not at all.
    ///
    /// - Throws: ``ServiceError`` `outdated` where something changed since the last pull, `refusedTogether` where a change is
    ///   refused; what holds for all services. Nothing was done then, or it does no harm to do it again.
    public func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
        // Without a pull before nobody can tell what changed since.
        guard let cursor = operations.first?.cursor else { throw ServiceError.outdated }
        let answer = try await exchange.send(.post, url(since: cursor), changes(operations))
        switch answer.status {
        case 200..<300: return try outcomes(answer, operations)
        case 409, 412: throw ServiceError.outdated
        case 400, 422: throw ServiceError.refusedTogether("status \(answer.status): \(answer.message)")
        default: throw answer.refusal
        }
    }

    private func changes(_ operations: [PushOperation]) throws -> JSONValue {
        var changes: [String: [PushOperation.Kind: [JSONValue]]] = [:]
        for operation in operations {
            guard let id = operation.id else { throw ServiceError.malformed("a row has no id") }
            changes[table(of: operation.entity), default: [:]][operation.kind, default: []]
                .append(operation.kind == .delete ? id : row(operation, id))
        }
        return .object(
            changes.sorted { $0.key < $1.key }.map { table, lists in
                JSONValue.Member(
                    table,
                    [
                        "created": .array(lists[.create] ?? []), "updated": .array(lists[.update] ?? []),
                        "deleted": .array(lists[.delete] ?? []),
                    ])
            })
    }

    private func row(_ operation: PushOperation, _ id: JSONValue) -> JSONValue {
        operation.body.without(at: keyPath(of: operation.entity)).setting(id, at: ["id"])
    }

    /// All are done, but those that the answer names.
    private func outcomes(_ answer: ServiceHTTPClient.Response, _ operations: [PushOperation]) throws -> [PushOutcome] {
        // Somebody between us and the service may have answered: it says nothing, or JSON.
        let isBlank = answer.body.allSatisfy { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D }
        let said: JSONValue = isBlank ? [:] : try answer.json()
        guard case .object = said else { throw ServiceError.malformed("it is no object (\(answer.place))") }
        let rejected = said["experimentalRejectedIds"]
        return operations.map { operation in
            if let id = operation.id, case .array(let ids)? = rejected?[table(of: operation.entity)], ids.contains(id) {
                return .rejected("the service does not take it (experimentalRejectedIds)")
            }
            guard operation.kind != .delete, let id = operation.id else { return .applied(nil) }
            return .applied(RemoteRecord(id: id, record: nil, version: Self.version(of: row(operation, id))))
        }
    }
}
