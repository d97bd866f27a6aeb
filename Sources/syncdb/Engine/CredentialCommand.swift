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
        func failure(_ why: String) -> SyncError {
            SyncError(.unauthorized, "the command for credentials, '\(arguments[0])', \(why)")
        }
        guard let process = PipedProcess(["/usr/bin/env"] + arguments) else { throw failure("cannot be run") }
        guard let end = process.wait(until: ContinuousClock.now + timeout) else {
            throw failure("took longer than \(timeout.components.seconds) s and was ended")
        }
        let text = String(decoding: end.output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard end.status == 0 else { throw failure("ended with status \(end.status)") }
        guard !text.isEmpty else { throw failure("printed nothing") }
        return text
    }
}
