import Sync

extension SyncConflict {
    /// The winner as the conflict log has it.
    var winner: String { outcome.map { $0.winner?.rawValue ?? "open" } ?? "" }
    /// The reason as the conflict log has it.
    var why: String { outcome?.reason.rawValue ?? "" }
}
