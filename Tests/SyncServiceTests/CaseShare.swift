import TestSize

/// What is tried with each of several arguments, of which each takes a share: every so many-th case, beginning with another one for each
/// argument, so that together they try all of it. In full length each tries all.
enum CaseShare {
    static func of<Case>(_ cases: [Case], every step: Int, from first: Int) -> [Case] {
        let step = LongTests.count(step, many: 1)
        return stride(from: first % step, to: cases.count, by: step).map { cases[$0] }
    }

    /// The number of a case among all, for `from`.
    static func place<Case: CaseIterable & Equatable>(_ value: Case) -> Int {
        Array(Case.allCases).firstIndex(of: value) ?? 0
    }
}
