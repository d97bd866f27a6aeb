import ArgumentParser
import Foundation
import Sync

/// The command line. Every subcommand is in the file of its name.
struct SyncDB: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "syncdb",
        abstract: "Keeps a SQLite database in step with JSON.",
        discussion: """
            The database keeps the model it was first imported with, so later calls need no --model. \
            SYNCDB_DATABASE in the environment names the database where -d (--database) does not.

            'syncdb --generate-completion-script bash' (or zsh, fish) prints completions for that shell.

            Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused by the deletion guard (see --max-delete; of a service all but \
            the deletions is done), \
            4 in step but for rows that were refused or wait for a decision, 130 and 143 interrupted by Ctrl-C or SIGTERM.
            """,
        version: version,
        subcommands: [
            Import.self, Diff.self, Export.self, Query.self, Count.self, Watch.self, Schema.self, Doctor.self,
            Verify.self, SyncCommand.self, Pull.self, Push.self, Status.self, Conflicts.self, Resolve.self, Reset.self,
        ])

    static let version = "0.1.0"

    static let _errorPrefix = "error: "
}

/// Where the process begins and ends, errors included.
@main
enum Program {
    /// Runs the subcommand the arguments name.
    ///
    /// The main thread waits for it, open to signals, which a program may have been started without: an asynchronous
    /// `main` would end that thread, which profilers take badly.
    static func main() {
        Descriptors.occupyStandardStreams()
        // A file that may not grow any more is an error of whoever writes it, not the end of the program.
        signal(SIGXFSZ, SIG_IGN)
        let command: any ParsableCommand
        do {
            command = try parsed()
        } catch {
            ExitStatus.exit(with: error)
        }
        var signals = sigset_t()
        sigfillset(&signals)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
        let finished = DispatchSemaphore(value: 0)
        Task.detached {
            await run(command)
            finished.signal()
        }
        finished.wait()
    }

    /// What the arguments ask for, if the system has what that needs.
    private static func parsed() throws -> any ParsableCommand {
        try Encoding.checkArguments()
        var command = try SyncDB.parseAsRoot()
        // Help, which ends by an error of its own, needs nothing.
        if type(of: command).configuration.commandName == "help" {
            try Suggestion.checkHelp()
            try command.run()
        }
        try Descriptors.check()
        try Encoding.checkFolder()
        return command
    }

    private static func run(_ command: any ParsableCommand) async {
        let reading = command as? any ReadingCommand
        do {
            try reading?.checkStreams()
            try await StoreFile.$patience.withValue(reading?.busyTimeout?.milliseconds ?? StoreFile.patience) {
                var command = command
                if var asynchronous = command as? any AsyncParsableCommand {
                    try await asynchronous.run()
                } else {
                    try command.run()
                }
            }
        } catch let error as SyncError {
            ExitStatus.exit(with: error.namingDatabase(reading?.inputs.database))
        } catch {
            ExitStatus.exit(with: error)
        }
    }
}
