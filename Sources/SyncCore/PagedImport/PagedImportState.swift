/// The state that a paged import keeps between its pages.
package struct PagedImportState: Sendable {
    /// A row that a page omitted from a list of its owner.
    package struct RemovedListEntry: Hashable, Sendable {
        package var row: StoredRow
        /// The association of the list.
        package var link: AssociationID
        package var owner: RowKey

        package init(row: StoredRow, link: AssociationID, owner: RowKey) {
            self.row = row
            self.link = link
            self.owner = owner
        }
    }

    /// The end of an association at which a row has at most one link, and that row.
    package struct ToOneLink: Hashable, Sendable {
        package var row: StoredRow
        package var link: AssociationID
        package var end: CompiledAssociation.End

        package init(row: StoredRow, link: AssociationID, end: CompiledAssociation.End) {
            self.row = row
            self.link = link
            self.end = end
        }
    }

    /// A row that is not stored yet, at an end of an association at which it can have at most one link.
    package struct ReferencedRow: Hashable, Sendable {
        package var key: RowKey
        package var link: AssociationID
        package var end: CompiledAssociation.End

        package init(key: RowKey, link: AssociationID, end: CompiledAssociation.End) {
            self.key = key
            self.link = link
            self.end = end
        }
    }

    /// A to-one reference of a page to a row that is not stored yet, which a later such reference replaced.
    package struct ReplacedReference: Sendable {
        package var link: ToOneLink
        package var ownerEntity: Int
        package var target: RowKey
        package var targetEntity: Int
        /// Whether the reference links the rows when its row arrives. Otherwise it only removes the earlier link.
        package var links: Bool

        package init(link: ToOneLink, ownerEntity: Int, target: RowKey, targetEntity: Int, links: Bool) {
            self.link = link
            self.ownerEntity = ownerEntity
            self.target = target
            self.targetEntity = targetEntity
            self.links = links
        }
    }

    /// A foreign key that a page set because the row of a pending reference had arrived.
    package struct ResolvedReference: Sendable {
        package var target: RowKey
        /// The earlier value of the foreign key; nil if the foreign key was null.
        package var before: RowKey?

        package init(target: RowKey, before: RowKey?) {
            self.target = target
            self.before = before
        }
    }

    /// The flags in memory of rows that pages contain.
    package private(set) var rowFlags = RowFlagTable()
    /// The flags that exceeded the memory limit; nil if there are none.
    package private(set) var spilledRowFlags: (any RowFlagStore)?
    /// The rows that lists of pages omitted. The rows stay until the end of the import, because a later page may
    /// contain the rows.
    package var removedListEntries: Set<RemovedListEntry> = []
    /// The to-one links that a page set to a row that is not stored yet. When that row arrives, the import treats the
    /// link as set by the page.
    package var pendingLinks: Set<ToOneLink> = []
    /// The rows that lists of pages contain by ID and that are not stored yet. When such a row arrives, the import
    /// treats its link as one that the page set.
    package var pendingListedRows: Set<ReferencedRow> = []
    /// The to-one references that only references to rows that are not stored yet replaced, in document order.
    package var replacedReferences: [ReplacedReference] = []
    /// The foreign keys that pages set because of references from before the import. A later page can undo such a
    /// change.
    package var resolvedReferences: [ToOneLink: ResolvedReference] = [:]
    /// The rows that lost a link. At the end, the import deletes the keyless rows without an owner.
    package var orphans: Set<StoredRow> = []
    /// The keys of the parent's children before the import; nil before the first page.
    package var parentRows: [RowKey]?
    /// Values that the session of the store keeps from one page to the next.
    package var sessionScratch: [String: Int] = [:]
    /// The number of root records of all pages.
    package var rootRecords = 0
    /// The indexes of the entities for which a page had a single object or null instead of an array.
    package var entitiesWithSingleObject: Set<Int> = []
    /// The number of root records with an unreadable key, and the path of the first such record, by the index of the
    /// entity.
    package var unreadable: [Int: (count: Int, first: String)] = [:]
    /// Whether a page had a null instead of a record. The row of a null is not known, so the import then deletes no
    /// omitted rows.
    package var hasNulls = false
    /// Whether the pages are the chunks of one payload.
    package var isOnePayload = false
    /// Whether the end of the import is being applied instead of a page.
    package var isEnding = false
    /// The change set of all pages, in which each row is counted once.
    package var changes = PagedImportChanges()

    package init() {}
}

// MARK: - Row flags

extension PagedImportState {
    /// Returns the flags of a row.
    package func flags(of row: StoredRow) throws -> RowFlags {
        let known = rowFlags[row]
        guard let spilledRowFlags else { return known }
        return known.union(try spilledRowFlags.flags(of: row))
    }

    /// Adds flags to those of a row.
    ///
    /// - Returns: The previous flags. Flags outside memory are left out if those in memory contain `flags`.
    @discardableResult
    package mutating func add(_ flags: RowFlags, to row: StoredRow) throws -> RowFlags {
        let known = rowFlags.insert(flags, for: row)
        guard let spilledRowFlags, !known.isSuperset(of: flags) else { return known }
        return known.union(try spilledRowFlags.flags(of: row))
    }

    /// Moves the flags out of memory if their size exceeds a limit. The flags stay moved if the transaction of a page
    /// is rolled back, so call the method before a transaction that may be repeated.
    ///
    /// - Parameters:
    ///   - limit: The limit in bytes.
    ///   - makeStore: A function that creates the store for the flags of this import.
    package mutating func spillRowFlags(above limit: Int, to makeStore: () throws -> any RowFlagStore) throws {
        guard rowFlags.size > limit else { return }
        let store = try spilledRowFlags ?? makeStore()
        try store.add(rowFlags)
        spilledRowFlags = store
        rowFlags = RowFlagTable()
    }
}

// MARK: - PagedImportChanges

/// The changes of all pages of a paged import.
package struct PagedImportChanges: Sendable {
    /// The numbers of rows of one page that an earlier page already counted.
    package struct Repeats: Sendable {
        package var updated = 0
        package var unchanged = 0

        package init() {}
    }

    /// The numbers of rows of the current page that an earlier page already counted, by entity name.
    package var repeats: [String: Repeats] = [:]
    /// The number of root records of the current page whose row an earlier page already counted as a root record.
    package var repeatedRoots = 0
    /// The number of root records of the current page whose row an earlier page inserted as a nested record.
    package var insertedRoots = 0

    private var results = ResultAccumulator()
    private var counts: [String: SyncResult.EntityChanges] = [:]
    private var root = SyncResult.RootCounts()

    package init() {}

    package var isEmpty: Bool { results.isEmpty }

    /// The number of pending references in the results of the pages.
    package var unresolvedCount: Int { results.unresolvedCount }

    /// Replaces the pending references of each result with the references that `kept` returns.
    package mutating func preservePending(
        _ kept: ([SyncResult.Link]) throws -> [SyncResult.Link]
    ) rethrows {
        try results.preservePending(kept)
    }

    /// Returns the number of rows of an entity that the pages inserted.
    package func insertedCount(_ entity: String) -> Int { counts[entity]?.insertedCount ?? 0 }

    /// Adds the changes of one page.
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
        page.duplicateRecordCount += repeatedRoots
        repeats = [:]
        repeatedRoots = 0
        insertedRoots = 0
        results.add(page)
    }

    /// Returns the changes of all pages, with each row counted once, or nil if there are no pages.
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
