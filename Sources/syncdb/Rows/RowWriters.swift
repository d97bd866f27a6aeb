/// Rows as values between commas or tabs: RFC 4180, but that lines end as they do on Unix.
///
/// A value with the delimiter, a quote or a line break in it is quoted, and so is an empty text: nil is nothing at all.
struct DelimitedWriter: TextRowWriter {
    let columns: [RowColumn]
    let delimiter: UInt8
    var output: RowOutput

    mutating func begin() {
        var titles = TextRow()
        for column in columns { titles.add(column.title) }
        append(line: titles)
    }

    mutating func append(_ row: TextRow) throws {
        append(line: row)
        try output.passOn()
    }

    mutating func end() throws { try output.flush() }

    private mutating func append(line row: TextRow) {
        for column in 0..<row.count {
            if column > 0 { output.bytes.append(delimiter) }
            if !row.isNull(column) { append(row[column]) }
        }
        output.bytes.append(.newline)
    }

    private mutating func append(_ value: ArraySlice<UInt8>) {
        let isPlain =
            !value.isEmpty
            && value.allSatisfy { $0 != delimiter && $0 != .quote && $0 != .newline && $0 != .carriageReturn }
        if isPlain {
            output.bytes.append(contentsOf: value)
        } else {
            output.bytes.append(.quote)
            for byte in value {
                if byte == .quote { output.bytes.append(.quote) }
                output.bytes.append(byte)
            }
            output.bytes.append(.quote)
        }
    }
}
