import Foundation
import Sync
import Testing

/// Tables whose rows have no key in common have a surrogate key, which is an integer as well.
@Suite("Paged imports of rows with surrogate keys")
struct SurrogateKeyRunTests {
    private static let schema = """
        { "entities": {
          "Media": { "abstract": true, "attributes": { "title": "string" } },
          "Film": { "parent": "Media", "attributes": { "code": "integer" }, "primaryKey": "code",
                    "relationships": { "sequel": { "entity": "Film" } } },
          "Book": { "parent": "Media", "attributes": { "isbn": "string" }, "primaryKey": "isbn" } } }
        """

    @Test("A reference to a missing row does not keep the row whose surrogate key is that ID")
    func referenceKeepsNoOtherRow() async throws {
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(Self.schema.utf8)))
        let first: JSONValue = [["code": 97], ["code": 98], ["code": 99]]
        try await Sync.changes(first, inEntity: "Film", stack: stack)
        let run = PagedImport()
        let page: JSONValue = [["code": 11, "sequel": 3]]
        var options = SyncOptions()
        options.payloadKind = .page(of: run)
        options.scope = .all
        try await Sync.changes(page, inEntity: "Film", stack: stack, options: options)
        let result = try await run.finish()
        #expect(result["Film"].deletedCount == 3)
        #expect(try await stack.fetch("Film").map { $0["code"] } == [.integer(11)])
    }
}
