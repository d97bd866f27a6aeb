package import Foundation

/// The names and values that a store can keep. A limit is nil if the store has none.
///
/// A name beyond a limit is an error when the model is opened. A sync treats a value beyond a limit like a value of the
/// wrong type.
package struct StoreCapabilities: Sendable, Hashable {
    /// The maximum length of the name of a table, view, column or index, in bytes of UTF-8.
    package var identifierLength: Int?
    /// The maximum length of a primary key that is stored as text, in bytes of UTF-8. The length of a composite key is
    /// that of its text (``CompositeKeyText``). Dates have a fixed length, so the limit does not apply to them.
    package var keyLength: Int?
    /// Whether text can contain U+0000. JSON is text, with its strings and object keys unescaped.
    package var allowsNULInText = true
    /// The integers that the store can keep. Booleans are not integers.
    package var integers: ClosedRange<Int64>?
    /// The floating-point numbers that the store can keep.
    package var doubles: ClosedRange<Double>?
    /// The decimal numbers that the store can keep.
    package var decimals: ClosedRange<Decimal>?
    /// The dates that the store can keep.
    package var dates: ClosedRange<Date>?

    package init() {}

    /// The capabilities of a store that can keep all names and values, such as SQLite.
    package static let unlimited = StoreCapabilities()

    package var areUnlimited: Bool { self == .unlimited }

    /// Returns the limit for the values of an attribute; nil if the store can keep all values of the type.
    ///
    /// - Parameter isKey: Whether the attribute is the primary key, or a part of it.
    package func limit(of type: AttributeType, isKey: Bool) -> ValueLimit? {
        areUnlimited ? nil : ValueLimit(self, type, isKey: isKey)
    }
}

/// The limit for the values of one attribute.
package struct ValueLimit: Sendable {
    /// The form in which text contains U+0000.
    private enum NULForm {
        case byte
        /// The escape `\u0000`, as in JSON.
        case escape
    }

    private var length: Int?
    /// The form of U+0000 that text must not contain; nil if text can contain it.
    private var excludedNUL: NULForm?
    private var integers: ClosedRange<Int64>?
    private var doubles: ClosedRange<Double>?
    private var decimals: ClosedRange<Decimal>?
    /// The range of dates, in milliseconds since 1970.
    private var dates: ClosedRange<Int64>?

    /// - Returns: Nil if the capabilities do not limit the type.
    fileprivate init?(_ capabilities: StoreCapabilities, _ type: AttributeType, isKey: Bool) {
        switch type {
        case .integer: integers = capabilities.integers
        case .double: doubles = capabilities.doubles
        case .decimal: decimals = capabilities.decimals
        case .date:
            // Attributes have dates in the years 1 to 9999 only.
            dates = capabilities.dates.map { $0.lowerBound.clampedMilliseconds...$0.upperBound.clampedMilliseconds }
        case .string, .url: excludedNUL = capabilities.allowsNULInText ? nil : .byte
        case .json, .transformable: excludedNUL = capabilities.allowsNULInText ? nil : .escape
        case .boolean, .uuid, .binary: break
        }
        if isKey, [.string, .uuid, .decimal].contains(type) { length = capabilities.keyLength }
        if dates == DateText.range { dates = nil }
        let hasRange = integers != nil || doubles != nil || decimals != nil || dates != nil
        guard length != nil || excludedNUL != nil || hasRange else { return nil }
    }

    /// Returns whether the store can keep a value of the attribute's type.
    package func admits(_ value: PackedValue, _ pool: TextPool) -> Bool {
        switch value.kind {
        case .absent, .null, .arenaBlob: true
        case .integer: integers?.contains(value.integer) ?? true
        case .real: doubles?.contains(value.real) ?? true
        case .date: dates?.contains(value.integer) ?? true
        case .payloadText, .arenaText: admits(pool.bytes(value))
        }
    }

    /// Returns whether the store can keep a value of the attribute's type.
    package func admits(_ value: StoredValue) -> Bool {
        var arena: [UInt8] = []
        let packed = value.slot(arena: &arena)
        return arena.withUnsafeBufferPointer {
            admits(packed, TextPool(payload: UnsafeBufferPointer(start: nil, count: 0), arena: $0))
        }
    }

    /// Returns whether the store can keep a value of the attribute's type that is stored as this text.
    func admits(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { admits($0) }
    }

    /// Returns the part of a text before the first U+0000; nil if the store can keep the text.
    func prefixBeforeNUL(of text: String) -> String? {
        guard excludedNUL == .byte, text.utf8.contains(0) else { return nil }
        return String(text.unicodeScalars.prefix { $0 != "\0" })
    }

    private func admits(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        if let length, text.count > length { return false }
        switch excludedNUL {
        case .byte where TextPool.containsNUL(text): return false
        case .escape where CanonicalJSON.containsNUL(text): return false
        default: break
        }
        guard let decimals else { return true }
        let value = StoredValue(text: String(decoding: text, as: UTF8.self), as: .decimal)?.decimal
        return value.map(decimals.contains) ?? false
    }

    /// A description that follows the name of a type: `a string` + ` of at most 100 bytes without U+0000`.
    package var text: String {
        var text = length.map { " of at most \($0) bytes" } ?? ""
        if excludedNUL != nil { text += " without U+0000" }
        if let integers { text += Self.text(of: integers) }
        if let doubles { text += Self.text(of: doubles) }
        if let decimals { text += Self.text(of: decimals) }
        if let dates { text += " from \(DateText.iso(dates.lowerBound)) to \(DateText.iso(dates.upperBound))" }
        return text
    }

    private static func text<Bound>(of range: ClosedRange<Bound>) -> String {
        " from \(range.lowerBound) to \(range.upperBound)"
    }
}

// MARK: - U+0000

extension CanonicalJSON {
    /// Returns whether a string or object key in canonical JSON contains U+0000.
    fileprivate static func containsNUL(_ json: UnsafeBufferPointer<UInt8>) -> Bool {
        let escaped = Array("u0000".utf8)
        var rest = json[...]
        while let backslash = rest.firstIndex(of: .backslash) {
            rest = rest[(backslash + 1)...]
            if rest.starts(with: escaped) { return true }
            // The escaped character may be a backslash, which begins no other escape.
            rest = rest.dropFirst()
        }
        return false
    }
}
