extension SyncModel {
    /// What happens to the rows a relationship leads to when its owner is deleted.
    public enum DeleteRule: String, Sendable, Hashable, CaseIterable, Codable {
        /// The targets stay and lose the link.
        case nullify
        /// The targets are deleted too.
        case cascade
        /// The owner cannot be deleted while it has targets that stay.
        case deny
        /// Treated as ``nullify``: a store never keeps a link to a row that is gone.
        case noAction
    }
}
