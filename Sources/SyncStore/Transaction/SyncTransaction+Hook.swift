import SyncCore

// A hook rewrites records that become new rows. Which those are is found out without writing anything, as often as its
// answers bring new ones.
extension SyncSession {
    /// - Parameter run: What earlier pages said, by which a page's rows are new or not.
    func rewritten(_ payload: StagedPayload, _ run: RunMemory?) throws -> ChangePlan {
        var plan = payload.plan
        guard var rewriting = payload.rewriting else { return plan }
        while true {
            let new = try plan.withTexts { pool in
                var sync = try SyncTransaction(plan, self, pool)
                sync.run = run
                return try sync.newMentions()
            }
            guard let next = try rewriting.next(after: plan, newMentions: new) else { break }
            plan = next
        }
        return try rewriting.settled(plan)
    }
}

extension SyncTransaction {
    /// The records that would become new rows, whether or not they have all that those need.
    fileprivate mutating func newMentions() throws -> [Int] {
        try checkPredicate()
        try findParent()
        try matchRows()
        try decideWhichRecordsCount(admittingIncomplete: true)
        return plan.mentions.indices.filter { index in
            guard let node = plan.mentions[index].node else { return false }
            return records.counts(Int32(truncatingIfNeeded: index))
                && tables[plan.mentions[index].table].isPresent(node, as: .new)
        }
    }
}
