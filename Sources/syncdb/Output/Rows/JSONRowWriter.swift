import Sync

/// Rows of a query as JSON: an array with an object a line, or just the objects.
struct JSONRowWriter {
    private(set) var output: RowOutput
    private let isArray: Bool
    /// What stands before each value: `"name": `.
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

    mutating func append(_ row: RowCursor) throws {
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

    private mutating func append(_ row: RowCursor, _ column: Int) {
        let type = types[column]
        switch type {
        case .string, .url:
            guard row.storage(column) == .text else { return appendNull() }
            Self.append(quoted: row.text(column), to: &output.bytes)
        case .integer, .double, .decimal, .boolean:
            if !ValueText.append(row, column, type, to: &output.bytes) { appendNull() }
        case .date, .uuid, .binary:
            // None of their characters needs an escape.
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

    /// Appends text as a JSON string; what is no UTF-8 becomes the character for that.
    private static func append(quoted text: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) {
        guard !ValueText.isASCII(text) else { return append(quotedWhole: text, to: &out) }
        var repaired = String(decoding: text, as: UTF8.self)
        repaired.withUTF8 { append(quotedWhole: $0, to: &out) }
    }

    /// Appends text in as few pieces as its escapes make of it.
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
