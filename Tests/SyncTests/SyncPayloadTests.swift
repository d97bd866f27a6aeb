import Foundation
import GRDB
import SyncTesting
import Testing

@testable import Sync

@Suite("Payloads of a sync")
struct SyncPayloadTests {
    private struct Line: Codable {
        var id: Int
        var createdAt: Date
    }

    private func store() throws -> DataStack { try .inMemory(Fixtures.model("company")) }

    @Test("Data, a file, JSON values, dictionaries and streams of one payload have the same result")
    func formsAreEqual() async throws {
        let data = try Fixtures.payload("day1")
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let file = folder.url.appendingPathComponent("users.json")
        try data.write(to: file)
        let dictionaries = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        let expected = try await Sync.changes(data, inEntity: "User", stack: store())
        let keys = SyncOptions(resultDetail: .keys)
        #expect(try await Sync.changes(JSONValue(parsing: data), inEntity: "User", stack: store()) == expected)
        #expect(try await Sync.changes(dictionaries, inEntity: "User", stack: store()) == expected)
        #expect(try await Sync.changes(file, inEntity: "User", stack: store(), options: keys) == expected)
        let buffers = AsyncStream<Data> { stream in
            for start in stride(from: 0, to: data.count, by: 100) { stream.yield(data.dropFirst(start).prefix(100)) }
            stream.finish()
        }
        #expect(
            try await Sync.changes(.buffers(buffers), inEntity: "User", stack: store(), options: keys) == expected)
    }

    @Test("The result of a file has counts only, unless the options ask for more")
    func fileCountsByDefault() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let file = folder.url.appendingPathComponent("users.json")
        try Fixtures.payload("day1").write(to: file)
        let counts = try await Sync.changes(file, inEntity: "User", stack: store())
        #expect(counts["User"].insertedCount == 8 && counts["User"].inserted.isEmpty)
        let values = try await Sync.changes(
            file, inEntity: "User", stack: store(), options: SyncOptions(resultDetail: .values))
        #expect(values["User"].inserted.count == 8 && values["User"].insertedRows?.count == 8)
    }

    @Test("A file can be synced and planned inside a transaction")
    func fileInATransaction() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let file = folder.url.appendingPathComponent("users.json")
        try Fixtures.payload("day1").write(to: file)
        let stack = try store()
        try await stack.write { db in
            #expect(try Sync.plan(file, inEntity: "User", stack: stack, in: db)["User"].insertedCount == 8)
            try Sync.changes(file, inEntity: "User", stack: stack, in: db)
        }
        #expect(try await stack.count("User") == 8)
    }

    @Test("A stream inside a transaction is an invalid option, and changes nothing")
    func streamInATransaction() async throws {
        let stack = try store()
        let error = try await stack.write { db in
            #expect(throws: SyncError.self) {
                try Sync.changes(
                    .buffers(AsyncStream<Data> { $0.finish() }), inEntity: "User", stack: stack, in: db)
            }
        }
        #expect(error?.code == .invalidOption)
        #expect(error?.message.contains("pass Data") == true)
        #expect(try await stack.count("User") == 0)
    }

    @Test("A URL that is not one of a file, and a file that is missing, cannot be read")
    func unreadableURLs() async throws {
        let stack = try store()
        for address in ["https://example.com/users.json", "file:///nowhere/users.json"] {
            let url = try #require(URL(string: address))
            let error = await #expect(throws: SyncError.self) {
                try await Sync.changes(url, inEntity: "User", stack: stack)
            }
            #expect(error?.code == .unreadableFile)
            let inside = try await stack.write { db in
                #expect(throws: SyncError.self) { try Sync.changes(url, inEntity: "User", stack: stack, in: db) }
            }
            #expect(inside?.code == .unreadableFile)
        }
    }

    @Test("Encodable values are a payload, with dates as ISO 8601")
    func encodableValues() async throws {
        let stack = try store()
        let note = Line(id: 1, createdAt: Date(timeIntervalSince1970: 86_400))
        try await Sync.changes(.encoding([note]), inEntity: "Note", stack: stack)
        let stored = try #require(try await stack.fetch("Note", id: 1))
        #expect(stored["createdAt"]?.date == Date(timeIntervalSince1970: 86_400))
    }

    @Test("A payload that cannot be made throws its error, and changes nothing")
    func failingPayload() async throws {
        struct Failing: SyncPayloadConvertible {
            func syncPayload() throws -> SyncPayload { throw CocoaError(.fileReadNoPermission) }
        }
        let stack = try store()
        await #expect(throws: CocoaError.self) { try await Sync.changes(Failing(), inEntity: "User", stack: stack) }
        #expect(try await stack.count("User") == 0)
    }
}
