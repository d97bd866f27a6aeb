import Foundation
import Sync

/// Prints what a run of the engine did, and what it left.
///
///     Task     pulled 3 new, 1 changed   sent 2 created
///     Project  nothing
///     1 conflict waits for a decision: 'syncdb conflicts' lists it, 'syncdb resolve' decides it
struct SyncReportPrinter {
    let report: SyncReport
    let status: [EntityStatus]

    func print(asJSON: Bool) throws {
        if asJSON { return try Terminal.write(json: json) }
        try Terminal.write(lines.joined(separator: "\n"))
    }

    private var json: String {
        let members = status.map { status -> JSONValue.Member in
            let changes = report.entities[status.entity] ?? .init()
            return JSONValue.Member(
                status.entity,
                [
                    "inserted": JSONValue(changes.inserted), "updated": JSONValue(changes.updated),
                    "deleted": JSONValue(changes.deleted), "created": JSONValue(changes.created),
                    "sent": JSONValue(changes.sent), "removed": JSONValue(changes.removed),
                    "conflicts": JSONValue(changes.conflicts), "pending": JSONValue(status.pending),
                    "parked": JSONValue(status.parked),
                ])
        }
        return JSONLine.text(of: .object([.init("entities", .object(members))]))
    }

    private var lines: [VisibleText] {
        var lines: [VisibleText] = []
        for name in report.entities.keys.sorted() {
            guard let changes = report.entities[name], !changes.isEmpty else { continue }
            let pulled = Self.list([
                (changes.inserted, "new"), (changes.updated, "changed"), (changes.deleted, "deleted"),
            ])
            let sent = Self.list([
                (changes.created, "created"), (changes.sent, "changed"), (changes.removed, "deleted"),
            ])
            let parts = [pulled.map { "pulled \($0)" }, sent.map { "sent \($0)" }].compactMap(\.self)
            if !parts.isEmpty { lines.append("\(name): " + VisibleText(parts.joined(separator: "; "))) }
            if changes.conflicts > 0 {
                lines.append("\(name): \(changes.conflicts) in conflict; 'syncdb conflicts' says who won")
            }
        }
        if lines.isEmpty { lines.append("nothing to do") }
        for status in status {
            if status.pending > status.conflicts {
                lines.append("\(status.entity): \(status.pending - status.conflicts) still to be sent")
            }
            if status.parked > 0 {
                lines.append("\(status.entity): \(status.parked) parked: they were refused; 'syncdb status' says why")
            }
            if status.conflicts > 0 {
                lines.append("\(status.entity): \(status.conflicts) wait for a decision; 'syncdb resolve' takes it")
            }
        }
        return lines
    }

    private static func list(_ counts: [(Int, String)]) -> String? {
        let parts = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }
}
