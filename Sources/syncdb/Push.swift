import ArgumentParser
import Foundation
import Sync

/// `syncdb push`: sends what changed here to a web service.
struct Push: AsyncParsableCommand, ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Send what changed here to a web service.",
        discussion: "Example: syncdb push -d app.sqlite -c service.json")

    @OptionGroup(title: "Database and service") var options: EngineOptions
    @OptionGroup(title: "Run") var running: EngineRunOptions

    var inputs: CommandInputs { options.inputs }
    var busyTimeout: WaitingTime? { options.location.busyTimeout }

    func run() async throws {
        try await running.run(options) { engine, names in try await engine.push(only: names) }
    }
}
