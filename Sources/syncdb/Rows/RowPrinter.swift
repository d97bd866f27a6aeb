import ArgumentParser
import Foundation
import Sync

/// A printer that writes rows in an output format, incrementally.
struct RowPrinter {
    /// The requested format; nil for a table, or for vertical output if the columns do not fit.
    let format: RowFormat?
    let style: Style
    /// The number of columns of the terminal; nil if the output is not a terminal.
    let lineWidth: Int?
    let write: OutputFile.Write

    /// Creates a printer for standard output.
    init(_ format: RowFormat?, style: Style) {
        self.format = format
        self.style = style
        lineWidth = Terminal.Stream.output.isTerminal ? Terminal.width(of: .output) : nil
        let isForPeople = format?.isForPeople ?? true
        // A reader such as `head` may close the pipe early, which is not an error.
        write = { data in
            guard try isForPeople ? Terminal.write(visible: data) : Terminal.write(json: data) else {
                throw ExitCode.success
            }
        }
    }

    /// Creates a printer for the destination of an export.
    init(_ format: RowFormat, style: Style, write: @escaping OutputFile.Write) {
        self.format = format
        self.style = style
        lineWidth = nil
        self.write = write
    }

    /// Writes the rows of a query.
    func print(_ selection: RowSelection, of stack: DataStack) async throws {
        if format == .json || format == .ndjson { return try await printJSON(selection, of: stack) }
        let columns = selection.columns.map { RowColumn(title: $0.name, isNumeric: $0.type.isNumeric) }
        let types = selection.columns.map(\.type)
        try await print(columns) { append in
            try await stack.forEachRow(of: selection) { row in
                try append { text in
                    for column in types.indices {
                        text.add { ValueText.append(row, column, types[column], to: &$0) }
                    }
                }
            }
        }
    }

    /// Writes rows of text.
    ///
    /// - Parameter body: A closure that calls `append` for each row. The argument of `append` is a closure that adds
    ///   the values of the row.
    func print(
        _ columns: [RowColumn],
        _ body: (_ append: @escaping @Sendable ((inout TextRow) -> Void) throws -> Void) async throws -> Void
    ) async throws {
        let rows = Locked((writer(columns, RowOutput(write)), TextRow()))
        rows.withLock { $0.0.begin() }
        try await body { fill in
            try rows.withLock {
                $0.1.clear()
                fill(&$0.1)
                try $0.0.append($0.1)
            }
        }
        try rows.withLock { try $0.0.end() }
    }

    private func printJSON(_ selection: RowSelection, of stack: DataStack) async throws {
        let rows = Locked(JSONRowWriter(selection.columns, isArray: format == .json, RowOutput(write)))
        try await stack.forEachRow(of: selection) { row in try rows.withLock { try $0.append(row) } }
        try rows.withLock { try $0.end() }
    }

    private func writer(_ columns: [RowColumn], _ output: RowOutput) -> any TextRowWriter {
        switch format {
        case .csv: DelimitedWriter(columns: columns, delimiter: .comma, output: output)
        case .tsv: DelimitedWriter(columns: columns, delimiter: .tab, output: output)
        case .markdown: MarkdownWriter(columns: columns, output: output)
        case .vertical: VerticalWriter(columns, limit: valueLimit, style: style, output)
        case nil where !(lineWidth.map { TableWriter.fits(columns.count, in: $0) } ?? true):
            VerticalWriter(columns, limit: valueLimit, lineWidth: lineWidth, style: style, output)
        default: TableWriter(columns, lineWidth: lineWidth, style: style, output)
        }
    }

    private var valueLimit: Int? { lineWidth == nil ? nil : TerminalText.limit }
}

extension RowFormat {
    /// Whether the format is for people. Control characters are then escaped, even in files.
    var isForPeople: Bool { [.table, .vertical, .markdown].contains(self) }
}

/// A buffer for the text of rows, which is written when it is large.
struct RowOutput {
    /// The size in bytes from which the buffer is written. A larger buffer is not faster.
    private static let bufferSize = 65_536

    var bytes: [UInt8] = []
    private let write: OutputFile.Write

    init(_ write: @escaping OutputFile.Write) {
        self.write = write
        bytes.reserveCapacity(2 * Self.bufferSize)
    }

    /// Writes the buffer if it is large. Call it between rows, so that the written bytes contain complete characters.
    mutating func passOn() throws {
        if bytes.count >= Self.bufferSize { try flush() }
    }

    mutating func flush() throws {
        guard !bytes.isEmpty else { return }
        try write(Data(bytes))
        bytes.removeAll(keepingCapacity: true)
    }
}

/// The values of a row as text in one buffer, which the next row reuses.
struct TextRow {
    private(set) var bytes: [UInt8] = []
    private var ends: [Int] = []
    private var nulls: [Bool] = []

    var count: Int { ends.count }

    mutating func clear() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        nulls.removeAll(keepingCapacity: true)
    }

    /// Adds a value.
    ///
    /// - Parameter body: A closure that appends the text of the value, and returns false for null.
    mutating func add(_ body: (inout [UInt8]) -> Bool) {
        let isValue = body(&bytes)
        ends.append(bytes.count)
        nulls.append(!isValue)
    }

    mutating func add(_ text: String) {
        add { bytes in
            bytes += text.utf8
            return true
        }
    }

    func isNull(_ column: Int) -> Bool { nulls[column] }

    subscript(column: Int) -> ArraySlice<UInt8> { bytes[(column == 0 ? 0 : ends[column - 1])..<ends[column]] }
}

/// A type that writes rows of text in an output format.
protocol TextRowWriter: Sendable {
    mutating func begin()
    mutating func append(_ row: TextRow) throws
    /// Writes the rest of the output.
    mutating func end() throws
}

/// A column of the output.
struct RowColumn {
    let title: String
    /// Whether the values are right-aligned.
    var isNumeric = false
}

/// The conversion of values of SQLite to text, for most values without intermediate strings. The result is the same as
/// that of ``StoredValue/text``.
enum ValueText {
    /// Appends a value.
    ///
    /// - Returns: False for null and for infinity, and for a value of another type, which another program may have
    ///   written.
    static func append(_ row: RowReader, _ column: Int, _ type: AttributeType, to out: inout [UInt8]) -> Bool {
        switch (type, row.storage(column)) {
        case (_, .null): return false
        case (.integer, .integer): append(row.integer(column), to: &out)
        case (.boolean, .integer): out += (row.integer(column) == 0 ? "false" : "true").utf8
        case (.double, .integer): return append(Double(row.integer(column)), to: &out)
        case (.double, .real): return append(row.real(column), to: &out)
        case (.string, .text), (.url, .text): append(repaired: row.text(column), to: &out)
        case (.date, .text) where appendDate(row.text(column), to: &out): break
        case (.integer, _), (.boolean, _), (.double, _): return false
        default:
            let value = row.value(column, as: type)
            guard !value.isNull else { return false }
            out += value.text.utf8
        }
        return true
    }

    static func append(_ value: Int64, to out: inout [UInt8]) {
        if value < 0 { out.append(.minus) }
        var rest = value.magnitude
        let start = out.count
        repeat {
            out.append(.digit0 + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        out[start...].reverse()
    }

    private static func append(_ value: Double, to out: inout [UInt8]) -> Bool {
        guard value.isFinite else { return false }
        out += "\(value)".utf8
        return true
    }

    /// Appends text, with replacement characters for invalid UTF-8.
    static func append(repaired text: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) {
        if isASCII(text) {
            out.append(contentsOf: text)
        } else {
            out += String(decoding: text, as: UTF8.self).utf8
        }
    }

    /// Returns whether text is ASCII. It reads eight bytes at a time, because most text is ASCII.
    static func isASCII(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let bytes = UnsafeRawBufferPointer(text)
        var index = 0
        while index + 8 <= bytes.count {
            if bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { return false }
            index += 8
        }
        return bytes[index...].allSatisfy { $0 < 0x80 }
    }

    /// Appends a date in the stored format, `2024-02-29 18:29:59.999`, as ISO 8601.
    ///
    /// - Returns: Whether the date was appended. False for text in another format, and for days after the 28th, which
    ///   not all months have.
    private static func appendDate(_ text: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) -> Bool {
        guard text.count == 23, text[4] == .minus, text[7] == .minus, text[10] == .blank, text[13] == .colon,
            text[16] == .colon, text[19] == .point
        else { return false }
        for place in digits where text[place] &- .digit0 >= 10 { return false }
        func two(_ place: Int) -> Int { Int(text[place] - .digit0) * 10 + Int(text[place + 1] - .digit0) }
        guard two(0) + two(2) > 0, 1...12 ~= two(5), 1...28 ~= two(8), two(11) < 24, two(14) < 60, two(17) < 60 else {
            return false
        }
        let isWholeSecond = text[20] == .digit0 && text[21] == .digit0 && text[22] == .digit0
        let start = out.count
        out.append(contentsOf: UnsafeBufferPointer(rebasing: text[..<(isWholeSecond ? 19 : 23)]))
        out[start + 10] = UInt8(ascii: "T")
        out.append(UInt8(ascii: "Z"))
        return true
    }

    private static let digits = [0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18, 20, 21, 22]
}

/// A value as displayed text, and its width in terminal columns.
struct VisibleCell {
    let text: String
    let width: Int

    /// Creates a cell.
    ///
    /// - Parameter limit: The number of characters after which text is truncated, with a note about the remaining size;
    ///   nil for no limit.
    init(_ value: some Collection<UInt8>, upTo limit: Int?) {
        // Printable ASCII needs neither escapes nor a table of widths.
        if value.count <= limit ?? .max, value.allSatisfy({ 0x20..<0x7F ~= $0 }) {
            (text, width) = (String(decoding: value, as: UTF8.self), value.count)
        } else {
            text = TerminalText(String(decoding: value, as: UTF8.self), upTo: limit ?? .max / 2).text
            width = DisplayWidth.of(text)
        }
    }

    private init(text: String, width: Int) { (self.text, self.width) = (text, width) }

    func cut(to width: Int) -> VisibleCell {
        guard self.width > width else { return self }
        let cut = DisplayWidth.cut(text, to: width)
        return VisibleCell(text: cut.text, width: cut.width)
    }
}

// MARK: - ASCII characters

// The ASCII characters of the output formats.
extension UInt8 {
    @inline(__always) static var tab: UInt8 { 0x09 }
    @inline(__always) static var newline: UInt8 { 0x0A }
    @inline(__always) static var carriageReturn: UInt8 { 0x0D }
    /// A space. Smaller bytes are control characters.
    @inline(__always) static var blank: UInt8 { 0x20 }
    @inline(__always) static var quote: UInt8 { 0x22 }
    @inline(__always) static var comma: UInt8 { 0x2C }
    @inline(__always) static var minus: UInt8 { 0x2D }
    @inline(__always) static var point: UInt8 { 0x2E }
    @inline(__always) static var digit0: UInt8 { 0x30 }
    @inline(__always) static var colon: UInt8 { 0x3A }
    @inline(__always) static var backslash: UInt8 { 0x5C }
    @inline(__always) static var openBrace: UInt8 { 0x7B }
    @inline(__always) static var closeBrace: UInt8 { 0x7D }
}

extension AttributeType {
    /// Whether values of the type are numbers.
    var isNumeric: Bool { self == .integer || self == .double || self == .decimal }
}
