import Foundation

/// Shows on standard error how far work is, if a person is there to see it and it takes more than a moment.
///
/// `@unchecked Sendable`: the variables are only touched while `lock` is held.
final class ProgressDisplay: @unchecked Sendable {
    /// What takes less is over before one has read the line.
    static let delay = 0.5
    static let interval = 0.1

    private let now: @Sendable () -> Double
    private let draw: @Sendable (String) -> Void
    private let lock = NSLock()
    private var label: String?
    private var start = 0.0
    private var nextDrawing: Double
    private var isShown = false

    /// - Parameter isQuiet: Whether the caller wants nothing but errors. Nil then, and where nobody would see it.
    convenience init?(isQuiet: Bool) {
        guard !isQuiet, Terminal.Stream.errors.isTerminal,
            ProcessInfo.processInfo.environment["TERM", default: "dumb"] != "dumb"
        else { return nil }
        self.init(now: { ProcessInfo.processInfo.systemUptime }, draw: { Terminal.redraw("\($0)") })
    }

    /// - Parameters:
    ///   - now: The time in seconds.
    ///   - draw: Puts a line where the last one was; an empty one takes it away.
    init(now: @escaping @Sendable () -> Double, draw: @escaping @Sendable (String) -> Void) {
        self.now = now
        self.draw = draw
        nextDrawing = now() + Self.delay
    }

    func show(_ line: ProgressLine) {
        lock.withLock {
            let now = self.now()
            if line.label != label { (label, start) = (line.label, now) }
            guard now >= nextDrawing else { return }
            nextDrawing = now + Self.interval
            draw(line.text(after: now - start, width: Terminal.width(of: .errors)))
            isShown = true
        }
    }

    /// Shows a sentence in the place of the line, at once: nothing else is going to happen for a while.
    func say(_ text: VisibleText) {
        lock.withLock {
            (label, nextDrawing) = (nil, now())
            // A line that wraps could not be taken back.
            draw(String(text.text.prefix(max(0, Terminal.width(of: .errors) - 1))))
            isShown = true
        }
    }

    /// Takes the line away. It stays away until ``show(_:)`` is called again.
    func clear() {
        lock.withLock {
            if isShown { draw("") }
            isShown = false
        }
    }
}
