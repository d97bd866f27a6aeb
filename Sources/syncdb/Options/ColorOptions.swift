import ArgumentParser
import Foundation

/// `--color`, and what it comes to here.
struct ColorOptions: ParsableArguments {
    /// When output is coloured.
    enum Choice: String, ExpressibleByArgument, CaseIterable {
        case auto, always, never
    }

    @Option(
        help: ArgumentHelp(
            "Colour the output: auto (on a terminal, unless NO_COLOR is set), always or never.", valueName: "when"))
    var color: Choice = .auto

    /// How to write on standard output.
    var style: Style { Self.style(color, for: .output) }

    static func style(_ choice: Choice, for stream: Terminal.Stream) -> Style {
        switch choice {
        case .always: .init(isOn: true)
        case .never: .plain
        case .auto: .init(isOn: stream.isTerminal && Self.isWelcome(ProcessInfo.processInfo.environment))
        }
    }

    /// Whether the environment has nothing against colours: https://no-color.org, and terminals that have none.
    static func isWelcome(_ environment: [String: String]) -> Bool {
        environment["NO_COLOR", default: ""].isEmpty && environment["TERM", default: "dumb"] != "dumb"
    }

    /// How to write on standard error, where an error may be that the arguments could not be parsed.
    static var errorStyle: Style {
        let arguments = CommandLine.arguments.dropFirst().prefix { $0 != "--" }
        var choice = Choice.auto
        for (argument, next) in zip(arguments, Array(arguments.dropFirst()) + [""]) {
            if argument == "--color" { choice = Choice(rawValue: next) ?? choice }
            if argument.hasPrefix("--color=") { choice = Choice(rawValue: String(argument.dropFirst(8))) ?? choice }
        }
        return style(choice, for: .errors)
    }
}
