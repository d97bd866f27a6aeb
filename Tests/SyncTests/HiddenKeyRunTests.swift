import Foundation
import Sync
import Testing

/// Rows of tables that have no key in common are stored under keys of the store's own, which are numbers as well.
@Suite("Runs over rows with hidden keys")
struct HiddenKeyRunTests {
    private static let schema = """
        { "entities": {
          "Media": { "abstract": true, "attributes": { "title": "string" } },
          "Film": { "parent": "Media", "attributes": { "code": "integer" }, "primaryKey": "code",
                    "relationships": { "sequel": { "entity": "Film" } } },
          "Book": { "parent": "Media", "attributes": { "isbn": "string" }, "primaryKey": "isbn" } } }
        """

    @Test("An id of a row that is not stored says nothing of the row that is stored under this number")
    func unmentioned() async throws {
        let stack = try DataStack.inMemory(SyncModel(schema: Data(Self.schema.utf8)))
        let first: JSONValue = [["code": 97], ["code": 98], ["code": 99]]
        try await Sync.changes(first, inEntity: "Film", stack: stack)
        let run = PagedImport()
        let page: JSONValue = [["code": 11, "sequel": 3]]
        var options = SyncOptions()
        options.payload = .page(of: run)
        options.scope = .all
        try await Sync.changes(page, inEntity: "Film", stack: stack, options: options)
        let result = try await run.finish()
        #expect(result["Film"].deletedCount == 3)
        #expect(try await stack.fetch("Film").map { $0["code"] } == [.integer(11)])
    }
}
