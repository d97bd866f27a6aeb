import SyncCore

extension LinkBatch.Assertion {
    /// The nodes of a link, the one at an end first.
    func ends(from end: Link.End) -> (owner: NodeID, other: NodeID) {
        end == .first ? (first, second) : (second, first)
    }
}
