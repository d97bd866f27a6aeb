import ArgumentParser

/// The command line. Every subcommand is in the file of its name.
@main
struct SyncDB: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "syncdb",
        abstract: "Keeps a SQLite database in step with JSON.",
        discussion: """
            The database keeps the model it was first imported with, so later calls need no --model.

            'syncdb --generate-completion-script bash' (or zsh, fish) prints completions for that shell.

            Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused by the deletion guard (see --max-delete), \
            130 interrupted by Ctrl-C.
            """,
        subcommands: [
            Import.self, Diff.self, Export.self, Query.self, Count.self, Schema.self, Doctor.self, Verify.self,
        ])

    static let _errorPrefix = "error: "

    /// Runs the subcommand the arguments name. Errors end here and nowhere else.
    static func main() async {
        do {
            var command = try await asyncParseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            ExitStatus.exit(with: error)
        }
    }
}
