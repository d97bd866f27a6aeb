/// What the pages of a run have said so far, as far as it matters for what the run deletes at its end.
package struct PagedImportState: Sendable {
    /// A row that a page's list of its owner left out.
    package struct RemovedListEntry: Hashable, Sendable {
        package var row: StoredRow
        /// The link through which the owner had it, and the owner's row key.
        package var link: AssociationID
        package var owner: RowKey

        package init(row: StoredRow, link: AssociationID, owner: RowKey) {
            self.row = row
            self.link = link
            self.owner = owner
        }
    }

    /// The link of a row at an end of which it has one at most.
    package struct OneLink: Hashable, Sendable {
        package var row: StoredRow
        package var link: AssociationID
        package var end: CompiledAssociation.End

        package init(row: StoredRow, link: AssociationID, end: CompiledAssociation.End) {
            self.row = row
            self.link = link
            self.end = end
        }
    }

    /// A foreign key that a page set because the row which the store had remembered for it was there at last.
    package struct ResolvedReference: Sendable {
        package var target: RowKey
        /// What it was before.
        package var before: RowKey?

        package init(target: RowKey, before: RowKey?) {
            self.target = target
            self.before = before
        }
    }

    /// Every row that a page mentioned, and how it was counted.
    package var rows = RowFlagTable()
    /// The temporary table that has the marks of rows that became too many for memory.
    package var table: String?
    /// Rows that stay until the end of the run, in case a later page mentions them.
    package var unlisted: Set<RemovedListEntry> = []
    /// Links whose last statement of a page waits for a row. Once that is there, they were its.
    package var awaited: Set<OneLink> = []
    /// What pages linked of what had been remembered before the run, which a statement of a later page may take back.
    package var late: [OneLink: ResolvedReference] = [:]
    /// Rows without a key that lost a link.
    package var orphans: Set<StoredRow> = []
    /// The rows of the parent before the run; nil before the first page.
    package var parentRows: [RowKey]?
    /// What the store wants to know again at the next page.
    package var storeMemory: [String: Int] = [:]
    /// How many records the pages had.
    package var rootRecords = 0
    /// The entities of which a page, or a list of one, was one object in no array.
    package var loneObjects: Set<Int> = []
    /// By entity: how many root records of pages have a key that cannot be read, and the path of the first.
    package var unread: [Int: (count: Int, first: String)] = [:]
    /// Whether null stood among the records of a page: the pages are not all there is.
    package var hasNulls = false
    /// Whether what is applied now is the end of the run, and no page.
    package var isEnding = false
    /// What the pages changed, and by how much their counts are too high together.
    package var changes = PagedImportChanges()

    package init() {}
}

/// What the pages of a run changed together.
package struct PagedImportChanges: Sendable {
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

    private var results = ResultAccumulator()
    private var counts: [String: SyncResult.EntityChanges] = [:]
    private var root = SyncResult.RootCounts()

    package init() {}

    package var isEmpty: Bool { results.isEmpty }

    /// How many references of all pages were unresolved when their page was applied.
    package var unresolvedCount: Int { results.unresolvedCount }

    /// Keeps only some of the unresolved references.
    package mutating func preservePending(
        _ kept: ([SyncResult.UnresolvedReference]) throws -> [SyncResult.UnresolvedReference]
    ) rethrows {
        try results.preservePending(kept)
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

/// The marks of many rows. Whole numbers that are close to each other, as most keys are, take next to no memory.
package struct RowFlagTable: Sendable {
    /// The marks of 64 neighbouring numbers, a bit each.
    private struct Block: Sendable {
        var mentioned: UInt64 = 0
        var counted: UInt64 = 0
        var written: UInt64 = 0
        var root: UInt64 = 0
        var listed: UInt64 = 0
        var inserted: UInt64 = 0

        func mark(_ bit: UInt64) -> RowFlags {
            var mark: RowFlags = []
            if mentioned & bit != 0 { mark.insert(.mentioned) }
            if counted & bit != 0 { mark.insert(.counted) }
            if written & bit != 0 { mark.insert(.written) }
            if root & bit != 0 { mark.insert(.root) }
            if listed & bit != 0 { mark.insert(.listed) }
            if inserted & bit != 0 { mark.insert(.inserted) }
            return mark
        }

        mutating func insert(_ mark: RowFlags, _ bit: UInt64) {
            if mark.contains(.mentioned) { mentioned |= bit }
            if mark.contains(.counted) { counted |= bit }
            if mark.contains(.written) { written |= bit }
            if mark.contains(.root) { root |= bit }
            if mark.contains(.listed) { listed |= bit }
            if mark.contains(.inserted) { inserted |= bit }
        }
    }

    /// By table.
    private var blocks: [[Int64: Block]] = []
    private var others: [StoredRow: RowFlags] = [:]

    package init() {}

    /// How many bytes they take, about.
    package var size: Int { blocks.reduce(0) { $0 + $1.capacity * 57 } + others.capacity * 34 + textSize }
    private var textSize = 0

    package subscript(row: StoredRow) -> RowFlags {
        guard case .integer(let key) = row.key else { return others[row] ?? [] }
        guard row.table.index < blocks.count else { return [] }
        return blocks[row.table.index][key >> 6]?.mark(1 << UInt64(key & 63)) ?? []
    }

    /// Adds a mark to those of a row.
    ///
    /// - Returns: Those it had.
    @discardableResult
    package mutating func insert(_ mark: RowFlags, for row: StoredRow) -> RowFlags {
        guard case .integer(let key) = row.key else { return insertOther(mark, for: row) }
        while blocks.count <= row.table.index { blocks.append([:]) }
        let bit: UInt64 = 1 << UInt64(key & 63)
        var block = blocks[row.table.index][key >> 6] ?? Block()
        let before = block.mark(bit)
        if before.isSuperset(of: mark) { return before }
        block.insert(mark, bit)
        blocks[row.table.index][key >> 6] = block
        return before
    }

    private mutating func insertOther(_ mark: RowFlags, for row: StoredRow) -> RowFlags {
        let before = others[row]
        if let before, before.isSuperset(of: mark) { return before }
        others[row] = mark.union(before ?? [])
        if before == nil, case .text(let text) = row.key, text.utf8.count > 15 { textSize += text.utf8.count + 48 }
        return before ?? []
    }

    /// Calls `body` with each row and its marks, and forgets them.
    package mutating func removeAll(_ body: (StoredRow, RowFlags) throws -> Void) rethrows {
        for table in blocks.indices {
            // In order, as a table takes them best.
            for (high, block) in blocks[table].sorted(by: { $0.key < $1.key }) {
                for low in 0..<64 {
                    let mark = block.mark(1 << UInt64(low))
                    if mark.isEmpty { continue }
                    try body(StoredRow(table: TableID(table), key: .integer(high << 6 | Int64(low))), mark)
                }
            }
        }
        for (row, mark) in others { try body(row, mark) }
        self = RowFlagTable()
    }
}

/// What the pages of a run said of a row, and what became of it.
package struct RowFlags: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A page mentions it, if only by its id.
    package static let mentioned = RowFlags(rawValue: 1)
    /// It was counted as inserted, updated or unchanged.
    package static let counted = RowFlags(rawValue: 2)
    /// It was counted as inserted or updated.
    package static let written = RowFlags(rawValue: 4)
    /// It was counted as inserted.
    package static let inserted = RowFlags(rawValue: 32)
    /// It was counted as a root record.
    package static let root = RowFlags(rawValue: 8)
    /// It was listed as one of the parent's.
    package static let listed = RowFlags(rawValue: 16)
}
