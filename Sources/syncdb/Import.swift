import ArgumentParser
import Foundation
import Sync

/// `syncdb import`: makes the rows of an entity what the JSON says.
struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Make the rows of an entity what JSON says, in one transaction.",
        discussion: """
            Inserts what is new, updates what differs, deletes what the JSON leaves out, and does the same for nested \
            records. 'syncdb diff' with the same arguments shows what will happen.

            Example: syncdb import users.json --entity User --model model.json --database app.sqlite
            """)

    @OptionGroup var payload: PayloadOptions
    @OptionGroup var store: StoreOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let data = try payload.source.read()
        let result = try await store.location.exists ? importIntoExisting(data) : importIntoNew(data)
        guard !output.quiet else { return }
        let printer = ResultPrinter(result: result, limit: output.limit)
        Terminal.write(try output.json ? ResultJSON.text(result) : printer.summary)
    }

    private func importIntoExisting(_ data: Data) async throws -> SyncResult {
        guard let model = try store.givenModel() else {
            return try await payload.sync(data, into: DataStack(at: store.location.url))
        }
        return try await payload.sync(data, into: DataStack(model: model, at: store.location.url))
    }

    private func importIntoNew(_ data: Data) async throws -> SyncResult {
        let model = try store.modelForNewDatabase()
        return try await NewDatabase(at: store.location.url).fill(model) { stack in
            try await payload.sync(data, into: stack)
        }
    }
}
