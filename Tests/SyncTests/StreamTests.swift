import Foundation
import Sync
import Testing

/// Asynchronous sequences, as HTTP clients and files provide them.
@Suite("Streams")
struct StreamTests {
    private struct Failure: Error {}

    private static func stream<Element: Sendable>(_ elements: [Element]) -> AsyncThrowingStream<Element, any Error> {
        AsyncThrowingStream { stream in
            for element in elements { stream.yield(element) }
            stream.finish()
        }
    }

    private func check(_ sync: (DataStack) async throws -> SyncResult) async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        _ = try await sync(stack)
        #expect(try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack).isEmpty)
        #expect(try await stack.count("User") == 8)
    }

    @Test("Streams of bytes, byte arrays, slices and data are synced")
    func elementsOfStreams() async throws {
        let bytes = [UInt8](try Fixtures.payload("day1"))
        let slices = stride(from: 0, to: bytes.count, by: 100).map { bytes[$0..<min($0 + 100, bytes.count)] }
        try await check { try await Sync.changes(.bytes(Self.stream(bytes)), inEntity: "User", stack: $0) }
        try await check { try await Sync.changes(.buffers(Self.stream(slices)), inEntity: "User", stack: $0) }
        try await check {
            try await Sync.changes(.buffers(Self.stream(slices.map(Array.init))), inEntity: "User", stack: $0)
        }
        try await check {
            try await Sync.changes(.buffers(Self.stream(slices.map { Data($0) })), inEntity: "User", stack: $0)
        }
    }

    @Test("A stream of bytes can be planned, and may have several entities")
    func streamsArePlanned() async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        let plan = try await Sync.plan(
            .bytes(Self.stream([UInt8](try Fixtures.payload("day1")))), inEntity: "User", stack: stack)
        #expect(plan.root.inserted == 8)
        #expect(try await stack.count("User") == 0)
        let several = [UInt8](Data(#"{"users":[{"id":1}],"companies":[{"id":7}]}"#.utf8))
        try await Sync.changes(
            .bytes(Self.stream(several)), inEntities: ["users": "User", "companies": "Company"], stack: stack)
        #expect(try await stack.count("Company") == 1)
    }

    @Test("A stream of bytes that is longer than a chunk is synced whole")
    func longStreamIsSynced() async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        let records = (1...5000).map { "{\"id\":\($0),\"first_name\":\"name of \($0)\"}" }.joined(separator: ",")
        try await Sync.changes(.bytes(Self.stream([UInt8]("[\(records)]".utf8))), inEntity: "User", stack: stack)
        #expect(try await stack.count("User") == 5000)
        #expect(try await stack.fetch("User", id: 5000)?["firstName"]?.string == "name of 5000")
    }

    @Test("A stream of bytes that fails changes nothing")
    func failedStreamChangesNothing() async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        let bytes = AsyncThrowingStream<UInt8, any Error> { stream in
            for byte in "[{\"id\":1},".utf8 { stream.yield(byte) }
            stream.finish(throwing: Failure())
        }
        await #expect(throws: Failure.self) { try await Sync.changes(.bytes(bytes), inEntity: "User", stack: stack) }
        #expect(try await stack.count("User") == 0)
    }
}
