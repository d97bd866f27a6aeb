import Testing

@testable import SyncCore

@Suite("The order of a list")
struct ListOrderMergeTests {
    @Test(
        "is that of whoever moved something",
        arguments: [
            (base: "abc", local: "abc", remote: "abc", outcome: ListOrderMerge<Character>.Outcome.remote),
            ("abc", "cab", "abc", .local), ("abc", "abc", "cab", .remote), ("abc", "cab", "cab", .remote),
            ("abc", "cab", "bac", .conflict),
            // Neither to add nor to remove is to move.
            ("abc", "axbc", "acy", .remote), ("abc", "cxa", "abcy", .local),
        ])
    func outcome(base: String, local: String, remote: String, outcome: ListOrderMerge<Character>.Outcome) {
        #expect(ListOrderMerge.outcome(base: Array(base), local: Array(local), remote: Array(remote)) == outcome)
    }

    @Test("is the server's where nobody knows what both had")
    func noBase() { #expect(ListOrderMerge.outcome(base: nil, local: Array("ba"), remote: Array("ab")) == .remote) }

    @Test(
        "keeps what only the other side has behind what precedes it there",
        arguments: [
            (leader: "abc", follower: "abxc", all: "abcx", merged: "abxc"), ("cab", "abcx", "abcx", "cxab"),
            ("abc", "xabc", "abcx", "xabc"), ("abc", "axyb", "abcxy", "axybc"), ("abc", "ab", "ab", "ab"),
            ("", "ba", "ab", "ba"), ("ab", "", "abz", "abz"),
        ])
    func merged(leader: String, follower: String, all: String, merged: String) {
        let list = ListOrderMerge.merged(leader: Array(leader), follower: Array(follower), of: Array(all))
        #expect(String(list) == merged)
    }
}
