package import SyncCore

/// What the records speak of that a plan leaves out, because the store satisfies them already.
package protocol KnownRows: AnyObject {
    /// Whether the plan leaves any out.
    var leavesRecordsOut: Bool { get }

    /// Links that others wrote to since.
    var doubtfulLinks: Set<LinkID> { get }

    /// Whether one of the records left out speaks of a row.
    func mentions(_ row: StoredRow) -> Bool

    /// Called when the plan is written.
    ///
    /// - Throws: What says that records were left out which are needed after all.
    func settle(_ sync: SyncTransaction) throws

    /// Counts the rows of the records left out as unchanged, each once.
    func addRecords(to result: inout SyncResult, _ sync: SyncTransaction) throws
}
