import SyncCore

/// The stored rows that a sync deletes or takes links from although no record of it says so, and why. Noted from when rows
/// are matched on, and acted on at its end.
struct LeavingRows {
    struct Reasons {
        /// The links through which a list of objects leaves it out, so that it goes. They are gone on the final state,
        /// though still stored.
        var leftOut: Set<LinkID> = []
        /// Links that it loses; it stays.
        var unlinked: Set<LinkID> = []
        /// Whether the scope of the root leaves it out, so that it goes.
        var isOutOfScope = false
        /// The relationships in which it led to rows that are not stored, which it does no more; it stays.
        var mended: Set<String> = []
    }

    private var reasons: [StoredRow: Reasons] = [:]
    /// Rows without a key that lost a link: they go unless a row with a key leads to them.
    private var orphans: Set<StoredRow> = []

    subscript(row: StoredRow) -> Reasons {
        get { reasons[row] ?? Reasons() }
        _modify { yield &reasons[row, default: Reasons()] }
    }

    /// The rows of which something holds.
    func rows(where holds: (Reasons) -> Bool) -> Set<StoredRow> {
        Set(reasons.filter { holds($0.value) }.keys)
    }

    /// The rows that lists leave out.
    var leftOut: Set<StoredRow> { rows { !$0.leftOut.isEmpty } }

    mutating func noteOutOfScope(_ rows: Set<StoredRow>) {
        for row in rows { self[row].isOutOfScope = true }
    }

    /// A row keeps a link after all.
    ///
    /// - Returns: The links it loses all the same, if it would have gone with that one.
    mutating func keep(_ link: LinkID, of row: StoredRow) -> Set<LinkID> {
        guard var known = reasons[row] else { return [] }
        known.unlinked.remove(link)
        let wasLeftOut = known.leftOut.remove(link) != nil
        reasons[row] = known
        return wasLeftOut && known.leftOut.isEmpty ? known.unlinked : []
    }

    // MARK: Orphans

    mutating func noteOrphan(_ row: StoredRow) { orphans.insert(row) }
    mutating func noteOrphans(_ rows: Set<StoredRow>) { orphans.formUnion(rows) }

    /// The orphans there are by now; who is noted from here on is another one.
    mutating func takeOrphans() -> Set<StoredRow> {
        defer { orphans = [] }
        return orphans
    }
}
