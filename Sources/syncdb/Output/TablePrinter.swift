/// Lines up rows of text in columns.
///
///     remoteID  name   company
///            1  Ada          2
///            2  Grace        1
struct TablePrinter {
    struct Column {
        var title: String
        /// Numbers are easier to compare with their last digits below each other.
        var isNumeric = false
    }

    let columns: [Column]
    /// Values longer than this are cut, with `…` for the rest.
    var maximumWidth = 60
    var style = Style.plain
    private var rows: [[String]] = []

    init(_ columns: [Column]) { self.columns = columns }

    mutating func add(_ row: [String]) {
        rows.append(row.map { Self.fitted($0, maximumWidth) })
    }

    /// The header and one line per row, without blanks at the end of a line.
    var text: String {
        let widths = columns.indices.map { column in
            rows.reduce(columns[column].title.count) { max($0, $1[column].count) }
        }
        let header = style.bold(line(columns.map(\.title), widths))
        return ([header] + rows.map { line($0, widths) }).joined(separator: "\n")
    }

    private func line(_ row: [String], _ widths: [Int]) -> String {
        var line = ""
        for (index, cell) in row.enumerated() {
            let padding = String(repeating: " ", count: widths[index] - cell.count)
            line += (index == 0 ? "" : "  ") + (columns[index].isNumeric ? padding + cell : cell + padding)
        }
        while line.last == " " { line.removeLast() }
        return line
    }

    /// One line, without characters that would move the cursor, no wider than allowed.
    static func fitted(_ value: String, _ maximumWidth: Int) -> String {
        var cell = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\n": cell += "\\n"
            case "\t": cell += "\\t"
            case "\r": cell += "\\r"
            case let other where other.properties.generalCategory == .control: cell += "\u{FFFD}"
            default: cell.unicodeScalars.append(scalar)
            }
        }
        return cell.count <= maximumWidth ? cell : cell.prefix(maximumWidth - 1) + "…"
    }
}
