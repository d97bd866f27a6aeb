import Foundation
import GRDB
import Sync
import Testing

/// Exports read the related rows of many rows together. The records must be those of exports of single rows.
@Suite("Exports of many rows")
struct ExportGroupTests {
    private static let schema = """
        { "entities": {
          "Author": { "attributes": { "id": "string", "name": "string" },
                      "relationships": {
                        "books": { "entity": "Book", "many": true, "ordered": true, "inverse": "author" },
                        "mentor": { "entity": "Author", "inverse": "students" },
                        "students": { "entity": "Author", "many": true, "inverse": "mentor" },
                        "profile": { "entity": "Profile", "inverse": "author" } } },
          "Profile": { "attributes": { "id": "integer" },
                       "relationships": { "author": { "entity": "Author", "inverse": "profile" } } },
          "Book": { "attributes": { "id": "integer", "title": "string" },
                    "relationships": {
                      "author": { "entity": "Author", "inverse": "books" },
                      "tags": { "entity": "Tag", "many": true, "ordered": true, "inverse": "books" },
                      "pages": { "entity": "Page", "many": true, "inverse": "book" } } },
          "Tag": { "attributes": { "id": "string" },
                   "relationships": { "books": { "entity": "Book", "many": true, "inverse": "tags" } } },
          "Page": { "attributes": { "number": "integer" },
                    "relationships": { "book": { "entity": "Book", "inverse": "pages" } } } } }
        """

    private func store() throws -> DataStack {
        try DataStack.inMemory(SyncModel(schemaData: Data(Self.schema.utf8)))
    }

    /// Adds authors with lists of many lengths. The first author has 300 books. Some tags and mentors are missing.
    private func fill(_ stack: DataStack, authors: Int) async throws {
        let tags = (0..<20).map { tag -> JSONValue in ["id": .string("t\(tag)")] }
        try await Sync.changes(.array(tags), inEntity: "Tag", stack: stack)
        let records = (0..<authors).map { author -> JSONValue in
            let books = (0..<(author == 0 ? 300 : author % 4)).map { Self.book(author, $0) }
            return [
                "id": .string("a\(author)"), "name": author % 5 == 0 ? .null : "Ann", "books": .array(books),
                "mentor_id": Self.mentor(author), "profile": author % 2 == 0 ? .null : ["id": JSONValue(author)],
            ]
        }
        try await Sync.changes(.array(records), inEntity: "Author", stack: stack)
    }

    /// Returns a book of an author. The order of the books is not that of their IDs.
    private static func book(_ author: Int, _ index: Int) -> JSONValue {
        let id = author * 1000 + 999 - index
        let tags = (0..<index % 4).map { JSONValue.string("t\((id + $0 * 7) % 21)") }
        let pages = (0..<index % 3).map { page -> JSONValue in ["number": JSONValue(page)] }
        return [
            "id": JSONValue(id), "title": .string("Book \(id)"), "tag_ids": .array(tags), "pages": .array(pages),
        ]
    }

    /// Returns the ID of the mentor. Every fourth author is the mentor of the next three.
    private static func mentor(_ author: Int) -> JSONValue {
        if author % 4 == 0 { return .null }
        return .string(author % 50 == 1 ? "unknown" : "a\(author / 4 * 4)")
    }

    /// Returns the records of an entity, each from an export of one row.
    private func singleRecords(_ entity: String, _ count: Int, _ options: ExportOptions, _ stack: DataStack) throws
        -> [JSONValue]
    {
        var records: [JSONValue] = []
        for offset in 0..<count {
            try stack.exportEach(entity, limit: 1, offset: offset, options: options) { records.append($0) }
        }
        return records
    }

    @Test("The records of many rows are those of single rows", arguments: ExportOptions.Relationships.allCases)
    func recordsAreThoseOfSingleRows(_ relationships: ExportOptions.Relationships) async throws {
        let stack = try store()
        try await fill(stack, authors: 60)
        let options = ExportOptions(relationships: relationships)
        for entity in ["Author", "Book", "Profile", "Tag"] {
            let records = try await stack.export(entity, options: options)
            #expect(try await records.count == stack.count(entity))
            let single = try singleRecords(entity, records.count, options, stack)
            #expect(single.count == records.count)
            let differing = zip(records, single).filter { $0 != $1 }
            #expect(differing.isEmpty, "\(entity): \(differing.prefix(1))")
        }
    }

    @Test("An ordered list of more rows than one statement reads has its order")
    func longListHasItsOrder() async throws {
        let stack = try store()
        try await fill(stack, authors: 2)
        let author = try #require(try await stack.export("Author", where: "id == 'a0'").first)
        guard case .array(let books)? = author["books"] else {
            Issue.record("the record has no books")
            return
        }
        #expect(books.compactMap { $0["id"] } == (0..<300).map { JSONValue(999 - $0) })
        #expect(books.compactMap { $0["title"] } == (0..<300).map { .string("Book \(999 - $0)") })
    }

    @Test("A relationship with pending references is omitted, and only in the records of its rows")
    func pendingReferencesAreOmitted() async throws {
        let stack = try store()
        let books = (1...300).map { book -> JSONValue in
            ["id": JSONValue(book), "tag_ids": book == 270 ? ["known", "missing"] : ["known"]]
        }
        try await Sync.changes([["id": "known"]], inEntity: "Tag", stack: stack)
        try await Sync.changes(.array(books), inEntity: "Book", stack: stack)
        let records = try await stack.export("Book")
        #expect(records.filter { $0["tags"] == nil }.compactMap { $0["id"] } == [270])
        #expect(records.filter { $0["tags"] == [["id": "known"]] }.count == 299)
    }

    @Test("Keys that differ only in their bytes have their own related rows")
    func keysAreComparedByBytes() async throws {
        let stack = try store()
        // In the order of their bytes. Two are the same letter in different Unicode forms, one contains a NUL.
        let keys = ["a", "a\u{0}b", "e\u{301}", "\u{e9}"]
        let records = keys.enumerated().map { index, key -> JSONValue in
            ["id": .string(key), "books": [["id": JSONValue(index)]]]
        }
        try await Sync.changes(.array(records), inEntity: "Author", stack: stack)
        let exported = try await stack.export("Author")
        #expect(exported.compactMap { $0["books"]?.firstElement?["id"] } == [0, 1, 2, 3])
        let books = try await stack.export("Book")
        #expect(books.compactMap { $0["author"]?["id"]?.bytes } == keys.map { Array($0.utf8) })
    }

    @Test("A foreign key without a row is exported as no row")
    func danglingForeignKeyIsNoRow() async throws {
        let stack = try store()
        try await fill(stack, authors: 40)
        try await stack.write { db in
            try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
            let before = try stack.export("Author", in: db)
            try db.execute(sql: "UPDATE Author SET mentorID = 'gone' WHERE id IN ('a10', 'a21')")
            let after = try stack.export("Author", in: db)
            for id in ["a10", "a21"] as [JSONValue] {
                #expect(before.first { $0["id"] == id }?["mentor"] != nil)
                #expect(after.first { $0["id"] == id }.map { $0["mentor"] == nil } == true)
            }
            try db.execute(sql: "UPDATE Author SET mentorID = NULL WHERE mentorID = 'gone'")
        }
    }
}

extension JSONValue {
    fileprivate var firstElement: JSONValue? {
        guard case .array(let elements) = self else { return nil }
        return elements.first
    }

    /// The bytes of a string.
    fileprivate var bytes: [UInt8]? {
        guard case .string(let text) = self else { return nil }
        return Array(text.utf8)
    }
}
