import Foundation
import GRDB
import Sync
import SyncCore
import SyncSQLite
import SyncStore
import SyncTesting
import TestSize
import Testing

@testable import SyncService

/// The state machine of the outbox, transition by transition, with a store.
@Suite("The state machine of the outbox")
struct OutboxMachineTests {
    @Test("The page of the sync protocol shows the transitions of the code")
    func page() throws {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Docs/SyncProtocol.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        #expect(text.contains(OutboxMachine.markdown), "put this there:\n\(OutboxMachine.markdown)")
    }

    /// By state, the shortest list of events that leads to it.
    private static let paths: [OutboxState: [OutboxEvent]] = {
        var paths: [OutboxState: [OutboxEvent]] = [.absent: []]
        var queue: [OutboxState] = [.absent]
        while !queue.isEmpty {
            let state = queue.removeFirst()
            for event in OutboxEvent.allCases {
                guard let next = OutboxMachine.next(state, event), paths[next] == nil else { continue }
                paths[next] = (paths[state] ?? []) + [event]
                queue.append(next)
            }
        }
        return paths
    }()

    @Test("Every state can be reached")
    func reached() {
        #expect(Set(Self.paths.keys) == Set(OutboxState.allCases))
    }

    @Test("Each event leads to the state of the table", arguments: OutboxState.allCases)
    func legal(state: OutboxState) async throws {
        for event in OutboxEvent.allCases {
            guard let next = OutboxMachine.next(state, event) else { continue }
            let row = try await OutboxRow(after: Self.paths[state] ?? [])
            #expect(try await row.state() == state)
            try await row.apply(event)
            #expect(try await row.state() == next, "\(state) \(event)")
        }
    }

    @Test("An outcome of a request that is not stored changes nothing", arguments: OutboxState.allCases)
    func illegal(state: OutboxState) async throws {
        let outcomes = OutboxEvent.allCases.filter(\.isOutcome)
        guard outcomes.allSatisfy({ OutboxMachine.next(state, $0) == nil }) else { return }
        for event in LongTests.some(outcomes, every: 3, of: LongTests.number(state)) {
            let row = try await OutboxRow(after: Self.paths[state] ?? [])
            let before = try await row.contents()
            try await row.apply(event)
            #expect(try await row.contents() == before, "\(state) \(event)")
        }
    }
}

/// A store with at most one row, on which events happen.
private struct OutboxRow {
    private static let schema = """
        {"entities": {"Task": {"attributes": {"id": "integer", "title": "string", "note": "string"}}}}
        """

    private let stack: DataStack
    private let store: any EngineStore
    private let lease: EngineLease
    private static let registration = EngineRegistration(
        entities: [
            .init(
                name: "Task", policy: .clientWins, deletions: .deleteWins, mergesWholeRow: false, naturalKey: [],
                sendsCascades: false)
        ], service: "test", user: "", clientAssignsIDs: true, filters: [:])

    init(after events: [OutboxEvent]) async throws {
        stack = try DataStack.inMemory(SyncModel(schemaData: Data(Self.schema.utf8)))
        store = try stack.engineStore(Self.registration)
        lease = try await store.begin(holder: "test").lease
        for event in events { try await apply(event) }
    }

    func state() async throws -> OutboxState? {
        let values: [String] = try await stack.read { db in
            let row = try Row.fetchOne(
                db,
                sql: """
                    SELECT c.kind, c.state = 'blocked', c.seq > r.seq, r.kind, r.attempts > 0 OR r.accepted_seq IS NOT NULL,
                      EXISTS (SELECT 1 FROM Task) FROM (SELECT 1) LEFT JOIN sync_outbox AS c LEFT JOIN sync_request AS r
                    """)
            return row?.databaseValues.map { $0.isNull ? "" : "\($0.storage.value ?? "")" } ?? []
        }
        let (isBlocked, isEdited, isUncertain) = (values[1] == "1", values[2] == "1", values[4] == "1")
        switch (values[0], values[3]) {
        case ("", ""): return values[5] == "1" ? .synced : .absent
        case ("create", ""): return isBlocked ? .createBlocked : .create
        case ("create", "create"):
            if isUncertain { return isBlocked ? .createUncertainBlocked : .createUncertain }
            return isEdited ? .createSentEdited : .createSent
        case ("update", "create"): return .createSentPulled
        case ("delete", "create"): return isUncertain ? .createUncertainDeleted : .createSentDeleted
        case ("update", ""): return isBlocked ? .updateBlocked : .update
        case ("update", "update"): return isEdited ? .updateSentEdited : .updateSent
        case ("delete", "update"): return .updateSentDeleted
        case ("delete", ""): return isBlocked ? .deleteBlocked : .delete
        case ("delete", "delete"): return .deleteSent
        case ("update", "delete"): return .deleteSentInserted
        default: return nil
        }
    }

    /// Returns all entries of the outbox and all requests.
    func contents() async throws -> [String] {
        try await stack.read { db in
            try ["Task", "sync_outbox", "sync_request", "sync_sent", "sync_known", "sync_base", "sync_tombstone"]
                .flatMap {
                    try Row.fetchAll(db, sql: "SELECT * FROM \($0)").map { "\($0)" }
                }
        }
    }

    func apply(_ event: OutboxEvent) async throws {
        let version = try await stack.read { db in try Int.fetchOne(db, sql: "SELECT seq FROM sync_engine") ?? 0 }
        let record = RemoteRecord(
            id: 1, record: ["id": 1, "note": .string("there \(version)")], version: "\(version)")
        switch event {
        case .insert: try await write("INSERT INTO Task (id, title) VALUES (1, 'inserted \(version)')")
        case .edit: try await write("UPDATE Task SET title = 'edited \(version)'")
        case .delete: try await write("DELETE FROM Task")
        case .discard: try await store.discardChange(of: "Task", key: 1)
        case .pullRecord: try await pull(record)
        case .pullDeletion:
            try await pull(RemoteRecord(id: 1, record: nil))
            _ = try await store.applyDeletions(limit: nil, listed: [], lease)
        case .prepare: _ = try await store.prepareRequests(100, of: ["Task"], upTo: nil, lease)
        case .applied: try await complete(.applied(nil))
        case .conflict: try await complete(.conflict(record))
        case .notFound: try await complete(.notFound)
        case .rejected: try await complete(.rejected("no"))
        case .rejectedAfterRetry: try await complete(.rejectedAfterRetry("no"))
        case .failing: try await complete(.failing("no"))
        case .postponed: try await complete(.postponed)
        case .inDoubt: try await complete(.inDoubt)
        case .unknown: try await complete(.unknown)
        case .accepted: try await complete(.accepted(isCertain: true))
        case .notListed: try await complete(.notListed("no"))
        }
    }

    private func write(_ sql: String) async throws { try await stack.write { db in try db.execute(sql: sql) } }

    private func pull(_ record: RemoteRecord) async throws {
        _ = try await store.apply(PulledPage(PullPage(records: [record]), of: "Task"), lease)
    }

    /// Completes the stored request. Without one, completes a request that was completed before.
    private func complete(_ outcome: RequestOutcome.Outcome) async throws {
        let earlier = OutgoingRequest(
            id: 99,
            PushOperation(entity: "Task", kind: .update, id: 1, record: [:], version: nil, idempotencyKey: "a"),
            edit: 1, preparedAt: 1, attempts: 0, naturalKey: nil)
        let request = try await store.inDoubtRequests(lease).first ?? earlier
        _ = try await store.complete([RequestOutcome(request: request, outcome: outcome)], serverTime: nil, lease)
    }
}
