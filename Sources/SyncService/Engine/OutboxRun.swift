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
