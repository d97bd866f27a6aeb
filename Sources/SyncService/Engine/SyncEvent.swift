/// What an engine tells of a run while it goes on.
public enum SyncEvent: Sendable {
    /// What a run does, in this order.
    public enum Phase: String, Sendable, Hashable, CaseIterable {
        /// Asks what became of requests whose answers were lost.
        case recovering
        /// Takes what is new.
        case pulling
        /// Deletes what the service does not have any more.
        case sweeping
        /// Sends what changed here.
        case pushing
    }

    /// A phase begins.
    case phase(Phase)
    /// Rows were pulled: so many by now, of so many if the service says.
    case pulled(entity: String, rows: Int, of: Int?)
    /// Changes were sent: so many by now.
    case pushed(rows: Int)
    /// Nothing happens for so long, for this reason: the service fails or asks for it, or an answer was lost.
    case waiting(Duration, reason: String)
    /// The run is over.
    case finished(SyncReport)
    /// The run ended with an error.
    case failed(any Error)
}
