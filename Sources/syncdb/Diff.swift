import ArgumentParser
import Foundation
import Sync

/// `syncdb diff`: what `import` would do.
struct Diff: AsyncParsableCommand, PayloadCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Show what 'import' with the same arguments would do. Writes nothing.",
        discussion: """
            One line per row with its values: + is new, ~ differs, - will be deleted; below them the links of \
            many-to-many relationships. \
            Without a database, compares with an empty one.

            Example: syncdb diff users.json --entity User -d app.sqlite
            """)

    @OptionGroup(title: "Payload") var records: RecordsOptions
    @OptionGroup(title: "Payload") var layout: LayoutOptions
    @OptionGroup(title: "Payload") var rules: RuleOptions

    @OptionGroup(title: "Database") var location: DatabaseOptions
    @OptionGroup(title: "Database") var changes: ModelOptions
    @OptionGroup(title: "Database") var key: KeyOptions

    @OptionGroup(title: "Output") var result: ResultOptions
    @OptionGroup(title: "Output") var list: ListOptions
    @OptionGroup(title: "Output") var color: ColorOptions

    @Flag(
        help: ArgumentHelp(
            "End as diff(1) does: 0 if nothing would change, 1 if something would, 2 in trouble. (3 as always: the deletion "
                + "guard would refuse it.)"))
    var exitCode = false

    func validate() throws { try payload.validate() }

    func run() async throws {
        do {
            let comparison = Comparison(payload: payload, store: store, output: output, withRows: true)
            let result = try await comparison.show(output.read(payload))
            if exitCode, result.changesSomething { throw ExitCode(ExitStatus.failed.rawValue) }
        } catch let error where exitCode && ExitStatus(error) == .failed && !(error is ExitCode) {
            throw Trouble(error: error)
        }
    }
}

/// A failure of a command whose exit code 1 says something else.
struct Trouble: LocalizedError {
    let error: any Error

    var errorDescription: String? { error.localizedDescription }
}

extension SyncResult {
    /// Whether a row or a link is to be written.
    fileprivate var changesSomething: Bool {
        linksAdded > 0 || linksRemoved > 0
            || entities.values.contains { $0.insertedCount + $0.updatedCount + $0.deletedCount > 0 }
    }
}
