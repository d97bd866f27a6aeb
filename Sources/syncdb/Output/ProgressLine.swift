import Foundation
import Sync

/// How far a long piece of work is, as one line for a terminal.
///
///     reading JSON  ██████████░░░░░░░░░░   52%  140 MB of 270 MB, 96 MB/s
///     comparing     1204224 rows, 801k/s
///     writing       ███████████████░░░░░   75%  750000 of 1000000 rows, 120k/s
struct ProgressLine {
    /// What is counted.
    enum Unit { case bytes, rows }

    let label: String
    let unit: Unit
    let completed: Int
    /// Nil if it is not known.
    var total: Int?

    /// - Parameters:
    ///   - seconds: Since the work with this label began.
    ///   - width: How many characters fit on a line.
    func text(after seconds: Double, width: Int) -> String {
        let label = label.padding(toLength: 14, withPad: " ", startingAt: 0)
        let rate = seconds > 0.2 ? ", \(rate(Int(Double(completed) / seconds)))/s" : ""
        guard let total, total > 0 else { return fitted(label + amount(completed) + rate, width) }
        let part = min(1, Double(completed) / Double(total))
        let percent = "\(Int(part * 100))%"
        let padding = String(repeating: " ", count: max(0, 4 - percent.count))
        let done = unit == .rows ? "\(completed)" : amount(completed)
        let numbers = "\(padding)\(percent)  \(done) of \(amount(total))\(rate)"
        let bar = width > label.count + numbers.count + 22 ? Self.bar(part) + "  " : ""
        return fitted(label + bar + numbers, width)
    }

    private static func bar(_ part: Double) -> String {
        let full = Int(part * 20)
        return String(repeating: "█", count: full) + String(repeating: "░", count: 20 - full)
    }

    private func amount(_ count: Int) -> String { unit == .bytes ? ByteAmount.text(count) : "\(count) rows" }

    private func rate(_ count: Int) -> String {
        if unit == .bytes { return ByteAmount.text(count) }
        return count < 10_000 ? "\(count)" : "\(count / 1000)k"
    }

    /// A line that wraps could not be taken back.
    private func fitted(_ line: String, _ width: Int) -> String { String(line.prefix(max(0, width - 1))) }
}

extension ProgressLine {
    /// A point in the sync of a payload of bytes.
    init(_ progress: PayloadProgress) {
        label =
            switch progress.phase {
            case .mapping: "reading JSON"
            case .comparing: "comparing"
            case .writing: "writing"
            }
        unit = progress.phase == .mapping ? .bytes : .rows
        completed = progress.completed
        total = progress.total
    }
}
