import SyncCore
import SyncStore

// Requests are stored before they are sent, so that an interrupted run can resolve them. Their outcomes are stored as
// they arrive.
extension EngineRun {
    private static let preparedRequestLimit = 100
    /// The most pulls during one push, each after the service rejected the push as outdated.
    private static let mostRounds = 4

    func push() async throws {
        send(.phase(.pushing))
        heldBack.withLock { $0 = [] }
        try await recover()
        var batchSize = max(1, service.capabilities.maxBatchSize)
        // A change may have been blocked by a row whose deletion is known by now.
        if report.value.total.pulledDeletes > 0 { _ = try await store.retryBlocked(entities, lease) }
        // The rows that a blocked row references may exist by now, or again.
        if start.hasBlockedChanges || report.value.total.blockedChanges > 0 {
            _ = try await store.retryBelow(entities, lease)
        }
        var count = try await pushAll(&batchSize)
        // Rows below a row that the service accepted can be sent once the service lists that row.
        if try await waitForAcceptedRows() {
            count += try await pushAll(&batchSize)
            send(.pushed(rows: count))
        }
        // A deletion that was pushed may have freed a unique value that a blocked row needs.
        let changes = report.value.total
        guard changes.blockedChanges > 0 else { return }
        let freed = changes.pushedDeletes > 0 ? try await store.retryBlocked(entities, lease) : 0
        let below = changes.pushedInserts > 0 ? try await store.retryBelow(entities, lease) : 0
        guard freed + below > 0 else { return }
        count += try await pushAll(&batchSize)
        send(.pushed(rows: count))
    }

    /// Applies the deletions that the push discovered, and pushes rows that the deletions restored.
    func pushAfterDeletions() async throws {
        guard !entitiesWithMissingRows.value.isEmpty else { return }
        try await delete()
        try await push()
    }

    /// Pushes the pending changes, then once more those that were made meanwhile. The next run pushes later changes.
    ///
    /// - Returns: The number of changes that the service applied.
    private func pushAll(_ batchSize: inout Int) async throws -> Int {
        var count = 0
        for _ in 0..<2 { try await pushPendingChanges(&batchSize, &count) }
        return count
    }

    private func pushPendingChanges(_ batchSize: inout Int, _ count: inout Int) async throws {
        var rounds = 0
        var last: Int64?
        try await findCursor()
        while true {
            try Task.checkCancellation()
            let (requests, edit) = try await store.prepareRequests(
                max(Self.preparedRequestLimit, batchSize), of: entities, upTo: last, lease)
            last = edit
            guard !requests.isEmpty else { return }
            do {
                count += try await send(requests, &batchSize, rounds: rounds)
            } catch ServiceError.stalePush where rounds < Self.mostRounds {
                rounds += 1
                try await catchUp()
            }
            send(.pushed(rows: count))
            // An in-doubt request is resolved before another change of its row is sent.
            try await recoverAll()
        }
    }

    /// Pulls and merges the changes because of which the service rejected a push.
    private func catchUp() async throws {
        try await pull()
        try await reconcile()
        try await delete()
        send(.phase(.pushing))
    }

    /// - Parameter rounds: The number of pulls that rejected pushes caused.
    /// - Returns: The number of changes that the service applied.
    private func send(
        _ requests: [OutgoingRequest], _ batchSize: inout Int, rounds: Int
    ) async throws -> Int {
        var rest = try await matchRestored(requests)[...]
        var count = 0
        while !rest.isEmpty {
            let batch = Array(rest.prefix(batchSize))
            do {
                try Task.checkCancellation()
                let outcomes = try await pushed(batch)
                rest = rest.dropFirst(batch.count)
                count += try await complete(batch, outcomes)
                await patience.succeeded()
                if service.capabilities.pushesAtomically {
                    batchSize = min(batchSize * 2, service.capabilities.maxBatchSize)
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
                let reason = "the service has another version, even after \(rounds) pulls"
                try await isolate(batch, .failing(reason), &rest, &batchSize)
            } catch let failure as ServiceError where failure.isTransient {
                do {
                    try await patience.wait(after: failure)
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

    /// Returns unsent requests to the outbox after a failure. If the service pushes atomically, the response may have
    /// been lost: the requests stay in doubt, and the next run resolves them.
    private func postpone(_ requests: ArraySlice<OutgoingRequest>, after failure: ServiceError) async throws {
        switch failure {
        case .unreachable, .invalidResponse: if service.capabilities.pushesAtomically { return }
        default: break
        }
        try await postpone(requests)
    }

    /// Finds the rejected change of a batch: halves the batch until the change is alone.
    private func isolate(
        _ batch: [OutgoingRequest], _ outcome: RequestOutcome.Outcome, _ rest: inout ArraySlice<OutgoingRequest>,
        _ batchSize: inout Int
    ) async throws {
        batchSize = max(1, batch.count / 2)
        guard batch.count == 1, let request = batch.first else { return }
        rest = rest.dropFirst()
        record(try await store.complete([RequestOutcome(request: request, outcome: outcome)], serverTime: nil, lease))
    }

    /// Merges rows that this push restores and another device has restored already. A service with idempotency keys
    /// reports such rows on the create. A service with IDs of the client may overwrite them.
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
        guard let id = request.remoteID else { return nil }
        guard case .found(let row)? = try await fetch(id, request.entity), row.record != nil else { return nil }
        return row
    }

    func postpone(_ requests: ArraySlice<OutgoingRequest>) async throws {
        // An earlier attempt may have been applied: such a request stays in doubt.
        let certain = requests.filter { service.capabilities.pushesAtomically || !$0.isTriedAgain }
        let replies = certain.map { RequestOutcome(request: $0, outcome: .postponed) }
        _ = try await store.complete(replies, serverTime: nil, lease)
    }

    /// Resolves a request that the service rejected as too large. A deletion has no large body, so the reason may be
    /// another one that passes.
    func complete(tooLarge request: OutgoingRequest) async throws {
        let reason = "the service rejected the request as too large (HTTP 413)"
        let outcome: RequestOutcome.Outcome = request.kind == .delete ? .failing(reason) : .rejected(reason)
        record(try await store.complete([RequestOutcome(request: request, outcome: outcome)], serverTime: nil, lease))
    }

    /// Stores the outcomes of requests.
    ///
    /// - Parameter isReplay: Whether the requests are in doubt and were sent again unchanged.
    /// - Returns: The number of changes that the service applied.
    func complete(_ requests: [OutgoingRequest], _ outcomes: [PushOutcome], isReplay: Bool = false) async throws -> Int
    {
        var replies: [RequestOutcome] = []
        var done = 0
        var failure: ServiceError?
        for (index, request) in requests.enumerated() {
            // A missing outcome is unknown.
            let answer = index < outcomes.count ? outcomes[index] : .unknown("the service did not answer")
            if case .retry(let after) = answer {
                failure = .retryLater(after: after, "the service asks to retry later")
            }
            let outcome = try await outcome(of: answer, request, isReplay: isReplay)
            switch outcome {
            case .applied:
                done += 1
                recordChanges(of: request.entity) { $0.recordDone(request.kind) }
            case .notFound where request.kind != .create: entitiesWithMissingRows.withLock { $0.insert(request.entity) }
            default: break
            }
            replies.append(RequestOutcome(request: request, outcome: outcome))
        }
        let outcome = try await store.complete(replies, serverTime: nil, lease)
        record(outcome)
        if let failure { try await patience.wait(after: failure) }
        return done
    }

    private func outcome(
        of answer: PushOutcome, _ request: OutgoingRequest, isReplay: Bool
    ) async throws -> RequestOutcome.Outcome {
        let outcome = try await outcome(of: answer, request)
        guard request.kind == .create, isReplay || request.isTriedAgain else { return outcome }
        switch outcome {
        // The row was edited after the attempt that may have created it, and the response may show that attempt.
        case .applied(let row?) where !isReplay && row.record != nil: return .conflict(row)
        case .rejected(let reason) where !isReplay:
            openRequests.withLock { $0.insert(request.id) }
            return .rejectedAfterRetry(reason)
        case .notFound where !isReplay:
            openRequests.withLock { $0.insert(request.id) }
            return .rejectedAfterRetry("the service does not accept rows at this address")
        case .postponed: return .unknown
        default: return outcome
        }
    }

    private func outcome(of outcome: PushOutcome, _ request: OutgoingRequest) async throws -> RequestOutcome.Outcome {
        switch outcome {
        // The service created a row and did not return its ID: look for the row instead of sending the request again.
        case .applied(nil) where request.kind == .create && request.remoteID == nil,
            .silent where request.kind == .create && request.remoteID == nil:
            guard let row = try await find(request) else {
                lookedFor.withLock { $0.insert(request.id) }
                return .accepted(isCertain: outcome != .silent)
            }
            return .applied(PulledPage.Record(row, isWhole: service.capabilities.returnsRecords))
        case .applied(let row):
            return .applied(row.map { PulledPage.Record($0, isWhole: service.capabilities.returnsRecords) })
        case .notFound: return .notFound
        case .rejected(let reason): return .rejected(reason)
        case .unknown, .silent: return .unknown
        case .retry: return .postponed
        case .conflict(let row?), .alreadyExists(let row?): return .conflict(PulledPage.Record(row))
        case .conflict(nil), .alreadyExists(nil):
            guard let id = request.remoteID else { return .rejected("the service already has such a row") }
            switch try await fetch(id, request.entity) {
            case .found(let row)?: return .conflict(PulledPage.Record(row))
            case .forbidden?: return .rejected(FetchOutcome.forbiddenReason)
            case .notFound?: return .notFound
            case nil: return .unknown
            }
        }
    }
}

extension SyncReport.Changes {
    fileprivate mutating func recordDone(_ kind: OutgoingRequest.Kind) {
        switch kind {
        case .create: pushedInserts += 1
        case .update: pushedUpdates += 1
        case .delete: pushedDeletes += 1
        }
    }
}

extension EngineRun {
    func operation(of request: OutgoingRequest) -> PushOperation {
        let kind: PushOperation.Kind =
            switch request.kind {
            case .create: .create
            case .update: .update
            case .delete: .delete
            }
        let paths = memberPaths[request.entity]?.filter { request.body.value(at: $0) != JSONValue?.none }
        return PushOperation(
            entity: request.entity, kind: kind, id: request.remoteID, record: request.body, fieldPaths: paths,
            version: request.version, cursor: cursor.value, idempotencyKey: request.idempotencyKey)
    }
}

extension PulledPage.Record {
    fileprivate init(_ row: RemoteRecord, isWhole: Bool) {
        var row = row
        row.isComplete = row.isComplete && isWhole
        self.init(row)
    }
}

// MARK: - Checking responses

// A response is used only if it has the requested row. A cache may return another row: the outcome is then unknown.
extension EngineRun {
    /// Sends changes. The outcome is unknown if the response has another row.
    ///
    /// - Parameter isReplay: Whether the requests are in doubt.
    func pushed(_ requests: [OutgoingRequest], isReplay: Bool = false) async throws -> [PushOutcome] {
        let outcomes = try await service.pushed(requests.map(operation))
        var counts: [AnsweredRow: Int] = [:]
        for (request, outcome) in zip(requests, outcomes) {
            if let row = outcome.row { counts[AnsweredRow(entity: request.entity, id: row.id), default: 0] += 1 }
        }
        var checked: [PushOutcome] = []
        for (request, outcome) in zip(requests, outcomes) {
            guard let row = outcome.row else {
                checked.append(outcome)
                continue
            }
            let isRepeated = counts[AnsweredRow(entity: request.entity, id: row.id), default: 0] > 1
            let isAnswer = try await isAnswer(row, to: request, isReplay: isReplay, isRepeated: isRepeated)
            checked.append(isAnswer ? outcome : .unknown(service.hidingSecrets(in: row.otherRowReason)))
        }
        return checked
    }

    /// Fetches the record of a row.
    ///
    /// - Returns: Nil if the response has another row, or no row.
    func fetch(_ id: JSONValue, _ entity: String) async throws -> FetchOutcome? {
        let rows = try await asking { [service] in try await service.fetch([id], of: entity) }
        return try checked(rows.first, id, entity)
    }

    /// Returns the response to a fetch; nil if it has another row.
    func checked(_ answer: FetchOutcome?, _ id: JSONValue, _ entity: String) throws -> FetchOutcome? {
        if case .found(let row)? = answer, try !store.areSame(row.id, id, of: entity) { return nil }
        return answer
    }

    /// Returns whether a record is the row of a request.
    ///
    /// - Parameter isRepeated: Whether the outcomes of several requests have this record.
    private func isAnswer(
        _ row: RemoteRecord, to request: OutgoingRequest, isReplay: Bool, isRepeated: Bool
    ) async throws -> Bool {
        if let id = request.remoteID {
            if try store.areSame(row.id, id, of: request.entity) { return true }
            guard operation(of: request).mayGiveAnotherID else { return false }
        }
        if request.kind == .create, !isRepeated {
            // The lost attempt may have created the row, and a pull may have stored it since.
            let since = isReplay || request.isTriedAgain ? request.edit : nil
            if try await !store.unknown([row.id], of: request.entity, since: since).isEmpty { return true }
            // Another device restored the row with the same key, and a pull stored its row: the service always returns
            // that row.
            if request.isRestoration, request.attempts >= Self.mostTries - 1 { return true }
        }
        return isSame(row, request)
    }
}

/// The row that a response has.
private struct AnsweredRow: Hashable {
    let entity: String
    let id: JSONValue
}

extension PushOutcome {
    /// The record that a response has.
    fileprivate var row: RemoteRecord? {
        switch self {
        case .applied(let row), .conflict(let row), .alreadyExists(let row): row
        case .notFound, .retry, .rejected, .unknown, .silent: nil
        }
    }
}

extension PushOperation {
    /// Whether the row may have another ID afterwards: a new row, or a row whose composite key changes.
    var mayGiveAnotherID: Bool {
        switch (kind, id) {
        case (.create, _), (.update, .array?): true
        case (.update, _), (.delete, _): false
        }
    }
}
