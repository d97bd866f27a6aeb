import Foundation
import MemoryStore
import Sync
import SyncCore
import SyncTesting
import Testing

/// Syncs that are cancelled at each report of their progress, in every kind of store.
///
/// A process that is killed needs a store in a file. The tests of killed processes are in `CrashTests`.
@Suite("Interrupted syncs")
struct InterruptedSyncTests {
    enum Place: String, CaseIterable {
        case sqlite
        case appDatabase
        case existingTables
        case memory

        var stores: any ScenarioStoreFactory {
            switch self {
            case .sqlite: SQLiteStoreFactory()
            case .appDatabase: SQLiteStoreFactory(usesAppDatabase: true)
            case .existingTables: SQLiteStoreFactory(usesExistingTables: true)
            case .memory: MemoryStoreFactory()
            }
        }
    }

    /// Users with notes, which are deleted with them, keyless boxes, and tags.
    private static let schema = """
        { "entities": {
          "User": { "attributes": { "id": "integer", "name": "string" },
                    "relationships": {
                      "notes": { "entity": "Note", "many": true, "ordered": true, "inverse": "user",
                                 "deleteRule": "cascade" },
                      "boxes": { "entity": "Box", "many": true, "inverse": "user", "deleteRule": "cascade" },
                      "tags": { "entity": "Tag", "many": true, "inverse": "users" } } },
          "Note": { "attributes": { "id": "integer", "text": "string" },
                    "relationships": { "user": { "entity": "User", "inverse": "notes" } } },
          "Box": { "attributes": { "size": "integer" },
                   "relationships": { "user": { "entity": "User", "inverse": "boxes" } } },
          "Tag": { "attributes": { "id": "integer" },
                   "relationships": { "users": { "entity": "User", "many": true, "inverse": "tags" } } } } }
        """

    private static let count = 200
    private static let chunkSize = 6 << 10

    /// Returns a payload of users. In the second payload, half of the users are missing, others are new, and all have
    /// other notes and tags.
    private static func payload(isSecond: Bool) -> Data {
        let ids = isSecond ? count / 2..<count * 3 / 2 : 0..<count
        let users = ids.map { id in
            let note = isSecond ? 2 * id + 1 : 2 * id
            return """
                { "id": \(id), "name": "\(isSecond ? "b" : "a")", "notes": [{ "id": \(note) }, { "id": \(10_000 + id) }],
                  "boxes": [{ "size": \(id % 7) }], "tags": [{ "id": \(id % 5) }, { "id": \(5 + note % 3) }] }
                """
        }
        return Data("[\(users.joined(separator: ","))]".utf8)
    }

    private static func sync(
        _ data: Data, _ stack: any ScenarioStore, commitsEachChunk: Bool,
        progress: (@Sendable (SyncProgress) -> Void)? = nil
    ) async throws -> SyncResult {
        var options = SyncOptions(deletionLimit: nil)
        options.chunkSize = chunkSize
        options.commitsEachChunk = commitsEachChunk
        options.progress = progress
        let chunks = AsyncStream<[UInt8]> { stream in
            stream.yield(Array(data))
            stream.finish()
        }
        return try await Sync.changes(.buffers(chunks), inEntity: "User", stack: stack, options: options)
    }

    /// Runs the sync of the second payload, and cancels it at a report of its progress.
    ///
    /// - Parameter last: The number of the report, from 1.
    /// - Returns: The result, and the number of reports.
    private func cancelledSync(
        at last: Int, _ stack: any ScenarioStore, commitsEachChunk: Bool
    ) async -> (result: Result<SyncResult, any Error>, reports: Int) {
        let reports = Locked(0)
        let running = Locked<Task<SyncResult, any Error>?>(nil)
        let task = Task {
            while running.withLock({ $0 == nil }) { await Task.yield() }
            return try await Self.sync(Self.payload(isSecond: true), stack, commitsEachChunk: commitsEachChunk) { _ in
                let number = reports.withLock { reports in
                    reports += 1
                    return reports
                }
                if number == last { running.withLock { $0?.cancel() } }
            }
        }
        running.withLock { $0 = task }
        return (await task.result, reports.withLock { $0 })
    }

    @Test(
        "A sync that is cancelled at any report leaves a sound store, and the next sync has the result of a whole one",
        arguments: Place.allCases, [false, true])
    func cancelledSyncs(_ place: Place, commitsEachChunk: Bool) async throws {
        let model = try SyncModel(schemaData: Data(Self.schema.utf8))
        let whole = try place.stores.open(model)
        for isSecond in [false, true] {
            _ = try await Self.sync(
                Self.payload(isSecond: isSecond), whole, commitsEachChunk: commitsEachChunk)
        }
        var cancelled = 0
        for report in 1... {
            let stack = try place.stores.open(model)
            _ = try await Self.sync(Self.payload(isSecond: false), stack, commitsEachChunk: commitsEachChunk)
            let before = try await stack.dump()
            let (result, reports) = await cancelledSync(at: report, stack, commitsEachChunk: commitsEachChunk)
            if case .failure(let error) = result {
                cancelled += 1
                #expect(error is CancellationError, "\(error)")
                if !commitsEachChunk {
                    #expect(try await stack.dump().differences(from: before) == [], "report \(report)")
                }
            }
            #expect(try await stack.damage() == [], "report \(report)")
            _ = try await Self.sync(Self.payload(isSecond: true), stack, commitsEachChunk: commitsEachChunk)
            #expect(try await stack.damage() == [], "report \(report)")
            #expect(try await counts(stack) == counts(whole), "report \(report)")
            #expect(try await users(stack) == users(whole), "report \(report)")
            if reports < report { break }
        }
        #expect(cancelled > 3)
    }

    private func counts(_ stack: any ScenarioStore) async throws -> [Int] {
        var counts: [Int] = []
        for entity in ["User", "Note", "Box", "Tag"] { counts.append(try await stack.count(entity)) }
        return counts
    }

    /// Returns the users as JSON, with their notes, boxes and tags.
    private func users(_ stack: any ScenarioStore) async throws -> [JSONValue] { try await stack.export("User") }
}
