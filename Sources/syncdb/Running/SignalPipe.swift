import Foundation

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
