/// The most that one sync may delete of any one entity, cascades and nested lists included.
///
/// Past it the sync fails with ``SyncError/Code/deletionGuard`` and writes nothing.
public enum DeletionGuard: Sendable, Hashable {
    /// At most so many rows.
    case rows(Int)
    /// At most this part (0…1) of the rows an entity had, once it had more than `above`.
    case fraction(Double, above: Int = 0)

    /// More than half of an entity's rows, when it has more than 10: what the command line refuses by default.
    public static let half = DeletionGuard.fraction(0.5, above: 10)

    /// - Throws: ``SyncError`` `invalidOption` for a limit that is no number of rows, or no part of them.
    func validate() throws {
        switch self {
        case .rows(let rows) where rows < 0:
            throw SyncError(.invalidOption, "a deletion guard of \(rows) rows; it must be 0 or more")
        case .fraction(let part, _) where !(0...1).contains(part):
            throw SyncError(.invalidOption, "a deletion guard of \(part) of the rows; it must be from 0 to 1")
        case .rows, .fraction: break
        }
    }
}
