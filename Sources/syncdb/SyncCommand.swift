import ArgumentParser
import Foundation
import Sync

/// `syncdb sync`: in step with a web service, both ways.
struct SyncCommand: AsyncParsableCommand, ReadingCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Pull what is new from a web service, and send what changed here.",
        discussion: "Example: syncdb sync -d app.sqlite -c service.json --model model.json")

    @OptionGroup(title: "Database and service") var options: EngineOptions
    @OptionGroup(title: "Run") var running: EngineRunOptions

    var inputs: CommandInputs { options.inputs }
    var busyTimeout: WaitingTime? { options.location.busyTimeout }

    func run() async throws {
        try await running.run(options) { engine, names in try await engine.sync(only: names) }
    }
}
