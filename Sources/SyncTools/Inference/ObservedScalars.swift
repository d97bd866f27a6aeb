import SyncCore

/// What kinds of scalars stood in one place.
struct ObservedScalars {
    private(set) var nulls = 0
    private(set) var booleans = 0
    private(set) var integers = 0
    /// Numbers with a point or an exponent.
    private(set) var fractions = 0
    private(set) var strings = 0
    /// Numbers with more digits than a double keeps, or whole ones beyond 64 bits.
    private var exact = 0
    /// Numbers that no decimal, and those that no double holds.
    private var beyondDecimal = 0
    private var beyondDouble = 0
    private var dates = 0
    private var uuids = 0
    private var urls = 0

    /// How many values there were, nulls aside.
    var count: Int { booleans + numbers + strings }
    var numbers: Int { integers + fractions }

    mutating func observe(_ value: JSONValue) {
        switch value {
        case .null: nulls += 1
        case .bool: booleans += 1
        case .number(let text): observe(number: text)
        case .string(let text): observe(string: text)
        case .array, .object: break
        }
    }

    private mutating func observe(number text: String) {
        let isWhole = !text.contains { $0 == "." || $0 == "e" || $0 == "E" }
        if isWhole { integers += 1 } else { fractions += 1 }
        Array(text.utf8).withUnsafeBufferPointer { bytes in
            let digits = NumberText.parts(bytes)?.digits.count ?? .max
            if digits > 15, !isWhole || NumberText.integer(bytes) == nil { exact += 1 }
            if isWhole, NumberText.integer(bytes) == nil { exact += 1 }
            if isWhole, digits > 15 { longIntegers += 1 }
            var out: [UInt8] = []
            if !DecimalText.append(bytes, to: &out) { beyondDecimal += 1 }
            if NumberText.double(bytes) == nil { beyondDouble += 1 }
        }
    }

    /// Whole numbers that 64 bits hold but a double may not.
    private var longIntegers = 0

    private mutating func observe(string text: String) {
        strings += 1
        let value = JSONValue.string(text)
        if Self.isDate(text) { dates += 1 }
        if Coercion.storedValue(value, as: .uuid) != nil { uuids += 1 }
        let scheme = text.prefix(8).lowercased()
        if scheme.hasPrefix("http://") || scheme.hasPrefix("https://"),
            Coercion.storedValue(value, as: .url) != nil
        {
            urls += 1
        }
    }

    /// A whole day at least: a year or a Unix time is not recognised, it may be any number.
    private static func isDate(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count >= 10, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-") else { return false }
        return bytes.withUnsafeBufferPointer { DateParser.milliseconds($0) } != nil
    }

    mutating func merge(_ other: ObservedScalars) {
        nulls += other.nulls
        booleans += other.booleans
        integers += other.integers
        fractions += other.fractions
        strings += other.strings
        exact += other.exact
        longIntegers += other.longIntegers
        beyondDecimal += other.beyondDecimal
        beyondDouble += other.beyondDouble
        dates += other.dates
        uuids += other.uuids
        urls += other.urls
    }

    // MARK: Types

    /// The narrowest type that keeps every value; string if there was none.
    var type: AttributeType {
        if booleans > 0 { return count == booleans ? .boolean : .json }
        if strings == 0 { return numbers == 0 ? .string : numberType }
        // A number beside strings becomes its shortest text.
        guard numbers == 0 else { return beyondDecimal > 0 ? .json : .string }
        if uuids == strings { return .uuid }
        if dates == strings { return .date }
        return urls == strings ? .url : .string
    }

    private var numberType: AttributeType {
        if fractions == 0, exact == 0 { return .integer }
        if exact + longIntegers > 0, beyondDecimal == 0 { return .decimal }
        return exact + longIntegers == 0 && beyondDouble == 0 ? .double : .json
    }

    /// The type of a key with these values: days and links stay text. Nil if they cannot be keys.
    var keyType: AttributeType? {
        guard count > 0, booleans == 0 else { return nil }
        switch type {
        case .integer, .uuid, .decimal, .double: return type
        case .json: return nil
        default: return .string
        }
    }

    /// Whether each value can be the id of a row with such keys.
    func fits(key type: AttributeType) -> Bool {
        guard let found = keyType else { return false }
        return found == type || (type == .string && found != .double)
    }
}
