package import SyncCore

/// How far a sync is. Told to whoever wants to know every few thousand rows and links, when a cancelled task is noticed too.
package final class SyncSteps {
    private static let interval = 4096

    private let tell: (@Sendable (PayloadProgress) -> Void)?
    private var done = 0
    private var nextNotice = interval
    /// How much there is to write; nil before that is known.
    private var expected: Int?

    package init(_ tell: (@Sendable (PayloadProgress) -> Void)?) { self.tell = tell }

    /// Whether anybody wants to know.
    var areTold: Bool { tell != nil }

    /// Called as a long loop goes on.
    ///
    /// - Throws: `CancellationError`.
    package func advance(by count: Int = 1) throws {
        done &+= count
        guard done >= nextNotice else { return }
        nextNotice = done - done % Self.interval + Self.interval
        if Task.isCancelled { throw CancellationError() }
        guard let tell else { return }
        guard let expected else { return tell(PayloadProgress(.comparing, completed: done)) }
        tell(PayloadProgress(.writing, completed: done, total: done <= expected ? expected : nil))
    }

    /// What is counted from here on is written.
    func beginWriting(expecting count: Int) {
        done = 0
        nextNotice = Self.interval
        expected = count
    }
}
