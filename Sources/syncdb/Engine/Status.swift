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
