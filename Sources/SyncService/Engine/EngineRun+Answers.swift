import SyncCore
import SyncStore

// An answer counts only if it has the row that was asked for. One that has another row, as a cache may give it, says nothing.
extension EngineRun {
    /// Sends changes. The outcome of one whose answer has another row is unknown.
    ///
    /// - Parameter isReplay: Whether they were sent before, and never answered.
    func pushed(_ requests: [FrozenRequest], isReplay: Bool = false) async throws -> [PushOutcome] {
        let outcomes = try await service.pushed(requests.map(operation))
        let ids = Dictionary(grouping: outcomes.compactMap(\.row), by: \.id).mapValues(\.count)
        var checked: [PushOutcome] = []
        for (index, outcome) in outcomes.enumerated() {
            guard index < requests.count, let row = outcome.row else {
                checked.append(outcome)
                continue
            }
            let isAnswer = try await isAnswer(
                row, to: requests[index], isReplay: isReplay, isRepeated: ids[row.id, default: 0] > 1)
            checked.append(isAnswer ? outcome : .unknown(Self.otherRow(row.id)))
        }
        return checked
    }

    /// What a service has of a row.
    ///
    /// - Returns: Nil if the answer has another row, or none.
    func fetch(_ id: JSONValue, _ entity: String) async throws -> FetchedRow? {
        let answer = try await asking { [service] in try await service.fetch([id], of: entity) }.first
        if case .found(let row)? = answer, try !store.areSame(row.id, id, of: entity) { return nil }
        return answer
    }

    static func otherRow(_ id: JSONValue) -> String { "the answer has another row than was asked for: \(id)" }

    /// Whether a row is the one that a change is of.
    ///
    /// - Parameter isRepeated: Whether answers to several changes have the row.
    private func isAnswer(
        _ row: RemoteRow, to request: FrozenRequest, isReplay: Bool, isRepeated: Bool
    ) async throws -> Bool {
        if let id = request.remoteID {
            if try store.areSame(row.id, id, of: request.entity) { return true }
            switch (request.kind, id) {
            // A change of a part of the key gives the row another id.
            case (.update, .array): return isSame(row, request)
            case (.update, _), (.delete, _): return false
            case (.create, _): break
            }
        }
        if !isRepeated {
            // Since a lost try made the row it may have been pulled.
            let since = isReplay || request.isTriedAgain ? request.edit : nil
            if try await !store.unknown([row.id], of: request.entity, since: since).isEmpty { return true }
        }
        return isSame(row, request)
    }
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
