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

    private struct Cell {
        let text: String
        let width: Int

        init(_ value: String, upTo limit: Int) {
            text = VisibleText(value, upTo: limit).text
            width = DisplayWidth.of(text)
        }
    }

    let columns: [Column]
    /// Longer values are cut.
    var maximumWidth = 60
    var style = Style.plain
    private var rows: [[Cell]] = []

    init(_ columns: [Column]) { self.columns = columns }

    mutating func add(_ row: [String]) { rows.append(cells(row)) }

    /// The header and one line per row, without blanks at the end of a line.
    var text: VisibleText {
        let titles = cells(columns.map(\.title))
        let widths = columns.indices.map { column in
            rows.reduce(titles[column].width) { max($0, $1[column].width) }
        }
        return ([style.bold(line(titles, widths))] + rows.map { line($0, widths) }).joined(separator: "\n")
    }

    private func cells(_ row: [String]) -> [Cell] { row.map { Cell($0, upTo: maximumWidth) } }

    private func line(_ row: [Cell], _ widths: [Int]) -> VisibleText {
        var line = ""
        for (index, cell) in row.enumerated() {
            let padding = String(repeating: " ", count: widths[index] - cell.width)
            line += (index == 0 ? "" : "  ") + (columns[index].isNumeric ? padding + cell.text : cell.text + padding)
        }
        while line.last == " " { line.removeLast() }
        return VisibleText(madeOfVisible: line)
    }
}
