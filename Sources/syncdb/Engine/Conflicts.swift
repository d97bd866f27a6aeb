import ArgumentParser
import Foundation
import Sync

/// The command `syncdb conflicts`, which prints the conflict log.
struct Conflicts: AsyncParsableCommand, EngineCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "List where both sides changed the same, who won and why; what waits for a decision first.",
        discussion: "Example: syncdb conflicts -d app.sqlite -c service.json")

    @OptionGroup(title: "Database and service") var location: DatabaseOptions
    @OptionGroup(title: "Database and service") var service: EngineOptions

    @OptionGroup var chosen: EntitySelection

    @Flag(help: "Print it as JSON.")
    var json = false

    @OptionGroup(title: "Output") var color: ColorOptions

    func run() async throws {
        let conflicts = try await engine(stack(), makesRequests: false).conflicts(only: chosen.names)
        if json { return try Terminal.write(json: Self.json(conflicts)) }
        guard !conflicts.isEmpty else { return try Terminal.write("no conflicts") }
        var table = TablePrinter(
            ["entity", "key", "domain", "base", "here", "there", "winner", "why", "time"].map { .init(title: $0) })
        table.style = color.style
        for conflict in conflicts {
            table.add(
                [conflict.entity, "\(conflict.key)", conflict.field]
                    + [conflict.base, conflict.local, conflict.remote].map(JSONLine.text)
                    + [conflict.outcome?.winner.rawValue ?? "", conflict.outcome?.text ?? "", conflict.outcome?.date.text ?? ""])
        }
        try Terminal.write(table.text)
    }

    private static func json(_ conflicts: [SyncConflict]) -> String {
        JSONLine.text(
            of: .array(
                conflicts.map { conflict in
                    [
                        "entity": .string(conflict.entity), "key": conflict.key.json,
                        "domain": .string(conflict.field),
                        "base": conflict.base, "local": conflict.local, "remote": conflict.remote,
                        "winner": .string(conflict.outcome?.winner.rawValue ?? ""),
                        "why": .string(conflict.outcome?.text ?? ""),
                        "time": .string(conflict.outcome?.date.text ?? ""),
                    ]
                }))
    }
}

/// The command `syncdb resolve`, which resolves an open conflict.
struct Resolve: AsyncParsableCommand, EngineCommand {
    /// The side whose value is used.
    enum Side: String, ExpressibleByArgument, CaseIterable { case local, remote }

    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract: "Decide a conflict that waits: take the value here, or that of the service.",
        discussion: """
            --take local also brings a row back that was edited or made here and that a deletion of the service's took away: as a \
            new one, which the next run sends.

            Example: syncdb resolve -d app.sqlite -c service.json --entity Task --key 7 --take remote
            """)

    @OptionGroup(title: "Database and service") var location: DatabaseOptions
    @OptionGroup(title: "Database and service") var service: EngineOptions

    @Option(help: "The entity of the row.")
    var entity: String

    @Option(parsing: .unconditional, help: "The key of the row; of several parts a list: '[\"a\",2]'.")
    var key: String

    @Option(help: "Whose value stays: local or remote.")
    var take: Side

    @Option(help: ArgumentHelp("The attribute or relationship. (default: all that wait of the row)", valueName: "name"))
    var domain: String?

    @Flag(
        help: ArgumentHelp(
            "Print the result as JSON.",
            discussion: #"{"entity": "Task", "key": 7, "took": "remote", "restored": false}"#))
    var json = false

    func run() async throws {
        let stack = try stack()
        let engine = try engine(stack, makesRequests: false)
        let key = JSONValue(keyArgument: key)
        do {
            try await engine.resolve(entity, key: key, domain: domain, takingRemote: take == .remote)
        } catch let error as SyncError where error.code == .rowNotFound && take == .local && domain == nil {
            do { try await engine.restore(entity, key: key) } catch let other as SyncError
                where other.code == error.code
            {
                throw error
            }
            return try await show(key, stack, "the row is back, and will be sent as a new one", isRestored: true)
        }
        try await show(key, stack, "the value \(take == .remote ? "of the service" : "here") stays", isRestored: false)
    }

    private func show(_ key: JSONValue, _ stack: DataStack, _ text: TerminalText, isRestored: Bool) async throws {
        guard json else { return try Terminal.write("\(entity) \(self.key): \(text)") }
        // The key in its stored type.
        let key = try await stack.fetch(entity, id: key)?.key.json ?? key
        let result: JSONValue = [
            "entity": .string(entity), "key": key, "took": .string(take.rawValue), "restored": .bool(isRestored),
        ]
        try Terminal.write(json: JSONLine.text(of: result))
    }
}

extension SyncConflict.Outcome {
    /// The reason as the table shows it.
    fileprivate var text: String { reason.rawValue + (isRestored ? ", restored" : "") }
}
