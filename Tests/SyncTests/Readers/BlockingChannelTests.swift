import Foundation
import Testing

@testable import SyncCalls

/// A separate thread takes the values, as the database's thread does.
@Suite("Values passed from a task to a thread")
struct BlockingChannelTests {
    private struct Failure: Error {}

    /// Takes all values on a thread, and returns them or the error.
    private func taking(_ values: BlockingChannel<Int>, closingAfter limit: Int = .max) async -> Result<
        [Int], any Error
    > {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var taken: [Int] = []
                do {
                    while taken.count < limit, let value = try values.receive() { taken.append(value) }
                    if taken.count == limit { values.close() }
                    continuation.resume(returning: .success(taken))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
    }

    @Test("A channel passes values in order until its end")
    func valuesArriveInOrder() async throws {
        let values = BlockingChannel<Int>()
        async let taken = taking(values)
        for value in 0..<100 { try await values.send(value) }
        values.finish(.success(()))
        #expect(try await taken.get() == Array(0..<100))
    }

    @Test("A channel ends with the error of its sender")
    func senderErrorEndsTheChannel() async throws {
        let values = BlockingChannel<Int>()
        async let taken = taking(values)
        try await values.send(1)
        values.finish(.failure(Failure()))
        values.finish(.success(()))
        let result = await taken
        #expect(throws: Failure.self) { try result.get() }
    }

    @Test("A closed channel rejects values")
    func closedChannelRejectsValues() async throws {
        let values = BlockingChannel<Int>()
        async let taken = taking(values, closingAfter: 2)
        try await values.send(0)
        await #expect(throws: CancellationError.self) {
            for value in 1..<10 { try await values.send(value) }
        }
        #expect(try await taken.get() == [0, 1])
    }

    @Test("A finished channel rejects values")
    func finishedChannelRejectsValues() async throws {
        let values = BlockingChannel<Int>()
        values.finish(.success(()))
        await #expect(throws: CancellationError.self) { try await values.send(1) }
        #expect(try await taking(values).get() == [])
    }
}
