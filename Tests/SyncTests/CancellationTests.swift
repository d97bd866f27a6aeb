import Foundation
import GRDB
import Sync
import Testing

/// A cancelled sync makes all of its changes or none.
@Suite("Cancelled syncs")
struct CancellationTests {
    static let count = 4_000

    /// Returns a store with two users that the payload changes and one that it omits.
    private func store() async throws -> (DataStack, StoreDump) {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        let users: JSONValue = [["id": 1, "first_name": "A"], ["id": 2, "first_name": "B"], ["id": 1_000_000]]
        try await Sync.changes(users, inEntity: "User", stack: stack)
        return (stack, try await stack.contents())
    }

    private static let payload = Data(
        ("["
            + (1...count).map {
                #"{"id": \#($0), "first_name": "N", "notes": [{"id": \#($0)}], "company": {"id": \#($0 % 99)}}"#
            }.joined(separator: ",") + "]").utf8)

    /// Expects that the store holds the whole payload, or exactly its contents from before the sync.
    private func expectWhole(_ result: Result<SyncResult, any Error>, _ stack: DataStack, _ before: StoreDump)
        async throws
    {
        switch result {
        case .success(let result):
            #expect(result["User"].insertedCount == Self.count - 2)
            #expect(try await stack.count("User") == Self.count)
            #expect(try await stack.count("Note") == Self.count)
        case .failure(let error):
            #expect(error is CancellationError, "\(type(of: error)): \(error)")
            #expect(try await stack.contents().differences(from: before) == [])
        }
        #expect(try await stack.damage() == [])
        // The next sync works.
        let next: JSONValue = [["id": 1, "first_name": "again"]]
        #expect(
            try await Sync.changes(next, inEntity: "User", stack: stack, options: SyncOptions(deletionLimit: nil))[
                "User"
            ].updatedCount == 1)
        #expect(try await stack.count("User") == 1)
    }

    @Test("A sync that is cancelled before it starts changes nothing")
    func cancelledBeforeStart() async throws {
        let (stack, before) = try await store()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await Sync.changes(Self.payload, inEntity: "User", stack: stack)
        }
        task.cancel()
        let result = await task.result
        #expect(throws: CancellationError.self) { try result.get() }
        try await expectWhole(result, stack, before)
    }

    /// The trigger events: the 2,000th new note, the first updated user, the first deleted user.
    static let moments = ["INSERT ON Note WHEN NEW.id = 2000", "UPDATE ON User", "DELETE ON User"]

    @Test("A sync that is cancelled during its writes changes nothing", arguments: moments)
    func cancelledDuringWrites(_ moment: String) async throws {
        let (stack, before) = try await store()
        // A trigger that cancels the task it runs in.
        try await stack.write { db in
            let cancel = DatabaseFunction("cancelTask", argumentCount: 0) { _ in
                withUnsafeCurrentTask { $0?.cancel() }
                return nil
            }
            db.add(function: cancel)
            try db.execute(sql: "CREATE TEMP TRIGGER cancels AFTER \(moment) BEGIN SELECT cancelTask(); END")
        }
        let task = Task { try await Sync.changes(Self.payload, inEntity: "User", stack: stack) }
        let result = await task.result
        #expect(throws: CancellationError.self) { try result.get() }
        try await stack.write { db in try db.execute(sql: "DROP TRIGGER temp.cancels") }
        try await expectWhole(result, stack, before)
    }

    @Test(
        "A sync that is cancelled while it maps or writes makes all of its changes or none",
        arguments: [SyncProgress.Phase.mapping, .writing])
    func cancelledWhileRunning(phase: SyncProgress.Phase) async throws {
        let (stack, before) = try await store()
        let begun = AsyncStream<Void>.makeStream()
        var options = SyncOptions(deletionLimit: nil)
        options.progress = { if $0.phase == phase { begun.continuation.yield() } }
        let task = Task { [options] in
            defer { begun.continuation.finish() }
            return try await Sync.changes(Self.payload, inEntity: "User", stack: stack, options: options)
        }
        let moment: Void? = await begun.stream.first { true }
        #expect(moment != nil)
        task.cancel()
        try await expectWhole(await task.result, stack, before)
    }

    @Test("The completion handler of a cancelled sync is called once")
    func completionIsCalledOnce() async throws {
        let (stack, before) = try await store()
        let calls = AsyncStream<Result<SyncResult, any Error>>.makeStream()
        let task = Sync.changes(Self.payload, inEntity: "User", stack: stack) { calls.continuation.yield($0) }
        task.cancel()
        await task.value
        calls.continuation.finish()
        var results: [Result<SyncResult, any Error>] = []
        for await call in calls.stream { results.append(call) }
        #expect(results.count == 1)
        try await expectWhole(try #require(results.first), stack, before)
    }
}
