import Foundation
import Sync

/// A point in a sync as one line for a terminal.
///
///     reading JSON  ██████████░░░░░░░░░░   52%  140 MB of 270 MB, 96 MB/s
///     comparing     1204224 rows, 801k/s
///     writing       ███████████████░░░░░   75%  750000 of 1000000 rows, 120k/s
struct ProgressLine {
    let progress: PayloadProgress
    /// Whether a whole of bytes is mapped, not of records.
    var isInBytes = true
    /// Since the phase began.
    let seconds: Double
    /// How wide the terminal is.
    let width: Int

    var text: String {
        let label = Self.label(progress.phase).padding(toLength: 14, withPad: " ", startingAt: 0)
        let rate = seconds > 0.2 ? ", \(rate(Int(Double(progress.completed) / seconds)))/s" : ""
        guard let total = progress.total, total > 0 else {
            return fitted(label + amount(progress.completed) + rate)
        }
        let part = min(1, Double(progress.completed) / Double(total))
        let percent = "\(Int(part * 100))%"
        let padding = String(repeating: " ", count: max(0, 4 - percent.count))
        let numbers = "\(padding)\(percent)  \(amount(progress.completed, total)) of \(amount(total))\(rate)"
        let bar = width > label.count + numbers.count + 22 ? Self.bar(part) + "  " : ""
        return fitted(label + bar + numbers)
    }

    private static func label(_ phase: PayloadProgress.Phase) -> String {
        switch phase {
        case .mapping: "reading JSON"
        case .comparing: "comparing"
        case .writing: "writing"
        }
    }

    private static func bar(_ part: Double) -> String {
        let full = Int(part * 20)
        return String(repeating: "█", count: full) + String(repeating: "░", count: 20 - full)
    }

    /// A number of bytes or rows; of two numbers the first without its unit if the second has the same.
    private func amount(_ count: Int, _ total: Int? = nil) -> String {
        guard progress.phase == .mapping, isInBytes else { return total == nil ? "\(count) rows" : "\(count)" }
        return Self.bytes(count)
    }

    private func rate(_ count: Int) -> String {
        if progress.phase == .mapping, isInBytes { return Self.bytes(count) }
        return count < 10_000 ? "\(count)" : "\(count / 1000)k"
    }

    private static func bytes(_ count: Int) -> String {
        let units = ["bytes", "kB", "MB", "GB", "TB"]
        var (value, unit) = (Double(count), 0)
        while value >= 1000, unit < units.count - 1 { (value, unit) = (value / 1000, unit + 1) }
        let digits = unit > 0 && value < 10 ? "\((value * 10).rounded(.down) / 10)" : "\(Int(value))"
        return "\(digits) \(units[unit])"
    }

    /// A line that wraps could not be taken back.
    private func fitted(_ line: String) -> String { String(line.prefix(max(0, width - 1))) }
}
