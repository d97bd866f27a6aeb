import Foundation
import Sync
import Testing

/// Every public way to call a sync, with the same payload.
@Suite("Overloads of Sync.changes")
struct CallFormTests {
    /// A payload with values that the overloads represent differently: numbers of several kinds, booleans, null, text
    /// outside of ASCII, nesting.
    static let text = """
        [
          {"isbn": "978-1", "title": "Æpfel \\u2013 🍎", "page_count": 120, "price": 12.50, "rating": 4.25,
           "is_lent": true, "published_at": "2024-02-29T23:59:59.999+05:30", "extra": {"a": [1, null, false, "x"]},
           "author": {"id": 1, "full_name": "Ada Field"}, "shelf_id": 7, "unknown": 1,
           "genres": [{"id": "g1", "name": "Fruit"}, {"id": "g2"}],
           "reviews": [{"text": "good", "stars": 5}, {"text": "fine", "stars": 3.5}]},
          {"isbn": "978-2", "title": null, "page_count": 9007199254740993, "rating": -0.1, "is_lent": false,
           "author": {"id": 1}, "genres": [{"id": "g1"}], "reviews": []}
        ]
        """

    static func data() -> Data { Data(text.utf8) }

    static func dictionaries() throws -> [[String: Any]] {
        try #require(try JSONSerialization.jsonObject(with: data()) as? [[String: Any]])
    }

    static func store() throws -> DataStack { try DataStack.inMemory(Fixtures.model("library")) }

    /// Syncs as an app does: on the main actor, with dictionaries that are not sendable.
    @MainActor
    private func importBooks(_ books: [[String: Any]], into stack: DataStack) async throws -> SyncResult {
        let result = try await Sync.changes(books, inEntity: "Book", stack: stack)
        MainActor.assertIsolated()
        return result
    }

    @Test("Bytes, values and dictionaries give the same result and the same rows")
    func overloadsGiveSameRows() async throws {
        let stacks = try (0..<4).map { _ in try Self.store() }
        let results = [
            try await Sync.changes(Self.data(), inEntity: "Book", stack: stacks[0]),
            try await Sync.changes(JSONValue(parsing: Self.data()), inEntity: "Book", stack: stacks[1]),
            try await Sync.changes(Self.dictionaries(), inEntity: "Book", stack: stacks[2]),
            try await importBooks(Self.dictionaries(), into: stacks[3]),
        ]
        let first = results[0]
        #expect(first["Book"].inserted == [.text("978-1"), .text("978-2")])
        #expect(first["Review"].insertedCount == 2)
        #expect(first.unmappedKeys == [.unmapped("unknown", of: "Book", count: 1)])
        #expect(first.pendingReferences.map(\.target) == [.integer(7)])
        #expect(first.diagnostics.count == 1)
        let contents = try await stacks[0].contents()
        for (result, stack) in zip(results, stacks).dropFirst() {
            #expect(result == first)
            #expect(try await stack.contents().differences(from: contents) == [])
        }
        // Rows that one overload stored are unchanged for the others.
        #expect(try await Sync.changes(Self.dictionaries(), inEntity: "Book", stack: stacks[0]).isEmpty)
        #expect(try await Sync.changes(Self.data(), inEntity: "Book", stack: stacks[2]).isEmpty)
        let value = try JSONValue(parsing: Self.data())
        #expect(try await Sync.changes(value, inEntity: "Book", stack: stacks[2]).isEmpty)
    }

    @Test("Dictionaries may hold Swift values that have a JSON form, but no infinite number")
    func dictionariesMayHoldSwiftValues() async throws {
        let uuid = UUID()
        let book: [String: Any?] = [
            "isbn": "978-3", "published_at": Date(timeIntervalSince1970: 0.5), "edition_uuid": uuid, "title": nil,
            "cover_url": URL(string: "https://example.com/a%20b"), "price": Decimal(string: "12345678901234567.89"),
            "page_count": Int8(-3), "is_lent": true, "extra": ["day": Date(timeIntervalSince1970: 0)],
        ]
        let text = """
            {"isbn": "978-3", "published_at": "1970-01-01T00:00:00.500Z", "edition_uuid": "\(uuid.uuidString)",
             "title": null, "cover_url": "https://example.com/a%20b", "price": 12345678901234567.89,
             "page_count": -3, "is_lent": true, "extra": {"day": "1970-01-01T00:00:00Z"}}
            """
        let stack = try Self.store()
        let result = try await Sync.changes([book as [String: Any]], inEntity: "Book", stack: stack)
        #expect(result.diagnostics == [])
        #expect(try await Sync.changes(Data(text.utf8), inEntity: "Book", stack: stack).isEmpty)
        let infinite: [[String: Any]] = [["isbn": "978-4", "rating": Double.infinity]]
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(infinite, inEntity: "Book", stack: stack)
        }
        #expect(error?.path == "[0].rating")
        #expect(try await stack.count("Book") == 1)
    }

    @Test("One record is accepted in place of an array")
    func singleRecordIsAccepted() async throws {
        let stacks = try (0..<2).map { _ in try Self.store() }
        let data = try await Sync.changes(Data(#"{"isbn": "1"}"#.utf8), inEntity: "Book", stack: stacks[0])
        let value: JSONValue = ["isbn": "1"]
        #expect(try await Sync.changes(value, inEntity: "Book", stack: stacks[1]) == data)
        #expect(data["Book"].inserted == [.text("1")])
    }

    @Test("The completion handler is called once, with the result")
    func completionGetsResult() async throws {
        let stack = try Self.store()
        let calls = AsyncStream<Result<SyncResult, any Error>>.makeStream()
        let task = Sync.changes(Self.data(), inEntity: "Book", stack: stack) { calls.continuation.yield($0) }
        await task.value
        calls.continuation.finish()
        var results: [SyncResult] = []
        for await call in calls.stream { results.append(try call.get()) }
        let other = try Self.store()
        #expect(results == [try await Sync.changes(Self.data(), inEntity: "Book", stack: other)])
        #expect(try await stack.contents().differences(from: other.contents()) == [])
    }

    @Test("The completion handler is called once, with the error")
    func completionGetsError() async throws {
        let stack = try Self.store()
        let calls = AsyncStream<Result<SyncResult, any Error>>.makeStream()
        let task = Sync.changes(Data(#"[{"isbn": "1"}, "#.utf8), inEntity: "Book", stack: stack) {
            calls.continuation.yield($0)
        }
        await task.value
        calls.continuation.finish()
        var codes: [SyncError.Code?] = []
        for await call in calls.stream {
            if case .failure(let error) = call { codes.append((error as? SyncError)?.code) } else { codes.append(nil) }
        }
        #expect(codes == [.malformedJSON])
        #expect(try await stack.count("Book") == 0)
    }
}
