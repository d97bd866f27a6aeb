import ArgumentParser
import Foundation
import Sync

/// A command that reads files, and so writes over none of them: neither where it is told to write nor to its streams.
protocol ReadingCommand: ParsableCommand {
    var inputs: CommandInputs { get }
    /// How long it waits for a locked database; nil for as long as the library does.
    var busyTimeout: WaitingTime? { get }
}

extension ReadingCommand {
    var busyTimeout: WaitingTime? { nil }

    /// Makes sure that the shell has not opened what is read as a stream to write to, as `>> app.sqlite` does.
    ///
    /// - Throws: ``SyncError`` `unreadableFile` if it has.
    func checkStreams() throws {
        let reasons = [STDOUT_FILENO, STDERR_FILENO].map { inputs.reason(against: nil, FileStatus(descriptor: $0)) }
        // Not even the error may be written there.
        if reasons[1] != nil { dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO) }
        for (reason, name) in zip(reasons, ["output", "error"]) {
            guard let reason else { continue }
            throw SyncError(.unreadableFile, "cannot write to standard \(name)", underlying: reason)
        }
    }
}
