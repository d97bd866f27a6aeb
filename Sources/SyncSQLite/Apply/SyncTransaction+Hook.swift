import GRDB
import SyncCore

// A hook rewrites records that become new rows. Which those are is found out without writing anything, as often as its
// answers bring new ones.
extension SyncTransaction {
    static func rewritten(
        _ plan: ChangePlan, _ session: SyncSession
    ) throws -> ChangePlan {
        guard var rewriting = plan.rewriting else { return plan }
        var plan = plan
        while true {
            let new = try plan.withTexts { pool in
                var sync = try SyncTransaction(plan, SyncSession(unwatched: session), pool)
                return try sync.newMentions()
            }
            guard let next = try rewriting.next(after: plan, newMentions: new) else { break }
            plan = next
        }
        return try rewriting.settled(plan)
    }

    /// The records that would become new rows, whether or not they have all that those need.
    private mutating func newMentions() throws -> [Int] {
        admitsIncomplete = true
        try checkPredicate()
        try findParent()
        try matchRows()
        try decideWhichRecordsCount()
        return plan.mentions.indices.filter { index in
            let mention = plan.mentions[index]
            return mention.node >= 0 && isActive(Int32(truncatingIfNeeded: index))
                && trees[Int(mention.tree)].presence[Int(mention.node)] == .new
        }
    }
}
