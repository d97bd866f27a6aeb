public import Foundation
public import Sync
public import SyncService

/// A test suite that checks whether a service meets the requirements of the engine. Run the suite for each new service,
/// with a real server.
///
/// The checks create, change and delete records at the service, and leave some of these records there.
///
/// ```swift
/// let failures = await ServiceConformance(service, entity: "Task", member: "title", other: "note").run()
/// ```
public struct ServiceConformance: Sendable {
    /// A requirement that the service does not meet.
    public struct Failure: LocalizedError, Sendable, Hashable {
        /// The name of the check.
        package let check: String
        /// The reason why the check failed.
        package let message: String
        /// The name of the check and the message, for use as `localizedDescription`.
        public var errorDescription: String? { "\(check): \(message)" }
    }

    private let service: any SyncService
    private let entity: String
    private let member: String
    private let other: String
    private let newID: @Sendable (Int) -> JSONValue

    /// Creates a test suite for a service.
    ///
    /// - Parameters:
    ///   - service: The service to check.
    ///   - entity: The name of an entity that has no records at the service.
    ///   - member: The name of a member that accepts any string.
    ///   - other: The name of another member that accepts any string.
    ///   - newID: A function that returns a different ID for each number, for a service whose clients assign the IDs.
    public init(
        _ service: any SyncService, entity: String, member: String, other: String,
        newID: @escaping @Sendable (Int) -> JSONValue = { .string("conformance-\($0)") }
    ) {
        self.service = service
        self.entity = entity
        self.member = member
        self.other = other
        self.newID = newID
    }

    /// Runs all checks. Each check ends at its first failure.
    ///
    /// - Returns: The failures, at most one for each check; empty if the service meets all requirements.
    public func run() async -> [Failure] {
        var failures: [Failure] = []
        for (name, check) in checks {
            do {
                try await check()
            } catch let failure as Failure {
                failures.append(failure)
            } catch {
                failures.append(Failure(check: name, message: "\(error)"))
            }
        }
        return failures
    }

    private var capabilities: ServiceCapabilities { service.capabilities }

    private var checks: [(String, @Sendable () async throws -> Void)] {
        [
            ("creation", created), ("pages", pages), ("change", changed), ("stale change", stale),
            ("deletion", deleted), ("repeated creation", twice), ("batch", batch),
            ("atomic push", together),
        ]
    }

    // MARK: Checks

    @Sendable private func created() async throws {
        let id = try await create(1)
        guard case .found(let row)? = try await service.fetch([id], of: entity).first else {
            throw fail("creation", "the row cannot be fetched by its ID")
        }
        try expect(
            row.record?[member] == "value 1", "creation",
            "the member is \(row.record?[member] ?? .null), expected \"value 1\"")
        try expect(row.id == id, "creation", "the row fetched by \(id) has the ID \(row.id)")
        if capabilities.supportsPreconditions {
            try expect(row.version != nil, "creation", "the row has no version")
        }
        try expect(try await whole().contains(row.id), "creation", "a pull does not return the row")
        // A service that assigns IDs may reject an ID in another form.
        if capabilities.idAssignment == .client {
            try expect(
                try await service.fetch([newID(99_999)], of: entity) == [.notFound], "creation",
                "a fetch of an unknown ID does not return 'notFound'")
        }
        // This check is last, so that a service whose records have no times still runs all other checks.
        if capabilities.providesModificationTimes {
            try expect(row.modifiedAt != nil, "creation", "the row has no modification time")
        }
    }

    @Sendable private func pages() async throws {
        var made: [JSONValue] = []
        for number in 10..<20 { made.append(try await create(number)) }
        var rows = try await whole()
        // Shortly after a change, a service may return pages twice, in case rows moved between pages. Later it must
        // not.
        for _ in 0..<3 where Set(rows).count < rows.count {
            try await Task.sleep(for: .seconds(1))
            rows = try await whole()
        }
        var ids: [JSONValue] = []
        var page: String?
        repeat {
            let answer = try await service.list(of: entity, page: page)
            ids += answer.ids
            page = answer.nextPage
        } while page != nil
        for (list, name) in [(rows, "a full pull"), (ids, "the list of IDs")] {
            let times = Dictionary(list.map { ($0, 1) }, uniquingKeysWith: +)
            for id in made {
                try expect(times[id] != nil, "pages", "\(name) lacks \(id)")
            }
            for (id, count) in times {
                try expect(count == 1, "pages", "\(name) has \(id) \(count) times")
            }
        }
        try expect(Set(ids) == Set(rows), "pages", "the list of IDs differs from a full pull")
    }

    @Sendable private func changed() async throws {
        let id = try await create(30)
        let cursor = try await end()
        let row = try await found(id)
        let outcome = try await push(.update, id, [member: "changed"], row.version)
        guard case .applied = outcome else { throw fail("change", "the outcome is \(outcome), not 'applied'") }
        let now = try await found(id)
        try expect(now.record?[member] == "changed", "change", "the member was not changed")
        try expect(now.record?[other] == "other 30", "change", "another member was changed")
        if capabilities.supportsPreconditions {
            try expect(now.version != row.version, "change", "the version did not change")
        }
        guard let cursor else { return }
        let news = try await pull(from: cursor)
        try expect(
            news.contains { $0.id == id && $0.record != nil }, "change",
            "a pull since the change does not return the row")
    }

    @Sendable private func stale() async throws {
        guard capabilities.supportsPreconditions else { return }
        let id = try await create(40)
        let row = try await found(id)
        _ = try await push(.update, id, [member: "first"], row.version)
        let outcome = try await push(.update, id, [member: "second"], row.version)
        guard case .conflict = outcome else { throw fail("stale change", "the outcome is \(outcome), not 'conflict'") }
        try expect(try await found(id).record?[member] == "first", "stale change", "the change was applied")
        let deletion = try await push(.delete, id, [:], row.version)
        guard case .conflict = deletion else {
            throw fail("stale change", "the outcome of a stale deletion is \(deletion), not 'conflict'")
        }
    }

    @Sendable private func deleted() async throws {
        let id = try await create(50)
        let cursor = try await end()
        let outcome = try await push(.delete, id, [:], try await found(id).version)
        guard case .applied = outcome else { throw fail("deletion", "the outcome is \(outcome)") }
        try expect(try await service.fetch([id], of: entity) == [.notFound], "deletion", "the row still exists")
        if case .applied? = try? await push(.update, id, [member: "x"], nil, since: cursor) {
            throw fail("deletion", "the deleted row can be changed")
        }
        guard case .applied = try await push(.delete, id, [:], nil) else {
            throw fail("deletion", "a repeated deletion is not 'applied'")
        }
        try expect(try await !whole().contains(id), "deletion", "a full pull returns the deleted row")
        guard capabilities.deletionDetection == .tombstones, let cursor else { return }
        let news = try await pull(from: cursor)
        try expect(
            news.contains { $0.id == id && $0.record == nil }, "deletion",
            "a pull since the deletion returns no tombstone")
    }

    @Sendable private func twice() async throws {
        guard capabilities.createIdempotency == .clientID || capabilities.createIdempotency == .idempotencyKey else {
            return
        }
        // Compare sets, because a service that returns pages twice may return a row twice.
        let before = Set(try await whole()).count
        let operation = creation(60)
        guard case .applied(let row)? = try await pushNow([operation]).first else {
            throw fail("repeated creation", "the row is not created")
        }
        let again = try await pushNow([operation]).first
        switch again {
        case .applied(let second)?, .alreadyExists(let second)?:
            if let row, let second {
                try expect(row.id == second.id, "repeated creation", "the outcomes have different IDs")
            }
        default: throw fail("repeated creation", "the outcome of the repeated creation is \(String(describing: again))")
        }
        try expect(
            Set(try await whole()).count == before + 1, "repeated creation",
            "the two requests did not create exactly one row")
    }

    @Sendable private func batch() async throws {
        let ids = [try await create(70), try await create(71)]
        let outcomes = try await pushNow(
            ids.map {
                PushOperation(
                    entity: entity, kind: .update, id: $0, record: .object([.init(member, "batch")]), version: nil,
                    idempotencyKey: "batch")
            } + [creation(72)])
        try expect(outcomes.count == 3, "batch", "\(outcomes.count) outcomes for 3 operations")
        for outcome in outcomes {
            guard case .applied = outcome else { throw fail("batch", "an outcome is \(outcome)") }
        }
    }

    @Sendable private func together() async throws {
        guard capabilities.pushesAtomically else { return }
        let check = "atomic push"
        let ids = [try await create(80), try await create(81)]
        let cursor = try await end()
        _ = try await push(.update, ids[0], [member: "theirs"], nil)
        var operations: [PushOperation] = []
        for id in ids {
            let body: JSONValue = .object([.init(member, "ours"), .init(other, "other")])
            operations.append(
                PushOperation(
                    entity: entity, kind: .update, id: id, record: body, version: nil, cursor: cursor,
                    idempotencyKey: "together"))
        }
        do {
            let outcomes = try await service.push(operations)
            throw fail(
                check, "a push of rows that changed since the pull returns \(outcomes), not the error 'stalePush'")
        } catch ServiceError.stalePush {
            for (id, value) in zip(ids, ["theirs", "value 81"]) {
                let found = try await found(id).record?[member]
                try expect(found == .string(value), check, "a row has \(found ?? .null), expected \(value)")
            }
        }
        guard capabilities.hasSharedCursor else { return }
        let pages = try await service.pull([entity], since: cursor)
        try expect(
            pages[entity]?.records.map(\.id) == [ids[0]], check,
            "a pull of all entities since the change does not return the changed row")
    }

    // MARK: Requests

    private func creation(_ number: Int) -> PushOperation {
        let body: JSONValue = .object([
            .init(member, .string("value \(number)")), .init(other, .string("other \(number)")),
        ])
        return PushOperation(
            entity: entity, kind: .create, id: capabilities.idAssignment == .client ? newID(number) : JSONValue?.none,
            record: body,
            version: nil,
            idempotencyKey: "conformance-\(number)")
    }

    private func create(_ number: Int) async throws -> JSONValue {
        let operation = creation(number)
        let outcome = try await pushNow([operation]).first
        guard case .applied(let row)? = outcome, let id = row?.id ?? operation.id else {
            throw fail("creation", "the outcome is \(String(describing: outcome))")
        }
        return id
    }

    private func push(
        _ kind: PushOperation.Kind, _ id: JSONValue, _ body: KeyValuePairs<String, JSONValue>, _ version: String?,
        since cursor: String? = nil
    ) async throws -> PushOutcome {
        let members = body.map { JSONValue.Member($0.key, $0.value) }
        let operation = PushOperation(
            entity: entity, kind: kind, id: id, record: .object(members), version: version, cursor: cursor,
            idempotencyKey: "\(kind) \(id)")
        return try await pushNow([operation]).first ?? .unknown("the service returned no outcome for the change")
    }

    /// Pushes operations after adding what the engine would add: the cursor, and complete records if the service
    /// requires them.
    private func pushNow(_ operations: [PushOperation]) async throws -> [PushOutcome] {
        let cursor = capabilities.pushesAtomically ? try await end() : nil
        var whole: [PushOperation] = []
        for var operation in operations {
            operation.cursor = operation.cursor ?? cursor
            if capabilities.requiresCompleteRecords, operation.kind == .update, let id = operation.id,
                case .found(let row)? = try await service.fetch([id], of: entity).first, let record = row.record
            {
                operation.record = operation.applied(to: record)
            }
            whole.append(operation)
        }
        return try await service.push(whole)
    }

    private func found(_ id: JSONValue) async throws -> RemoteRecord {
        guard case .found(let row)? = try await service.fetch([id], of: entity).first else {
            throw fail("fetch by ID", "the row is not found")
        }
        return row
    }

    private func pages(from cursor: String?) async throws -> (rows: [RemoteRecord], cursor: String?) {
        var rows: [RemoteRecord] = []
        var page: String?
        while true {
            let answer = try await service.pull(PullRequest(entity: entity, cursor: cursor, page: page))
            rows += answer.records
            guard let next = answer.nextPage else { return (rows, answer.cursor) }
            page = next
        }
    }

    private func pull(from cursor: String) async throws -> [RemoteRecord] { try await pages(from: cursor).rows }
    private func whole() async throws -> [JSONValue] {
        try await pages(from: nil).rows.filter { $0.record != nil }.map(\.id)
    }
    private func end() async throws -> String? { try await pages(from: nil).cursor }

    private func expect(_ holds: Bool, _ check: String, _ message: @autoclosure () -> String) throws {
        if !holds { throw fail(check, message()) }
    }

    private func fail(_ check: String, _ message: String) -> Failure { Failure(check: check, message: message) }
}
