import Foundation
import Sync

/// Standard output and standard error.
enum Terminal {
    /// One of the two streams.
    enum Stream {
        case output, errors

        /// Whether the stream is a terminal.
        var isTerminal: Bool { isatty(descriptor) == 1 }

        fileprivate var descriptor: Int32 { self == .output ? STDOUT_FILENO : STDERR_FILENO }
    }

    /// Returns the number of columns of the terminal; 80 if unknown.
    static func width(of stream: Stream) -> Int {
        var size = winsize()
        guard ioctl(stream.descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Writes lines of text to standard output. A closed pipe is not an error.
    ///
    /// - Throws: ``SyncError`` `unreadableFile` if standard output cannot be written.
    static func write(_ text: TerminalText) throws { _ = try write(Data((text.text + "\n").utf8)) }

    /// Writes JSON to standard output. On a terminal, control characters are escaped, which keeps the meaning of the
    /// JSON.
    ///
    /// - Throws: ``SyncError`` `unreadableFile` if standard output cannot be written.
    static func write(json: String) throws { _ = try write(json: Data((json + "\n").utf8)) }

    /// Writes a part of a longer text that is already escaped.
    ///
    /// - Returns: False if the reader has closed the pipe.
    /// - Throws: ``SyncError`` `unreadableFile` if standard output cannot be written.
    static func write(visible text: Data) throws -> Bool { try write(text) }

    /// Writes a part of longer JSON, or of other text for programs. A part contains complete characters.
    ///
    /// - Returns: False if the reader has closed the pipe.
    /// - Throws: ``SyncError`` `unreadableFile` if standard output cannot be written.
    static func write(json: Data) throws -> Bool {
        try write(Stream.output.isTerminal ? visible(json: json) : json)
    }

    /// Returns JSON with control characters escaped, which keeps the meaning of the JSON. The data must contain
    /// complete characters.
    static func visible(json: Data) -> Data {
        Data(TerminalText(lines: String(decoding: json, as: UTF8.self)).text.utf8)
    }

    /// Writes text to standard error, and ignores errors.
    static func writeError(_ text: TerminalText) { _ = write(Data((text.text + "\n").utf8), to: .errors) }

    /// Replaces the current line of standard error.
    static func redraw(_ line: TerminalText) { _ = write(Data("\r\u{1B}[K\(line.text)".utf8), to: .errors) }

    private static func write(_ bytes: Data) throws -> Bool {
        switch write(bytes, to: .output) {
        case 0: return true
        // A reader such as `head` may close the pipe early, which is not an error. Usually `SIGPIPE` ends the program.
        // If the signal is ignored, the program continues.
        case EPIPE: return false
        case let code:
            throw SyncError(
                .unreadableFile, "cannot write to standard output", underlying: StreamFailure.reason(code))
        }
    }

    /// Writes bytes to a stream.
    ///
    /// - Returns: The error number of the system; 0 for success.
    private static func write(_ bytes: Data, to stream: Stream) -> Int32 {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Foundation.write(
                    stream.descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    // Another process has made the shared stream non-blocking.
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

/// The progress of a long operation as one line of a terminal.
///
///     reading JSON  ██████████░░░░░░░░░░   52%  140 MB of 270 MB, 96 MB/s
///     comparing     1204224 rows, 801k/s
///     writing       ███████████████░░░░░   75%  750000 of 1000000 rows, 120k/s
struct ProgressLine {
    /// The unit of the progress.
    enum Unit { case bytes, rows }

    let label: String
    let unit: Unit
    let completed: Int
    /// The total; nil if unknown.
    var total: Int?

    /// Returns the line.
    ///
    /// - Parameters:
    ///   - seconds: The time since the operation with this label began.
    ///   - width: The number of columns of the terminal.
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

    /// Truncates a line to the width of the terminal, because a wrapped line could not be erased.
    private func fitted(_ line: String, _ width: Int) -> String { String(line.prefix(max(0, width - 1))) }
}

extension ProgressLine {
    /// Creates the progress of a sync.
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

/// A display of progress on standard error, for operations that take longer than a moment.
final class ProgressDisplay: Sendable {
    /// The delay before the first progress line, in seconds. A shorter operation would end before the line can be read.
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

    /// Creates a display; nil if standard error is not a terminal, or if the terminal cannot erase a line.
    ///
    /// - Parameter isQuiet: Whether to print only errors. The initializer then returns nil too.
    convenience init?(isQuiet: Bool) {
        guard !isQuiet, Terminal.Stream.errors.isTerminal,
            ProcessInfo.processInfo.environment["TERM", default: "dumb"] != "dumb"
        else { return nil }
        self.init(now: { ProcessInfo.processInfo.systemUptime }, draw: { Terminal.redraw("\($0)") })
    }

    /// Creates a display with a clock and an output.
    ///
    /// - Parameters:
    ///   - now: A closure that returns the time in seconds.
    ///   - draw: A closure that replaces the progress line. An empty text erases the line.
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

    /// Shows a message instead of the progress, without a delay. Use it when the operation pauses.
    func say(_ text: TerminalText) {
        state.withLock { state in
            (state.label, state.nextDrawing) = (nil, now())
            // A wrapped line could not be erased.
            draw(String(text.text.prefix(max(0, Terminal.width(of: .errors) - 1))))
            state.isShown = true
        }
    }

    /// Erases the line until ``show(_:)`` is called again.
    func clear() {
        state.withLock { state in
            if state.isShown { draw("") }
            state.isShown = false
        }
    }
}

/// An interruption by Ctrl-C or `SIGTERM`, which cancels the operation in progress.
struct Interruption: LocalizedError {
    /// `SIGINT` or `SIGTERM`.
    let signal: Int32
    /// The part of the error message about the work that was done before.
    let outcome: String

    /// The exit status that a shell reports for a program that a signal ended.
    var status: Int32 { 128 + signal }
    var errorDescription: String? { "interrupted; \(outcome)" }

    /// Runs an operation that the first signal cancels. A second signal ends the program.
    ///
    /// - Parameter outcome: The part of the error message about the work that was done before. It is evaluated after a
    ///   cancellation.
    /// - Throws: ``Interruption`` if a signal cancelled the operation; errors of the operation.
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

    /// The task of the operation, and the signal, which may arrive before the task begins.
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

/// A pipe that passes the first `SIGINT` or `SIGTERM` to a closure, on a separate thread.
///
/// The signal handler writes to the pipe, which a thread reads. Therefore no signal is lost after the initializer, even
/// if the process is busy. The default handlers apply after the first signal.
struct SignalPipe {
    /// The writing end of the pipe, set before the signal handler is installed. It is static, because a signal handler
    /// can access only globals.
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

    /// Restores the default handlers, and ends the thread.
    func close() {
        Self.restore()
        try? pipe.fileHandleForWriting.write(contentsOf: [0])
    }

    private static func restore() {
        for number in signals { signal(number, SIG_DFL) }
    }
}
