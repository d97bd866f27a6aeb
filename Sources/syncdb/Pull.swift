import ArgumentParser
import Foundation
import Sync

/// `syncdb pull`: takes what is new from a web service.
struct Pull: AsyncParsableCommand, ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "pull",
        abstract: "Pull what is new from a web service.",
        discussion: "Example: syncdb pull -d app.sqlite -c service.json --only Task")

    @OptionGroup(title: "Database and service") var options: EngineOptions
    @OptionGroup(title: "Run") var running: EngineRunOptions

    var inputs: CommandInputs { options.inputs }
    var busyTimeout: WaitingTime? { options.location.busyTimeout }

    func run() async throws {
        try await running.run(options) { engine, names in try await engine.pull(only: names) }
    }
}
