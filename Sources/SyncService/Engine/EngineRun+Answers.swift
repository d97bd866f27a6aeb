import SyncCore
import SyncStore

// An answer counts only if it has the row that was asked for. One that has another row, as a cache may give it, says nothing.
extension EngineRun {
    /// Sends changes. The outcome of one whose answer has another row is unknown.
    ///
    /// - Parameter isReplay: Whether they were sent before, and never answered.
    func pushed(_ requests: [FrozenRequest], isReplay: Bool = false) async throws -> [PushOutcome] {
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
    func fetch(_ id: JSONValue, _ entity: String) async throws -> FetchedRow? {
        let rows = try await asking { [service] in try await service.fetch([id], of: entity) }
        return try checked(rows.first, id, entity)
    }

    /// An answer to a request for a row; nil if it has another row.
    func checked(_ answer: FetchedRow?, _ id: JSONValue, _ entity: String) throws -> FetchedRow? {
        if case .found(let row)? = answer, try !store.areSame(row.id, id, of: entity) { return nil }
        return answer
    }

    /// Whether a row is the one that a change is of.
    ///
    /// - Parameter isRepeated: Whether answers to several changes have the row.
    private func isAnswer(
        _ row: RemoteRow, to request: FrozenRequest, isReplay: Bool, isRepeated: Bool
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
    fileprivate var row: RemoteRow? {
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
