import ArgumentParser
import Foundation
import Sync

/// `syncdb sync`: in step with a web service, both ways.
struct SyncCommand: AsyncParsableCommand, EngineCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Pull what is new from a web service, and send what changed here.",
        discussion: "Example: syncdb sync -d app.sqlite -c service.json --model model.json")

    @OptionGroup(title: "Database and service") var location: DatabaseOptions
    @OptionGroup(title: "Database and service") var service: EngineOptions
    @OptionGroup(title: "Run") var running: EngineRunOptions

    func run() async throws {
        try await running.run(self) { engine, names in try await engine.sync(only: names) }
    }
}
