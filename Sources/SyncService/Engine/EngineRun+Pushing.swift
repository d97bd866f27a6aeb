import SyncCore
import SyncStore

// T5 and T6: what is sent is kept before it is sent, and settled by what became of it.
extension EngineRun {
    private static let freezeSize = 100
    /// So often a push is made again because something changed meanwhile.
    private static let mostRounds = 4

    func push() async throws {
        tell(.phase(.pushing))
        heldBack.withLock { $0 = [] }
        try await recover()
        var batchSize = max(1, service.capabilities.batchSize)
        // A row may have been refused because of one that is known to be gone by now.
        if report.value.total.deleted > 0 { _ = try await store.retryBlocked(entities, lease) }
        // What a refused row belongs to may be there by now, or again.
        if start.isAnyBlocked || report.value.total.parked > 0 { _ = try await store.retryBelow(entities, lease) }
        var count = try await pushAll(&batchSize)
        // What waits below a row that the service took can be sent once that is listed.
        if try await awaitTaken() {
            count += try await pushAll(&batchSize)
            tell(.pushed(rows: count))
        }
        // What is unique on the server may have been taken by a row that is deleted by now.
        let changes = report.value.total
        guard changes.parked > 0 else { return }
        let freed = changes.removed > 0 ? try await store.retryBlocked(entities, lease) : 0
        let below = changes.created > 0 ? try await store.retryBelow(entities, lease) : 0
        guard freed + below > 0 else { return }
        count += try await pushAll(&batchSize)
        tell(.pushed(rows: count))
    }

    /// Deletes what the service turned out not to have any more, and sends what comes back by that.
    func pushAfterDeletions() async throws {
        guard !foundGone.value.isEmpty else { return }
        try await delete()
        try await push()
    }

    /// Sends what was edited when this began, and once more what was edited meanwhile. Later edits are of the next run.
    ///
    /// - Returns: How many changes were done.
    private func pushAll(_ batchSize: inout Int) async throws -> Int {
        var count = 0
        for _ in 0..<2 { try await pushEdited(&batchSize, &count) }
        return count
    }

    private func pushEdited(_ batchSize: inout Int, _ count: inout Int) async throws {
        var rounds = 0
        var last: Int64?
        try await findCursor()
        while true {
            try Task.checkCancellation()
            let (requests, edit) = try await store.freeze(
                max(Self.freezeSize, batchSize), of: entities, upTo: last, lease)
            last = edit
            guard !requests.isEmpty else { return }
            do {
                count += try await send(requests, &batchSize, rounds: rounds)
            } catch ServiceError.outdated where rounds < Self.mostRounds {
                rounds += 1
                try await catchUp()
            }
            tell(.pushed(rows: count))
            // What became of a request that was not answered is asked before anything else of its row is sent.
            try await recoverAll()
        }
    }

    /// Pulls and merges what kept a push from being done.
    private func catchUp() async throws {
        try await pull()
        try await sweep()
        try await delete()
        tell(.phase(.pushing))
    }

    /// - Parameter rounds: How often what changed was pulled because a push was refused.
    /// - Returns: How many were done.
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
                count += try await settle(batch, outcomes)
                await patience.succeeded()
                if service.capabilities.pushesTogether {
                    batchSize = min(batchSize * 2, service.capabilities.batchSize)
                }
            } catch ServiceError.tooLarge {
                if batch.count == 1, let request = batch.first {
                    rest = rest.dropFirst()
                    try await settle(tooLarge: request)
                }
                batchSize = max(1, batch.count / 2)
            } catch ServiceError.refusedTogether(let reason) {
                // It may be the service's word for what should have been pulled.
                guard rounds > 0 else {
                    try await postpone(rest)
                    throw ServiceError.outdated
                }
                try await isolate(batch, .rejected(reason), &rest, &batchSize)
            } catch ServiceError.outdated where rounds >= Self.mostRounds {
                let reason = "the service has another version, though it was pulled \(rounds) times"
                try await isolate(batch, .failing(reason), &rest, &batchSize)
            } catch let failure as ServiceError where failure.isTransient {
                do {
                    try await patience.wait(after: failure)
                } catch {
                    try await leave(rest, after: failure)
                    throw error
                }
            } catch let failure as ServiceError {
                try await leave(rest, after: failure)
                throw failure
            }
        }
        return count
    }

    /// A service that fails did nothing. But of a push that is done as a whole the answer may have been lost: the next run finds
    /// requests that were never answered, and what became of their rows meanwhile.
    private func leave(_ requests: ArraySlice<OutgoingRequest>, after failure: ServiceError) async throws {
        switch failure {
        case .unreachable, .malformed: if service.capabilities.pushesTogether { return }
        default: break
        }
        try await postpone(requests)
    }

    /// Of changes that were refused together finds the one that is to blame: sends half as many, until it is alone.
    private func isolate(
        _ batch: [OutgoingRequest], _ outcome: RequestOutcome.Outcome, _ rest: inout ArraySlice<OutgoingRequest>,
        _ batchSize: inout Int
    ) async throws {
        batchSize = max(1, batch.count / 2)
        guard batch.count == 1, let request = batch.first else { return }
        rest = rest.dropFirst()
        record(try await store.settle([RequestOutcome(request: request, outcome: outcome)], serverTime: nil, lease))
    }

    /// What another device has brought back already is merged with what is here. A service with keys says so itself when it is asked to
    /// make the row; one with ids of the client's may write over it.
    ///
    /// - Returns: The others.
    private func matchRestored(_ requests: [OutgoingRequest]) async throws -> [OutgoingRequest] {
        let isNamed = service.capabilities.createIdempotency == .clientID
        guard service.capabilities.marker != nil || isNamed, requests.contains(where: \.isRevival) else {
            return requests
        }
        var rest: [OutgoingRequest] = []
        for request in requests {
            if request.isRevival, let row = try await isNamed ? fetchRevived(request) : find(request) {
                _ = try await settle([request], [.exists(row)])
            } else {
                rest.append(request)
            }
        }
        return rest
    }

    private func fetchRevived(_ request: OutgoingRequest) async throws -> RemoteRecord? {
        guard let id = request.remoteID else { return nil }
        guard case .found(let row)? = try await fetch(id, request.entity), row.record != nil else { return nil }
        return row
    }

    func postpone(_ requests: ArraySlice<OutgoingRequest>) async throws {
        // Of one that may have been carried out before nobody can say that it was not.
        let certain = requests.filter { service.capabilities.pushesTogether || !$0.isTriedAgain }
        let replies = certain.map { RequestOutcome(request: $0, outcome: .postponed) }
        _ = try await store.settle(replies, serverTime: nil, lease)
    }

    /// A change that is too large by itself. A deletion has nothing that could be: who says so refuses it for another reason, which may
    /// pass.
    func settle(tooLarge request: OutgoingRequest) async throws {
        let reason = "the service takes no request of this size"
        let outcome: RequestOutcome.Outcome = request.kind == .delete ? .failing(reason) : .rejected(reason)
        record(try await store.settle([RequestOutcome(request: request, outcome: outcome)], serverTime: nil, lease))
    }

    /// - Parameter isReplay: Whether it was sent just so before, and never answered.
    /// - Returns: How many were done.
    func settle(_ requests: [OutgoingRequest], _ outcomes: [PushOutcome], isReplay: Bool = false) async throws -> Int {
        var replies: [RequestOutcome] = []
        var done = 0
        var failure: ServiceError?
        for (index, request) in requests.enumerated() {
            // An answer that is missing says nothing.
            let outcome = index < outcomes.count ? outcomes[index] : .unknown("there was no answer to it")
            if case .retry(let after) = outcome { failure = .busy(after: after, "it asked to try again later") }
            let settled = try await settled(outcome, request, isReplay: isReplay)
            switch settled {
            case .applied:
                done += 1
                recordChanges(of: request.entity) { $0.recordDone(request.kind) }
            case .gone where request.kind != .create: foundGone.withLock { $0.insert(request.entity) }
            default: break
            }
            replies.append(RequestOutcome(request: request, outcome: settled))
        }
        let outcome = try await store.settle(replies, serverTime: nil, lease)
        record(outcome)
        if let failure { try await patience.wait(after: failure) }
        return done
    }

    private func settled(
        _ outcome: PushOutcome, _ request: OutgoingRequest, isReplay: Bool
    ) async throws -> RequestOutcome.Outcome {
        let settled = try await settled(outcome, request)
        guard request.kind == .create, isReplay || request.isTriedAgain else { return settled }
        switch settled {
        // It was edited since a try that may have made it, and that may be what is answered.
        case .applied(let row?) where !isReplay && row.record != nil: return .conflict(row)
        case .rejected(let reason) where !isReplay:
            leftOpen.withLock { $0.insert(request.id) }
            return .refusedAgain(reason)
        case .gone where !isReplay:
            leftOpen.withLock { $0.insert(request.id) }
            return .refusedAgain("the server has no place for it")
        case .postponed: return .unknown
        default: return settled
        }
    }

    private func settled(_ outcome: PushOutcome, _ request: OutgoingRequest) async throws -> RequestOutcome.Outcome {
        switch outcome {
        // A row was made, and no answer says which: it is looked for, and not sent again.
        case .applied(nil) where request.kind == .create && request.remoteID == nil,
            .silent where request.kind == .create && request.remoteID == nil:
            guard let row = try await find(request) else {
                lookedFor.withLock { $0.insert(request.id) }
                return .taken(isCertain: outcome != .silent)
            }
            return .applied(PulledPage.Record(row, isWhole: service.capabilities.answersRecords))
        case .applied(let row):
            return .applied(row.map { PulledPage.Record($0, isWhole: service.capabilities.answersRecords) })
        case .gone: return .gone
        case .rejected(let reason): return .rejected(reason)
        case .unknown, .silent: return .unknown
        case .retry: return .postponed
        case .conflict(let row?), .exists(let row?): return .conflict(PulledPage.Record(row))
        case .conflict(nil), .exists(nil):
            guard let id = request.remoteID else { return .rejected("there is such a row already") }
            switch try await fetch(id, request.entity) {
            case .found(let row)?: return .conflict(PulledPage.Record(row))
            case .forbidden?: return .rejected(FetchOutcome.forbiddenReason)
            case .absent?: return .gone
            case nil: return .unknown
            }
        }
    }
}

extension SyncReport.Changes {
    fileprivate mutating func recordDone(_ kind: OutgoingRequest.Kind) {
        switch kind {
        case .create: created += 1
        case .update: sent += 1
        case .delete: removed += 1
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
            entity: request.entity, kind: kind, id: request.remoteID, body: request.body, paths: paths,
            version: request.version, cursor: cursor.value, idempotencyKey: request.idempotencyKey)
    }
}

extension PulledPage.Record {
    fileprivate init(_ row: RemoteRecord, isWhole: Bool) {
        var row = row
        row.isWhole = row.isWhole && isWhole
        self.init(row)
    }
}

// MARK: - Answers

// An answer counts only if it has the row that was asked for. One that has another row, as a cache may give it, says nothing.
extension EngineRun {
    /// Sends changes. The outcome of one whose answer has another row is unknown.
    ///
    /// - Parameter isReplay: Whether they were sent before, and never answered.
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

    /// What a service has of a row.
    ///
    /// - Returns: Nil if the answer has another row, or none.
    func fetch(_ id: JSONValue, _ entity: String) async throws -> FetchOutcome? {
        let rows = try await asking { [service] in try await service.fetch([id], of: entity) }
        return try checked(rows.first, id, entity)
    }

    /// An answer to a request for a row; nil if it has another row.
    func checked(_ answer: FetchOutcome?, _ id: JSONValue, _ entity: String) throws -> FetchOutcome? {
        if case .found(let row)? = answer, try !store.areSame(row.id, id, of: entity) { return nil }
        return answer
    }

    /// Whether a row is the one that a change is of.
    ///
    /// - Parameter isRepeated: Whether answers to several changes have the row.
    private func isAnswer(
        _ row: RemoteRecord, to request: OutgoingRequest, isReplay: Bool, isRepeated: Bool
    ) async throws -> Bool {
        if let id = request.remoteID {
            if try store.areSame(row.id, id, of: request.entity) { return true }
            guard operation(of: request).mayGiveAnotherID else { return false }
        }
        if request.kind == .create, !isRepeated {
            // Since a lost try made the row it may have been pulled.
            let since = isReplay || request.isTriedAgain ? request.edit : nil
            if try await !store.unknown([row.id], of: request.entity, since: since).isEmpty { return true }
            // Another device brought the row back with the same key, and its row was pulled: the service always answers with that.
            if request.isRevival, request.attempts >= Self.mostTries - 1 { return true }
        }
        return isSame(row, request)
    }
}

/// The row that an answer has.
private struct AnsweredRow: Hashable {
    let entity: String
    let id: JSONValue
}

extension PushOutcome {
    /// The row that an answer has.
    fileprivate var row: RemoteRecord? {
        switch self {
        case .applied(let row), .conflict(let row), .exists(let row): row
        case .gone, .retry, .rejected, .unknown, .silent: nil
        }
    }
}

extension PushOperation {
    /// Whether the row may have another id afterwards: a new row, and one of whose key a part is changed.
    var mayGiveAnotherID: Bool {
        switch (kind, id) {
        case (.create, _), (.update, .array?): true
        case (.update, _), (.delete, _): false
        }
    }
}
