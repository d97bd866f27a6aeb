import Foundation

extension PredicateLiteral {
    /// The literal as a value of an attribute, by the coercions of payloads; nil if it does not fit.
    func constant(as type: AttributeType) -> PredicateConstant? {
        switch type {
        case .integer: number?.integer.map(PredicateConstant.integer)
        case .double: double.map(PredicateConstant.double)
        case .decimal: number.flatMap { $0.text == nil ? nil : .exact($0) }
        case .boolean: boolean.map(PredicateConstant.boolean)
        case .string: (text ?? number?.text).map(PredicateConstant.text)
        case .date: instant.map(PredicateConstant.instant)
        case .uuid: text.flatMap(UUID.init(uuidString:)).map { .text($0.uuidString) }
        case .url: text.map(PredicateConstant.text)
        case .binary: text.flatMap { Data(base64Encoded: $0) }.map(PredicateConstant.bytes)
        case .json: json.map { .text(String(decoding: CanonicalJSON.bytes($0), as: UTF8.self)) }
        case .transformable: nil
        }
    }

    /// The number it is or spells, of any length; true is 1.
    var number: ExactNumber? {
        switch self {
        case .number(let text), .text(let text): ExactNumber(text)
        case .boolean(let value): ExactNumber(value ? "1" : "0")
        case .null, .list: nil
        }
    }

    private var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    private var double: Double? {
        switch self {
        case .number(let text), .text(let text): ExactNumber(text) == nil ? nil : finite(Double(text))
        case .boolean(let value): value ? 1 : 0
        case .null, .list: nil
        }
    }

    private func finite(_ value: Double?) -> Double? {
        value.flatMap { $0.isFinite ? $0 : nil }
    }

    private var boolean: Bool? {
        if let text {
            switch text.lowercased() {
            case "true", "yes", "1": return true
            case "false", "no", "0": return false
            default: return nil
            }
        }
        guard let integer = number?.integer, integer == 0 || integer == 1 else { return nil }
        return integer == 1
    }

    /// In milliseconds.
    private var instant: Int64? {
        switch self {
        case .text(let text): Array(text.utf8).withUnsafeBufferPointer { DateParser.milliseconds($0) }
        case .number:
            number?.text.flatMap { text in
                Array(text.utf8).withUnsafeBufferPointer { DateParser.milliseconds(number: $0) }
            }
        case .null, .boolean, .list: nil
        }
    }

    /// A text is read as JSON: a condition compares with `'"red"'`, not with `'red'`.
    private var json: JSONValue? {
        switch self {
        case .text(let text): try? JSONValue(parsing: text)
        case .number(let text): .number(text)
        case .boolean(let value): .bool(value)
        case .null, .list: nil
        }
    }
}
