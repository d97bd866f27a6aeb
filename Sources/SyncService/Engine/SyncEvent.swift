public import SyncCore

/// An event of an engine run.
public enum SyncEvent: Sendable {
    /// A phase of a run. The cases are in the usual order of the phases. A phase may occur several times.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// The engine resolves in-doubt requests: sent requests whose outcome is unknown.
        case recovering
        /// The engine pulls remote changes.
        case pulling
        /// The engine compares listings of the service with the store, and deletes rows that the service no longer has.
        case reconciling
        /// The engine pushes local changes.
        case pushing
    }

    /// A phase begins.
    case phase(Phase)
    /// The engine pulled records of an entity. `rows` is the number of records in this pull so far. `of` is the total
    /// number of records; nil if the service does not report the total.
    case pulled(entity: String, rows: Int, of: Int?)
    /// The engine pushed changes. `rows` is the number of accepted changes since the push began. `of` is the number of
    /// changes that were pending at the start of the push, or `rows` if that number is greater.
    case pushed(rows: Int, of: Int)
    /// The run waits for a duration. `reason` states why the run waits.
    case waiting(Duration, reason: String)
    /// The run succeeded, with this report.
    case finished(SyncReport)
    /// The run ended with an error.
    case failed(any Error)
}
