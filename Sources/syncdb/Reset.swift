import ArgumentParser
import Foundation
import Sync

/// `syncdb reset`: forgets what is known of the service.
struct Reset: AsyncParsableCommand, EngineCommand {
    /// What is forgotten.
    enum Kind: String, ExpressibleByArgument, CaseIterable { case relink, local, remote }

    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Forget: where pulls ended (relink), all rows here (local), or what the service has (remote).",
        discussion: """
            relink: the next pull is a whole one, and rows are told by their keys; edits stay. local: the rows here and all \
            edits go, and the next pull begins with nothing; also those of another service or user, which the database is then \
            free of. remote: every row is sent as a new one.

            Example: syncdb reset relink -d app.sqlite -c service.json
            """)

    @Argument(help: "relink, local or remote.")
    var kind: Kind

    @OptionGroup(title: "Database and service") var location: DatabaseOptions
    @OptionGroup(title: "Database and service") var service: EngineOptions

    @Flag(help: "Print nothing but errors.")
    var quiet = false

    func run() async throws {
        let stack = try self.stack()
        do {
            try await engine(stack).reset(EngineReset(rawValue: kind.rawValue) ?? .relink)
        } catch let error as SyncError where error.code == .otherService && kind == .local {
            try await stack.removeEngine(deletingRows: true)
        }
        if !quiet { try Terminal.write("done: \(kind.rawValue)") }
    }
}
