import ArgumentParser
import Foundation
import Sync

/// The command `syncdb reset`, which resets state of the engine.
struct Reset: AsyncParsableCommand, EngineCommand {
    /// The state to reset.
    enum Kind: String, ExpressibleByArgument, CaseIterable { case relink, local, remote }

    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Forget: where pulls ended (relink), all rows here (local), or what the service has (remote).",
        discussion: """
            relink: the next pull is a whole one, and rows are told by their keys; edits stay. local: the rows of the entities \
            and their edits go, and the next pull begins with nothing; of a database of another service or user those of all its \
            entities, which it is then free of. remote: every row is sent as a new one, to a service that was emptied. One that has the rows still gets them a \
            second time, unless ids come from here.

            Example: syncdb reset relink -d app.sqlite -c service.json
            """)

    @Argument(help: "relink, local or remote.")
    var kind: Kind

    @OptionGroup(title: "Database and service") var location: DatabaseOptions
    @OptionGroup(title: "Database and service") var service: EngineOptions

    @OptionGroup var chosen: EntitySelection

    @Flag(
        help: ArgumentHelp(
            "Print the result as JSON.",
            discussion: """
                {"reset": "local", "rows": 7, "unsent": 2}: rows that are gone, and rows whose edits were never sent. Of remote \
                {"reset": "remote", "pending": 7}, of relink {"reset": "relink"}.
                """))
    var json = false

    @Flag(help: "Print nothing but errors.")
    var quiet = false

    func validate() throws {
        if json && quiet { throw ValidationError("--json and --quiet exclude each other") }
        if kind == .local && chosen.names != nil {
            throw ValidationError("local is for all entities: rows of one belong to those of others")
        }
    }

    func run() async throws {
        let stack = try self.stack()
        let before = try await Contents(stack)
        do {
            try await engine(stack).reset(
                EngineReset(rawValue: kind.rawValue) ?? .relink, only: chosen.names)
        } catch let error as SyncError where [.serviceMismatch, .userMismatch].contains(error.code) && kind == .local {
            try await stack.removeEngine(deletingRows: true)
        }
        if !quiet { try await show(before, Contents(stack)) }
    }

    private func show(_ before: Contents, _ after: Contents) throws {
        let (rows, unsent) = (before.rows - after.rows, before.unsent - after.unsent)
        switch (kind, json) {
        case (.relink, false): try Terminal.write("done: relink: the next pull is a whole one")
        case (.relink, true): try Terminal.write(json: #"{"reset": "relink"}"#)
        case (.local, false): try Terminal.write(Self.text(rows: rows, unsent: unsent))
        case (.local, true): try Terminal.write(json: #"{"reset": "local", "rows": \#(rows), "unsent": \#(unsent)}"#)
        case (.remote, false):
            try Terminal.write("done: remote: \(Self.count(after.unsent, "row")) will be sent as new")
        case (.remote, true): try Terminal.write(json: #"{"reset": "remote", "pending": \#(after.unsent)}"#)
        }
    }

    private static func text(rows: Int, unsent: Int) -> TerminalText {
        let were = unsent == 1 ? "was" : "were"
        return "done: local: \(count(rows, "row")) \(rows == 1 ? "is" : "are") gone"
            + (unsent == 0 ? "" : "; edits of \(count(unsent, "row")) \(were) never sent")
    }

    private static func count(_ number: Int, _ name: String) -> String { "\(number) \(name)\(number == 1 ? "" : "s")" }

    /// The number of rows of a database, and the number of rows with pending changes, including deleted rows.
    private struct Contents {
        var rows = 0
        let unsent: Int

        init(_ stack: DataStack) async throws {
            // The count of an entity includes its subentities.
            for entity in stack.model.entities where entity.parent == nil { rows += try await stack.count(entity.name) }
            unsent = try await stack.unsentEdits()
        }
    }
}
