import Foundation
import Testing

@testable import SyncCalls

/// The thread that takes is a thread of its own here, as it is that of a database.
@Suite("Values handed over from a task to a thread")
struct BlockingChannelTests {
    private struct Failure: Error {}

    /// Takes everything on a thread, and says how it ended.
    private func taking(_ values: BlockingChannel<Int>, closingAfter limit: Int = .max) async -> Result<
        [Int], any Error
    > {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var taken: [Int] = []
                do {
                    while taken.count < limit, let value = try values.take() { taken.append(value) }
                    if taken.count == limit { values.close() }
                    continuation.resume(returning: .success(taken))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
    }

    @Test("arrive in order, and end")
    func inOrder() async throws {
        let values = BlockingChannel<Int>()
        async let taken = taking(values)
        for value in 0..<100 { try await values.put(value) }
        values.finish(.success(()))
        #expect(try await taken.get() == Array(0..<100))
    }

    @Test("end with the error of the one who gives")
    func failed() async throws {
        let values = BlockingChannel<Int>()
        async let taken = taking(values)
        try await values.put(1)
        values.finish(.failure(Failure()))
        values.finish(.success(()))
        let result = await taken
        #expect(throws: Failure.self) { try result.get() }
    }

    @Test("are refused once nobody takes them")
    func closed() async throws {
        let values = BlockingChannel<Int>()
        async let taken = taking(values, closingAfter: 2)
        try await values.put(0)
        await #expect(throws: CancellationError.self) {
            for value in 1..<10 { try await values.put(value) }
        }
        #expect(try await taken.get() == [0, 1])
    }

    @Test("are refused after the end")
    func afterEnd() async throws {
        let values = BlockingChannel<Int>()
        values.finish(.success(()))
        await #expect(throws: CancellationError.self) { try await values.put(1) }
        #expect(try await taking(values).get() == [])
    }
}
