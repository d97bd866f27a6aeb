import Foundation
import Sync

/// Standard output and standard error, line by line.
enum Terminal {
    /// One of the two.
    enum Stream {
        case output, errors

        /// Whether a person sees what is written.
        var isTerminal: Bool { isatty(descriptor) == 1 }

        fileprivate var descriptor: Int32 { self == .output ? STDOUT_FILENO : STDERR_FILENO }
    }

    /// How many characters fit on a line.
    static func width(of stream: Stream) -> Int {
        var size = winsize()
        guard ioctl(stream.descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Writes a line, or several, for people to standard output. Where nobody reads any more, that is all right.
    ///
    /// - Throws: ``SyncError`` `unreadableFile` if it cannot be written.
    static func write(_ text: TerminalText) throws { _ = try write(Data((text.text + "\n").utf8)) }

    /// Writes JSON to standard output: to programs as it is, to a terminal as the same JSON made visible.
    ///
    /// - Throws: ``SyncError`` `unreadableFile` if it cannot be written.
    static func write(json: String) throws { _ = try write(json: Data((json + "\n").utf8)) }

    /// Writes a part of a longer text that is visible already.
    ///
    /// - Returns: Whether there is still somebody to read.
    /// - Throws: ``SyncError`` `unreadableFile` if it cannot be written.
    static func write(visible text: Data) throws -> Bool { try write(text) }

    /// Writes a part of a longer JSON, or of another text for programs, its characters whole.
    ///
    /// - Returns: Whether there is still somebody to read.
    /// - Throws: ``SyncError`` `unreadableFile` if it cannot be written.
    static func write(json: Data) throws -> Bool {
        try write(Stream.output.isTerminal ? visible(json: json) : json)
    }

    /// JSON as people may see it, which is the same JSON. A part of it must have its characters whole.
    static func visible(json: Data) -> Data {
        Data(TerminalText(lines: String(decoding: json, as: UTF8.self)).text.utf8)
    }

    /// Says something on standard error. Where that cannot be written there is nowhere to say so.
    static func writeError(_ text: TerminalText) { _ = write(Data((text.text + "\n").utf8), to: .errors) }

    /// Replaces the line of standard error that the cursor is on.
    static func redraw(_ line: TerminalText) { _ = write(Data("\r\u{1B}[K\(line.text)".utf8), to: .errors) }

    private static func write(_ bytes: Data) throws -> Bool {
        switch write(bytes, to: .output) {
        case 0: return true
        // A reader that has seen enough, as `head` has, is no failure. The program usually ends by the signal for that;
        // where the signal is ignored, it goes on as it can.
        case EPIPE: return false
        case let code:
            throw SyncError(
                .unreadableFile, "cannot write to standard output", underlying: StreamFailure.reason(code))
        }
    }

    /// - Returns: The system's number for what went wrong, 0 if nothing did.
    private static func write(_ bytes: Data, to stream: Stream) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Foundation.write(
                    stream.descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    // Whoever shares the stream has asked not to wait.
                    var waiting = pollfd(fd: stream.descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&waiting, 1, -1)
                } else if errno != EINTR {
                    return errno
                }
            }
            return 0
        }
    }
}

/// How far a long piece of work is, as one line for a terminal.
///
///     reading JSON  ██████████░░░░░░░░░░   52%  140 MB of 270 MB, 96 MB/s
///     comparing     1204224 rows, 801k/s
///     writing       ███████████████░░░░░   75%  750000 of 1000000 rows, 120k/s
struct ProgressLine {
    /// What is counted.
    enum Unit { case bytes, rows }

    let label: String
    let unit: Unit
    let completed: Int
    /// Nil if it is not known.
    var total: Int?

    /// - Parameters:
    ///   - seconds: Since the work with this label began.
    ///   - width: How many characters fit on a line.
    func text(after seconds: Double, width: Int) -> String {
        let label = label.padding(toLength: 14, withPad: " ", startingAt: 0)
        let rate = seconds > 0.2 ? ", \(rate(Int(Double(completed) / seconds)))/s" : ""
        guard let total, total > 0 else { return fitted(label + amount(completed) + rate, width) }
        let part = min(1, Double(completed) / Double(total))
        let percent = "\(Int(part * 100))%"
        let padding = String(repeating: " ", count: max(0, 4 - percent.count))
        let done = unit == .rows ? "\(completed)" : amount(completed)
        let numbers = "\(padding)\(percent)  \(done) of \(amount(total))\(rate)"
        let bar = width > label.count + numbers.count + 22 ? Self.bar(part) + "  " : ""
        return fitted(label + bar + numbers, width)
    }

    private static func bar(_ part: Double) -> String {
        let full = Int(part * 20)
        return String(repeating: "█", count: full) + String(repeating: "░", count: 20 - full)
    }

    private func amount(_ count: Int) -> String { unit == .bytes ? ByteAmount.text(count) : "\(count) rows" }

    private func rate(_ count: Int) -> String {
        if unit == .bytes { return ByteAmount.text(count) }
        return count < 10_000 ? "\(count)" : "\(count / 1000)k"
    }

    /// A line that wraps could not be taken back.
    private func fitted(_ line: String, _ width: Int) -> String { String(line.prefix(max(0, width - 1))) }
}

extension ProgressLine {
    /// A point in the sync of a payload of bytes.
    init(_ progress: SyncProgress) {
        label =
            switch progress.phase {
            case .mapping: "reading JSON"
            case .comparing: "comparing"
            case .writing: "writing"
            }
        unit = progress.phase == .mapping ? .bytes : .rows
        completed = progress.completed
        total = progress.total
    }
}

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
    func say(_ text: TerminalText) {
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

/// Ctrl-C, or a polite request to end, while a sync runs: the sync is cancelled, so the store is as it was.
struct Interruption: LocalizedError {
    /// `SIGINT` or `SIGTERM`.
    let signal: Int32
    /// What became of the work so far.
    let outcome: String

    /// What a shell says of a program that a signal ended.
    var status: Int32 { 128 + signal }
    var errorDescription: String? { "interrupted; \(outcome)" }

    /// Runs work that the first signal cancels. A second one ends the program as it would without this.
    ///
    /// - Parameter outcome: What to say of the work so far if it is cancelled; asked for then.
    /// - Throws: ``Interruption`` if the work was cancelled by a signal; what the work throws otherwise.
    static func cancelling<Result: Sendable>(
        outcome: @autoclosure () -> String = "nothing was written",
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let running = Running()
        let signals = SignalPipe { signal in running.interrupt(signal) }
        defer { signals.close() }
        do {
            return try await running.start(work).value
        } catch is CancellationError {
            throw running.signal.map { Interruption(signal: $0, outcome: outcome()) } ?? CancellationError()
        }
    }

    /// The work, and the signal that interrupted it, which may come before the work has begun.
    private final class Running: Sendable {
        private struct State {
            var signal: Int32?
            var cancel: (@Sendable () -> Void)?
        }

        private let state = Locked(State())

        var signal: Int32? { state.value.signal }

        func start<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) -> Task<Result, any Error> {
            state.withLock { state in
                let task = Task(operation: work)
                state.cancel = { task.cancel() }
                if state.signal != nil { task.cancel() }
                return task
            }
        }

        func interrupt(_ signal: Int32) {
            state.withLock { state in
                state.signal = signal
                state.cancel?()
            }
        }
    }
}

/// Turns the first `SIGINT` or `SIGTERM` into a call, on a thread of its own.
///
/// The handler only writes to a pipe, which a thread reads: from the moment this is made no signal is lost, however busy
/// the process is. After the first one signals end the program as they would without this.
struct SignalPipe {
    /// Where the handler writes. A handler can reach nothing but globals; it is set before the handler is installed.
    private nonisolated(unsafe) static var writingEnd: Int32 = -1
    private static let signals = [SIGINT, SIGTERM]

    private let pipe = Pipe()

    init(_ received: @escaping @Sendable (Int32) -> Void) {
        Self.writingEnd = pipe.fileHandleForWriting.fileDescriptor
        let reading = pipe.fileHandleForReading
        Thread.detachNewThread {
            guard let byte = try? reading.read(upToCount: 1)?.first, byte > 0 else { return }
            Self.restore()
            received(Int32(byte))
        }
        for number in Self.signals {
            signal(number) { number in
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(SignalPipe.writingEnd, &byte, 1)
            }
        }
    }

    /// Gives the signals back, and ends the thread.
    func close() {
        Self.restore()
        try? pipe.fileHandleForWriting.write(contentsOf: [0])
    }

    private static func restore() {
        for number in signals { signal(number, SIG_DFL) }
    }
}
