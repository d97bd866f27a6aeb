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
    static func write(_ text: VisibleText) throws { _ = try write(Data((text.text + "\n").utf8)) }

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
        Data(VisibleText(lines: String(decoding: json, as: UTF8.self)).text.utf8)
    }

    /// Says something on standard error. Where that cannot be written there is nowhere to say so.
    static func writeError(_ text: VisibleText) { _ = write(Data((text.text + "\n").utf8), to: .errors) }

    /// Replaces the line of standard error that the cursor is on.
    static func redraw(_ line: VisibleText) { _ = write(Data("\r\u{1B}[K\(line.text)".utf8), to: .errors) }

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
