/// Rows with a line per value, and an empty line between them.
///
///     id         1
///     firstName  Ada
struct VerticalWriter: TextRowWriter {
    private let titles: [VisibleText]
    /// Longer values are cut; nil for none.
    private let limit: Int?
    /// How many columns of a terminal a value may take; nil for any number.
    private let room: Int?
    private var output: RowOutput
    private var hasRows = false

    /// - Parameter lineWidth: How long lines may be, if that is limited.
    init(_ columns: [RowColumn], limit: Int?, lineWidth: Int? = nil, style: Style, _ output: RowOutput) {
        let cells = columns.map { column in
            let title = VisibleCell(column.title.utf8, upTo: limit)
            return lineWidth.map { title.cut(to: max($0 / 2, 1)) } ?? title
        }
        let width = cells.map(\.width).max() ?? 0
        titles = cells.map { cell in
            let padding = VisibleText(madeOfVisible: String(repeating: " ", count: width - cell.width))
            return style.bold(VisibleText(madeOfVisible: cell.text)) + padding
        }
        self.limit = limit
        room = lineWidth.map { max($0 - width - 2, 0) }
        self.output = output
    }

    func begin() {}

    mutating func append(_ row: TextRow) throws {
        if hasRows { output.bytes.append(.newline) }
        hasRows = true
        for column in 0..<row.count {
            let cell = VisibleCell(row[column], upTo: limit)
            let value = room.map { cell.cut(to: $0) }?.text ?? cell.text
            output.bytes += titles[column].text.utf8
            if !value.isEmpty { output.bytes += "  \(value)".utf8 }
            while output.bytes.last == .blank { output.bytes.removeLast() }
            output.bytes.append(.newline)
        }
        try output.passOn()
    }

    mutating func end() throws { try output.flush() }
}
