/// A writer of composite keys as text, in the form of a JSON array.
///
/// Equal keys have equal bytes: each number has one spelling, and dates have the form that columns store.
package struct CompositeKeyText: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    package mutating func open() {
        separate()
        bytes.append(.openBracket)
    }

    package mutating func close() { bytes.append(.closeBracket) }

    package mutating func append(_ value: Int64) {
        separate()
        // Writes the digits without allocating a string.
        var magnitude = value.magnitude
        let start = bytes.count
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: magnitude % 10))
            magnitude /= 10
        } while magnitude > 0
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        bytes[start...].reverse()
    }

    package mutating func append(_ value: Double) {
        separate()
        Array("\(value == 0 ? 0 : value)".utf8).withUnsafeBufferPointer { text in
            if !NumberText.appendExact(text, to: &bytes) { bytes += text }
        }
    }

    package mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
        separate()
        JSONText.append(quoted: text, to: &bytes)
    }

    package mutating func append(_ text: String) {
        separate()
        JSONText.append(quoted: text, to: &bytes)
    }

    /// Appends a packed value as a part of the key.
    ///
    /// - Returns: False for null, an absent value or a blob, which cannot be part of a key.
    mutating func append(_ slot: PackedValue, isComposite: Bool, _ pool: TextPool) -> Bool {
        switch slot.kind {
        case .integer: append(slot.integer)
        case .real: append(slot.real)
        case .date: append(DateText.string(slot.integer))
        case .payloadText, .arenaText:
            if isComposite {
                // The text of a composite key already has this form.
                separate()
                bytes += pool.bytes(slot)
            } else {
                append(pool.bytes(slot))
            }
        case .absent, .null, .arenaBlob: return false
        }
        return true
    }

    package mutating func append(_ key: RowKey) {
        switch key {
        case .integer(let value): append(value)
        case .real(let value): append(value)
        case .text(let text): append(text)
        }
    }

    /// Appends key parts from the form in which results report them.
    mutating func append(_ parts: [PrimaryKeyValue], _ type: KeyType?) {
        var types: [KeyType] = []
        if case .composite(let known)? = type { types = known }
        open()
        for (index, part) in parts.enumerated() {
            let type = types.indices.contains(index) ? types[index] : nil
            if case .composite(let inner) = part { append(inner, type) } else { append(RowKey(part, type)) }
        }
        close()
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    private mutating func separate() {
        guard let last = bytes.last, last != .openBracket else { return }
        bytes.append(.comma)
    }
}

/// Reads composite keys that ``CompositeKeyText`` wrote. Results can have many keys, so it does not use the slower JSON
/// reader.
struct CompositeKeyReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    /// Returns the parts of a composite key; nil if the text is not a list with one readable part for each type.
    static func parts(of text: String, _ types: [KeyType]) -> [RowKey]? {
        var text = text
        return text.withUTF8 { bytes in
            var reader = CompositeKeyReader(bytes)
            return reader.parts(types)
        }
    }

    /// Returns the key in the form in which results report it. Nil if the text is not a list with one readable part for
    /// each type.
    static func recordKey(of text: String, _ types: [KeyType]) -> PrimaryKeyValue? {
        var text = text
        return text.withUTF8 { recordKey(of: $0, types) }
    }

    /// Returns the key in the form in which results report it. Nil if the bytes are not a list with one readable part
    /// for each type.
    static func recordKey(of bytes: UnsafeBufferPointer<UInt8>, _ types: [KeyType]) -> PrimaryKeyValue? {
        var reader = CompositeKeyReader(bytes)
        let key = reader.recordKey(types)
        return reader.position == bytes.count ? key : nil
    }

    private init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func consume(_ wanted: UInt8) -> Bool {
        guard byte == wanted else { return false }
        position += 1
        return true
    }

    // MARK: Row keys

    private mutating func parts(_ types: [KeyType]) -> [RowKey]? {
        let parts = list(types) { reader, type in reader.part(type) }
        return position == bytes.count ? parts : nil
    }

    private mutating func part(_ type: KeyType) -> RowKey? {
        guard case .composite = type else { return single(type) }
        let start = position
        guard byte == .openBracket, skipList() else { return nil }
        return .text(String(decoding: bytes[start..<position], as: UTF8.self))
    }

    // MARK: Record keys

    private mutating func recordKey(_ types: [KeyType]) -> PrimaryKeyValue? {
        list(types) { reader, type in
            if case .composite(let inner) = type { return reader.recordKey(inner) }
            return reader.single(type)?.recordKey(type)
        }.map { .composite($0) }
    }

    // MARK: Parts

    private mutating func list<Part>(
        _ types: [KeyType], _ part: (inout CompositeKeyReader, KeyType) -> Part?
    ) -> [Part]? {
        guard consume(.openBracket) else { return nil }
        var parts: [Part] = []
        parts.reserveCapacity(types.count)
        for (index, type) in types.enumerated() {
            guard index == 0 || consume(.comma), let part = part(&self, type) else { return nil }
            parts.append(part)
        }
        return consume(.closeBracket) ? parts : nil
    }

    private mutating func single(_ type: KeyType) -> RowKey? {
        guard byte != .quote else { return string().map { .text($0) } }
        let start = position
        while let byte, byte != .comma, byte != .closeBracket { position += 1 }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        return type == .single(.double) ? Double(text).map { .real($0) } : Int64(text).map { .integer($0) }
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

    /// Skips a string.
    ///
    /// - Returns: Whether the string has escapes; nil if it has no end.
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

    /// Skips a list, including nested lists.
    ///
    /// - Returns: Whether the list has an end.
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
