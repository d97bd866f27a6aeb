import Sync

/// A writer of comma- or tab-separated values (RFC 4180), with the line breaks of Unix.
///
/// A value that contains the delimiter, a quote or a line break is quoted. An empty text is quoted too, because null is
/// written as an empty field.
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

/// A writer of a Markdown table. Control characters and bars in values are escaped.
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

/// A writer of aligned columns for people, fitted to the width of a terminal. Without a terminal, values are complete.
///
///     id  firstName  company
///      1  Ada              2
///
/// Only a block of rows is in memory, so the widths depend on the rows so far. A column becomes wider if a later row
/// needs more space.
struct TableWriter: TextRowWriter {
    private static let blockRows = 1000
    private static let blockBytes = 1 << 20
    /// The column width that ``fits(_:in:)`` assumes.
    private static let minimumWidth = 3
    private static let gap = "  "

    private let columns: [RowColumn]
    /// The width of the terminal; nil for lines of any length.
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

    /// Returns whether a number of columns fits a line.
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

    /// The widths of the columns. The widest columns are narrowed so that all columns fit the line.
    private var fittedWidths: [Int] {
        guard let lineWidth else { return widths }
        let room = lineWidth - max(0, widths.count - 1) * Self.gap.count
        guard widths.reduce(0, +) > room else { return widths }
        var rest = room
        var fitted = widths
        // Narrow columns get their full width. The other columns share the rest.
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
        output.bytes += style.bold(TerminalText(madeOfVisible: line)).text.utf8
        output.bytes.append(.newline)
    }
}

/// A writer of one line for each value, with an empty line between rows.
///
///     id         1
///     firstName  Ada
struct VerticalWriter: TextRowWriter {
    private let titles: [TerminalText]
    /// The number of characters after which values are truncated; nil for no limit.
    private let limit: Int?
    /// The largest number of terminal columns of a value; nil for no limit.
    private let room: Int?
    private var output: RowOutput
    private var hasRows = false

    /// Creates a writer.
    ///
    /// - Parameter lineWidth: The width of the terminal; nil for no limit.
    init(_ columns: [RowColumn], limit: Int?, lineWidth: Int? = nil, style: Style, _ output: RowOutput) {
        let cells = columns.map { column in
            let title = VisibleCell(column.title.utf8, upTo: limit)
            return lineWidth.map { title.cut(to: max($0 / 2, 1)) } ?? title
        }
        let width = cells.map(\.width).max() ?? 0
        titles = cells.map { cell in
            let padding = TerminalText(madeOfVisible: String(repeating: " ", count: width - cell.width))
            return style.bold(TerminalText(madeOfVisible: cell.text)) + padding
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

/// A writer of the rows of a query as JSON: an array with one object on each line, or NDJSON.
struct JSONRowWriter {
    private(set) var output: RowOutput
    private let isArray: Bool
    /// The text before each value: `"name": `.
    private let keys: [[UInt8]]
    private let types: [AttributeType]
    private var hasRows = false

    init(_ columns: [RowSelection.Column], isArray: Bool, _ output: RowOutput) {
        self.output = output
        self.isArray = isArray
        types = columns.map(\.type)
        keys = columns.enumerated().map { index, column in
            var key: [UInt8] = index == 0 ? [] : Array(", ".utf8)
            JSONText.append(quoted: column.name, to: &key)
            return key + Array(": ".utf8)
        }
    }

    mutating func append(_ row: RowReader) throws {
        if isArray { output.bytes += (hasRows ? ",\n  " : "[\n  ").utf8 }
        hasRows = true
        output.bytes.append(.openBrace)
        for column in types.indices {
            output.bytes.append(contentsOf: keys[column])
            append(row, column)
        }
        output.bytes.append(.closeBrace)
        if !isArray { output.bytes.append(.newline) }
        try output.passOn()
    }

    mutating func end() throws {
        if isArray { output.bytes += (hasRows ? "\n]\n" : "[]\n").utf8 }
        try output.flush()
    }

    private mutating func append(_ row: RowReader, _ column: Int) {
        let type = types[column]
        switch type {
        case .string, .url:
            guard row.storage(column) == .text else { return appendNull() }
            Self.append(quoted: row.text(column), to: &output.bytes)
        case .integer, .double, .decimal, .boolean:
            if !ValueText.append(row, column, type, to: &output.bytes) { appendNull() }
        case .date, .uuid, .binary:
            // These values need no escapes.
            output.bytes.append(.quote)
            if ValueText.append(row, column, type, to: &output.bytes) {
                output.bytes.append(.quote)
            } else {
                output.bytes.removeLast()
                appendNull()
            }
        case .json, .transformable:
            output.bytes += JSONLine.text(of: row.value(column, as: type).jsonValue).utf8
        }
    }

    private mutating func appendNull() { output.bytes += "null".utf8 }

    /// Appends text as a JSON string, with replacement characters for invalid UTF-8.
    private static func append(quoted text: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) {
        guard !ValueText.isASCII(text) else { return append(quotedWhole: text, to: &out) }
        var repaired = String(decoding: text, as: UTF8.self)
        repaired.withUTF8 { append(quotedWhole: $0, to: &out) }
    }

    /// Appends valid UTF-8 as a JSON string. It copies the text between two escapes in one step.
    private static func append(quotedWhole text: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) {
        out.append(.quote)
        var start = 0
        for index in text.indices {
            let byte = text[index]
            if byte >= .blank, byte != .quote, byte != .backslash { continue }
            out.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<index]))
            start = index + 1
            switch byte {
            case .quote, .backslash: out += [.backslash, byte]
            default: out += Unicode.Scalar(byte).escape.utf8
            }
        }
        out.append(contentsOf: UnsafeBufferPointer(rebasing: text[start...]))
        out.append(.quote)
    }
}
