import SyncCore
import SyncStore

// The engine stores requests before it sends them, so that a later run can resolve the requests of an interrupted run.
// It stores outcomes as they arrive.
extension OutboxRun {
    private static let preparedRequestLimit = 100
    /// The most pulls while the engine pushes the outbox once, each after the service rejected the push as outdated.
    private static let mostRounds = 4

    func push() async throws {
        run.send(.phase(.pushing))
        try await recover()
        var batchSize = maxBatchSize
        // A change may have been blocked because of a row that this run has deleted since.
        if run.report.value.total.pulledDeletes > 0 { _ = try await store.retryBlocked(entities, lease) }
        // The service may now have the rows that a blocked row references.
        if run.start.hasBlockedChanges || run.report.value.total.blockedChanges > 0 {
            _ = try await store.retryBelow(entities, lease)
        }
        var progress = PushProgress(total: try await store.pendingChangeCount(of: entities))
        if progress.total > 0 { try await pushAll(&batchSize, &progress) }
        // Rows that reference an accepted row can be sent once the service lists the accepted row.
        if try await waitForAcceptedRows() {
            try await pushAll(&batchSize, &progress)
            run.send(progress.event)
        }
        let changes = run.report.value.total
        guard changes.blockedChanges > 0 else { return }
        var count = try await retryRejected()
        // A deletion may have freed the row or the value that a change of another entity was rejected for.
        if changes.pushedDeletes > 0 { count += try await store.retryBlocked(entities, lease) }
        if changes.pushedInserts > 0 { count += try await store.retryBelow(entities, lease) }
        // Each round applies at least one of the changes, unless the app edits rows in the meantime.
        var rounds = count
        while count > 0 {
            try await pushAll(&batchSize, &progress, isRetry: true)
            run.send(progress.event)
            rounds -= 1
            count = rounds > 0 ? try await retryRejected() : 0
        }
    }

    /// Makes changes that the service rejected in this run pending again, if it applied an update or a deletion of
    /// their entity since. The unique value that they need may be free now.
    ///
    /// - Returns: The number of changes.
    private func retryRejected() async throws -> Int {
        var total = 0
        for entity in rejections.withLock({ $0.takeRetriable() }).sorted() where entities.contains(entity) {
            let count = try await store.retryRejected(entity, after: run.start.edits, lease)
            run.recordChanges(of: entity) { $0.blockedChanges -= count }
            total += count
        }
        return total
    }

    /// Applies the deletions that the push discovered. Then pushes the rows that the conflict policy restores.
    func pushAfterDeletions() async throws {
        guard !entitiesWithMissingRows.value.isEmpty else { return }
        try await run.delete()
        try await push()
    }

    /// Pushes the pending changes, then the changes that were made during the first push. The next run pushes later
    /// changes.
    ///
    /// - Parameter isRetry: Whether the changes were rejected before. If each of them needs the value that the next one
    ///   frees, the reverse order takes one round instead of one for each change.
    private func pushAll(
        _ batchSize: inout Int, _ progress: inout PushProgress, isRetry: Bool = false
    ) async throws {
        for _ in 0..<2 { try await pushPendingChanges(&batchSize, &progress, isRetry) }
    }

    private func pushPendingChanges(
        _ batchSize: inout Int, _ progress: inout PushProgress, _ isRetry: Bool
    ) async throws {
        var rounds = 0
        var last: Int64?
        try await findCursor()
        while true {
            try Task.checkCancellation()
            let (requests, edit, blocked) = try await store.prepareRequests(
                max(Self.preparedRequestLimit, batchSize, min(batchSize, 1000) * maxConcurrentRequests), of: entities,
                upTo: last, lease)
            last = edit
            // A run may try these changes again, and then block them again.
            for change in blocked where unsendableChanges.withLock({ $0.insert(change).inserted }) {
                run.recordChanges(of: change.entity) { $0.blockedChanges += 1 }
            }
            guard !requests.isEmpty else { return }
            var isAnyInDoubt = true
            do {
                let ordered = isRetry ? requests.reversedWithinEntities : requests
                let count = try await send(ordered, &batchSize, rounds: rounds)
                progress.count += count
                isAnyInDoubt = count < requests.count
            } catch ServiceError.stalePush where rounds < Self.mostRounds {
                rounds += 1
                try await catchUp()
            }
            run.send(progress.event)
            // Resolve in-doubt requests before sending another change of the same row.
            if isAnyInDoubt { try await recoverAll() }
        }
    }

    /// Pulls and merges the remote changes that made the service reject a push.
    private func catchUp() async throws {
        try await run.pull()
        try await run.reconcile()
        try await run.delete()
        run.send(.phase(.pushing))
    }

    /// Sends requests in batches, and stores their outcomes. See ``sendNext(of:_:count:)``.
    ///
    /// - Parameter rounds: The number of pulls that rejected pushes have caused so far.
    /// - Returns: The number of changes that the service applied.
    private func send(
        _ requests: [OutgoingRequest], _ batchSize: inout Int, rounds: Int
    ) async throws -> Int {
        var rest = try await matchRestored(requests)[...]
        var count = 0
        while !rest.isEmpty {
            var batch: [OutgoingRequest] = []
            do {
                try Task.checkCancellation()
                if let failed = await sendNext(of: &rest, batchSize, count: &count) {
                    batch = failed.requests
                    throw failed.error
                }
                if service.capabilities.pushesAtomically {
                    batchSize = batchSize > maxBatchSize / 2 ? maxBatchSize : batchSize * 2
                }
            } catch ServiceError.payloadTooLarge {
                if batch.count == 1, let request = batch.first {
                    rest = rest.dropFirst()
                    try await complete(tooLarge: request)
                }
                batchSize = max(1, batch.count / 2)
            } catch ServiceError.batchRejected(let reason) {
                // The service may report an outdated push this way: pull first.
                guard rounds > 0 else {
                    try await postpone(rest)
                    throw ServiceError.stalePush
                }
                try await isolate(batch, .rejected(reason), &rest, &batchSize)
            } catch ServiceError.stalePush where rounds >= Self.mostRounds {
                let reason = "the service has changes that were not pulled yet, even after \(rounds) pulls"
                try await isolate(batch, .failing(reason), &rest, &batchSize)
            } catch let failure as ServiceError where failure.isTransient {
                do {
                    try await run.backoff.wait(after: failure)
                } catch {
                    try await postpone(rest, after: failure)
                    throw error
                }
            } catch let failure as ServiceError {
                try await postpone(rest, after: failure)
                throw failure
            }
        }
        return count
    }

    /// Returns the requests without an outcome to the outbox after a failure. Repeated creates stay in doubt. If an
    /// atomic push may have succeeded without a response, all requests stay in doubt, and the next run resolves them.
    private func postpone(_ requests: ArraySlice<OutgoingRequest>, after failure: ServiceError) async throws {
        switch failure {
        case .unreachable, .invalidResponse: if service.capabilities.pushesAtomically { return }
        default: break
        }
        try await postpone(requests)
    }

    /// Halves the batch size to find the change that makes the service reject a batch. If the batch has a single
    /// change, stores the outcome of the change.
    private func isolate(
        _ batch: [OutgoingRequest], _ outcome: RequestOutcome.Outcome, _ rest: inout ArraySlice<OutgoingRequest>,
        _ batchSize: inout Int
    ) async throws {
        batchSize = max(1, batch.count / 2)
        guard batch.count == 1, let request = batch.first else { return }
        rest = rest.dropFirst()
        try await complete(request, as: outcome)
        rejections.withLock { $0.add([RequestOutcome(request: request, outcome: outcome)], isOrdered: true) }
    }

    /// Merges rows that this push would restore but that another device has already restored. A service with
    /// idempotency keys returns such a row in the response to the create. A service with client-assigned IDs might
    /// overwrite it.
    ///
    /// - Returns: The requests that are still to be sent.
    private func matchRestored(_ requests: [OutgoingRequest]) async throws -> [OutgoingRequest] {
        let isNamed = service.capabilities.createIdempotency == .clientID
        guard service.capabilities.markerField != nil || isNamed, requests.contains(where: \.isRestoration) else {
            return requests
        }
        var rest: [OutgoingRequest] = []
        for request in requests {
            if request.isRestoration, let row = try await isNamed ? fetchRestored(request) : find(request) {
                _ = try await complete([request], [.alreadyExists(row)])
            } else {
                rest.append(request)
            }
        }
        return rest
    }

    private func fetchRestored(_ request: OutgoingRequest) async throws -> RemoteRecord? {
        guard let id = request.operation.id else { return nil }
        guard case .found(let row)? = try await fetch(id, request.operation.entity), row.record != nil else {
            return nil
        }
        return row
    }

    func postpone(_ requests: ArraySlice<OutgoingRequest>) async throws {
        // A request with an earlier attempt stays in doubt, because the service may have applied that attempt.
        let certain = requests.filter { service.capabilities.pushesAtomically || !$0.isTriedAgain }
        let replies = certain.map { RequestOutcome(request: $0, outcome: .postponed) }
        _ = try await store.complete(replies, serverTime: nil, lease)
    }

    /// Resolves a request that the service rejected as too large. A deletion has no large body, so its rejection may
    /// have a temporary reason.
    func complete(tooLarge request: OutgoingRequest) async throws {
        let reason = "the service rejected the request as too large (HTTP 413)"
        try await complete(request, as: request.operation.kind == .delete ? .failing(reason) : .rejected(reason))
    }

    /// Stores the outcome of a request.
    func complete(_ request: OutgoingRequest, as outcome: RequestOutcome.Outcome) async throws {
        let reply = RequestOutcome(request: request, outcome: outcome)
        run.record(try await store.complete([reply], serverTime: nil, lease))
    }

    /// Stores the outcomes of requests.
    ///
    /// - Parameter isReplay: Whether the requests are in doubt, and no attempt had other values.
    /// - Returns: The number of changes that the service applied.
    func complete(_ requests: [OutgoingRequest], _ outcomes: [PushOutcome], isReplay: Bool = false) async throws -> Int
    {
        var replies: [RequestOutcome] = []
        var done = 0
        /// Whether the service postponed a change, and the longest delay that it asks for.
        var (isPostponed, delay): (Bool, Duration?) = (false, nil)
        for (request, response) in zip(requests, outcomes) {
            if case .retry(let after) = response {
                (isPostponed, delay) = (true, [delay, after].compactMap(\.self).max())
            }
            let outcome = try await outcome(of: response, request, isReplay: isReplay)
            switch outcome {
            case .applied:
                done += 1
                run.recordChanges(of: request.operation.entity) { $0.recordDone(request.operation.kind) }
            case .notFound where request.operation.kind != .create:
                entitiesWithMissingRows.withLock { $0.insert(request.operation.entity) }
            default: break
            }
            replies.append(RequestOutcome(request: request, outcome: outcome))
        }
        let outcome = try await store.complete(replies, serverTime: nil, lease)
        run.record(outcome)
        rejections.withLock { $0.add(replies, isOrdered: maxConcurrentRequests <= 1) }
        if done > 0 { await run.backoff.changesApplied() }
        if isPostponed {
            try await run.backoff.wait(
                after: .retryLater(after: delay, "it postponed a change"), isPostponement: done == 0)
        }
        return done
    }

    private func outcome(
        of response: PushOutcome, _ request: OutgoingRequest, isReplay: Bool
    ) async throws -> RequestOutcome.Outcome {
        let outcome = try await outcome(of: response, request)
        guard request.operation.kind == .create, isReplay || request.isTriedAgain else { return outcome }
        switch outcome {
        // The row was edited after the attempt that may have created it. The response may have the values of that
        // attempt.
        case .applied(let row?) where !isReplay && row.record != nil: return .conflict(row)
        case .rejected(let reason) where !isReplay:
            leaveToNextRun(request)
            return .rejectedAfterRetry(reason)
        case .notFound where !isReplay:
            leaveToNextRun(request)
            return .rejectedAfterRetry(RequestOutcome.unacceptedRowReason)
        case .postponed: return .unknown
        default: return outcome
        }
    }

    /// Returns the record in a response. It is incomplete if responses may lack fields.
    private func answered(_ row: RemoteRecord) -> RemoteRecord {
        var row = row
        row.isComplete = row.isComplete && service.capabilities.returnsRecords
        return row
    }

    private func outcome(of outcome: PushOutcome, _ request: OutgoingRequest) async throws -> RequestOutcome.Outcome {
        switch outcome {
        // The service created a row and did not return its ID: look for the row instead of sending the request again.
        case .applied(nil) where request.operation.kind == .create && request.operation.id == nil,
            .silent where request.operation.kind == .create && request.operation.id == nil:
            // The acceptance is stored even if the search fails. Otherwise the request would be repeated.
            do { if let row = try await find(request) { return .applied(answered(row)) } } catch is ServiceError {}
            searchedCreates.withLock { $0.insert(request.id) }
            return .accepted(isCertain: outcome != .silent)
        case .applied(let row):
            return .applied(row.map(answered))
        case .notFound: return .notFound
        case .rejected(let reason): return .rejected(reason)
        case .unknown, .silent: return .unknown
        case .retry: return .postponed
        case .conflict(let row?), .alreadyExists(let row?): return .conflict(row)
        case .conflict(nil), .alreadyExists(nil):
            guard let id = request.operation.id else { return .rejected("the service already has such a row") }
            switch try await fetch(id, request.operation.entity) {
            case .found(let row)?: return .conflict(row)
            case .forbidden?: return .rejected(FetchOutcome.forbiddenReason)
            case .notFound?: return .notFound
            case nil: return .unknown
            }
        }
    }
}

extension SyncReport.Changes {
    fileprivate mutating func recordDone(_ kind: PushOperation.Kind) {
        switch kind {
        case .create: pushedInserts += 1
        case .update: pushedUpdates += 1
        case .delete: pushedDeletes += 1
        }
    }
}

extension [OutgoingRequest] {
    /// The requests in reverse order among changes, and among deletions, of one entity. Such requests do not depend on
    /// each other.
    fileprivate var reversedWithinEntities: [OutgoingRequest] {
        var groups: [[OutgoingRequest]] = []
        for request in self {
            let operation = request.operation
            if let last = groups.last?.last?.operation, last.entity == operation.entity,
                (last.kind == .delete) == (operation.kind == .delete)
            {
                groups[groups.count - 1].append(request)
            } else {
                groups.append([request])
            }
        }
        return groups.flatMap { $0.reversed() }
    }
}

/// The entities whose rejected changes the service may accept now.
struct Rejections {
    /// The entities with a rejected change.
    private var rejected: Set<String> = []
    /// The entities of which the service applied an update or a deletion, after a rejection if responses are ordered.
    private var applied: Set<String> = []

    /// Adds the outcomes of a batch. A service may apply a batch in any order.
    ///
    /// - Parameter isOrdered: Whether the service handled the earlier batches first.
    mutating func add(_ replies: [RequestOutcome], isOrdered: Bool) {
        for reply in replies {
            if case .rejected = reply.outcome { rejected.insert(reply.request.operation.entity) }
        }
        for reply in replies where reply.request.operation.kind != .create {
            let entity = reply.request.operation.entity
            if case .applied = reply.outcome, !isOrdered || rejected.contains(entity) { applied.insert(entity) }
        }
    }

    /// Returns the entities whose rejected changes are to be sent again, and forgets their outcomes.
    mutating func takeRetriable() -> Set<String> {
        let entities = rejected.intersection(applied)
        rejected.subtract(entities)
        applied = []
        return entities
    }
}

/// The progress of a push.
private struct PushProgress {
    /// The number of changes that were pending when the push began.
    let total: Int
    /// The number of changes that the service has accepted.
    var count = 0

    /// The event for the progress. Changes that were made during the push raise the total.
    var event: SyncEvent { .pushed(rows: count, of: max(total, count)) }
}
