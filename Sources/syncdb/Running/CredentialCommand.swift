import Foundation
import Sync

/// A command that prints the value of the header that says who the user is: run when it is first needed, and again after the
/// service refused it.
struct CredentialCommand {
    private let arguments: [String]
    private let header: String

    init(_ arguments: [String], _ header: String) { (self.arguments, self.header) = (arguments, header) }

    var credentials: ServiceCredentials {
        .header(header) { [arguments] _ in try Self.output(of: arguments) }
    }

    private static func output(of arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        func failure(_ why: String) -> SyncError {
            SyncError(.unauthorized, "the command for credentials, '\(arguments[0])', \(why)")
        }
        do {
            try process.run()
        } catch {
            throw failure("cannot be run")
        }
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard process.terminationStatus == 0 else { throw failure("ended with status \(process.terminationStatus)") }
        guard !text.isEmpty else { throw failure("printed nothing") }
        return text
    }
}
