import Testing

@testable import SyncCore

@Suite("Merging of list order")
struct ListOrderMergeTests {
    @Test(
        "The side that moved elements decides the order, and different moves conflict",
        arguments: [
            (base: "abc", local: "abc", remote: "abc", outcome: ListOrderMerge<Character>.Outcome.remote),
            ("abc", "cab", "abc", .local), ("abc", "abc", "cab", .remote), ("abc", "cab", "cab", .remote),
            ("abc", "cab", "bac", .conflict),
            // Adding or removing an element is not a move.
            ("abc", "axbc", "acy", .remote), ("abc", "cxa", "abcy", .local),
        ])
    func movedSideWins(base: String, local: String, remote: String, outcome: ListOrderMerge<Character>.Outcome) {
        #expect(ListOrderMerge.outcome(base: Array(base), local: Array(local), remote: Array(remote)) == outcome)
    }

    @Test("The server's order wins if the base is unknown")
    func serverWins() { #expect(ListOrderMerge.outcome(base: nil, local: Array("ba"), remote: Array("ab")) == .remote) }

    @Test(
        "Elements that only the follower has keep their predecessor",
        arguments: [
            (leader: "abc", follower: "abxc", all: "abcx", merged: "abxc"), ("cab", "abcx", "abcx", "cxab"),
            ("abc", "xabc", "abcx", "xabc"), ("abc", "axyb", "abcxy", "axybc"), ("abc", "ab", "ab", "ab"),
            ("", "ba", "ab", "ba"), ("ab", "", "abz", "abz"),
        ])
    func followerElementsKeepPredecessor(leader: String, follower: String, all: String, merged: String) {
        let list = ListOrderMerge.merged(leader: Array(leader), follower: Array(follower), of: Array(all))
        #expect(String(list) == merged)
    }
}
