import ArgumentParser
import Foundation
import Sync

/// The command `syncdb status`, which prints the sync status of each entity and the blocked changes.
struct Status: AsyncParsableCommand, EngineCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show pending changes, blocked changes, conflicts and the last sync of each entity.",
        discussion: "Example: syncdb status -d app.sqlite -c service.json --json")

    @OptionGroup(title: "Database and service") var location: DatabaseOptions
    @OptionGroup(title: "Database and service") var service: EngineOptions

    @OptionGroup var chosen: EntitySelection

    @Flag(help: "Print the result as JSON.")
    var json = false

    @OptionGroup(title: "Output") var color: ColorOptions

    func run() async throws {
        guard let stack = try await syncedStack() else { return try showUnsynced() }
        let engine = try engine(stack, makesRequests: false)
        let status = try await engine.status(only: chosen.names)
        let blocked = try await engine.blockedChanges(only: chosen.names)
        if json { return try Terminal.write(json: Self.json(status, blocked)) }
        var table = TablePrinter([
            .init(title: "entity"), .init(title: "pending", isNumeric: true), .init(title: "blocked", isNumeric: true),
            .init(title: "conflicts", isNumeric: true), .init(title: "last sync"),
        ])
        table.style = color.style
        for status in status {
            table.add([
                status.entity, "\(status.pendingChanges)", "\(status.blockedChanges)", "\(status.openConflicts)",
                status.lastSyncDate.map(\.text) ?? "never",
            ])
        }
        try Terminal.write(table.text)
        for row in blocked {
            try Terminal.write("\(row.entity) \(row.key) is blocked: \(row.reason)")
        }
        if !blocked.isEmpty {
            try Terminal.write("to send a blocked change again, fix the cause and change a value of the row")
        }
    }

    private func showUnsynced() throws {
        let names = try unsyncedEntities(chosen.names)
        guard json else { return try Terminal.write("\(UnsyncedDatabase.message)") }
        let status = names.map { name in
            EntityStatus(
                entity: name, pendingChanges: 0, blockedChanges: 0, openConflicts: 0, conflictingValues: 0,
                lastSyncDate: nil, isInitialSyncComplete: false)
        }
        try Terminal.write(json: Self.json(status, []))
    }

    private static func json(_ status: [EntityStatus], _ blocked: [BlockedChange]) -> String {
        let members = status.map { status -> JSONValue.Member in
            .init(
                status.entity,
                [
                    "pending": JSONValue(status.pendingChanges), "blocked": JSONValue(status.blockedChanges),
                    "conflicts": JSONValue(status.openConflicts),
                    "conflictingValues": JSONValue(status.conflictingValues),
                    "lastSync": status.lastSyncDate.map { .string($0.text) } ?? .null,
                    "initialSyncComplete": .bool(status.isInitialSyncComplete),
                ])
        }
        let rows = blocked.map { row -> JSONValue in
            ["entity": .string(row.entity), "key": row.key.json, "reason": .string(row.reason)]
        }
        return JSONLine.text(of: .object([.init("entities", .object(members)), .init("blockedChanges", .array(rows))]))
    }
}

extension Date {
    /// The date as text, such as `2026-11-23T16:34:43Z`.
    var text: String { ISO8601Format() }
}

/// The entities of a configuration that a command applies to.
struct EntitySelection: ParsableArguments {
    @Option(help: ArgumentHelp("Only this entity. Repeat the option for more entities.", valueName: "entity"))
    var only: [String] = []

    /// The names; nil for all entities.
    var names: [String]? { only.isEmpty ? nil : only }
}

// MARK: - Reset

/// The command `syncdb reset`, which resets the state of the engine.
struct Reset: AsyncParsableCommand, EngineCommand {
    /// The state to reset.
    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case cursors, local, remote

        /// Parses the name of a kind. Also accepts `relink`, the former name of `cursors`.
        init?(argument: String) { self.init(rawValue: argument == "relink" ? "cursors" : argument) }

        var reset: EngineReset {
            switch self {
            case .cursors: .cursors
            case .local: .localData
            case .remote: .remoteState
            }
        }
    }

    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Reset the sync state: forget the pull cursors, delete the local rows, or send all rows again.",
        discussion: """
            cursors: the next pull is complete and matches rows by their primary keys. Pending changes are kept.

            local: deletes the rows of all synced entities and their pending changes; the next pull is complete. The \
            database can then be synced with another service or user.

            remote: the next sync sends every row as a new row, to a service that was emptied. A service that still has the \
            rows stores duplicates, unless the app generates the IDs.

            Example: syncdb reset cursors -d app.sqlite -c service.json
            """)

    @Argument(help: "The state to reset.")
    var kind: Kind

    @OptionGroup(title: "Database and service") var location: DatabaseOptions
    @OptionGroup(title: "Database and service") var service: EngineOptions

    @OptionGroup var chosen: EntitySelection

    @Flag(
        help: ArgumentHelp(
            "Print the result as JSON.",
            discussion: """
                {"reset": "local", "rows": 7, "unsent": 2}: deleted rows, and rows whose pending changes were deleted.
                {"reset": "remote", "pending": 7}: rows to send.
                {"reset": "cursors"}
                """))
    var json = false

    @Flag(help: "Print only errors.")
    var quiet = false

    func validate() throws {
        if json && quiet { throw ValidationError("--json and --quiet cannot be used together") }
        if kind == .local && chosen.names != nil {
            throw ValidationError("'reset local' resets all entities and cannot be used with --only")
        }
    }

    func run() async throws {
        let stack = try self.stack()
        let before = try await Contents(stack)
        do {
            try await engine(stack).reset(
                kind.reset, only: chosen.names)
        } catch let error as SyncError where [.serviceMismatch, .userMismatch].contains(error.code) && kind == .local {
            try await stack.removeSyncState(deletingRows: true)
        }
        if !quiet { try await show(before, Contents(stack)) }
    }

    private func show(_ before: Contents, _ after: Contents) throws {
        let (rows, unsent) = (before.rows - after.rows, before.unsentRows - after.unsentRows)
        switch (kind, json) {
        case (.cursors, false): try Terminal.write("reset cursors: the next pull is complete")
        case (.cursors, true): try Terminal.write(json: #"{"reset": "cursors"}"#)
        case (.local, false): try Terminal.write(Self.text(rows: rows, unsentRows: unsent))
        case (.local, true): try Terminal.write(json: #"{"reset": "local", "rows": \#(rows), "unsent": \#(unsent)}"#)
        case (.remote, false):
            try Terminal.write("reset remote: the next sync sends \(CountText.count(after.unsentRows, "row")) as new")
        case (.remote, true): try Terminal.write(json: #"{"reset": "remote", "pending": \#(after.unsentRows)}"#)
        }
    }

    private static func text(rows: Int, unsentRows: Int) -> TerminalText {
        "reset local: \(CountText.count(rows, "row")) deleted"
            + (unsentRows == 0 ? "" : "; pending changes of \(CountText.count(unsentRows, "row")) deleted")
    }

    /// The number of rows of a database, and the number of rows with pending or blocked changes, including deleted
    /// rows.
    private struct Contents {
        var rows = 0
        let unsentRows: Int

        init(_ stack: DataStack) async throws {
            // The count of an entity includes its subentities.
            for entity in stack.model.entities where entity.parent == nil { rows += try await stack.count(entity.name) }
            unsentRows = try await stack.pendingChangeCount()
        }
    }
}
