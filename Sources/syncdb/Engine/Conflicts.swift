import ArgumentParser
import Foundation
import Sync

/// The command `syncdb conflicts`, which prints the conflict log.
struct Conflicts: AsyncParsableCommand, EngineCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "List conflicts with their resolution and its reason; open conflicts first.",
        discussion: "Example: syncdb conflicts -d app.sqlite -c service.json")

    @OptionGroup(title: "Database and service") var location: DatabaseOptions
    @OptionGroup(title: "Database and service") var service: EngineOptions

    @OptionGroup var chosen: EntitySelection

    @Flag(help: "List only open conflicts.")
    var open = false

    @Flag(help: "Print the result as JSON.")
    var json = false

    @OptionGroup(title: "Output") var color: ColorOptions

    func run() async throws {
        guard let stack = try await syncedStack() else {
            _ = try unsyncedEntities(chosen.names)
            if json { return try Terminal.write(json: "[]") }
            return try Terminal.write("\(UnsyncedDatabase.message)")
        }
        let logged = try await engine(stack, makesRequests: false).conflicts(only: chosen.names)
        let conflicts = open ? logged.filter(\.isOpen) : logged
        if json { return try Terminal.write(json: Self.json(conflicts)) }
        guard !conflicts.isEmpty else { return try Terminal.write(open ? "no open conflicts" : "no conflicts") }
        var table = TablePrinter(
            ["entity", "key", "field", "base", "local", "remote", "resolution", "reason", "date"].map {
                .init(title: $0)
            })
        table.style = color.style
        for conflict in conflicts {
            table.add(
                [conflict.entity, "\(conflict.key)", conflict.field]
                    + [conflict.base, conflict.local, conflict.remote].map(JSONLine.text)
                    + [
                        conflict.resolutionText, conflict.outcome?.text ?? "",
                        conflict.outcome?.date.text ?? "",
                    ])
        }
        try Terminal.write(table.text)
    }

    private static func json(_ conflicts: [SyncConflict]) -> String {
        JSONLine.text(
            of: .array(
                conflicts.map { conflict in
                    [
                        "entity": .string(conflict.entity), "key": conflict.key.json,
                        "field": .string(conflict.field),
                        "base": conflict.base, "local": conflict.local, "remote": conflict.remote,
                        "resolution": .string(conflict.resolutionText),
                        "reason": .string(conflict.outcome?.text ?? ""),
                        "date": .string(conflict.outcome?.date.text ?? ""),
                    ]
                }))
    }
}

/// The command `syncdb resolve`, which resolves an open conflict.
struct Resolve: AsyncParsableCommand, EngineCommand {
    /// The side whose value is used.
    enum Side: String, ExpressibleByArgument, CaseIterable {
        case local, remote

        var side: SyncConflict.Side { self == .local ? .local : .remote }
    }

    static let configuration = CommandConfiguration(
        commandName: "resolve",
        abstract: "Resolve an open conflict or a blocked change: keep the local or the remote value.",
        discussion: """
            'syncdb conflicts' lists the open conflicts, 'syncdb status' the blocked changes. --take remote discards a blocked \
            change. --take local also restores a row that the service deleted while it had local changes; the next sync \
            sends it as a new row.

            Example: syncdb resolve -d app.sqlite -c service.json \\
              --entity Task --key 7 --take remote
            """)

    @OptionGroup(title: "Database and service") var location: DatabaseOptions
    @OptionGroup(title: "Database and service") var service: EngineOptions

    @Option(help: "The entity of the row.")
    var entity: String

    @Option(parsing: .unconditional, help: "The primary key of the row; a composite key is a list: '[\"a\",2]'.")
    var key: String

    @Option(help: "The value to keep: local or remote.")
    var take: Side

    @Option(
        name: .customLong("field"),
        help: ArgumentHelp("The attribute or relationship. (default: all open conflicts of the row)", valueName: "name")
    )
    var fieldName: String?

    /// The former name of `--field`.
    @Option(name: .customLong("domain"), help: .hidden)
    var formerFieldName: String?

    @Flag(
        help: ArgumentHelp(
            "Print the result as JSON.",
            discussion: #"{"entity": "Task", "key": 7, "took": "remote", "restored": false}"#))
    var json = false

    func run() async throws {
        let domain = fieldName ?? formerFieldName
        guard let stack = try await syncedStack() else {
            throw SyncError(.rowNotFound, "no conflict of \(entity) \(self.key): \(UnsyncedDatabase.message)")
        }
        let engine = try engine(stack, makesRequests: false)
        let key = JSONValue(keyArgument: key)
        let open = try await engine.conflicts().filter {
            $0.isOpen && $0.entity == entity && ($0.key.description == self.key || $0.key.json == key)
        }
        let fields = open.map(\.field).filter { !$0.isEmpty }
        do {
            try await engine.resolve(entity, key: key, field: domain, keeping: take.side)
        } catch let error as SyncError where error.code == .invalidOption && domain != nil && !fields.isEmpty {
            let similar = SimilarName.hint(for: domain ?? "", among: fields)
            throw HintedError(
                error: error, hint: "the row has open conflicts of \(TruncatedList(fields).text)\(similar)")
        } catch let error as SyncError where error.code == .rowNotFound && take == .local && domain == nil {
            do { try await engine.restoreDeleted(entity, key: key) } catch let other as SyncError
                where other.code == error.code
            {
                throw error
            }
            return try await show(key, stack, "restored the row; the next sync sends it as a new row", isRestored: true)
        } catch let error as SyncError where error.code == .rowNotFound && take == .remote && domain == nil {
            let blocked = try await engine.blockedChanges().first {
                $0.entity == entity && ($0.key.description == self.key || $0.key.json == key)
            }
            guard let blocked else { throw error }
            try await engine.discard(blocked)
            return try await show(key, stack, "discarded the blocked change", isRestored: false)
        }
        let kept: TerminalText =
            domain == nil && fields.count > 1
            ? "kept the \(take.rawValue) values of \(TruncatedList(fields).text)" : "kept the \(take.rawValue) value"
        try await show(key, stack, kept, isRestored: false)
    }

    private func show(_ key: JSONValue, _ stack: DataStack, _ text: TerminalText, isRestored: Bool) async throws {
        guard json else { return try Terminal.write("\(entity) \(self.key): \(text)") }
        // The stored key has the type of the primary key.
        let key = try await stack.fetch(entity, id: key)?.key.json ?? key
        let result: JSONValue = [
            "entity": .string(entity), "key": key, "took": .string(take.rawValue), "restored": .bool(isRestored),
        ]
        try Terminal.write(json: JSONLine.text(of: result))
    }
}

extension SyncConflict {
    /// The side that won, the merged value, or `open`.
    fileprivate var resolutionText: String {
        outcome.map { $0.mergedValue.map(JSONLine.text) ?? $0.winner?.rawValue ?? "open" } ?? ""
    }
}

extension SyncConflict.Outcome {
    /// The reason as the table shows it.
    fileprivate var text: String { reason.rawValue + (isRestored ? ", restored" : "") }
}
