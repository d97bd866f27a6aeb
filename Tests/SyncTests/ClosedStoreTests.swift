import Foundation
import GRDB
import Sync
import Testing

@Suite("A store that was closed")
struct ClosedStoreTests {
    private static let json = Data(#"[{ "id": 1, "first_name": "Ada" }]"#.utf8)

    /// A store in memory, which has one connection, and one in a file, which has several.
    private func check(_ body: (DataStack) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let model = try Fixtures.model("company")
        for stack in [try DataStack.inMemory(model), try DataStack(model: model, at: folder.database)] {
            try await Sync.changes(Self.json, inEntity: "User", stack: stack)
            try await body(stack)
        }
    }

    @Test("Every call fails with storeClosed")
    func calls() async throws {
        try await check { stack in
            try stack.close()
            let chunks = AsyncStream<Data> { stream in
                stream.yield(Self.json)
                stream.finish()
            }
            let calls: [() async throws -> Void] = [
                { _ = try await stack.fetch("User") },
                { _ = try await stack.fetch("User", id: 1) },
                { _ = try await stack.count("User") },
                { try await Sync.changes(Self.json, inEntity: "User", stack: stack) },
                { _ = try await Sync.plan(Self.json, inEntity: "User", stack: stack) },
                { try await Sync.changes(chunks, inEntity: "User", stack: stack) },
                { _ = try await stack.insert("User", values: ["id": 2]) },
                { _ = try await stack.delete("User", id: 1) },
                { try stack.drop() },
                { try stack.read { db in try db.execute(sql: "SELECT * FROM User") } },
                { try stack.write { db in try db.execute(sql: "DELETE FROM User") } },
                { try await stack.read { db in try db.execute(sql: "SELECT * FROM User") } },
                { try await stack.write { db in try db.execute(sql: "DELETE FROM User") } },
                { try await stack.removeEngine(deletingRows: false) },
                { _ = try await stack.examine() },
                { for try await _ in stack.observe("User") {} },
                { for try await _ in stack.observeCount("User") {} },
                { for try await _ in stack.observeChanges("User") {} },
            ]
            for (index, call) in calls.enumerated() {
                let error = await #expect(throws: SyncError.self, "call \(index)") { try await call() }
                #expect(error?.code == .storeClosed, "call \(index): \(String(describing: error))")
            }
            for await _ in stack.syncResults { Issue.record("a result after the end") }
            try stack.close()
        }
    }

    @Test("Observations that are going on end with storeClosed, and the results of syncs end")
    func observations() async throws {
        try await check { stack in
            var rows = stack.observe("User").makeAsyncIterator()
            var count = stack.observeCount("User").makeAsyncIterator()
            var changes = stack.observeChanges("User").makeAsyncIterator()
            let results = stack.syncResults
            #expect(try await rows.next()?.count == 1)
            #expect(try await count.next() == 1)
            #expect(try await changes.next()?.rows.count == 1)
            try stack.close()
            for end in 1...2 {
                // As of any sequence that failed, there is nothing after the error.
                guard end == 1 else {
                    #expect(try await rows.next() == nil)
                    continue
                }
                let errors = [
                    await #expect(throws: SyncError.self) { _ = try await rows.next() },
                    await #expect(throws: SyncError.self) { _ = try await count.next() },
                    await #expect(throws: SyncError.self) { _ = try await changes.next() },
                ]
                #expect(errors.map { $0?.code } == Array(repeating: .storeClosed, count: 3))
            }
            for await _ in results { Issue.record("a result that no sync made") }
        }
    }

    @Test("An observation of a stack that is closed while it waits ends, too")
    func waiting() async throws {
        try await check { stack in
            let (began, begin) = AsyncStream<Void>.makeStream()
            let task = Task {
                for try await _ in stack.observe("User") { begin.yield() }
            }
            for await _ in began { break }
            try stack.close()
            let error = await #expect(throws: SyncError.self) { try await task.value }
            #expect(error?.code == .storeClosed)
        }
    }
}
