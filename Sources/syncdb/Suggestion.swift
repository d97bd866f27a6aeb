import ArgumentParser
import Foundation
import Sync

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
