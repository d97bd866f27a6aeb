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

    static func write(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    static func writeError(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}
