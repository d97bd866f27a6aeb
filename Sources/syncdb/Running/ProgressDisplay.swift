import Foundation
import Sync

/// Shows on standard error how far work is, if a person is there to see it and it takes more than a moment.
final class ProgressDisplay: Sendable {
    /// What takes less is over before one has read the line.
    static let delay = 0.5
    static let interval = 0.1

    private struct State {
        var label: String?
        var start = 0.0
        var nextDrawing: Double
        var isShown = false
    }

    private let now: @Sendable () -> Double
    private let draw: @Sendable (String) -> Void
    private let state: Locked<State>

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
        state = Locked(State(nextDrawing: now() + Self.delay))
    }

    func show(_ line: ProgressLine) {
        state.withLock { state in
            let now = self.now()
            if line.label != state.label { (state.label, state.start) = (line.label, now) }
            guard now >= state.nextDrawing else { return }
            state.nextDrawing = now + Self.interval
            draw(line.text(after: now - state.start, width: Terminal.width(of: .errors)))
            state.isShown = true
        }
    }

    /// Shows a sentence in the place of the line, at once: nothing else is going to happen for a while.
    func say(_ text: VisibleText) {
        state.withLock { state in
            (state.label, state.nextDrawing) = (nil, now())
            // A line that wraps could not be taken back.
            draw(String(text.text.prefix(max(0, Terminal.width(of: .errors) - 1))))
            state.isShown = true
        }
    }

    /// Takes the line away. It stays away until ``show(_:)`` is called again.
    func clear() {
        state.withLock { state in
            if state.isShown { draw("") }
            state.isShown = false
        }
    }
}
