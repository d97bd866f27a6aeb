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
        FileDescriptorLimit.occupyStandardStreams()
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
        try PathEncoding.checkArguments()
        var command = try SyncDB.parseAsRoot()
        // Help, which ends by an error of its own, needs nothing.
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

/// How the program ends, for the shell.
enum ExitStatus: Int32 {
    case done = 0
    case failed = 1
    /// The arguments make no sense; also where the argument parser itself would say 64.
    case usage = 2
    /// More would be deleted than `--max-delete` allows: nothing was written; with a service all else was done.
    case deletionGuard = 3
    /// All was done that could be, but rows are parked or wait for a decision.
    case waiting = 4

    /// The status an error stands for.
    init(_ error: any Error) {
        switch error {
        case let error as AnnotatedError: self = ExitStatus(error.error)
        case let error as HintedError: self = ExitStatus(error.error)
        case is CommandFailure: self = .usage
        case let error as SyncError: self = error.code == .deletionGuard ? .deletionGuard : .failed
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

    /// Says on standard error what went wrong and ends the program; a request for help goes to standard output.
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
            Terminal.writeError(error.remark)
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

    /// Prints what was asked for: help, or a script with completions.
    private static func answer(_ text: String) {
        do {
            try Terminal.write(TerminalText(lines: text))
        } catch {
            exit(with: error)
        }
    }
}

/// Arguments that are well formed but cannot be followed here, such as a first import without a model.
struct UsageError: LocalizedError {
    let message: String
    var errorDescription: String? { message }

    init(_ message: String) { self.message = message }
}

/// An error, and what there is to say besides: a way out, or what is done already.
struct AnnotatedError: LocalizedError {
    let error: any Error
    let remark: TerminalText

    var errorDescription: String? { "\(error.localizedDescription)\n\(remark.text)" }
}

/// What was probably meant by an argument that makes no sense.
enum Suggestion {
    /// The parser's message; for a command or a value that there is not, with the one that is like it.
    ///
    /// Options are the parser's own to suggest.
    static func added(to message: String, _ arguments: [String] = Array(CommandLine.arguments.dropFirst())) -> String {
        if let unknown = unknownCommand(in: arguments) {
            let rest = message.split(separator: "\n", omittingEmptySubsequences: false)
                .drop { !$0.hasPrefix("Usage:") }.joined(separator: "\n")
            return SyncDB._errorPrefix + unknown + (rest.isEmpty ? "" : "\n" + rest)
        }
        var lines = message.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard let first = lines.first, first.contains("is invalid for '"), let words = quoted(in: message) else {
            return message
        }
        // Of a list, the part that is wrong.
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

    /// - Throws: `ValidationError` if help is asked for about a command that there is not; the parser would say nothing.
    static func checkHelp(_ arguments: [String] = Array(CommandLine.arguments.dropFirst())) throws {
        if arguments.first == "help", let unknown = unknownCommand(in: arguments) { throw ValidationError(unknown) }
    }

    /// The first word that should be a command and is none.
    private static func unknownCommand(in arguments: [String]) -> String? {
        var configuration = SyncDB.configuration
        var path = "syncdb"
        for word in arguments.drop(while: { $0 == "help" }) {
            let known: [CommandConfiguration] = configuration.subcommands.map { $0.configuration }
            guard !known.isEmpty, !word.hasPrefix("-") else { return nil }
            guard let next = known.first(where: { $0.commandName == word }) else {
                let names = known.compactMap { $0.commandName }
                return "unknown command '\(path) \(word)'; there are \(names.joined(separator: ", "))"
                    + (hintBelow(word, configuration) ?? SimilarName.hint(for: word, among: names))
            }
            (configuration, path) = (next, "\(path) \(word)")
        }
        return nil
    }

    /// That a command of this name is one level below, as `schema infer` is.
    private static func hintBelow(_ word: String, _ configuration: CommandConfiguration) -> String? {
        let owners = configuration.subcommands.map { $0.configuration }.filter { owner in
            owner.subcommands.contains { $0.configuration.commandName == word }
        }
        return owners.first?.commandName.map { "; did you mean '\($0) \(word)'?" }
    }

    // MARK: Values

    /// The value that was written, and those there are, out of the parser's message.
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

/// Names are text here. One that is not UTF-8 would become another as text, and so lead to another file.
enum PathEncoding {
    /// - Throws: ``UsageError`` if an argument is not UTF-8.
    static func checkArguments() throws {
        for argument in UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc)).dropFirst() {
            guard let argument, String(validatingCString: argument) == nil else { continue }
            throw UsageError("an argument is not UTF-8: '\(String(cString: argument))'")
        }
    }

    /// - Throws: ``SyncError`` `unreadableFile` if the names that are relative to the current folder lead nowhere.
    static func checkFolder() throws {
        guard let folder = getcwd(nil, 0) else { return }
        defer { free(folder) }
        guard String(validatingCString: folder) == nil else { return }
        throw SyncError(.unreadableFile, "the name of the current folder is not UTF-8")
    }
}
