/// Rows as a table of Markdown. What would do something to a terminal is made visible; a bar inside a value is escaped.
struct MarkdownWriter: TextRowWriter {
    let columns: [RowColumn]
    var output: RowOutput

    mutating func begin() {
        append(line: columns.map { Self.cell($0.title.utf8) })
        append(line: columns.map { $0.isNumeric ? "--:" : "---" })
    }

    mutating func append(_ row: TextRow) throws {
        append(line: (0..<row.count).map { Self.cell(row[$0]) })
        try output.passOn()
    }

    mutating func end() throws { try output.flush() }

    private mutating func append(line cells: [String]) {
        for cell in cells {
            output.bytes += "| ".utf8
            output.bytes += cell.utf8
            output.bytes.append(.blank)
        }
        output.bytes += "|\n".utf8
    }

    private static func cell(_ value: some Collection<UInt8>) -> String {
        VisibleCell(value, upTo: nil).text.replacing("|", with: "\\|")
    }
}
