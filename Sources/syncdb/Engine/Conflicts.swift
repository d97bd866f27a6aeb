import ArgumentParser
import Foundation
import Sync

/// `syncdb conflicts`: where both sides differed, and who won.
struct Conflicts: AsyncParsableCommand, EngineCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "List where both sides changed the same, who won and why; what waits for a decision first.",
        discussion: "Example: syncdb conflicts -d app.sqlite -c service.json")

    @OptionGroup(title: "Database and service") var location: DatabaseOptions
    @OptionGroup(title: "Database and service") var service: EngineOptions

    @OptionGroup var chosen: ChosenEntities

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
                [conflict.entity, "\(conflict.key)", conflict.domain]
                    + [conflict.base, conflict.local, conflict.remote].map(JSONLine.text)
                    + [conflict.winner, conflict.why, conflict.time.text])
        }
        try Terminal.write(table.text)
    }

    private static func json(_ conflicts: [LoggedConflict]) -> String {
        JSONLine.text(
            of: .array(
                conflicts.map { conflict in
                    [
                        "entity": .string(conflict.entity), "key": conflict.key.json,
                        "domain": .string(conflict.domain),
                        "base": conflict.base, "local": conflict.local, "remote": conflict.remote,
                        "winner": .string(conflict.winner), "why": .string(conflict.why),
                        "time": .string(conflict.time.text),
                    ]
                }))
    }
}
