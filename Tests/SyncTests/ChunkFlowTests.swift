import Foundation
import GRDB
import Sync
import Testing

/// Syncs in chunks in which the reading task or the writing thread ends before the other.
@Suite("Syncs in chunks that end early")
struct ChunkFlowTests {
    /// Buffers that a closure returns by number. Nil ends them.
    private struct Chunks: AsyncSequence, Sendable {
        let chunk: @Sendable (Int) async throws -> [UInt8]?

        func makeAsyncIterator() -> Iterator { Iterator(chunk: chunk) }

        struct Iterator: AsyncIteratorProtocol {
            let chunk: @Sendable (Int) async throws -> [UInt8]?
            var number = 0

            mutating func next() async throws -> [UInt8]? {
                defer { number += 1 }
                return try await chunk(number)
            }
        }
    }

    private struct Lost: Error {}

    private static let options: SyncOptions = {
        var options = SyncOptions(resultDetail: .counts)
        options.chunkSize = 100
        return options
    }()

    /// Returns a buffer of an endless list, with ten users.
    private static func endless(_ number: Int) -> [UInt8] {
        let records = (0..<10).map { #"{"id": \#(number * 10 + $0), "first_name": "New"}"# }
        return Array(((number == 0 ? "[" : ",") + records.joined(separator: ",")).utf8)
    }

    private func store() async throws -> (DataStack, StoreDump) {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        try await Sync.changes([["id": 1, "first_name": "Old"], ["id": 9_999]], inEntity: "User", stack: stack)
        return (stack, try await stack.contents())
    }

    private func expectUnchanged(_ stack: DataStack, _ before: StoreDump) async throws {
        #expect(try await stack.contents().differences(from: before) == [])
        try await Sync.changes([["id": 1, "first_name": "Again"]], inEntity: "User", stack: stack)
        #expect(try await stack.count("User") == 1)
    }

    @Test("An error of the source fails a sync in chunks, at any time", arguments: [0, 1, 5, 50])
    func sourceErrorFailsTheSync(after count: Int) async throws {
        let (stack, before) = try await store()
        let chunks = Chunks { number in
            if number == count { throw Lost() }
            return Self.endless(number)
        }
        await #expect(throws: Lost.self) {
            try await Sync.changes(.buffers(chunks), inEntity: "User", stack: stack, options: Self.options)
        }
        try await expectUnchanged(stack, before)
    }

    @Test("A chunk that cannot be written stops the reading", arguments: [0, 35, 420])
    func writeErrorStopsReading(at id: Int) async throws {
        let (stack, before) = try await store()
        var options = Self.options
        options.willInsert = { insertion in
            if insertion.record["id"] == JSONValue(id) { throw Lost() }
            return insertion.record
        }
        await #expect(throws: Lost.self) {
            try await Sync.changes(
                .buffers(Chunks { Self.endless($0) }), inEntity: "User", stack: stack, options: options)
        }
        try await expectUnchanged(stack, before)
    }

    @Test("A sync in chunks that waits for its source ends at once when it is cancelled", arguments: [0, 3])
    func cancelledWhileWaiting(after count: Int) async throws {
        let (stack, before) = try await store()
        let waits = AsyncStream<Void>.makeStream()
        let chunks = Chunks { number in
            guard number == count else { return Self.endless(number) }
            waits.continuation.yield()
            // Sleeps until the task is cancelled.
            try await Task.sleep(for: .seconds(3600))
            return nil
        }
        let task = Task {
            try await Sync.changes(.buffers(chunks), inEntity: "User", stack: stack, options: Self.options)
        }
        for await _ in waits.stream { break }
        task.cancel()
        let result = await task.result
        #expect(throws: CancellationError.self) { try result.get() }
        try await expectUnchanged(stack, before)
    }

    @Test("A sync in chunks that reads or writes ends when it is cancelled", arguments: [true, false], [0, 1, 50])
    func cancelledWhileRunning(isReading: Bool, chunk: Int) async throws {
        let (stack, before) = try await store()
        let moment = AsyncStream<Void>.makeStream()
        let chunks = Chunks { number in
            if isReading, number == chunk { moment.continuation.yield() }
            // The list goes on slowly, so that it takes no processor time from other tests until this task continues.
            if number > chunk + 20 { try? await Task.sleep(for: .milliseconds(10)) }
            return Self.endless(number)
        }
        var options = Self.options
        options.willInsert = { insertion in
            if !isReading, insertion.record["id"] == JSONValue(chunk * 10) { moment.continuation.yield() }
            return insertion.record
        }
        // The list is endless, so the sync still runs when this task learns of the moment.
        let task = Task { [options] in
            try await Sync.changes(.buffers(chunks), inEntity: "User", stack: stack, options: options)
        }
        for await _ in moment.stream { break }
        task.cancel()
        let result = await task.result
        #expect(throws: CancellationError.self) { try result.get() }
        try await expectUnchanged(stack, before)
    }

    @Test("Reading is at most a chunk ahead of writing")
    func readingWaitsForWriting() async throws {
        final class Counts: @unchecked Sendable {
            private let lock = NSLock()
            private var read = 0
            private var most = 0

            func reading(_ number: Int) { lock.withLock { read = number } }
            func writing(_ id: Int) { lock.withLock { most = max(most, read - id / 10) } }
            var ahead: Int { lock.withLock { most } }
        }
        let counts = Counts()
        let (stack, _) = try await store()
        var options = Self.options
        options.willInsert = { insertion in
            guard case .number(let id)? = insertion.record["id"], let id = Int(id) else { return insertion.record }
            // Gives a reader without backpressure the time to run ahead.
            usleep(200)
            counts.writing(id)
            return insertion.record
        }
        let chunks = Chunks { number in
            counts.reading(number)
            return number < 20 ? Self.endless(number) : number == 20 ? Array("]".utf8) : nil
        }
        try await Sync.changes(.buffers(chunks), inEntity: "User", stack: stack, options: options)
        #expect(try await stack.count("User") == 200)
        // A buffer has several chunks: one is written, one waits, and a part of the next is read.
        #expect(counts.ahead <= 3)
    }

    @Test("Syncs in chunks take turns with other syncs of the store")
    func syncsTakeTurns() async throws {
        let (stack, _) = try await store()
        let names = ["User", "Company", "Note"]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for entity in names {
                group.addTask {
                    let chunks = Chunks { number in
                        guard number < 30 else { return number == 30 ? Array("]".utf8) : nil }
                        await Task.yield()
                        return Array(((number == 0 ? "[" : ",") + #"{"id": \#(number)}"#).utf8)
                    }
                    try await Sync.changes(.buffers(chunks), inEntity: entity, stack: stack, options: Self.options)
                }
            }
            try await group.waitForAll()
        }
        for entity in names { #expect(try await stack.count(entity) == 30) }
    }
}
