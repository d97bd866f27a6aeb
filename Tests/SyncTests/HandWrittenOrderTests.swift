import Foundation
import GRDB
import Sync
import Testing

/// Another program may write rows of an ordered relationship without a position.
@Suite("Rows of an ordered relationship without a position")
struct HandWrittenOrderTests {
    private static let reviews: JSONValue = [
        ["isbn": "a", "reviews": [["text": "one"], ["text": "two"], ["text": "by hand"]]]
    ]

    /// Returns a store with a book of two reviews, and a third review with a lower key and without a position.
    private func store() async throws -> DataStack {
        let stack = try DataStack.inMemory(Fixtures.model("library"))
        try await stack.write { db in
            try db.execute(
                sql: """
                    INSERT INTO Book (isbn, condition) VALUES ('a', 'good');
                    INSERT INTO Review (text, bookID) VALUES ('by hand', 'a');
                    INSERT INTO Review (text, bookID, sync_book_order) VALUES ('one', 'a', 0), ('two', 'a', 1);
                    """)
        }
        return stack
    }

    private func texts(_ stack: DataStack) async throws -> [String] {
        try await stack.read { db in
            try String.fetchAll(db, sql: "SELECT text FROM Review ORDER BY sync_book_order NULLS LAST")
        }
    }

    @Test("Rows without a position come last, also where keyless rows are matched by position")
    func rowsWithoutPositionComeLast() async throws {
        let stack = try await store()
        let book = try #require(try await stack.fetch("Book").first)
        #expect(
            try await stack.fetchRelated("reviews", of: book).map { $0["text"] }
                == ["one", "two", "by hand"].map { .string($0) })
        let result = try await Sync.changes(Self.reviews, inEntity: "Book", stack: stack)
        #expect(result.entities["Review"]?.insertedCount == 0)
        #expect(result.entities["Review"]?.deletedCount == 0)
        #expect(try await texts(stack) == ["one", "two", "by hand"])
        let hands = try await stack.read { db in
            try Int.fetchOne(db, sql: "SELECT sync_id FROM Review WHERE text = 'by hand'")
        }
        #expect(hands == 1)
        let written = try await stack.changesWritten()
        #expect(try await Sync.changes(Self.reviews, inEntity: "Book", stack: stack).isEmpty)
        #expect(try await stack.changesWritten() == written)
    }

    @Test("A list gives join rows without a position the order of its elements")
    func listOrdersJoinRows() async throws {
        let model = try SyncModel(
            schemaData: Data(
                """
                {"entities": {
                  "Task": {"attributes": {"id": "integer"}, "relationships": {
                    "tags": {"entity": "Tag", "many": true, "ordered": true, "inverse": "tasks"}}},
                  "Tag": {"attributes": {"id": "integer"}, "relationships": {
                    "tasks": {"entity": "Task", "many": true, "inverse": "tags"}}}}}
                """.utf8))
        let stack = try DataStack.inMemory(model)
        try await Sync.changes(
            Data(#"[{"id": 1, "tags": [{"id": 4}, {"id": 5}]}]"#.utf8), inEntity: "Task", stack: stack)
        func tags() async throws -> [StoredValue?] {
            let task = try #require(try await stack.fetch("Task").first)
            return try await stack.fetchRelated("tags", of: task).map { $0["id"] }
        }
        try await stack.write { db in
            try db.execute(sql: "DELETE FROM Tag_tasks; INSERT INTO Tag_tasks (taskID, tagID) VALUES (1, 5)")
        }
        let list = Data(#"[{"id": 1, "tags": [{"id": 5}, {"id": 4}]}]"#.utf8)
        try await Sync.changes(list, inEntity: "Task", stack: stack)
        #expect(try await tags() == [.integer(5), .integer(4)])
        #expect(try await Sync.changes(list, inEntity: "Task", stack: stack).isEmpty)
    }

    @Test("Rows that are linked after the highest possible position come last")
    func linksFollowHighestPosition() async throws {
        let model = try SyncModel(
            schemaData: Data(
                """
                {"entities": {
                  "Album": {"attributes": {"id": "integer"}, "relationships": {
                    "songs": {"entity": "Song", "many": true, "ordered": true, "inverse": "album"}}},
                  "Song": {"attributes": {"id": "integer"}, "relationships": {
                    "album": {"entity": "Album", "inverse": "songs"}}}}}
                """.utf8))
        let stack = try DataStack.inMemory(model)
        try await Sync.changes(Data(#"[{"id": 1, "songs": [{"id": 1}]}]"#.utf8), inEntity: "Album", stack: stack)
        try await stack.write { db in
            try db.execute(sql: "UPDATE Song SET sync_album_order = ?", arguments: [Int64.max])
        }
        try await Sync.changes(
            Data(#"[{"id": 2, "album_id": 1}, {"id": 3, "album_id": 1}]"#.utf8), inEntity: "Song", stack: stack,
            options: SyncOptions(payloadKind: .delta))
        let album = try #require(try await stack.fetch("Album").first)
        #expect(try await stack.fetchRelated("songs", of: album).map { $0["id"] } == [1, 2, 3].map { .integer($0) })
    }
}
