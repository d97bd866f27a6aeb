import Testing

@testable import SyncCore

@Suite("Paged imports")
struct PagedImportTests {
    private final class Store: Sendable {}

    private static let store = Store()

    private func call(_ entity: String = "User", _ operations: SyncOperations = .all) -> PagedImport.Parameters {
        .init(
            store: ObjectIdentifier(Self.store), entity: entity, predicate: nil, parent: nil,
            operations: operations)
    }

    private func expect(_ message: String, _ body: () async throws -> Void) async {
        let error = await #expect(throws: SyncError.self) { try await body() }
        #expect(error?.code == .invalidOption)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    }

    @Test("A paged import without pages changes nothing")
    func emptyImportChangesNothing() async throws {
        #expect(try await PagedImport().finish().isEmpty)
    }

    @Test("A paged import finishes once, by its first page, and takes no pages afterwards")
    func finishesOnce() async throws {
        let run = PagedImport()
        for name in ["first", "second"] {
            try run.beginPage(call()) { _ in SyncResult(entity: name) }
            run.endPage(succeeded: true)
        }
        #expect(try await run.finish().entity == "first")
        await expect("already finished") { try await run.finish() }
        await expect("start a new one") { try run.beginPage(call()) { _ in SyncResult(entity: "") } }
    }

    @Test("A paged import cannot finish while a page is open or after a page failed")
    func cannotFinishWithOpenOrFailedPage() async throws {
        let run = PagedImport()
        try run.beginPage(call()) { _ in SyncResult(entity: "") }
        await expect("still being applied") { try await run.finish() }
        run.endPage(succeeded: false)
        await expect("nothing was deleted") { try await run.finish() }
    }

    @Test("A paged import takes no pages after a failed page, and suggests a new paged import")
    func takesNoPageAfterFailedPage() async throws {
        let run = PagedImport()
        try run.beginPage(call()) { _ in SyncResult(entity: "") }
        run.endPage(succeeded: false)
        let rejected = #expect(throws: SyncError.self) {
            try run.beginPage(call()) { _ in SyncResult(entity: "") }
        }
        let unfinished = await #expect(throws: SyncError.self) { try await run.finish() }
        #expect(rejected == unfinished)
        #expect(rejected?.recoverySuggestion?.contains("sync all pages again") == true)
    }

    @Test("All pages of an import have the same store and parameters")
    func rejectsOtherParameters() async throws {
        let run = PagedImport()
        try run.beginPage(call()) { _ in SyncResult(entity: "") }
        await expect("the same store") { try run.beginPage(call("Note")) { _ in SyncResult(entity: "") } }
        await expect("the same store") { try run.beginPage(call("User", [.insert])) { _ in SyncResult(entity: "") } }
    }

    @Test("The import state is lent to one page at a time")
    func lendsStateToOnePage() {
        let run = PagedImport()
        var memory = run.checkOutState()
        memory.rootRecords = 7
        #expect(run.checkOutState().rootRecords == 0)
        run.checkInState(memory)
        #expect(run.checkOutState().rootRecords == 7)
    }
}
