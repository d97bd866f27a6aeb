import Testing

@testable import SyncCore

@Suite("Three-way merge")
struct ThreeWayMergeTests {
    @Test(
        "The outcome names the side that changed the value",
        arguments: [
            (base: "a", local: "a", remote: "a", outcome: ThreeWayMerge<String?>.Outcome.same),
            ("a", "b", "a", .local), ("a", "a", "b", .remote), ("a", "b", "c", .conflict),
            // Both sides made the same change.
            ("a", "b", "b", .same), (nil, "b", "b", .same), ("a", nil, nil, .same), (nil, nil, nil, .same),
            // Clearing a value is a change.
            ("a", nil, "a", .local), ("a", "a", nil, .remote), ("a", nil, "c", .conflict), ("a", "b", nil, .conflict),
            (nil, "b", nil, .local), (nil, nil, "c", .remote), (nil, "b", "c", .conflict),
        ] as [(base: String?, local: String?, remote: String?, outcome: ThreeWayMerge<String?>.Outcome)])
    func namesChangedSide(base: String?, local: String?, remote: String?, outcome: ThreeWayMerge<String?>.Outcome) {
        #expect(ThreeWayMerge.outcome(base: base, local: local, remote: remote) == outcome)
    }

    @Test("Swapping the sides mirrors the outcome")
    func swappedSidesMirrorOutcome() {
        let mirror: [ThreeWayMerge<Int>.Outcome] = [.same, .remote, .local, .conflict]
        let outcomes: [ThreeWayMerge<Int>.Outcome] = [.same, .local, .remote, .conflict]
        for (base, local, remote) in (0..<27).map({ ($0 / 9, $0 / 3 % 3, $0 % 3) }) {
            let here = ThreeWayMerge.outcome(base: base, local: local, remote: remote)
            let there = ThreeWayMerge.outcome(base: base, local: remote, remote: local)
            #expect(outcomes.firstIndex(of: here).map { mirror[$0] } == there, "\(base) \(local) \(remote)")
        }
    }
}

@Suite("Conflict resolution")
struct ConflictOutcomeTests {
    private func ruling(
        _ policy: ConflictPolicy = .lastWriterWins, edited: Int64, changed: Int64?, known: Int64? = nil,
        now: Int64 = 1_000_000, clock: Int64 = 0
    ) -> ConflictOutcome {
        ConflictOutcome(policy, editTime: edited, changed: changed, known: known, now: now, clock: clock)
    }

    @Test(
        "Policies other than lastWriterWins ignore the times",
        arguments: [1, 500, nil] as [Int64?])
    func otherPoliciesIgnoreTimes(_ changed: Int64?) {
        for edited: Int64 in [2, 600] {
            #expect(ruling(.clientWins, edited: edited, changed: changed).winner == .local)
            #expect(ruling(.serverWins, edited: edited, changed: changed).winner == .remote)
            #expect(ruling(.manual, edited: edited, changed: changed).winner == .open)
        }
        #expect(
            [.clientWins, .serverWins, .manual].map { ruling($0, edited: 2, changed: changed).reason }
                == [.clientWins, .serverWins, .manual])
    }

    @Test("The later change wins, and the service wins a tie")
    func laterChangeWins() {
        #expect(
            ruling(edited: 501, changed: 500) == ConflictOutcome(winner: .local, reason: .editedLaterLocally))
        #expect(
            ruling(edited: 499, changed: 500) == ConflictOutcome(winner: .remote, reason: .editedLaterRemotely))
        #expect(ruling(edited: 500, changed: 500).winner == .remote)
    }

    @Test("The service wins if it gives no time, and the reason says so")
    func serviceWinsWithoutTime() {
        #expect(
            ruling(edited: 999_999, changed: nil)
                == ConflictOutcome(winner: .remote, reason: .noRemoteTime))
    }

    @Test("The time of an edit is converted to the service's clock", arguments: [-3_600_000, 3_600_000] as [Int64])
    func editTimeUsesServiceClock(_ clock: Int64) {
        let edited: Int64 = 10_000_000
        func winner(_ after: Int64) -> ConflictOutcome.Winner {
            ruling(edited: edited, changed: edited + clock + after, now: edited + 1000, clock: clock).winner
        }
        #expect(winner(-1) == .local)
        #expect(winner(0) == .remote)
        #expect(winner(1) == .remote)
    }

    @Test("An edit dated in the future counts as made now")
    func futureEditCountsAsNow() {
        #expect(ruling(edited: 9_000_000, changed: 1_000_001, now: 1_000_000).winner == .remote)
        #expect(ruling(edited: 9_000_000, changed: 999_999, now: 1_000_000).winner == .local)
        #expect(ruling(edited: 9_000_000, changed: 1_000_501, now: 1_000_000, clock: 500).winner == .remote)
        #expect(ruling(edited: 9_000_000, changed: 1_000_499, now: 1_000_000, clock: 500).winner == .local)
    }

    @Test("An edit is never older than the record that it was made on")
    func editIsNotOlderThanItsRecord() {
        #expect(ruling(edited: 1, changed: 499, known: 500).winner == .local)
        #expect(ruling(edited: 1, changed: 500, known: 500).winner == .remote)
        #expect(ruling(edited: 1, changed: 501, known: 500).winner == .remote)
        #expect(ruling(edited: 600, changed: 599, known: 500).winner == .local)
    }
}
