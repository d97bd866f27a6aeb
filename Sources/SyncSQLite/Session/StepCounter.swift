import SyncStore

/// Counts the passes of one loop, and tells of them now and then.
struct StepCounter {
    private let steps: SyncSteps
    private var count = 0

    init(_ steps: SyncSteps) { self.steps = steps }

    @inline(__always)
    mutating func advance() throws {
        count &+= 1
        if count & 1023 == 0 { try steps.advance(by: 1024) }
    }

    /// Tells of what is left.
    func finish() throws { try steps.advance(by: count & 1023) }
}
