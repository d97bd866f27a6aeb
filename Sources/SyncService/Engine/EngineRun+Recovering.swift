import Foundation
import SyncCore
import SyncStore

// The service may have applied an in-doubt request. It is resolved before the pull: a row that it created would
// otherwise be pulled as a second row.
extension EngineRun {
    /// The most attempts for a request whose outcome stays unknown.
    static let mostTries = 3

    /// Resolves the in-doubt requests of earlier runs.
    ///
    /// - Parameter isBeforePull: Whether a pull follows before the push.
    func recover(isBeforePull: Bool = false) async throws {
        if start.hasInDoubtRequests { try await recoverAll(isBeforePull: isBeforePull) }
    }

    /// Resolves all in-doubt requests, including those of this run.
    func recoverAll(isBeforePull: Bool = false) async throws {
        var requests = try await unanswered()
        if !requests.isEmpty { send(.phase(.recovering)) }
        if service.capabilities.pushesAtomically, !requests.isEmpty {
            // They are sent again. If the service applied them, the last pull shows it, or the service rejects the push
            // as outdated.
            let replies = requests.map { RequestOutcome(request: $0, outcome: .inDoubt) }
            _ = try await store.complete(replies, serverTime: nil, lease)
            return
        }
        while !requests.isEmpty {
            for request in requests {
                if isBeforePull, try await holdsBack(request) { continue }
                try await recover(request)
            }
            requests = try await unanswered()
        }
    }

    /// Returns whether a create waits for the pull. Its row may have been created and then deleted by another device:
    /// the tombstone must be pulled first. See `LocalRowState.isTried`.
    private func holdsBack(_ request: OutgoingRequest) async throws -> Bool {
        let capabilities = service.capabilities
        guard request.kind == .create, capabilities.createIdempotency == .clientID,
            capabilities.deletionDetection == .tombstones, let id = request.remoteID
        else { return false }
        if case .found(let row)? = try await fetch(id, request.entity) {
            _ = try await complete([request], [.conflict(row)])
            return true
        }
        heldBack.withLock { $0.insert(request.id) }
        _ = try await store.complete([RequestOutcome(request: request, outcome: .unknown)], serverTime: nil, lease)
        return true
    }

    private func unanswered() async throws -> [OutgoingRequest] {
        try await store.inDoubtRequests(lease).filter {
            !openRequests.value.contains($0.id) && !heldBack.value.contains($0.id) && !lookedFor.value.contains($0.id)
        }
    }

    private func recover(_ request: OutgoingRequest) async throws {
        if request.acceptedAtEdit != nil {
            if try await isListed(request) || !isOverdue(request) { return }
            guard request.isSentOnceMore else { return try await block(notListed: request) }
        }
        let outcome: PushOutcome
        do {
            outcome = try await whatBecame(of: request)
        } catch ServiceError.payloadTooLarge {
            return try await complete(tooLarge: request)
        }
        if case .notFound = outcome, request.kind == .create, try await isAbsent(request) {
            return try await complete(usedID: request)
        }
        if let reason = outcome.refusal, mayBeMade(request) { return try await refusedAgain(request, reason) }
        guard case .unknown(let reason) = outcome else {
            _ = try await complete([request], [outcome], isReplay: true)
            return
        }
        guard request.attempts >= Self.mostTries - 1 else {
            _ = try await complete([request], [outcome])
            return try await patience.wait(after: .unreachable(reason))
        }
        // The service accepts other requests, so the failure belongs to this row and does not stop the others.
        if let row = try await foundAtLast(request) {
            _ = try await complete([request], [.applied(row)])
            return
        }
        let failure = "the service failed \(Self.mostTries) times: \(reason)"
        if mayBeMade(request) { return try await leaveOpen(request, failure) }
        let failed = RequestOutcome(request: request, outcome: .failing(failure))
        record(try await store.complete([failed], serverTime: nil, lease))
    }

    // MARK: Accepted rows that the service does not list yet

    /// The delays, as fractions of `EngineSettings.settleTime`, before the run asks again for accepted rows that the
    /// service does not list.
    private static let pauses = [1.0, 2, 4, 8].map { $0 / 15 }

    /// Waits for accepted rows that the service does not list yet, as far as `EngineSettings.patience` allows. Blocks
    /// the rows that it still does not list. This run sends none of them again.
    ///
    /// - Returns: Whether the service lists any of them now.
    func waitForAcceptedRows() async throws -> Bool {
        guard start.hasInDoubtRequests || !lookedFor.value.isEmpty else { return false }
        var isAnyListed = false
        for part in Self.pauses {
            let requests = try await acceptedRequests()
            guard !requests.isEmpty else { return isAnyListed }
            let seconds = settings.inDoubtTimeout.seconds * part
            guard try await patience.pauses(seconds, "the service accepted a row that it does not list yet") else {
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
            $0.acceptedAtEdit != nil && !openRequests.value.contains($0.id)
        }
    }

    /// Looks for the row of an accepted request.
    private func isListed(_ request: OutgoingRequest) async throws -> Bool {
        lookedFor.withLock { $0.insert(request.id) }
        guard let row = try await find(request) else { return false }
        _ = try await complete([request], [.applied(row)], isReplay: true)
        return true
    }

    private func isOverdue(_ request: OutgoingRequest) -> Bool {
        let taken = Date(timeIntervalSince1970: Double(request.preparedAt) / 1000)
        return settings.clock.now().timeIntervalSince(taken) >= settings.inDoubtTimeout.seconds
    }

    private func block(notListed request: OutgoingRequest) async throws {
        openRequests.withLock { $0.insert(request.id) }
        let reason = "the service accepted the row but does not list it; the row is not sent again"
        record(
            try await store.complete(
                [RequestOutcome(request: request, outcome: .notListed(reason))], serverTime: nil, lease))
    }

    /// Returns whether an in-doubt attempt may have created the row. If the engine looks for rows before it sends
    /// again, it has not.
    private func mayBeMade(_ request: OutgoingRequest) -> Bool {
        guard request.kind == .create else { return false }
        switch service.capabilities.createIdempotency {
        case .idempotencyKey, .clientID: return true
        case .markerField, .matchByContent: return false
        }
    }

    /// Handles a rejected repetition. The earlier attempt may have created the row: if it is not found, the change is
    /// blocked with its key.
    private func refusedAgain(_ request: OutgoingRequest, _ reason: String) async throws {
        if let id = request.remoteID, case .found(let row)? = try await fetch(id, request.entity) {
            _ = try await complete([request], [.conflict(row)])
            return
        }
        if request.remoteID == nil {
            try await waitForInDoubtRequest(since: Date(timeIntervalSince1970: Double(request.preparedAt) / 1000))
            if let row = try await find(request) {
                _ = try await complete([request], [.applied(row)])
                return
            }
        }
        try await leaveOpen(request, reason)
    }

    private func leaveOpen(_ request: OutgoingRequest, _ reason: String) async throws {
        openRequests.withLock { $0.insert(request.id) }
        let outcome = RequestOutcome(request: request, outcome: .rejectedAfterRetry(reason))
        record(try await store.complete([outcome], serverTime: nil, lease))
    }

    /// Returns the row that the last attempt created, if there is one.
    private func foundAtLast(_ request: OutgoingRequest) async throws -> RemoteRecord? {
        switch (request.kind, service.capabilities.createIdempotency) {
        case (.create, .markerField), (.create, .matchByContent):
            try await waitForInDoubtRequest(since: settings.clock.now())
            return try await find(request)
        case (.create, _), (.update, _), (.delete, _):
            _ = try await asking { [service] in
                try await service.pull(PullRequest(entity: request.entity, cursor: nil))
            }
            return nil
        }
    }

    private func whatBecame(of request: OutgoingRequest) async throws -> PushOutcome {
        switch request.kind {
        case .create:
            switch service.capabilities.createIdempotency {
            // The service creates no second row.
            case .clientID, .idempotencyKey: return try await again(request)
            case .markerField, .matchByContent:
                // Rows with a composite key have their ID from the client.
                if let id = request.remoteID, case .found(let row)? = try await fetch(id, request.entity) {
                    return .conflict(row)
                }
                try await waitForInDoubtRequest(since: Date(timeIntervalSince1970: Double(request.preparedAt) / 1000))
                if let row = try await find(request) { return .applied(row) }
                return try await again(request)
            }
        case .update:
            guard let id = request.remoteID else { return .rejected("the row has no ID") }
            switch try await fetch(id, request.entity) {
            case .found(let row)? where row.version != nil && row.version == request.version:
                return try await again(request)
            // Merge: the fields that were applied are the same on both sides.
            case .found(let row)?: return .conflict(row)
            case .forbidden?: return .rejected(FetchOutcome.forbiddenReason)
            case .notFound?: return .notFound
            case nil: return .unknown("the service returned another row than the requested one")
            }
        case .delete: return try await again(request)
        }
    }

    /// Resolves a create whose ID the service rejects although it has no such row. A restored row has its former ID and
    /// gets another one. Any other row was created by an earlier attempt and has been deleted by another device.
    private func complete(usedID request: OutgoingRequest) async throws {
        if request.isRestoration {
            _ = try await complete([request], [.notFound], isReplay: true)
        } else {
            record(
                try await store.complete(
                    [RequestOutcome(request: request, outcome: .deletedSinceMade)], serverTime: nil, lease))
        }
    }

    private func isAbsent(_ request: OutgoingRequest) async throws -> Bool {
        guard let id = request.remoteID, case .notFound? = try await fetch(id, request.entity) else { return false }
        return true
    }

    private func again(_ request: OutgoingRequest) async throws -> PushOutcome {
        let outcome = try await asking { try await pushed([request], isReplay: true).first }
        switch outcome {
        // The lost request created this row.
        case .alreadyExists(let row?): return .conflict(row)
        case .alreadyExists(nil):
            guard let id = request.remoteID else { return .rejected("the service already has such a row") }
            guard case .found(let row)? = try await fetch(id, request.entity) else {
                return .unknown("the service reports that the row exists, but does not return it")
            }
            return .conflict(row)
        case let outcome?: return outcome
        case nil: return .unknown("the service did not answer")
        }
    }

    /// Waits as long as the service may still apply the request.
    private func waitForInDoubtRequest(since sent: Date) async throws {
        let deadline = sent.addingTimeInterval(settings.inDoubtTimeout.seconds)
        let rest = deadline.timeIntervalSince(settings.clock.now())
        guard rest > 0, rest <= settings.inDoubtTimeout.seconds else { return }
        try await patience.wait(until: deadline, "an in-doubt request may still be executed")
    }

    /// Looks for the row that a request created: by its marker, or by its values among the rows that the store does not
    /// know.
    func find(_ request: OutgoingRequest) async throws -> RemoteRecord? {
        let isMarked = service.capabilities.markerField != nil
        var trail = PageLoopDetector(request.entity)
        while true {
            let pull = PullRequest(entity: request.entity, cursor: nil, page: trail.page)
            let answer = try await asking { [service] in try await service.pull(pull) }
            let candidates = answer.records.filter { isSame($0, request) }
            let unknown =
                isMarked
                ? []
                : try await store.unknown(
                    candidates.map(\.id), of: request.entity, since: request.acceptedAtEdit)
            if let found = candidates.first(where: { isMarked || unknown.contains($0.id) }) { return found }
            guard try trail.hasNext(answer.nextPage, after: answer.records.map(\.id)) else { return nil }
        }
    }

    /// Returns whether a record is the row that a request creates: by its marker, or by its values.
    func isSame(_ row: RemoteRecord, _ request: OutgoingRequest) -> Bool {
        guard let record = row.record else { return false }
        if let name = service.capabilities.markerField {
            return record[name] == .string(request.idempotencyKey)
        }
        let own = service.serverOwnedFields(of: request.entity)
        return record.contains(request.naturalKey ?? own.reduce(request.body) { $0.without(at: $1) })
    }
}

extension PushOutcome {
    /// The reason of a rejection; nil for other outcomes.
    fileprivate var refusal: String? {
        switch self {
        case .rejected(let reason): reason
        case .notFound: "the service does not accept rows at this address"
        case .applied, .conflict, .alreadyExists, .retry, .unknown, .silent: nil
        }
    }
}

extension JSONValue {
    /// Returns whether an object has all members of another one, at every depth. A service may omit null values and
    /// empty lists. Lists of IDs have no order.
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
