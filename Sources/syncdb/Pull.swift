import ArgumentParser
import Foundation
import Sync

/// `syncdb pull`: takes what is new from a web service.
struct Pull: AsyncParsableCommand, EngineCommand {
    static let configuration = CommandConfiguration(
        commandName: "pull",
        abstract: "Pull what is new from a web service.",
        discussion: "Example: syncdb pull -d app.sqlite -c service.json --only Task")

    @OptionGroup(title: "Database and service") var location: DatabaseOptions
    @OptionGroup(title: "Database and service") var service: EngineOptions
    @OptionGroup(title: "Run") var running: EngineRunOptions

    func run() async throws {
        try await running.run(self) { engine, names in try await engine.pull(only: names) }
    }
}
