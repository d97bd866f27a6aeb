import Foundation
import Sync

/// A command that prints the value of the header that says who the user is: run when it is first needed, and again after the
/// service refused it.
struct CredentialCommand {
    private let arguments: [String]
    private let header: String
    private let timeout: Duration

    /// - Parameter timeout: How long it may take: one that waits for ever would keep the run.
    init(_ arguments: [String], _ header: String, timeout: Duration) {
        (self.arguments, self.header, self.timeout) = (arguments, header, timeout)
    }

    var credentials: ServiceCredentials {
        .header(header) { [arguments, timeout] _ in try Self.output(of: arguments, timeout) }
    }

    private static func output(of arguments: [String], _ timeout: Duration) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        let hasEnded = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in hasEnded.signal() }
        func failure(_ why: String) -> SyncError {
            SyncError(.unauthorized, "the command for credentials, '\(arguments[0])', \(why)")
        }
        do {
            try process.run()
        } catch {
            throw failure("cannot be run")
        }
        let end = ContinuousClock.now + timeout
        guard let data = read(pipe.fileHandleForReading, until: end),
            hasEnded.wait(timeout: .now() + .milliseconds(milliseconds(until: end))) == .success
        else {
            kill(process.processIdentifier, SIGKILL)
            throw failure("took longer than \(timeout.components.seconds) s and was ended")
        }
        let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard process.terminationStatus == 0 else { throw failure("ended with status \(process.terminationStatus)") }
        guard !text.isEmpty else { throw failure("printed nothing") }
        return text
    }

    /// - Returns: Nil if the output has no end by then: what the command started may keep it open when it is gone.
    private static func read(_ handle: FileHandle, until end: ContinuousClock.Instant) -> Data? {
        var data = Data()
        while true {
            var request = pollfd(fd: handle.fileDescriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&request, 1, Int32(milliseconds(until: end)))
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { return nil }
            let piece = handle.availableData
            if piece.isEmpty { return data }
            data += piece
        }
    }

    private static func milliseconds(until end: ContinuousClock.Instant) -> Int {
        let (seconds, attoseconds) = (end - .now).components
        return Int(min(max(0, Double(seconds) * 1000 + Double(attoseconds) / 1e15), 1e9))
    }
}
