import Foundation
import SyncCore
import SyncStore

// The service may have applied an in-doubt request. The engine resolves such a request before the pull. Otherwise the
// pull would insert a second row for a record that the request created.
extension OutboxRun {
    /// The most attempts for a request whose outcome stays unknown.
    static let mostTries = 3

    /// Resolves the in-doubt requests of earlier runs.
    ///
    /// - Parameter isBeforePull: Whether a pull follows before the push.
    func recover(isBeforePull: Bool = false) async throws {
        if run.start.hasInDoubtRequests { try await recoverAll(isBeforePull: isBeforePull) }
    }

    /// Resolves the in-doubt requests, including those of this run, except those that the run could not resolve or
    /// resolves later.
    func recoverAll(isBeforePull: Bool = false) async throws {
        var requests = try await unanswered(isBeforePull: isBeforePull)
        if !requests.isEmpty { run.send(.phase(.recovering)) }
        if service.capabilities.pushesAtomically, !requests.isEmpty {
            // The push sends the requests again. If the service had applied them, the last pull returned their changes,
            // or the service rejects the push as outdated.
            let replies = requests.map { RequestOutcome(request: $0, outcome: .inDoubt) }
            _ = try await store.complete(replies, serverTime: nil, lease)
            return
        }
        while !requests.isEmpty {
            for request in requests {
                if isBeforePull, try await resolveOrPostpone(request) { continue }
                try await recover(request)
            }
            requests = try await unanswered(isBeforePull: isBeforePull)
        }
    }

    /// Resolves a create whose row the service has, or postpones the create until after the pull, so that a row that the
    /// service never accepts does not prevent the pull. With client IDs, another device may have deleted the row, and
    /// the pull must return its tombstone first. See `LocalRowState.isTried`.
    ///
    /// - Returns: False if the request does not depend on the pull.
    private func resolveOrPostpone(_ request: OutgoingRequest) async throws -> Bool {
        guard request.operation.kind == .create, request.acceptedAtEdit == nil else { return false }
        switch service.capabilities.createIdempotency {
        case .idempotencyKey: return false
        case .clientID:
            guard service.capabilities.deletionDetection == .tombstones, request.operation.id != nil else {
                return false
            }
        case .markerField, .matchByContent: try await waitForInDoubtRequest(request)
        }
        if let outcome = try await outcome(ofCreated: request) {
            _ = try await complete([request], [outcome], isReplay: true)
            return true
        }
        createsAfterPull.withLock { $0.insert(request.id) }
        if service.capabilities.createIdempotency == .clientID {
            _ = try await store.complete([RequestOutcome(request: request, outcome: .unknown)], serverTime: nil, lease)
        }
        return true
    }

    private func unanswered(isBeforePull: Bool) async throws -> [OutgoingRequest] {
        try await store.inDoubtRequests(lease).filter {
            !unresolvedRequests.value.contains($0.id) && !searchedCreates.value.contains($0.id)
                && !(isBeforePull && createsAfterPull.value.contains($0.id))
        }
    }

    private func recover(_ request: OutgoingRequest) async throws {
        if request.acceptedAtEdit != nil {
            if try await isListed(request) || !isOverdue(request) { return }
            guard request.isSentOnceMore else { return try await block(notListed: request) }
        }
        let outcome: PushOutcome
        do {
            guard let found = try await whatBecame(of: request) else { return leaveToNextRun(request) }
            outcome = found
        } catch ServiceError.payloadTooLarge {
            return try await complete(tooLarge: request)
        }
        if case .notFound = outcome, request.operation.kind == .create, try await isAbsent(request) {
            return try await complete(usedID: request)
        }
        if let reason = outcome.refusal, mayHaveCreatedRow(request) { return try await refusedAgain(request, reason) }
        guard case .unknown(let reason) = outcome else {
            _ = try await complete([request], [outcome], isReplay: true)
            return
        }
        guard request.attempts >= Self.mostTries - 1 else {
            _ = try await complete([request], [outcome])
            return try await wait(after: .unreachable(reason), request)
        }
        // The service accepts other requests, so the failure concerns only this row and does not stop the others.
        if isSearched(request) {
            guard try await mayWaitForInDoubtRequest(since: configuration.clock.now()) else {
                _ = try await complete([request], [outcome])
                return leaveToNextRun(request)
            }
            if let row = try await find(request) {
                _ = try await complete([request], [.applied(row)])
                return
            }
        } else {
            try await checkThatServiceResponds(request)
        }
        let failure = "the service failed \(Self.mostTries) times: \(reason)"
        if mayHaveCreatedRow(request) { return try await leaveOpen(request, failure) }
        try await complete(request, as: .failing(failure))
    }

    // MARK: Accepted rows that the service does not list yet

    /// The delays, as fractions of ``SyncEngine/Configuration/inDoubtTimeout``, after which the run looks again for
    /// accepted rows that the service did not list.
    private static let pauses = [1.0, 2, 4, 8].map { $0 / 15 }

    /// Waits until the service lists the rows that it accepted, at most for
    /// ``SyncEngine/Configuration/inDoubtTimeout``. Then blocks the changes of rows that the service still does not
    /// list, unless a later run sends them once more. If ``SyncEngine/Configuration/retryTimeout`` ends the wait,
    /// blocks no changes.
    ///
    /// - Returns: Whether the service now lists any of these rows.
    func waitForAcceptedRows() async throws -> Bool {
        guard run.start.hasInDoubtRequests || !searchedCreates.value.isEmpty else { return false }
        var isAnyListed = false
        for part in Self.pauses {
            let requests = try await acceptedRequests()
            guard !requests.isEmpty else { return isAnyListed }
            let seconds = configuration.inDoubtTimeout.seconds * part
            guard try await run.backoff.pauses(seconds, "the service accepted a row that it does not list yet") else {
                return isAnyListed
            }
            for request in requests {
                if try await isListed(request) { isAnyListed = true }
            }
        }
        for request in try await acceptedRequests() where !request.isSentOnceMore {
            try await block(notListed: request)
        }
        return isAnyListed
    }

    private func acceptedRequests() async throws -> [OutgoingRequest] {
        try await store.inDoubtRequests(lease).filter {
            $0.acceptedAtEdit != nil && !unresolvedRequests.value.contains($0.id)
        }
    }

    /// Looks for the row of an accepted request, and completes the request if the service lists the row.
    private func isListed(_ request: OutgoingRequest) async throws -> Bool {
        searchedCreates.withLock { $0.insert(request.id) }
        guard let row = try await find(request) else { return false }
        _ = try await complete([request], [.applied(row)], isReplay: true)
        return true
    }

    private func isOverdue(_ request: OutgoingRequest) -> Bool {
        configuration.clock.now().timeIntervalSince(request.preparedDate) >= configuration.inDoubtTimeout.seconds
    }

    private func block(notListed request: OutgoingRequest) async throws {
        leaveToNextRun(request)
        let reason = "the service accepted the row but does not list it; the row is not sent again"
        try await complete(request, as: .notListed(reason))
    }

    /// Returns whether an earlier attempt may have created the row. It cannot have done so if the engine looks for the
    /// row before it repeats a create.
    private func mayHaveCreatedRow(_ request: OutgoingRequest) -> Bool {
        request.operation.kind == .create && service.capabilities.mayRepeatCreates
    }

    /// Resolves a create that the service rejected when it was repeated. An earlier attempt may have created the row.
    /// If the row is not found, the change is blocked, and the request keeps its idempotency key.
    private func refusedAgain(_ request: OutgoingRequest, _ reason: String) async throws {
        if let id = request.operation.id, case .found(let row)? = try await fetch(id, request.operation.entity) {
            _ = try await complete([request], [.conflict(row)])
            return
        }
        if request.operation.id == nil {
            try await waitForInDoubtRequest(request)
            if let row = try await find(request) {
                _ = try await complete([request], [.applied(row)])
                return
            }
        }
        try await leaveOpen(request, reason)
    }

    private func leaveOpen(_ request: OutgoingRequest, _ reason: String) async throws {
        leaveToNextRun(request)
        try await complete(request, as: .rejectedAfterRetry(reason))
    }

    /// Returns whether the engine looks for the row of a request in the list of the service.
    private func isSearched(_ request: OutgoingRequest) -> Bool {
        request.operation.kind == .create && !mayHaveCreatedRow(request)
    }

    /// Leaves a request in doubt until the next run.
    func leaveToNextRun(_ request: OutgoingRequest) { unresolvedRequests.withLock { $0.insert(request.id) } }

    /// Waits before the next attempt of a request. If the run may not wait that long but the service responds, leaves a
    /// create that is searched for to the next run, so that it does not stop the other changes.
    private func wait(after failure: ServiceError, _ request: OutgoingRequest) async throws {
        do {
            try await run.backoff.wait(after: failure)
        } catch is ServiceError where isSearched(request) {
            try await checkThatServiceResponds(request)
            leaveToNextRun(request)
        }
    }

    private func checkThatServiceResponds(_ request: OutgoingRequest) async throws {
        _ = try await run.asking { [service] in
            try await service.pull(PullRequest(entity: request.operation.entity, cursor: nil))
        }
    }

    /// Determines the outcome of an in-doubt request; nil if the run may not wait long enough to determine it.
    private func whatBecame(of request: OutgoingRequest) async throws -> PushOutcome? {
        switch request.operation.kind {
        case .create:
            // The service did not have the row before the pull.
            if createsAfterPull.withLock({ $0.remove(request.id) }) != nil { return try await again(request) }
            if isSearched(request), try await !mayWaitForInDoubtRequest(since: request.preparedDate) { return nil }
            if let outcome = try await outcome(ofCreated: request) { return outcome }
            return try await again(request)
        case .update, .delete:
            guard let id = request.operation.id else { return .rejected("the row has no remote ID") }
            switch try await fetch(id, request.operation.entity) {
            case .found(let row)? where row.version != nil && row.version == request.operation.version:
                return try await again(request)
            // Merge the record. The service may have applied the update, so that fields are equal on both sides. Another
            // device may have edited the row that is to be deleted, or a new row may have its ID.
            case .found(let row)?: return .conflict(row)
            case .forbidden?: return .rejected(FetchOutcome.forbiddenReason)
            case .notFound?: return request.operation.kind == .delete ? .applied(nil) : .notFound
            case nil: return .unknown("the service returned a row other than the requested one")
            }
        }
    }

    /// Returns the outcome of a create whose row the service has; nil if the service does not have the row, or if
    /// repeating the request does not create a second row.
    private func outcome(ofCreated request: OutgoingRequest) async throws -> PushOutcome? {
        if service.capabilities.createIdempotency == .idempotencyKey { return nil }
        // A row with a composite key has an ID that the client assigned.
        if let id = request.operation.id, case .found(let row)? = try await fetch(id, request.operation.entity),
            row.record != nil
        {
            return .conflict(row)
        }
        return isSearched(request) ? try await find(request).map { .applied($0) } : nil
    }

    /// Resolves a create whose ID the service rejects although it has no row with the ID. A restored row has its former
    /// ID and gets a new one. In any other case, an earlier attempt created the row, and another device deleted it.
    private func complete(usedID request: OutgoingRequest) async throws {
        if request.isRestoration {
            _ = try await complete([request], [.notFound], isReplay: true)
        } else {
            try await complete(request, as: .createdThenDeleted)
        }
    }

    private func isAbsent(_ request: OutgoingRequest) async throws -> Bool {
        guard let id = request.operation.id, case .notFound? = try await fetch(id, request.operation.entity) else {
            return false
        }
        return true
    }

    private func again(_ request: OutgoingRequest) async throws -> PushOutcome {
        let outcome = try await run.asking { try await pushed([request], isReplay: true).first }
        switch outcome {
        // The request without a response created this row.
        case .alreadyExists(let row?): return .conflict(row)
        case .alreadyExists(nil):
            guard let id = request.operation.id else { return .rejected("the service already has such a row") }
            guard case .found(let row)? = try await fetch(id, request.operation.entity) else {
                return .unknown("the service reports that the row exists, but does not return it")
            }
            return .conflict(row)
        case let outcome?: return outcome
        case nil: return .unknown("the service returned no outcome for the change")
        }
    }

    /// Waits until the service can no longer apply an in-doubt request.
    private func waitForInDoubtRequest(_ request: OutgoingRequest) async throws {
        let deadline = request.preparedDate.addingTimeInterval(configuration.inDoubtTimeout.seconds)
        guard secondsInDoubt(since: request.preparedDate) > 0 else { return }
        try await run.backoff.wait(until: deadline, Self.inDoubtReason)
    }

    /// Waits until the service can no longer apply an in-doubt request.
    ///
    /// - Returns: False if the run may not wait that long.
    private func mayWaitForInDoubtRequest(since sent: Date) async throws -> Bool {
        let seconds = secondsInDoubt(since: sent)
        return seconds > 0 ? try await run.backoff.pauses(seconds, Self.inDoubtReason) : true
    }

    private static let inDoubtReason = "an in-doubt request may still be executed"

    /// Returns how long the service may still apply a request. If the clock was set back, the time is not known, and
    /// the result is 0.
    private func secondsInDoubt(since sent: Date) -> Double {
        let limit = configuration.inDoubtTimeout.seconds
        let rest = sent.addingTimeInterval(limit).timeIntervalSince(configuration.clock.now())
        return rest <= limit ? rest : 0
    }

    /// Looks for the row that a request created: by its marker field, its natural key, or its values. Without a marker
    /// field, ignores rows that the store already knew. Returns nil if the service does not list the row.
    func find(_ request: OutgoingRequest) async throws -> RemoteRecord? {
        let isMarked = service.capabilities.markerField != nil
        var trail = PageLoopDetector(request.operation.entity)
        while true {
            let pull = PullRequest(entity: request.operation.entity, cursor: nil, page: trail.page)
            let response = try await run.asking { [service] in try await service.pull(pull) }
            let candidates = response.records.filter { isSame($0, request) }
            let unknown =
                isMarked
                ? []
                : try await store.unknown(
                    candidates.map(\.id), of: request.operation.entity, since: request.acceptedAtEdit)
            if let found = candidates.first(where: { isMarked || unknown.contains($0.id) }) { return found }
            guard try trail.hasNext(response.nextPage, after: response.records.map(\.id)) else { return nil }
        }
    }

    /// Returns whether a record is the row of a request: by its marker field, its natural key, or its values.
    func isSame(_ row: RemoteRecord, _ request: OutgoingRequest) -> Bool {
        guard let record = row.record else { return false }
        if let name = service.capabilities.markerField {
            return record[name] == .string(request.operation.idempotencyKey)
        }
        let own = service.serverOwnedFields(of: request.operation.entity)
        return record.contains(request.naturalKey ?? own.reduce(request.operation.record) { $0.without(at: $1) })
    }
}

extension ServiceCapabilities {
    /// Whether a repeated create makes no second row.
    var mayRepeatCreates: Bool {
        switch createIdempotency {
        case .idempotencyKey, .clientID: true
        case .markerField, .matchByContent: false
        }
    }
}

extension OutgoingRequest {
    fileprivate var preparedDate: Date { Date(timeIntervalSince1970: Double(preparedAt) / 1000) }
}

extension PushOutcome {
    /// The reason of a rejection or of `notFound`; nil for other outcomes.
    fileprivate var refusal: String? {
        switch self {
        case .rejected(let reason): reason
        case .notFound: RequestOutcome.unacceptedRowReason
        case .applied, .conflict, .alreadyExists, .retry, .unknown, .silent: nil
        }
    }
}

extension JSONValue {
    /// Returns whether a value has all members of another value, at every depth. A service may omit null values and
    /// empty lists, and may return lists in another order.
    func contains(_ other: JSONValue) -> Bool {
        switch (self, other) {
        case (.object, .object(let members)):
            members.allSatisfy { member in
                self[member.key].map { $0.contains(member.value) } ?? [.null, .array([])].contains(member.value)
            }
        case (.number(let left), .number(let right)): left == right || Double(left) == Double(right)
        case (.string(let left), .string(let right)):
            left == right || Date(isoText: left).map { $0 == Date(isoText: right) } ?? false
        case (.array(let left), .array(let right)):
            left.count == right.count && right.allSatisfy { element in left.contains { $0.contains(element) } }
        default: self == other
        }
    }
}
