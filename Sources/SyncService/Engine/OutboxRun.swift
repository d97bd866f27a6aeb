import SyncCore
import SyncStore

/// The phases of an engine run that need an outbox: they resolve in-doubt requests, push changes, and upload files. An
/// import into a store without an outbox has no such run, so it cannot send anything.
final class OutboxRun: Sendable {
    let run: EngineRun
    /// The store of the run.
    let store: any EngineStore
    /// The key paths of the fields that the engine sends, by entity.
    let memberPaths: [String: [[String]]]
    /// The entities with pushed changes of rows that the service no longer has.
    let entitiesWithMissingRows = Locked<Set<String>>([])
    /// The rejections of this run that later changes may have resolved.
    let rejections = Locked(Rejections())
    /// The changes that this run blocked because they cannot be sent.
    let unsendableChanges = Locked<Set<BlockedChange>>([])
    /// The in-doubt requests that this run could not resolve and does not send again.
    let unresolvedRequests = Locked<Set<Int64>>([])
    /// The accepted creates whose row this run has looked for, because the response did not have the row.
    let searchedCreates = Locked<Set<Int64>>([])
    /// The in-doubt creates whose row the service did not have before the pull. This run repeats them after the pull.
    let createsAfterPull = Locked<Set<Int64>>([])

    init(_ run: EngineRun, _ store: any EngineStore) {
        (self.run, self.store) = (run, store)
        memberPaths = store.memberPaths
    }

    var service: any SyncService { run.service }
    var configuration: SyncEngine.Configuration { run.configuration }
    var entities: [String] { run.entities }
    var lease: EngineLease { run.lease }

    /// Sets the cursor for a push, if the service requires the cursor of the last pull.
    func findCursor() async throws {
        guard service.capabilities.pushesAtomically else { return }
        let cursors = try await store.cursors()
        run.cursor.withLock { $0 = EngineRun.oldest(entities.map { cursors[$0]?.cursor }) }
    }

    /// Returns the change of a request, with the key paths of its values and the cursor of the last pull.
    func operation(of request: OutgoingRequest) -> PushOperation {
        var operation = request.operation
        if let paths = memberPaths[operation.entity] {
            operation.fieldPaths = paths.filter { operation.record.value(at: $0) != JSONValue?.none }
        }
        operation.cursor = run.cursor.value
        return operation
    }
}

// MARK: - Single records

extension OutboxRun {
    /// Stores records that the app fetched.
    func write(_ json: JSONValue, _ entity: String) async throws {
        let records: [(path: String, record: JSONValue)] =
            switch json {
            case .array(let elements): elements.enumerated().map { ("[\($0)]", $1) }
            default: [("$", json)]
            }
        let rows = try records.map { path, record in
            guard case .object = record else {
                throw SyncError(.recordExpected, "expected a record (JSON object)", entity: entity, path: path)
            }
            guard let id = try store.id(of: record, entity) else {
                throw SyncError(.primaryKeyMissing, "a record has no readable key", entity: entity)
            }
            return RemoteRecord(id: id, record: record, isComplete: false)
        }
        try await run.apply(rows, entity, keepsVersions: true)
    }

    func write(remoteFirst operation: PushOperation) async throws {
        var operation = operation
        try await findCursor()
        operation.cursor = operation.cursor ?? run.cursor.value
        let outcome =
            try await service.pushed([operation]).first ?? .unknown("the service returned no outcome for the change")
        let rows: [RemoteRecord]
        switch outcome {
        case .applied(let row):
            if let row, let id = operation.id, !operation.mayGiveAnotherID,
                try !store.areSame(row.id, id, of: operation.entity)
            {
                throw SyncError(.serviceFailure, row.otherRowReason, entity: operation.entity)
            }
            if operation.kind == .delete, let id = operation.id {
                rows = [RemoteRecord(id: id, record: nil)]
            } else if let row, row.record != nil {
                rows = [row]
            } else if let id = row?.id ?? operation.id,
                case .found(let row)? = try run.checked(
                    await service.fetch([id], of: operation.entity).first, id, operation.entity)
            {
                rows = [row]
            } else {
                rows = []
            }
        case .conflict, .alreadyExists:
            throw SyncError(.serviceFailure, "the service has another version of the row; sync, then try again")
        case .notFound:
            throw SyncError(.rowNotFound, "the service no longer has the row", entity: operation.entity)
        case .retry: throw SyncError(.serviceUnavailable, "the service asks to wait; try again later")
        case .silent: throw SyncError(.serviceFailure, "the response does not state the outcome of the change")
        case .rejected(let reason): throw SyncError(.serviceFailure, reason)
        case .unknown(let reason): throw SyncError(.serviceUnavailable, reason)
        }
        try await run.apply(rows, operation.entity)
    }
}

extension SyncService {
    /// Pushes changes, and masks secrets in the reasons of the outcomes.
    func pushed(_ operations: [PushOperation]) async throws -> [PushOutcome] {
        try await push(operations).map { outcome in
            switch outcome {
            case .rejected(let reason): .rejected(hidingSecrets(in: reason))
            case .unknown(let reason): .unknown(hidingSecrets(in: reason))
            case .applied, .conflict, .notFound, .alreadyExists, .retry, .silent: outcome
            }
        }
    }
}

// MARK: - Sending

// Several requests are sent at the same time if the service allows it. Their responses are handled one after the other,
// because each response is compared with the stored rows.
extension OutboxRun {
    /// Returns the batches to send at the same time: the next batch, and batches that do not depend on it.
    ///
    /// Requests of one entity do not depend on each other: a row that references a new row is prepared after the
    /// response to that row, and so is the deletion of a row that another deleted row of its entity references.
    /// Requests of other entities wait, because they may be deletions of rows that these rows reference.
    private func batchesSentTogether(
        of requests: ArraySlice<OutgoingRequest>, _ batchSize: Int
    ) -> [[OutgoingRequest]] {
        guard let first = requests.first?.operation, maxConcurrentRequests > 1 else {
            return [Array(requests.prefix(batchSize))]
        }
        let independent = requests.prefix {
            $0.operation.entity == first.entity && ($0.operation.kind == .delete) == (first.kind == .delete)
        }
        return Array(Array(independent).parts(of: batchSize).prefix(maxConcurrentRequests))
    }

    /// The largest number of batches that are sent at the same time, at most 100.
    var maxConcurrentRequests: Int {
        service.capabilities.pushesAtomically ? 1 : min(max(1, service.capabilities.maxConcurrentRequests), 100)
    }

    /// The largest number of changes in one request, at least 1.
    var maxBatchSize: Int { max(1, service.capabilities.maxBatchSize) }

    /// A batch whose outcomes were not stored, because its request or the handling of its response failed.
    struct FailedBatch {
        let index: Int
        /// The requests to send again.
        let requests: [OutgoingRequest]
        let error: any Error

        /// The seconds that the error requires to wait. An error that ends the run counts as an endless delay.
        fileprivate var delay: Double {
            switch error {
            case ServiceError.retryLater(let after?, _): after.seconds
            case let error as ServiceError: error.isTransient ? 0 : -1
            default: .infinity
            }
        }
    }

    /// The response to one batch. In an optimized build, Swift 6.3 returns wrong values from a child task whose result
    /// is a tuple with a `Result`.
    private struct BatchResponse: Sendable {
        let index: Int
        let outcomes: Result<[PushOutcome], any Error>
    }

    /// Removes the next batches from `rest`, sends them at the same time, and stores the outcomes of each as they
    /// arrive. Failed batches return to `rest`.
    ///
    /// - Parameter count: The number of changes that the service applied, which this method increases.
    /// - Returns: The failure to handle, whose requests are the first of `rest`: the one with the longest delay.
    func sendNext(
        of rest: inout ArraySlice<OutgoingRequest>, _ batchSize: Int, count: inout Int
    ) async -> FailedBatch? {
        let batches = batchesSentTogether(of: rest, batchSize)
        rest = rest.dropFirst(batches.reduce(0) { $0 + $1.count })
        var (applied, failed): (Int, [FailedBatch]) = (0, [])
        func handle(_ response: BatchResponse) async {
            var requests = batches[response.index]
            do {
                let outcomes = try await checked(response.outcomes.get(), of: requests)
                // From here on, the requests have an outcome, or are in doubt.
                let answered = requests
                requests = []
                applied += try await complete(answered, outcomes)
                await run.backoff.succeeded()
            } catch {
                failed.append(FailedBatch(index: response.index, requests: requests, error: error))
            }
        }
        if let order = configuration.clock.order {
            var responses: [BatchResponse] = []
            for index in order(batches.count) { responses.append(await response(to: batches[index], index)) }
            for place in order(batches.count) { await handle(responses[place]) }
        } else {
            await withTaskGroup(of: BatchResponse.self) { group in
                for (index, batch) in batches.enumerated() {
                    group.addTask { [self] in await response(to: batch, index) }
                }
                for await response in group { await handle(response) }
            }
        }
        count += applied
        failed.sort { ($1.delay, $0.index) < ($0.delay, $1.index) }
        rest = (failed.flatMap(\.requests) + rest)[...]
        return failed.first
    }

    private func response(to batch: [OutgoingRequest], _ index: Int) async -> BatchResponse {
        do {
            try Task.checkCancellation()
            return BatchResponse(index: index, outcomes: .success(try await service.pushed(batch.map(operation))))
        } catch {
            return BatchResponse(index: index, outcomes: .failure(error))
        }
    }
}

// MARK: - Responses

// The engine uses a response only if it has the requested row. A cache may return another row; the outcome is then
// unknown.
extension OutboxRun {
    /// Sends changes, and checks that each returned record is the row of its request. If it is not, the outcome is
    /// unknown.
    ///
    /// - Parameter isReplay: Whether the requests are in doubt.
    func pushed(_ requests: [OutgoingRequest], isReplay: Bool = false) async throws -> [PushOutcome] {
        try await checked(try await service.pushed(requests.map(operation)), of: requests, isReplay: isReplay)
    }

    /// Returns the outcomes of requests. If a record is not the row of its request, or if an outcome is missing, the
    /// outcome is unknown.
    func checked(
        _ outcomes: [PushOutcome], of requests: [OutgoingRequest], isReplay: Bool = false
    ) async throws -> [PushOutcome] {
        var counts: [AnsweredRow: Int] = [:]
        for (request, outcome) in zip(requests, outcomes) {
            if let row = outcome.row {
                counts[AnsweredRow(entity: request.operation.entity, id: row.id), default: 0] += 1
            }
        }
        var checked: [PushOutcome] = []
        for (request, outcome) in zip(requests, outcomes) {
            guard let row = outcome.row else {
                checked.append(outcome)
                continue
            }
            let isRepeated = counts[AnsweredRow(entity: request.operation.entity, id: row.id), default: 0] > 1
            let isAnswer = try await isAnswer(row, to: request, isReplay: isReplay, isRepeated: isRepeated)
            checked.append(isAnswer ? outcome : .unknown(service.hidingSecrets(in: row.otherRowReason)))
        }
        let missing = PushOutcome.unknown("the service returned no outcome for the change")
        return checked + repeatElement(missing, count: requests.count - checked.count)
    }

    /// Fetches the record of a row.
    ///
    /// - Returns: The outcome; nil if the response contains another row, or contains no outcome.
    func fetch(_ id: JSONValue, _ entity: String) async throws -> FetchOutcome? {
        let rows = try await run.asking { [service] in try await service.fetch([id], of: entity) }
        return try run.checked(rows.first, id, entity)
    }

    /// Returns whether a record is the row of a request.
    ///
    /// - Parameter isRepeated: Whether the outcomes of several requests have this record.
    private func isAnswer(
        _ row: RemoteRecord, to request: OutgoingRequest, isReplay: Bool, isRepeated: Bool
    ) async throws -> Bool {
        if let id = request.operation.id {
            if try store.areSame(row.id, id, of: request.operation.entity) { return true }
            guard operation(of: request).mayGiveAnotherID else { return false }
        }
        if request.operation.kind == .create, let name = service.capabilities.markerField, let record = row.record,
            service.capabilities.returnsRecords || record[name] != nil
        {
            return isSame(row, request)
        }
        if request.operation.kind == .create, !isRepeated {
            // An attempt without a response may have created the row, and a pull may have stored the row since.
            let since = isReplay || request.isTriedAgain ? request.edit : nil
            if try await !store.unknown([row.id], of: request.operation.entity, since: since).isEmpty { return true }
            // Another device may have restored the row with the same idempotency key, and a pull may have stored that
            // row. The service then returns that row for every attempt.
            if request.isRestoration, request.attempts >= Self.mostTries - 1 { return true }
        }
        return isSame(row, request)
    }
}

/// The entity and the ID of a row in a response.
private struct AnsweredRow: Hashable {
    let entity: String
    let id: JSONValue
}

extension PushOutcome {
    /// The record in the response; nil if there is none.
    fileprivate var row: RemoteRecord? {
        switch self {
        case .applied(let row), .conflict(let row), .alreadyExists(let row): row
        case .notFound, .retry, .rejected, .unknown, .silent: nil
        }
    }
}

extension PushOperation {
    /// Whether the change may give the row another ID. Such a change creates a row, or updates a row with a composite
    /// key.
    var mayGiveAnotherID: Bool {
        switch (kind, id) {
        case (.create, _), (.update, .array?): true
        case (.update, _), (.delete, _): false
        }
    }
}
