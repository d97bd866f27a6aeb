/// Rows in columns, for people: as wide as a terminal, or with values whole where there is none.
///
///     id  firstName  company
///      1  Ada              2
///
/// The widths are those of the rows seen so far, of which only a block is kept: a column that later needs more gets it from
/// there on.
struct TableWriter: TextRowWriter {
    private static let blockRows = 1000
    private static let blockBytes = 1 << 20
    /// Narrower columns say nothing.
    private static let minimumWidth = 3
    private static let gap = "  "

    private let columns: [RowColumn]
    /// Nil if lines may have any length.
    private let lineWidth: Int?
    private let style: Style
    private var output: RowOutput
    private let titles: [VisibleCell]
    private var widths: [Int]
    private var block: [[VisibleCell]] = []
    private var blockSize = 0
    private var hasHeader = false

    init(_ columns: [RowColumn], lineWidth: Int?, style: Style, _ output: RowOutput) {
        self.columns = columns
        self.lineWidth = lineWidth
        self.style = style
        self.output = output
        titles = columns.map { VisibleCell($0.title.utf8, upTo: lineWidth.map { max($0, 1) }) }
        widths = titles.map(\.width)
    }

    /// Whether so many columns can stand side by side.
    static func fits(_ count: Int, in lineWidth: Int) -> Bool {
        count * minimumWidth + max(0, count - 1) * gap.count <= lineWidth
    }

    func begin() {}

    mutating func append(_ row: TextRow) throws {
        let cells = (0..<row.count).map { VisibleCell(row[$0], upTo: lineWidth) }
        for (column, cell) in cells.enumerated() { widths[column] = max(widths[column], cell.width) }
        block.append(cells)
        blockSize += row.bytes.count
        if block.count >= Self.blockRows || blockSize >= Self.blockBytes {
            writeBlock()
            try output.passOn()
        }
    }

    mutating func end() throws {
        writeBlock()
        try output.flush()
    }

    private mutating func writeBlock() {
        let widths = fittedWidths
        if !hasHeader { append(line: titles, widths, style) }
        hasHeader = true
        for cells in block { append(line: cells, widths, .plain) }
        block.removeAll(keepingCapacity: true)
        blockSize = 0
    }

    /// The widest columns give what the line lacks.
    private var fittedWidths: [Int] {
        guard let lineWidth else { return widths }
        let room = lineWidth - max(0, widths.count - 1) * Self.gap.count
        guard widths.reduce(0, +) > room else { return widths }
        var rest = room
        var fitted = widths
        // The narrow ones get what they need; the others share what is left.
        for (rank, column) in widths.indices.sorted(by: { widths[$0] < widths[$1] }).enumerated() {
            let share = max(rest / (widths.count - rank), 1)
            fitted[column] = min(widths[column], share)
            rest -= fitted[column]
        }
        return fitted
    }

    private mutating func append(line cells: [VisibleCell], _ widths: [Int], _ style: Style) {
        var line = ""
        for (column, cell) in cells.enumerated() {
            let shown = cell.cut(to: widths[column])
            let padding = String(repeating: " ", count: max(0, widths[column] - shown.width))
            if column > 0 { line += Self.gap }
            line += columns[column].isNumeric ? padding + shown.text : shown.text + padding
        }
        while line.last == " " { line.removeLast() }
        if let lineWidth { line = DisplayWidth.cut(line, to: lineWidth).text }
        output.bytes += style.bold(VisibleText(madeOfVisible: line)).text.utf8
        output.bytes.append(.newline)
    }
}
