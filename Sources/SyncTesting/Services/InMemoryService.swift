public import Foundation
public import Sync
public import SyncService

/// An in-memory service for tests, with versions and configurable capabilities.
public actor InMemoryService: SyncService {
    /// A fault that a test injects into a request. For a request other than a push, `appliesLate` and `refuse` act like
    /// `failsAfterApply`.
    public enum Fault: Sendable, Hashable {
        /// The request does not reach the service.
        case failsBeforeApply
        /// The service applies the request, and its response is lost.
        case failsAfterApply
        /// The service responds that it is busy.
        case busy
        /// The client of a push receives a timeout. The service applies the push at the start of a later request. The
        /// associated value is the number of that request, counted from 1 after the push.
        case appliesLate(Int)
        /// The service rejects the changes of a push.
        case refuse
    }

    /// A request to the service, as the closures of ``setFault(_:)`` and ``onRequest(_:)`` receive it.
    public enum Request: Sendable, Hashable {
        /// A pull of one page of changes.
        case pull(String)
        /// A push of changes.
        case push([PushOperation])
        /// A request for a page of IDs.
        case ids(String)
        /// A request for rows by their IDs.
        case fetch([JSONValue], String)
    }

    fileprivate struct Row {
        var record: JSONValue
        var version: Int
        var time: Date
        var isDeleted = false
    }

    /// The capabilities that the service reports to the engine.
    public nonisolated let capabilities: ServiceCapabilities
    /// The identity of the service, `fake` by default.
    public nonisolated let identity: String
    private let pageSize: Int
    private let now: @Sendable () -> Date
    private var rows: [String: [JSONValue: Row]] = [:] {
        didSet { orders = [:] }
    }
    /// The rows of each entity in the order of their versions. A change of the rows removes the orders.
    private var orders: [String: [(version: Int, id: JSONValue)]] = [:]
    private var keys: [String: JSONValue] = [:]
    private var version = 0
    private var lastID = 0
    private var lateOperations: [(countdown: Int, operation: PushOperation)] = []
    private var fault: (@Sendable (Request, Int) -> Fault?)?
    private var meanwhile: (@Sendable (Request) async -> Void)?
    /// The number of recorded requests.
    public var requestCount: Int { requests.count }
    /// All requests since the last call of ``deleteRequests()``.
    public private(set) var requests: [Request] = []
    /// The bodies of all creations and updates that the service applied, in order.
    package private(set) var accepted: [JSONValue] = []
    /// The number of rows that pushes created.
    package private(set) var creations = 0

    /// Creates a service without records.
    ///
    /// - Parameters:
    ///   - capabilities: The capabilities that the service reports to the engine.
    ///   - identity: The identity of the service.
    ///   - pageSize: The maximum number of records on a page of a pull.
    public init(
        _ capabilities: ServiceCapabilities = ServiceCapabilities(
            idAssignment: .server, deletionDetection: .tombstones, createIdempotency: .idempotencyKey,
            supportsPreconditions: true, providesModificationTimes: true,
            maxBatchSize: 10, supportsCompositeIDs: true),
        identity: String = "fake", pageSize: Int = 3
    ) { self.init(capabilities, identity: identity, pageSize: pageSize, now: { Date() }) }

    /// Creates a service without records.
    ///
    /// - Parameter now: A function that returns the time of a change or a response.
    package init(
        _ capabilities: ServiceCapabilities, identity: String = "fake", pageSize: Int,
        now: @escaping @Sendable () -> Date
    ) {
        self.capabilities = capabilities
        self.identity = identity
        self.pageSize = pageSize
        self.now = now
    }

    // MARK: Control by tests

    /// Sets the closure that returns the fault to inject, or nil. The service calls the closure for each request, with
    /// the number of the request since the last call of ``deleteRequests()``, from 1.
    public func setFault(_ fault: (@Sendable (Request, Int) -> Fault?)?) { self.fault = fault }

    /// Sets a closure that the service calls before it handles each request. Use the closure for events that happen
    /// while the request is in flight.
    public func onRequest(_ meanwhile: (@Sendable (Request) async -> Void)?) { self.meanwhile = meanwhile }

    /// Removes the recorded requests.
    public func deleteRequests() { requests = [] }

    /// Simulates another client that stores a record. If the stored record has members that the new record omits, these
    /// members stay unchanged.
    ///
    /// - Parameters:
    ///   - entity: The entity of the record.
    ///   - id: The ID of the record.
    ///   - record: The members of the record.
    ///   - time: The modification time of the record; nil for the current time.
    /// - Returns: The new version of the record.
    @discardableResult
    public func set(_ entity: String, _ id: JSONValue, _ record: JSONValue, time: Date? = nil) -> String {
        version += 1
        var members = record.merging(rows[entity]?[id].flatMap { $0.isDeleted ? JSONValue?.none : $0.record })
        // The record already contains the members of a composite ID.
        if case .array = id {} else { members = members.setting("id", id) }
        rows[entity, default: [:]][id] = Row(record: members, version: version, time: time ?? now())
        if case .number(let text) = id, let number = Int(text) { lastID = max(lastID, number) }
        return "\(version)"
    }

    /// Simulates another client that deletes a record. If the capabilities include tombstones, the service keeps a
    /// tombstone of the record.
    public func remove(_ entity: String, _ id: JSONValue) {
        guard rows[entity]?[id] != nil else { return }
        version += 1
        if capabilities.deletionDetection == .tombstones {
            rows[entity]?[id]?.isDeleted = true
            rows[entity]?[id]?.version = version
        } else {
            rows[entity]?[id] = nil
        }
    }

    /// Removes a row without a tombstone.
    package func removeWithoutTombstone(_ entity: String, _ id: JSONValue) { rows[entity]?[id] = nil }

    /// A copy of the rows and idempotency keys of the service.
    package struct Copy: Sendable {
        fileprivate let rows: [String: [JSONValue: Row]]
        fileprivate let keys: [String: JSONValue]
    }

    /// Returns a copy of the current rows and idempotency keys, for ``restore(_:)``.
    package func copy() -> Copy { Copy(rows: rows, keys: keys) }

    /// Restores an earlier copy, as if the service was restored from a backup. Later IDs and versions still differ from
    /// all earlier IDs and versions.
    package func restore(_ copy: Copy) { (rows, keys) = (copy.rows, copy.keys) }

    /// Returns the rows that are not deleted, by ID.
    public func contents(of entity: String) -> [JSONValue: JSONValue] {
        (rows[entity] ?? [:]).filter { !$0.value.isDeleted }.mapValues(\.record)
    }

    // MARK: SyncService

    private func nextFault(for request: Request) async throws -> Fault? {
        await meanwhile?(request)
        requests.append(request)
        var due: [PushOperation] = []
        for index in lateOperations.indices { lateOperations[index].countdown -= 1 }
        due = lateOperations.filter { $0.countdown <= 0 }.map(\.operation)
        lateOperations.removeAll { $0.countdown <= 0 }
        for operation in due { _ = carryOut(operation) }
        let fault = fault?(request, requests.count)
        switch fault {
        case .failsBeforeApply?: throw ServiceError.unreachable("the connection was closed")
        case .busy?: throw ServiceError.retryLater(after: .zero, "busy")
        case .failsAfterApply?, .appliesLate?, .refuse?, nil: return fault
        }
    }

    /// Returns one page of changes, oldest first.
    public func pull(_ request: PullRequest) async throws -> PullPage {
        if try await nextFault(for: .pull(request.entity)) != nil {
            throw ServiceError.unreachable("the response was lost")
        }
        let since = request.page.flatMap { Int($0) } ?? request.cursor.flatMap { Int($0) } ?? 0
        let isWhole = request.cursor == nil
        let (page, hasMore) = page(of: request.entity, after: since, includesDeleted: !isWhole)
        let last = page.last?.row.version ?? since
        return PullPage(
            records: page.map { remote($0.id, $0.row) }, nextPage: hasMore ? "\(last)" : nil,
            cursor: hasMore ? nil : "\(max(last, isWhole ? version : last))", isFullListing: isWhole, serverTime: now()
        )
    }

    /// Returns the first rows after a version, in the order of their versions, and whether there are more.
    private func page(
        of entity: String, after version: Int, includesDeleted: Bool
    ) -> (rows: [(id: JSONValue, row: Row)], hasMore: Bool) {
        let rows = rows[entity] ?? [:]
        let order = orders[entity] ?? rows.map { ($0.value.version, $0.key) }.sorted { $0.0 < $1.0 }
        orders[entity] = order
        var (low, high) = (0, order.count)
        while low < high {
            let middle = (low + high) / 2
            if order[middle].version > version { high = middle } else { low = middle + 1 }
        }
        var page: [(id: JSONValue, row: Row)] = []
        for (_, id) in order[low...] {
            guard let row = rows[id], includesDeleted || !row.isDeleted else { continue }
            if page.count == pageSize { return (page, true) }
            page.append((id, row))
        }
        return (page, false)
    }

    /// Returns the IDs and versions of all records of an entity, in one page, oldest first.
    public func list(of entity: String, page: String?) async throws -> ListPage {
        if try await nextFault(for: .ids(entity)) != nil {
            throw ServiceError.unreachable("the response was lost")
        }
        let rows = (rows[entity] ?? [:]).filter { !$0.value.isDeleted }
        let ids = rows.sorted { $0.value.version < $1.value.version }.map(\.key)
        return ListPage(ids: ids, versions: rows.mapValues { "\($0.version)" })
    }

    /// Fetches records by ID. Returns one outcome for each ID, in the same order.
    public func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome] {
        if try await nextFault(for: .fetch(ids, entity)) != nil {
            throw ServiceError.unreachable("the response was lost")
        }
        return ids.map { id in
            guard let row = rows[entity]?[id], !row.isDeleted else { return .notFound }
            return .found(remote(id, row))
        }
    }

    /// Applies changes in the given order. Returns one outcome for each change, in the same order.
    public func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
        let fault: Fault?
        do {
            fault = try await nextFault(for: .push(operations))
        } catch ServiceError.unreachable(let text, _) {
            return operations.map { _ in .unknown(text) }
        }
        if case .appliesLate(let count)? = fault {
            lateOperations += operations.map { (count, $0) }
            return operations.map { _ in .unknown("timed out") }
        }
        if fault == .refuse { return operations.map { _ in .rejected("refused") } }
        let outcomes = operations.map(carryOut)
        return fault == .failsAfterApply ? operations.map { _ in .unknown("the response was lost") } : outcomes
    }

    private func carryOut(_ operation: PushOperation) -> PushOutcome {
        switch operation.kind {
        case .create: return create(operation)
        case .update:
            guard let id = operation.id, let row = rows[operation.entity]?[id], !row.isDeleted else { return .notFound }
            if isStale(operation, row) { return .conflict(remote(id, row)) }
            accepted.append(operation.record)
            set(operation.entity, id, operation.merged(over: row.record).record)
            return .applied(answer(operation.entity, id))
        case .delete:
            guard let id = operation.id, let row = rows[operation.entity]?[id], !row.isDeleted else {
                return .applied(nil)
            }
            if isStale(operation, row) { return .conflict(remote(id, row)) }
            remove(operation.entity, id)
            return .applied(nil)
        }
    }

    private func isStale(_ operation: PushOperation, _ row: Row) -> Bool {
        capabilities.supportsPreconditions && operation.version.map { $0 != "\(row.version)" } ?? false
    }

    private func create(_ operation: PushOperation) -> PushOutcome {
        if capabilities.createIdempotency == .idempotencyKey, let id = keys[operation.idempotencyKey] {
            return .applied(answer(operation.entity, id) ?? RemoteRecord(id: id, record: nil))
        }
        let id: JSONValue
        if let own = operation.id {
            if let row = rows[operation.entity]?[own], !row.isDeleted { return .alreadyExists(remote(own, row)) }
            id = own
        } else {
            lastID += 1
            id = JSONValue(lastID)
        }
        keys[operation.idempotencyKey] = id
        var body = operation.record
        if case .markerField(let name) = capabilities.createIdempotency {
            body = body.setting(name, .string(operation.idempotencyKey))
        }
        creations += 1
        accepted.append(body)
        rows[operation.entity]?[id] = nil
        set(operation.entity, id, body)
        return .applied(answer(operation.entity, id))
    }

    private func answer(_ entity: String, _ id: JSONValue) -> RemoteRecord? { rows[entity]?[id].map { remote(id, $0) } }

    private func remote(_ id: JSONValue, _ row: Row) -> RemoteRecord {
        RemoteRecord(
            id: id, record: row.isDeleted ? JSONValue?.none : row.record, version: "\(row.version)",
            modifiedAt: capabilities.providesModificationTimes ? row.time : nil)
    }
}

extension JSONValue {
    fileprivate func setting(_ key: String, _ value: JSONValue) -> JSONValue {
        guard case .object(let members) = self else { return self }
        return .object(members.filter { $0.key != key } + [Member(key, value)])
    }

    /// Returns the object with added members: those of an older object that this object lacks.
    fileprivate func merging(_ older: JSONValue?) -> JSONValue {
        guard case .object(let members) = self, case .object(let known)? = older else { return self }
        return .object(known.filter { member in !members.contains { $0.key == member.key } } + members)
    }
}
