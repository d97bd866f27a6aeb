import SyncCore

/// What the rows that a sync writes held before, and which links it changed. Kept only for callers who ask for values;
/// a class, because it grows with every row while others look at it.
final class RowHistory {
    typealias Values = [String: JSONValue]

    /// What each row held before it was first written.
    private(set) var before: [StoredRow: Values] = [:]
    /// The rows written, as a result names them.
    private(set) var rows: [ChangeReport.Identity: StoredRow] = [:]
    var addedLinks: [SyncResult.Link] = []
    var removedLinks: [SyncResult.Link] = []

    func note(_ row: StoredRow, as identity: ChangeReport.Identity) { rows[identity] = row }

    func keep(_ values: Values, of row: StoredRow, as identity: ChangeReport.Identity) {
        before[row] = values
        rows[identity] = row
    }

    func values(before identity: ChangeReport.Identity) -> Values { rows[identity].flatMap { before[$0] } ?? [:] }
}
