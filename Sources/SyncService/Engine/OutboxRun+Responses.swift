import SyncCore
import SyncStore

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
