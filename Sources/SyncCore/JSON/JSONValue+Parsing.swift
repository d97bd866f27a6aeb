public import Foundation

extension JSONValue {
    /// Parses one JSON document, strictly.
    ///
    /// - Throws: ``SyncError`` with line and column.
    public init(parsing data: Data) throws {
        self = try data.withUnsafeBytes { try JSONValue(parsing: $0.bindMemory(to: UInt8.self)) }
    }

    /// Parses one JSON document, strictly.
    public init(parsing text: String) throws { try self.init(parsing: Array(text.utf8)) }

    /// Parses one JSON document, strictly.
    public init(parsing bytes: [UInt8]) throws {
        self = try bytes.withUnsafeBufferPointer { try JSONValue(parsing: $0) }
    }

    /// What `JSONSerialization` gives, and the Swift values people put beside it.
    ///
    /// - Throws: ``SyncError`` `valueDoesNotFit` with the path of a value that has no JSON form.
    package init(any value: Any, path: String = "$") throws {
        var builder = JSONTapeBuilder()
        try builder.read(any: value, path: path)
        self = builder.bytes.withUnsafeBufferPointer { builder.tape.value(at: 0, in: $0) }
    }

    private init(parsing bytes: UnsafeBufferPointer<UInt8>) throws {
        var scanner = JSONScanner(bytes, maximumDepth: 512)
        var tape = JSONTape()
        try scanner.value(into: &tape, depth: 0)
        scanner.skipBlanks()
        guard scanner.isAtEnd else { throw scanner.failure(expected: "the end") }
        self = tape.value(at: 0, in: bytes)
    }
}

extension JSONTape {
    /// The text of a string, key or number token.
    package func text(at token: Int, in bytes: UnsafeBufferPointer<UInt8>) -> String {
        let found = tokens[token]
        let raw = UnsafeBufferPointer(rebasing: bytes[found.offset..<found.offset + Int(found.length)])
        guard found.hasEscapes else { return String(decoding: raw, as: UTF8.self) }
        var plain: [UInt8] = []
        JSONText.unescape(raw, into: &plain)
        return String(decoding: plain, as: UTF8.self)
    }

    /// The value at a token. The nesting is bounded by the reader.
    package func value(at token: Int, in bytes: UnsafeBufferPointer<UInt8>) -> JSONValue {
        switch tokens[token].kind {
        case .null: return .null
        case .true_: return .bool(true)
        case .false_: return .bool(false)
        case .number: return .number(text(at: token, in: bytes))
        case .string: return .string(text(at: token, in: bytes))
        case .array:
            var elements: [JSONValue] = []
            var element = token + 1
            while element < Int(tokens[token].next) {
                elements.append(value(at: element, in: bytes))
                element = Int(tokens[element].next)
            }
            return .array(elements)
        case .object:
            var members: [JSONValue.Member] = []
            var key = token + 1
            while key < Int(tokens[token].next) {
                members.append(.init(text(at: key, in: bytes), value(at: key + 1, in: bytes)))
                key = Int(tokens[key + 1].next)
            }
            return .object(members)
        }
    }
}
