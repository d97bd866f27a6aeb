/// What the pages of a run changed together.
package struct RunChanges: Sendable {
    /// How often rows were counted before by earlier pages.
    package struct Repeats: Sendable {
        package var updated = 0
        package var unchanged = 0

        package init() {}
    }

    /// By entity name, of the page that is being applied.
    package var repeats: [String: Repeats] = [:]
    package var repeatedRoots = 0
    /// Root records that met a row which an earlier page inserted as a nested one.
    package var insertedRoots = 0

    private var results = MergedResults()
    private var counts: [String: SyncResult.EntityChanges] = [:]
    private var root = SyncResult.RootCounts()

    package init() {}

    package var isEmpty: Bool { results.isEmpty }

    /// How many references of all pages were unresolved when their page was applied.
    package var unresolvedCount: Int { results.unresolvedCount }

    /// Keeps only some of the unresolved references.
    package mutating func keepUnresolved(
        _ kept: ([SyncResult.UnresolvedReference]) throws -> [SyncResult.UnresolvedReference]
    ) rethrows {
        try results.keepUnresolved(kept)
    }

    /// How many rows of an entity the pages inserted.
    package func insertedCount(_ entity: String) -> Int { counts[entity]?.insertedCount ?? 0 }

    /// Adds what one page changed.
    package mutating func add(_ page: SyncResult) {
        for (name, changes) in page.entities {
            let repeated = repeats[name] ?? Repeats()
            var sum = counts[name] ?? SyncResult.EntityChanges()
            sum.insertedCount += changes.insertedCount
            sum.updatedCount += changes.updatedCount - repeated.updated
            sum.deletedCount += changes.deletedCount
            sum.unchangedCount += changes.unchangedCount - repeated.unchanged
            counts[name] = sum
        }
        root.inserted += page.root.inserted + insertedRoots
        root.matched += page.root.matched - insertedRoots - repeatedRoots
        root.deleted += page.root.deleted
        var page = page
        page.repeatedRecords += repeatedRoots
        repeats = [:]
        repeatedRoots = 0
        insertedRoots = 0
        results.add(page)
    }

    /// What all pages changed, each row counted once; nil without pages.
    package mutating func result() -> SyncResult? {
        guard var result = results.merged() else { return nil }
        for (name, sum) in counts {
            result.entities[name]?.insertedCount = sum.insertedCount
            result.entities[name]?.updatedCount = sum.updatedCount
            result.entities[name]?.deletedCount = sum.deletedCount
            result.entities[name]?.unchangedCount = sum.unchangedCount
        }
        result.root = root
        return result
    }
}
