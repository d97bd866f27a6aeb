import ArgumentParser
import Foundation
import Sync

/// The command `syncdb`. Its subcommands are in separate files.
struct SyncDB: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "syncdb",
        abstract: "Sync a SQLite database with JSON files and web services.",
        discussion: """
            Try it:
              echo '[{"id": 1, "name": "Ada"}]' > users.json
              syncdb import users.json --entity User -d app.sqlite
              syncdb query User -d app.sqlite
              syncdb diff users.json --entity User -d app.sqlite

            'import' inserts, updates and deletes rows so that the entity matches the JSON. The database stores its model, \
            so later commands need no --model. With SYNCDB_DATABASE in the environment, commands need no -d (--database).

            'syncdb --generate-completion-script bash' (or zsh, fish) prints completions for that shell.

            Exit codes:
              0    done
              1    failed
              2    wrong usage
              3    deletion limit exceeded, see --max-delete (import: nothing was written;
                   sync, pull: everything except the deletions was done)
              4    synced, but there are blocked changes or open conflicts
              130  interrupted by Ctrl-C
              143  terminated by SIGTERM
            """,
        version: version,
        subcommands: [
            Import.self, Diff.self, Export.self, Query.self, Count.self, Watch.self, Schema.self, Doctor.self,
            Verify.self, SyncCommand.self, Pull.self, Push.self, Status.self, Conflicts.self, Resolve.self, Reset.self,
        ])

    static let version = "0.1.0"

    static let _errorPrefix = "error: "
}

/// The entry point of the process, and its error handling.
@main
enum Program {
    /// Runs the subcommand that the arguments name.
    ///
    /// The main thread waits for the command and unblocks signals, which the parent process may have blocked. An
    /// asynchronous `main` would end the main thread, which some profilers do not support.
    static func main() {
        FileDescriptorLimit.occupyStandardStreams()
        // A write beyond the file size limit then fails with an error instead of a signal.
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

    /// Parses the arguments, and checks the resources that commands need.
    private static func parsed() throws -> any ParsableCommand {
        try PathEncoding.checkArguments()
        var command = try SyncDB.parseAsRoot()
        // The help command needs none of these resources. It ends by throwing an error.
        if type(of: command).configuration.commandName == "help" {
            try Suggestion.checkHelp()
            try command.run()
        }
        try FileDescriptorLimit.check()
        try PathEncoding.checkFolder()
        return command
    }

    private static func run(_ command: any ParsableCommand) async {
        let reading = command as? any InputCommand
        do {
            try reading?.checkStreams()
            try await StoreFile.$busyTimeout.withValue(reading?.busyTimeout?.milliseconds ?? StoreFile.busyTimeout) {
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

/// The exit code of the program.
enum ExitStatus: Int32 {
    case done = 0
    case failed = 1
    /// The arguments are invalid, or `diff --exit-code` failed. The argument parser would return 64 for some invalid
    /// arguments.
    case usage = 2
    /// A deletion exceeds the limit of `--max-delete`. An import of one file wrote nothing. An import of several files
    /// deleted no omitted rows. A sync with a service did everything except the deletions.
    case deletionLimitExceeded = 3
    /// The sync finished, but changes are blocked or conflicts are open.
    case blockedOrConflicting = 4

    /// Creates the exit code of an error.
    init(_ error: any Error) {
        switch error {
        case let error as AnnotatedError: self = ExitStatus(error.error)
        case let error as HintedError: self = ExitStatus(error.error)
        case is CommandFailure: self = .usage
        case let error as SyncError: self = error.code == .deletionLimitExceeded ? .deletionLimitExceeded : .failed
        case is UsageError: self = .usage
        case let code as ExitCode: self = ExitStatus(rawValue: code.rawValue) ?? .failed
        default:
            switch SyncDB.exitCode(for: error) {
            case .success: self = .done
            case .validationFailure: self = .usage
            default: self = .failed
            }
        }
    }

    /// Prints an error to standard error and ends the program. Requested help goes to standard output.
    static func exit(with error: any Error) -> Never {
        explain(error)
        if let interruption = cause(of: error) as? Interruption { Foundation.exit(interruption.status) }
        Foundation.exit(ExitStatus(error).rawValue)
    }

    private static func cause(of error: any Error) -> any Error {
        switch error {
        case let error as AnnotatedError: cause(of: error.error)
        case let error as CommandFailure: cause(of: error.error)
        default: error
        }
    }

    private static func explain(_ error: any Error) {
        let prefix = ColorOptions.errorStyle.red("error:")
        switch error {
        case let error as AnnotatedError:
            explain(error.error)
            Terminal.writeError(error.note)
        case let error as CommandFailure: explain(error.error)
        case let error as HintedError: explain(error.error, error.hint)
        case let error as SyncError: explain(error, error.hint)
        case let error as UsageError: Terminal.writeError("\(prefix) \(error.message)")
        case is ExitCode: break
        case let interruption as Interruption: Terminal.writeError("\(prefix) \(interruption.localizedDescription)")
        case _ where ExitStatus(error) == .done: answer(SyncDB.fullMessage(for: error))
        default:
            let message = Suggestion.added(to: SyncDB.fullMessage(for: error))
            let start = message.hasPrefix(SyncDB._errorPrefix) ? "\(prefix) " : "" as TerminalText
            let text = message.dropFirst(start.isEmpty ? 0 : SyncDB._errorPrefix.count)
            Terminal.writeError(start + TerminalText(lines: String(text), upTo: TerminalText.limit))
        }
    }

    private static func explain(_ error: SyncError, _ hint: TerminalText?) {
        Terminal.writeError("\(ColorOptions.errorStyle.red("error:")) \(error.visible)")
        if let hint { Terminal.writeError("hint: \(hint)") }
    }

    /// Prints requested output: help, the version, or a completion script.
    private static func answer(_ text: String) {
        do {
            try Terminal.write(TerminalText(lines: text))
        } catch {
            exit(with: error)
        }
    }
}

/// An error for arguments that the parser accepts but the command cannot use, such as `--parent` for a new database.
struct UsageError: LocalizedError {
    let message: String
    var errorDescription: String? { message }

    init(_ message: String) { self.message = message }
}

/// An error with a note, such as a list of the files that were already imported.
struct AnnotatedError: LocalizedError {
    let error: any Error
    let note: TerminalText

    var errorDescription: String? { "\(error.localizedDescription)\n\(note.text)" }
}

/// Suggestions for misspelled commands and values.
enum Suggestion {
    /// Returns the message of the parser, with a suggestion for an unknown command or value.
    ///
    /// The parser itself makes suggestions for unknown options, except if an argument is missing too.
    static func added(to message: String, _ arguments: [String] = Array(CommandLine.arguments.dropFirst())) -> String {
        if let unknown = unknownCommand(in: arguments) {
            let rest = message.split(separator: "\n", omittingEmptySubsequences: false)
                .drop { !$0.hasPrefix("Usage:") }.joined(separator: "\n")
            return SyncDB._errorPrefix + unknown + (rest.isEmpty ? "" : "\n" + rest)
        }
        var lines = message.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        if lines[0].contains("Missing expected argument"), let unknown = unknownOption(in: arguments) {
            lines[0] = SyncDB._errorPrefix + unknown
            return lines.filter { !$0.hasPrefix("Help:") }.joined(separator: "\n")
        }
        guard let first = lines.first, first.contains("is invalid for '"), let words = quoted(in: message) else {
            return message
        }
        // In a list of values, only one may be wrong.
        let written = words.written.split(separator: ",").map(String.init)
        guard let wrong = written.first(where: { !words.choices.contains($0) }),
            let meant = SimilarName.nearest(to: wrong, among: words.choices)
        else { return message }
        let hint = "did you mean '\(meant)'?"
        lines[0] =
            first.hasSuffix(":")
            ? "\(first.dropLast()) (\(hint)):" : "\(first) \(hint.prefix(1).uppercased())\(hint.dropFirst())"
        return lines.joined(separator: "\n")
    }

    // MARK: Commands

    /// Checks the command of `syncdb help`, because the parser ignores an unknown command.
    ///
    /// - Throws: `ValidationError` for an unknown command.
    static func checkHelp(_ arguments: [String] = Array(CommandLine.arguments.dropFirst())) throws {
        if arguments.first == "help", let unknown = unknownCommand(in: arguments) { throw ValidationError(unknown) }
    }

    /// Returns the error for the first argument that should be a command and is unknown; nil if there is none.
    private static func unknownCommand(in arguments: [String]) -> String? {
        var configuration = SyncDB.configuration
        var path = "syncdb"
        for word in arguments.drop(while: { $0 == "help" }) {
            let known: [CommandConfiguration] = configuration.subcommands.map { $0.configuration }
            guard !known.isEmpty, !word.hasPrefix("-") else { return nil }
            guard let next = known.first(where: { $0.commandName == word }) else {
                let names = known.filter(\.shouldDisplay).compactMap { $0.commandName }
                return "unknown command '\(path) \(word)'; the commands are \(names.joined(separator: ", "))"
                    + (hintBelow(word, configuration) ?? SimilarName.hint(for: word, among: names))
            }
            (configuration, path) = (next, "\(path) \(word)")
        }
        return nil
    }

    /// Returns the error for the first option that the command does not have; nil if there is none.
    ///
    /// The parser reports a missing argument first, although its option may only be misspelled.
    private static func unknownOption(in arguments: [String]) -> String? {
        var command: any ParsableCommand.Type = SyncDB.self
        for word in arguments {
            guard let next = command.configuration.subcommands.first(where: { $0.configuration.commandName == word })
            else { break }
            command = next
        }
        let help = SyncDB.helpMessage(for: command, includeHidden: true)
        let known = Set(help.matches(of: #/--[a-z][a-z0-9-]*/#).map { String($0.output) })
        for word in arguments.prefix(while: { $0 != "--" }) where word.hasPrefix("--") {
            let name = String(word.prefix { $0 != "=" })
            if !known.contains(name) {
                return "unknown option '\(name)'" + SimilarName.hint(for: name, among: known.sorted())
            }
        }
        return nil
    }

    /// Returns a hint if a command one level below has the name, such as `schema infer` for `infer`; nil otherwise.
    private static func hintBelow(_ word: String, _ configuration: CommandConfiguration) -> String? {
        let owners = configuration.subcommands.map { $0.configuration }.filter { owner in
            owner.subcommands.contains { $0.configuration.commandName == word }
        }
        return owners.first?.commandName.map { "; did you mean '\($0) \(word)'?" }
    }

    // MARK: Values

    /// Extracts the given value and the allowed values from a message of the parser; returns nil for other messages.
    private static func quoted(in message: String) -> (written: String, choices: [String])? {
        let start = "The value '"
        guard let begin = message.range(of: start), let end = message.range(of: "' is invalid for '"),
            begin.upperBound <= end.lowerBound, let list = message.range(of: "Please provide one of ")
        else { return nil }
        let written = String(message[begin.upperBound..<end.lowerBound])
        let choices = message[list.upperBound...].prefix(while: { $0 != "." })
        let bullets = choices.split(separator: "\n").filter { $0.hasPrefix("  - ") }.map { String($0.dropFirst(4)) }
        if !bullets.isEmpty { return (written, bullets) }
        let parts = choices.split(separator: "'", omittingEmptySubsequences: false).enumerated()
        return (written, parts.filter { $0.offset % 2 == 1 }.map { String($0.element) })
    }
}

/// The checks that paths are UTF-8. Any other path would change in the conversion to `String`, and then name another
/// file.
enum PathEncoding {
    /// Checks the arguments.
    ///
    /// - Throws: ``UsageError`` if an argument is not UTF-8.
    static func checkArguments() throws {
        for argument in UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst() {
            guard let argument, String(validatingCString: argument) == nil else { continue }
            throw UsageError("an argument is not UTF-8: '\(String(cString: argument))'")
        }
    }

    /// Checks the current folder, which relative paths depend on.
    ///
    /// - Throws: ``SyncError`` `unreadableFile` if the path of the folder is not UTF-8.
    static func checkFolder() throws {
        guard let folder = getcwd(nil, 0) else { return }
        defer { free(folder) }
        guard String(validatingCString: folder) == nil else { return }
        throw SyncError(.unreadableFile, "the path of the current folder is not UTF-8")
    }
}
