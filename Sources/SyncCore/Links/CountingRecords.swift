/// Which records of a payload count: where operations are restricted or values required, not all of them do.
package struct CountingRecords: Sendable {
    /// How far a statement about a link counts.
    package enum Standing: Sendable {
        case none
        /// The link stays if it is stored: the child may be neither inserted nor updated.
        case keeps
        case full
    }

    private let mentions: [ChangePlan.Mention]
    /// By mention; empty where all count.
    package var counts: [Bool] = []

    package init(_ mentions: [ChangePlan.Mention]) { self.mentions = mentions }

    /// Whether what a record says counts; a mention of -1 is of a record that nobody asks about.
    @inline(__always)
    package func counts(_ mention: Int32) -> Bool { mention < 0 || counts.isEmpty || counts[Int(mention)] }

    /// How far a statement counts. That of a listed child is the child's own, but the list is of the record around it.
    @inline(__always)
    package func standing(_ assertion: LinkBatch.Assertion) -> Standing {
        if counts(assertion.mention) { return .full }
        guard assertion.isListed else { return .none }
        return counts(mentions[Int(assertion.mention)].parent) ? .keeps : .none
    }
}
