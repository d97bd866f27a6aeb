/// Writes the parts of a key as one text, a JSON array. Equal keys have equal bytes: numbers have one spelling each, and
/// dates are as columns have them.
package struct KeyPartsText: Sendable {
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
        // The shortest way to digits that allocates nothing.
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

    /// Adds a part that is a staged value.
    ///
    /// - Returns: Whether there is one.
    mutating func append(_ slot: Slot, isComposite: Bool, _ pool: TextPool) -> Bool {
        switch slot.kind {
        case .integer: append(slot.integer)
        case .real: append(slot.real)
        case .date: append(DateText.string(slot.integer))
        case .payloadText, .arenaText:
            if isComposite {
                // A key of parts, which is in this form already.
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

    /// Adds parts as a result reports them.
    mutating func append(_ parts: [RecordKey], _ type: KeyType?) {
        var types: [KeyType] = []
        if case .composite(let known)? = type { types = known }
        open()
        for (index, part) in parts.enumerated() {
            let type = types.indices.contains(index) ? types[index] : nil
            if case .parts(let inner) = part { append(inner, type) } else { append(RowKey(part, type)) }
        }
        close()
    }

    package var text: String { String(decoding: bytes, as: UTF8.self) }

    private mutating func separate() {
        guard let last = bytes.last, last != .openBracket else { return }
        bytes.append(.comma)
    }
}
