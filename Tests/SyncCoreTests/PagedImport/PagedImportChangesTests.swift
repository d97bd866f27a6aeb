import Testing

@testable import SyncCore

@Suite("Changes of a paged import")
struct PagedImportChangesTests {
    private func page(inserted: Int = 0, updated: Int = 0, unchanged: Int = 0, roots: (Int, Int) = (0, 0)) -> SyncResult
    {
        var result = SyncResult(entity: "User")
        var changes = SyncResult.EntityChanges()
        changes.insertedCount = inserted
        changes.updatedCount = updated
        changes.unchangedCount = unchanged
        result.entities["User"] = changes
        result.root.inserted = roots.0
        result.root.matched = roots.1
        return result
    }

    @Test("There is no result before the first page")
    func noResultBeforeFirstPage() {
        var changes = PagedImportChanges()
        #expect(changes.isEmpty && changes.insertedCount("User") == 0)
        let result = changes.result()
        #expect(result == nil)
    }

    @Test("A row that occurs on several pages is counted once")
    func countsRowsOnce() throws {
        var changes = PagedImportChanges()
        changes.add(page(inserted: 3, roots: (2, 0)))
        // The next page has one of these rows unchanged and one written again. One root record matches a nested row.
        changes.repeats["User"] = .init()
        changes.repeats["User"]?.unchanged = 1
        changes.repeats["User"]?.updated = 1
        changes.insertedRoots = 1
        changes.add(page(inserted: 1, updated: 1, unchanged: 2, roots: (1, 2)))
        #expect(changes.insertedCount("User") == 4)
        let merged = changes.result()
        let result = try #require(merged)
        #expect(result["User"].insertedCount == 4 && result["User"].updatedCount == 0)
        #expect(result["User"].unchangedCount == 1)
        #expect(result.root.inserted == 4 && result.root.matched == 1)
    }

    @Test("Repeated counts are reset after each page")
    func resetsRepeatsAfterEachPage() {
        var changes = PagedImportChanges()
        changes.repeatedRoots = 1
        changes.add(page(unchanged: 2, roots: (0, 2)))
        changes.add(page(unchanged: 2, roots: (0, 2)))
        let result = changes.result()
        #expect(result?.root.matched == 3)
    }
}
