import Foundation
import Sync
import SyncTesting

/// A printer of the report of scenario files as text or JSON.
struct ReportPrinter {
    let report: ScenarioReport
    var style = Style.plain

    /// One line for each failed case, and the summary.
    var failures: TerminalText {
        lines(report.results.filter { $0.outcome == .failed }.map(line))
    }

    /// One line for each case, further lines for its other failures, and the summary.
    var everything: TerminalText {
        lines(report.results.flatMap { [line($0)] + $0.failures.dropFirst().map { "    \(text($0))" } })
    }

    /// Returns the counts and all cases as JSON.
    func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let form = Form(
            passed: report.passed, failed: report.failed, skipped: report.skipped, results: report.results)
        return String(decoding: try encoder.encode(form), as: UTF8.self)
    }

    private struct Form: Encodable {
        let passed: Int
        let failed: Int
        let skipped: Int
        let results: [ScenarioReport.CaseResult]
    }

    /// Returns the line of a case. It begins with the outcome.
    private func line(_ result: ScenarioReport.CaseResult) -> TerminalText {
        let word: TerminalText = "\(result.outcome.rawValue)"
        let start: TerminalText = "\(result.file) \(result.name)"
        switch result.outcome {
        case .passed: return "\(style.green(word)) \(start)"
        case .skipped: return "\(style.yellow(word)) \(start)" + (result.reason.map { ": \($0)" } ?? "")
        case .failed: return "\(style.red(word)) \(start)" + (result.failures.first.map { " \(text($0))" } ?? "")
        }
    }

    private func text(_ failure: ScenarioReport.Failure) -> TerminalText {
        let place: TerminalText = failure.step.map { "step \($0): " } ?? ""
        let comparison: TerminalText =
            failure.expected.isEmpty && failure.found.isEmpty
            ? "" : ": expected \(failure.expected), found \(failure.found)"
        return "\(place)\(failure.message)\(comparison)"
    }

    private func lines(_ lines: [TerminalText]) -> TerminalText {
        (lines + ["\(report.summary)"]).joined(separator: "\n")
    }
}

/// A printer of the report of an engine run, and of the sync status after the run.
///
///     Task: pulled: 3 inserted, 1 updated; pushed: 2 inserted; links: 2 added
///     Task: 2 rows with resolved conflicts (9 fields); 'syncdb conflicts' lists them
///     Task: 1 record without a primary key skipped: record 4 of the list
///     Task: 2 values skipped: the first is Task 7, points: 'many' does not fit points, an integer
///     Task: 3 records without a version; check 'rest.version' in the configuration
///     Task: 1 blocked change; 'syncdb status' shows the reason
///     Task: 1 row with open conflicts; 'syncdb conflicts' lists them; decide with 'syncdb resolve …'
struct SyncReportPrinter {
    let report: SyncReport
    let status: [EntityStatus]
    /// The open conflicts of this run.
    var open: [SyncConflict] = []

    func print(asJSON: Bool) throws {
        if asJSON { return try Terminal.write(json: json) }
        try Terminal.write(text)
    }

    // MARK: JSON

    private var json: String {
        let members = status.map { status -> JSONValue.Member in
            let changes = report.entities[status.entity] ?? .init()
            return JSONValue.Member(
                status.entity,
                [
                    "inserted": JSONValue(changes.pulledInserts), "updated": JSONValue(changes.pulledUpdates),
                    "deleted": JSONValue(changes.pulledDeletes), "created": JSONValue(changes.pushedInserts),
                    "sent": JSONValue(changes.pushedUpdates), "removed": JSONValue(changes.pushedDeletes),
                    "linksAdded": JSONValue(changes.linksAdded), "linksRemoved": JSONValue(changes.linksRemoved),
                    "conflicts": JSONValue(changes.conflicts),
                    "conflictingValues": JSONValue(changes.conflictingValues),
                    "skipped": JSONValue(changes.invalidRecords),
                    "firstSkipped": changes.firstInvalidRecord.map { JSONValue($0) } ?? .null,
                    "unread": JSONValue(changes.unreadableValues),
                    "firstUnread": changes.firstUnreadableValue.map { .string($0) } ?? .null,
                    "unversioned": JSONValue(changes.unversionedRecords ?? 0),
                    "pending": JSONValue(status.pendingChanges), "blocked": JSONValue(status.blockedChanges),
                ])
        }
        return JSONLine.text(of: .object([.init("entities", .object(members))]))
    }

    // MARK: Text

    var text: TerminalText {
        let happened = report.entities.keys.sorted().flatMap { name in
            report.entities[name].map { lines(name, $0) } ?? []
        }
        let left = status.flatMap(lines)
        if happened.isEmpty, left.isEmpty { return "nothing new" }
        return (happened.isEmpty ? ["nothing new"] + left : happened + left).joined(separator: "\n")
    }

    private func lines(_ name: String, _ changes: SyncReport.Changes) -> [TerminalText] {
        var lines: [TerminalText] = []
        let pulled = CountText.list([
            (changes.pulledInserts, "inserted"), (changes.pulledUpdates, "updated"), (changes.pulledDeletes, "deleted"),
        ])
        let sent = CountText.list([
            (changes.pushedInserts, "inserted"), (changes.pushedUpdates, "updated"), (changes.pushedDeletes, "deleted"),
        ])
        let links = CountText.list([(changes.linksAdded, "added"), (changes.linksRemoved, "removed")])
        let parts = [pulled.map { "pulled: \($0)" }, sent.map { "pushed: \($0)" }, links.map { "links: \($0)" }]
            .compactMap(\.self)
        if !parts.isEmpty { lines.append("\(name): " + TerminalText(parts.joined(separator: "; "))) }
        // Open conflicts have a separate line.
        let open = open.filter { $0.entity == name }
        let decided = changes.conflicts - Set(open.map(\.key)).count
        if decided > 0 {
            let values = changes.conflictingValues - open.count
            lines.append("\(name): \(Self.conflicts(decided, values)); 'syncdb conflicts' lists them")
        }
        if let first = changes.firstInvalidRecord {
            let place = changes.invalidRecords == 1 ? "" : "the first is "
            lines.append(
                "\(name): \(CountText.count(changes.invalidRecords, "record")) without a primary key skipped: \(place)record \(first + 1) of the list"
            )
        }
        if let first = changes.firstUnreadableValue {
            let place = changes.unreadableValues == 1 ? "" : "the first is "
            lines.append("\(name): \(CountText.count(changes.unreadableValues, "value")) skipped: \(place)\(first)")
        }
        if let count = changes.unversionedRecords {
            let records = CountText.count(count, "record")
            lines.append("\(name): \(records) without a version; check 'rest.version' in the configuration")
        }
        return lines
    }

    private func lines(_ status: EntityStatus) -> [TerminalText] {
        var lines: [TerminalText] = []
        if status.pendingChanges > status.openConflicts {
            let pending = status.pendingChanges - status.openConflicts
            lines.append(
                "\(status.entity): \(CountText.count(pending, "pending change")); 'syncdb push' sends \(pending == 1 ? "it" : "them")"
            )
        }
        if status.blockedChanges > 0 {
            lines.append(
                "\(status.entity): \(CountText.count(status.blockedChanges, "blocked change")); 'syncdb status' shows the reason"
            )
        }
        if status.openConflicts > 0 {
            let rows = CountText.count(status.openConflicts, "row")
            lines.append(
                "\(status.entity): \(rows) with open conflicts; 'syncdb conflicts' lists them; "
                    + "decide with 'syncdb resolve --entity \(status.entity) --key … --take local|remote'")
        }
        return lines
    }

    // MARK: Numbers

    /// Returns text such as `2 rows with resolved conflicts (9 fields)`, without the number of fields if each row has
    /// only one.
    private static func conflicts(_ rows: Int, _ values: Int) -> String {
        CountText.count(rows, "row") + " with resolved conflicts" + (values > rows ? " (\(values) fields)" : "")
    }
}

/// A printer of text in aligned columns.
///
///     remoteID  name   company
///            1  Ada          2
///            2  Grace        1
struct TablePrinter {
    struct Column {
        var title: String
        /// Whether the column is right-aligned.
        var isNumeric = false
    }

    private struct Cell {
        let text: String
        let width: Int

        init(_ value: String, upTo limit: Int) {
            text = TerminalText(value, upTo: limit).text
            width = DisplayWidth.of(text)
        }
    }

    let columns: [Column]
    /// The number of characters after which values are truncated.
    var maximumWidth = 60
    var style = Style.plain
    private var rows: [[Cell]] = []

    init(_ columns: [Column]) { self.columns = columns }

    mutating func add(_ row: [String]) { rows.append(cells(row)) }

    /// The header and one line for each row, without trailing spaces.
    var text: TerminalText {
        let titles = cells(columns.map(\.title))
        let widths = columns.indices.map { column in
            rows.reduce(titles[column].width) { max($0, $1[column].width) }
        }
        return ([style.bold(line(titles, widths))] + rows.map { line($0, widths) }).joined(separator: "\n")
    }

    private func cells(_ row: [String]) -> [Cell] { row.map { Cell($0, upTo: maximumWidth) } }

    private func line(_ row: [Cell], _ widths: [Int]) -> TerminalText {
        var line = ""
        for (index, cell) in row.enumerated() {
            let padding = String(repeating: " ", count: widths[index] - cell.width)
            line += (index == 0 ? "" : "  ") + (columns[index].isNumeric ? padding + cell.text : cell.text + padding)
        }
        while line.last == " " { line.removeLast() }
        return TerminalText(madeOfVisible: line)
    }
}
