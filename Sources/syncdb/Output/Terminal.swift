import Foundation

/// Standard output and standard error, line by line.
enum Terminal {
    /// One of the two.
    enum Stream {
        case output, errors

        /// Whether a person sees what is written.
        var isTerminal: Bool { isatty(handle.fileDescriptor) == 1 }

        fileprivate var handle: FileHandle { self == .output ? .standardOutput : .standardError }
    }

    /// How many characters fit on a line of standard error.
    static var width: Int {
        var size = winsize()
        guard ioctl(FileHandle.standardError.fileDescriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
            return 80
        }
        return Int(size.ws_col)
    }

    /// Replaces the line of standard error that the cursor is on.
    static func redraw(_ line: String) {
        FileHandle.standardError.write(Data("\r\u{1B}[K\(line)".utf8))
    }

    static func write(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    static func writeError(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}
