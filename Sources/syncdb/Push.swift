import ArgumentParser
import Foundation
import Sync

/// `syncdb push`: sends what changed here to a web service.
struct Push: AsyncParsableCommand, EngineCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Send what changed here to a web service.",
        discussion: "Example: syncdb push -d app.sqlite -c service.json")

    @OptionGroup(title: "Database and service") var location: DatabaseOptions
    @OptionGroup(title: "Database and service") var service: EngineOptions
    @OptionGroup(title: "Run") var running: EngineRunOptions

    func run() async throws {
        try await running.run(self) { engine, names in try await engine.push(only: names) }
    }
}
