import Foundation
import Sync
import Testing

@Suite("Plans")
struct PlanTests {
    @Test("A plan is the result of its sync, and writes nothing", arguments: ["day1", "day2"])
    func planEqualsSync(_ day: String) async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        if day == "day2" { try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack) }
        let json = try Fixtures.payload(day)
        let contents = try await stack.contents()
        let plan = try await Sync.plan(json, inEntity: "User", stack: stack)
        #expect(!plan.isEmpty)
        #expect(try await stack.contents() == contents)
        #expect(try await Sync.plan(JSONValue(parsing: json), inEntity: "User", stack: stack) == plan)
        #expect(try await Sync.changes(json, inEntity: "User", stack: stack) == plan)
        #expect(try await stack.contents() != contents)
        #expect(try await Sync.plan(json, inEntity: "User", stack: stack).isEmpty)
    }

    @Test("A plan of new rows leaves the file unchanged")
    func planLeavesTheFile() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try await folder.importDay1()
        let before = try Data(contentsOf: folder.database)
        let stack = try DataStack(at: folder.database)
        let plan = try await Sync.plan(Fixtures.payload("day2"), inEntity: "User", stack: stack)
        #expect(plan["User"].inserted == [.integer(9)])
        try stack.close()
        #expect(try Data(contentsOf: folder.database) == before)
    }

    /// A sync assigns surrogate keys of keyless rows while it writes. A plan must give the same result.
    @Test("A plan equals its sync with keyless rows, predicates and parents")
    func planWithParents() async throws {
        let stack = try CallFormTests.store()
        try await Sync.changes(CallFormTests.data(), inEntity: "Book", stack: stack)
        let json = Data(
            """
            [{"isbn": "978-2", "reviews": [{"text": "new"}], "genres": []}, {"isbn": "978-3", "reviews": [{}, {}]}]
            """.utf8)
        let parent = SyncParent("Author", id: 1)
        let predicate = RowPredicate.where("isbn BEGINSWITH '978'")
        let written = try await stack.contents()
        let plan = try await Sync.plan(json, inEntity: "Book", stack: stack, predicate: predicate, parent: parent)
        #expect(try await stack.contents() == written)
        let result = try await Sync.changes(json, inEntity: "Book", stack: stack, predicate: predicate, parent: parent)
        #expect(result == plan)
        #expect(result["Book"].deleted == [.text("978-1")])
        #expect(result["Review"].insertedCount == 3)
        #expect(try await stack.damage() == [])
    }

    @Test("A plan of a page has the checks of the page, and does not change its paged import")
    func planOfPage() async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        let run = PagedImport()
        let options = SyncOptions(payloadKind: .page(of: run))
        let page: JSONValue = [["id": 1]]
        let first = try await Sync.plan(page, inEntity: "Tag", stack: stack, options: options)
        #expect(first["Tag"].insertedCount == 1)
        try await Sync.changes(page, inEntity: "User", stack: stack, options: options)
        #expect(try await Sync.plan(page, inEntity: "User", stack: stack, options: options).isEmpty)
        let other = await #expect(throws: SyncError.self) {
            try await Sync.plan(page, inEntity: "Tag", stack: stack, options: options)
        }
        let malformed = await #expect(throws: SyncError.self) {
            try await Sync.plan(Data(#"[{"id": 2"#.utf8), inEntity: "User", stack: stack, options: options)
        }
        try await run.finish()
        let finished = await #expect(throws: SyncError.self) {
            try await Sync.plan(page, inEntity: "User", stack: stack, options: options)
        }
        #expect(other?.code == .invalidOption && finished?.code == .invalidOption)
        #expect(malformed?.code == .malformedJSON)
        #expect(try await stack.count("User") == 1)
    }

    @Test("A plan of a page that is read in chunks deletes no rows")
    func planOfPageInChunks() async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack)
        let options = SyncOptions(payloadKind: .page(of: PagedImport()), chunkSize: 8)
        let stream = AsyncStream<Data> { stream in
            stream.yield(Data(#"[{"id": 1}, {"id": 2}]"#.utf8))
            stream.finish()
        }
        let plan = try await Sync.plan(.buffers(stream), inEntity: "User", stack: stack, options: options)
        #expect(plan["User"].deletedCount == 0 && plan["User"].unchangedCount == 2)
    }

    @Test("A plan fails with the error of its sync")
    func planFailsLikeSync() async throws {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        let json = Data(#"[{"id": 1}, 2]"#.utf8)
        let plan = await #expect(throws: SyncError.self) {
            try await Sync.plan(json, inEntity: "User", stack: stack)
        }
        let sync = await #expect(throws: SyncError.self) {
            try await Sync.changes(json, inEntity: "User", stack: stack)
        }
        #expect(plan?.code == .recordExpected)
        #expect(plan?.code == sync?.code && plan?.path == sync?.path)
    }
}
