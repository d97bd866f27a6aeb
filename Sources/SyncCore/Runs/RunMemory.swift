/// What the pages of a run have said so far, as far as it matters for what the run deletes at its end.
package struct RunMemory: Sendable {
    /// A row that a page's list of its owner left out.
    package struct Unlisted: Hashable, Sendable {
        package var row: StoredRow
        /// The link through which the owner had it, and the owner's row key.
        package var link: LinkID
        package var owner: RowKey

        package init(row: StoredRow, link: LinkID, owner: RowKey) {
            self.row = row
            self.link = link
            self.owner = owner
        }
    }

    /// The link of a row at an end of which it has one at most.
    package struct OneLink: Hashable, Sendable {
        package var row: StoredRow
        package var link: LinkID
        package var end: Link.End

        package init(row: StoredRow, link: LinkID, end: Link.End) {
            self.row = row
            self.link = link
            self.end = end
        }
    }

    /// A foreign key that a page set because the row which the store had remembered for it was there at last.
    package struct LateTarget: Sendable {
        package var target: RowKey
        /// What it was before.
        package var before: RowKey?

        package init(target: RowKey, before: RowKey?) {
            self.target = target
            self.before = before
        }
    }

    /// Every row that a page mentioned, and how it was counted.
    package var rows = MarkedRows()
    /// The temporary table that has the marks of rows that became too many for memory.
    package var table: String?
    /// Rows that stay until the end of the run, in case a later page mentions them.
    package var unlisted: Set<Unlisted> = []
    /// Links whose last statement of a page waits for a row. Once that is there, they were its.
    package var awaited: Set<OneLink> = []
    /// What pages linked of what had been remembered before the run, which a statement of a later page may take back.
    package var late: [OneLink: LateTarget] = [:]
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
    package var changes = RunChanges()

    package init() {}
}
