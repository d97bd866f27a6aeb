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

    @Test(
        "A pending reference has the primary key of its row, also in the result of chunks and pages",
        arguments: [nil, 1, 1000])
    func pendingReferencesHavePrimaryKeys(chunkSize: Int?) async throws {
        let model = """
            {"entities": {"Owner": {"attributes": {"id": "integer"}},
              "Row": {"primaryKey": ["kind", "owner", "num"], "attributes": {"kind": "string", "num": "integer"},
                "relationships": {"owner": {"entity": "Owner"}, "next": {"entity": "Row"}, "other": {"entity": "Owner"}}}}}
            """
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(model.utf8)))
        try await Sync.changes([["id": 5]], inEntity: "Owner", stack: stack)
        let json = Data(
            #"[{"kind":"a","owner":5,"num":77,"other":3},{"kind":"b","owner":5,"num":7,"next":["c",5,1]}]"#.utf8)
        let run = PagedImport()
        var options = SyncOptions()
        var result: SyncResult
        if let chunkSize {
            options.chunkSize = chunkSize
            options.payloadKind = .page(of: run)
            try await Sync.changes(json, inEntity: "Row", stack: stack, options: options)
            result = try await run.finish()
        } else {
            result = try await Sync.changes(json, inEntity: "Row", stack: stack, options: options)
        }
        let keys = Set(result.pendingReferences.map(\.key.description))
        #expect(keys == [#"["a",5,77]"#, #"["b",5,7]"#])
        #expect(Set(try await stack.pendingReferences().map(\.key.description)) == keys)
        let row: JSONValue = [["kind": "c", "owner": 5, "num": 1]]
        options = SyncOptions(payloadKind: .delta)
        result = try await Sync.changes(row, inEntity: "Row", stack: stack, options: options)
        #expect(try await stack.count("Row", where: "next.num == 1") == 1)
        #expect(try await stack.pendingReferences().map(\.key.description) == [#"["a",5,77]"#])
    }

    @Test("A pending reference of a row in a table without a common key has the primary key of its row")
    func pendingReferenceWithoutCommonKey() async throws {
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(Self.schema.utf8)))
        let films: JSONValue = [["code": 11, "sequel": 12]]
        let result = try await Sync.changes(films, inEntity: "Film", stack: stack)
        #expect(result.pendingReferences.map(\.key) == [.integer(11)])
        #expect(result.pendingReferences.map(\.target) == [.integer(12)])
    }

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
