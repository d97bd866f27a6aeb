import Testing

@testable import SyncCore

@Suite("What the pages of a run changed together")
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

    @Test("is nothing before the first page")
    func none() {
        var changes = PagedImportChanges()
        #expect(changes.isEmpty && changes.insertedCount("User") == 0)
        let result = changes.result()
        #expect(result == nil)
    }

    @Test("counts each row once, although later pages met it again")
    func repeats() throws {
        var changes = PagedImportChanges()
        changes.add(page(inserted: 3, roots: (2, 0)))
        // One of them was met again, unchanged, and another written again; a root record met a row that was nested.
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

    @Test("forgets what was counted twice from page to page")
    func repeatsOfOnePage() {
        var changes = PagedImportChanges()
        changes.repeatedRoots = 1
        changes.add(page(unchanged: 2, roots: (0, 2)))
        changes.add(page(unchanged: 2, roots: (0, 2)))
        let result = changes.result()
        #expect(result?.root.matched == 3)
    }
}
