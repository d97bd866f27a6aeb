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
}
