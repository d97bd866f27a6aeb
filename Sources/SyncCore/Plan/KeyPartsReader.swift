/// Reads the parts of a key of several, as ``KeyPartsText`` wrote them. Results have many of them.
struct KeyPartsReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    /// Nil for text that is no such key.
    static func parts(of text: String, _ types: [KeyType]) -> [RowKey]? {
        var text = text
        return text.withUTF8 { bytes in
            var reader = KeyPartsReader(bytes)
            return reader.parts(types)
        }
    }

    private init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ wanted: UInt8) -> Bool {
        guard byte == wanted else { return false }
        position += 1
        return true
    }

    private mutating func parts(_ types: [KeyType]) -> [RowKey]? {
        guard take(.openBracket) else { return nil }
        var parts: [RowKey] = []
        parts.reserveCapacity(types.count)
        for (index, type) in types.enumerated() {
            guard index == 0 || take(.comma), let part = part(type) else { return nil }
            parts.append(part)
        }
        return take(.closeBracket) && position == bytes.count ? parts : nil
    }

    private mutating func part(_ type: KeyType) -> RowKey? {
        let start = position
        switch (byte, type) {
        case (.quote, .single): return string().map { .text($0) }
        case (.openBracket, .composite):
            guard skipList() else { return nil }
            return .text(String(decoding: bytes[start..<position], as: UTF8.self))
        case (_, .single(let type)):
            while let byte, byte != .comma, byte != .closeBracket { position += 1 }
            let text = String(decoding: bytes[start..<position], as: UTF8.self)
            return type == .double ? Double(text).map { .real($0) } : Int64(text).map { .integer($0) }
        default: return nil
        }
    }

    private mutating func string() -> String? {
        let start = position + 1
        guard let hasEscapes = skipString() else { return nil }
        let text = UnsafeBufferPointer(rebasing: bytes[start..<position - 1])
        guard hasEscapes else { return String(decoding: text, as: UTF8.self) }
        var plain: [UInt8] = []
        JSONText.unescape(text, into: &plain)
        return String(decoding: plain, as: UTF8.self)
    }

    /// - Returns: Whether it has escapes; nil if it does not end.
    private mutating func skipString() -> Bool? {
        var hasEscapes = false
        position += 1
        while let byte {
            position += 1
            if byte == .quote { return hasEscapes }
            if byte == .backslash {
                hasEscapes = true
                position += 1
            }
        }
        return nil
    }

    /// - Returns: Whether it ends.
    private mutating func skipList() -> Bool {
        var depth = 0
        while let byte {
            if byte == .quote {
                guard skipString() != nil else { return false }
                continue
            }
            position += 1
            if byte == .openBracket { depth += 1 }
            if byte == .closeBracket { depth -= 1 }
            if depth == 0 { return true }
        }
        return false
    }
}
