package import Foundation
package import HTTPTypes
package import SyncCore

/// The service of an endpoint that implements [WatermelonDB's sync
/// protocol](https://watermelondb.dev/docs/Sync/Backend). One URL returns the changes of all tables since a timestamp,
/// and accepts local changes.
///
/// The implementation relies on these properties:
///
/// - A response has the changes of all tables at one point in time.
/// - A push is one transaction. If one of the pushed rows changed since the last pull, the service rejects the whole
///   push. The engine then pulls, merges and pushes again.
/// - If a new row exists already, the service updates the row. Therefore the engine may repeat an in-doubt request.
/// - The client assigns IDs of 16 characters, and sends complete rows.
///
/// The statuses 400 and 422 may also mean a conflict. Therefore the engine first pulls and pushes again. If the service
/// rejects that push too, the engine halves the batch until the batch contains only the rejected change.
package struct WatermelonService: SyncService, HTTPService {
    let exchange: ServiceHTTPClient
    private let tables: [String: String]
    let schemaVersion: Int
    private var keyPaths: [String: [String]] = [:]

    /// Creates a service for an endpoint. See ``BuiltInService``.
    package init(
        url: URL, tables: [String: String] = [:], schemaVersion: Int = 1, headers: [HTTPField.Name: String] = [:],
        credentials: ServiceCredentials = .none, transport: any HTTPTransport = DefaultTransport()
    ) {
        exchange = ServiceHTTPClient(url, headers: headers, transport, credentials)
        self.tables = tables
        self.schemaVersion = schemaVersion
    }

    /// A shared cursor, tombstones, IDs that the client assigns, and atomic pushes.
    package var capabilities: ServiceCapabilities {
        ServiceCapabilities(
            idAssignment: .client, deletionDetection: .tombstones, createIdempotency: .clientID,
            supportsPreconditions: false,
            providesModificationTimes: false, maxBatchSize: 1000, requiresClientCascades: true, returnsRecords: false,
            generatedIDLength: 16,
            hasSharedCursor: true, pushesAtomically: true, requiresCompleteRecords: true)
    }

    /// Returns the name of the table.
    package func filter(of entity: String) -> String { table(of: entity) }

    /// Returns a copy of the service, configured with the key paths of the model's primary keys.
    package func configured(for entities: [ServiceEntity]) -> WatermelonService {
        var service = self
        for entity in entities { service.keyPaths[entity.name] = entity.keyPaths.first }
        return service
    }

    func table(of entity: String) -> String { tables[entity] ?? Inflection.plural(Inflection.snakeCase(entity)) }

    func keyPath(of entity: String) -> [String] { keyPaths[entity] ?? ["id"] }

    func url(since cursor: String?, _ more: [(String, String)] = []) throws -> URL {
        try exchange.url([], [("last_pulled_at", cursor ?? "null")] + more)
    }

    /// Returns a hash of a record, which is used as its version, because the protocol has no versions. Null members do
    /// not count, because a service may omit them.
    static func version(of record: JSONValue) -> String {
        guard case .object(let members) = record else { return "" }
        let held = members.filter { $0.value != .null && !PulledChanges.ofClients.contains($0.key) }
        let hasher = RecordHasher(seed: RecordHash(low: 0x4368_616E, high: 0x6765_7300))
        let hash = CanonicalJSON.bytes(.object(held)).withUnsafeBytes { hasher.hash($0) }
        return String(hash.low, radix: 36) + "-" + String(hash.high, radix: 36)
    }

    // MARK: Pulling

    /// Pulls the changes of several entities since a timestamp, in one request.
    package func pull(_ entities: [String], since cursor: String?) async throws -> [String: PullPage] {
        // The engine pulls all records after a change of the model, so it never requests a migration.
        let url = try url(since: cursor, [("schema_version", "\(schemaVersion)"), ("migration", "null")])
        let response = try await exchange.send(.get, url)
        switch response.status {
        case 200..<300: break
        case 410 where cursor != nil: throw ServiceError.cursorInvalid
        default: throw response.refusal
        }
        let changes = try PulledChanges(response.json(), response.endpoint)
        var pages: [String: PullPage] = [:]
        for entity in entities {
            let table = table(of: entity)
            let rows = try changes.rows(of: table).map { row in named(row, entity) }
            pages[entity] = PullPage(
                records: rows, cursor: changes.timestamp,
                isFullListing: changes.has(table) && (cursor == nil || changes.isReplacement(table)),
                serverTime: response.time)
        }
        return pages
    }

    /// Copies the ID of a record to the key path of the model's primary key.
    private func named(_ row: RemoteRecord, _ entity: String) -> RemoteRecord {
        var row = row
        row.record = row.record?.setting(row.id, at: keyPath(of: entity))
        return row
    }

    /// Pulls the changes of one entity, and ignores the other tables of the response.
    package func pull(_ request: PullRequest) async throws -> PullPage {
        let pages = try await pull([request.entity], since: request.cursor)
        return pages[request.entity] ?? PullPage(records: [], cursor: request.cursor)
    }

    /// Fetches records by ID. The service pulls all records, because the protocol has no request for single records.
    package func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome] {
        let rows = try await pull(PullRequest(entity: entity, cursor: nil)).records
        return ids.map { id in
            rows.first { $0.id == id && $0.record != nil }.map { .found($0) } ?? .notFound
        }
    }
}

/// The response to a pull: changes by table, and the timestamp.
struct PulledChanges {
    /// The columns that exist only on clients.
    static let ofClients = ["_status", "_changed"]

    /// The cursor for the next pull.
    let timestamp: String
    private let changes: JSONValue
    private let strategy: JSONValue?

    /// Reads the response to a pull.
    ///
    /// - Throws: ``ServiceError`` `invalidResponse` if `changes` or `timestamp` is missing.
    init(_ json: JSONValue, _ place: String) throws {
        guard let changes = json["changes"], case .object = changes else {
            throw ServiceError.invalidResponse("no object at 'changes' (\(place))")
        }
        switch json["timestamp"] {
        case .number(let text)?, .string(let text)?: timestamp = text
        default: throw ServiceError.invalidResponse("no 'timestamp' (\(place))")
        }
        self.changes = changes
        strategy = json["experimentalStrategy"]
    }

    /// Returns whether the response has changes of a table.
    func has(_ table: String) -> Bool { changes[table] != nil }

    /// Returns whether the changes of a table list all of its rows.
    func isReplacement(_ table: String) -> Bool {
        let own = strategy?["override"]?[table] ?? strategy?["default"] ?? strategy
        return own == "replacement"
    }

    /// Returns the new and changed records of a table, and tombstones.
    ///
    /// - Throws: ``ServiceError`` `invalidResponse`.
    func rows(of table: String) throws -> [RemoteRecord] {
        guard let changes = changes[table] else { return [] }
        func list(_ name: String) throws -> [JSONValue] {
            switch changes[name] {
            case .array(let elements)?: return elements
            case nil, .null?: return []
            default: throw ServiceError.invalidResponse("'\(name)' of '\(table)' is not a list")
            }
        }
        let there = try (list("created") + list("updated")).map { record in
            guard let id = record["id"], id.isID else {
                throw ServiceError.invalidResponse("a record of '\(table)' has no 'id'")
            }
            return RemoteRecord(
                id: id, record: Self.ofClients.reduce(record) { $0.without(at: [$1]) },
                version: WatermelonService.version(of: record))
        }
        let gone = try list("deleted").map { id in
            guard id.isID else {
                throw ServiceError.invalidResponse("'deleted' of '\(table)' has a value that is not an ID")
            }
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
    /// Pushes all changes in one atomic request.
    ///
    /// - Throws: ``ServiceError`` `stalePush` without a previous pull, or if a row changed since the last pull;
    ///   `batchRejected` if the service rejects a change; errors of ``ServiceHTTPClient``. In all cases, repeating the
    ///   push is harmless.
    package func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
        // The service cannot detect conflicts without the timestamp of a pull.
        guard let cursor = operations.first?.cursor else { throw ServiceError.stalePush }
        let response = try await exchange.send(.post, url(since: cursor), changes(operations))
        switch response.status {
        case 200..<300: return try outcomes(response, operations)
        case 409, 412: throw ServiceError.stalePush
        case 400, 422: throw ServiceError.batchRejected("status \(response.status): \(response.message)")
        default: throw response.refusal
        }
    }

    private func changes(_ operations: [PushOperation]) throws -> JSONValue {
        var changes: [String: [PushOperation.Kind: [JSONValue]]] = [:]
        for operation in operations {
            guard let id = operation.id else { throw ServiceError.invalidResponse("a row has no remote ID") }
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
        operation.record.without(at: keyPath(of: operation.entity)).setting(id, at: ["id"])
    }

    /// Returns the outcomes of a successful push: the service applied all changes except those that the response lists
    /// as rejected.
    private func outcomes(_ response: ServiceHTTPClient.Response, _ operations: [PushOperation]) throws -> [PushOutcome]
    {
        // The service sends JSON or no body. A proxy may have sent anything else.
        let isBlank = response.body.allSatisfy { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D }
        let said: JSONValue = isBlank ? [:] : try response.json()
        guard case .object = said else {
            throw ServiceError.invalidResponse("the response is not an object (\(response.endpoint))")
        }
        let rejected = said["experimentalRejectedIds"]
        return operations.map { operation in
            if let id = operation.id, case .array(let ids)? = rejected?[table(of: operation.entity)], ids.contains(id) {
                return .rejected("the service rejected the row (experimentalRejectedIds)")
            }
            guard operation.kind != .delete, let id = operation.id else { return .applied(nil) }
            return .applied(RemoteRecord(id: id, record: nil, version: Self.version(of: row(operation, id))))
        }
    }
}
