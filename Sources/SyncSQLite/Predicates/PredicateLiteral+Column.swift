import Foundation
import GRDB
import SyncCore

extension PredicateLiteral {
    /// The literal as a column of this type would hold it, by the coercions of payloads; nil if it does not fit.
    func columnValue(as type: AttributeType) -> DatabaseValue? {
        switch type {
        case .integer: number?.integer?.databaseValue
        case .double: number.flatMap { $0.text.flatMap(Double.init) ?? double }?.databaseValue
        case .decimal: number?.text?.databaseValue
        case .boolean: boolean?.databaseValue
        case .string: (isText ? text : number?.text)?.databaseValue
        case .date: (isBoolean ? nil : milliseconds)?.databaseValue
        case .uuid: text.flatMap(UUID.init(uuidString:))?.uuidString.databaseValue
        case .url: text?.databaseValue
        case .binary: text.flatMap { Data(base64Encoded: $0) }?.databaseValue
        case .json: canonicalJSON?.databaseValue
        case .transformable: nil
        }
    }

    /// The number it is or spells; true is 1.
    var number: ExactNumber? {
        switch self {
        case .number(let text), .text(let text): ExactNumber(text)
        case .boolean(let value): ExactNumber(value ? "1" : "0")
        case .null, .list: nil
        }
    }

    var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    private var isText: Bool { text != nil }

    private var isBoolean: Bool {
        if case .boolean = self { true } else { false }
    }

    /// Of numbers too long to be written without exponent.
    private var double: Double? {
        switch self {
        case .number(let text), .text(let text): Double(text).flatMap { $0.isFinite ? $0 : nil }
        default: nil
        }
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

    private var milliseconds: String? {
        let instant: Int64? =
            if let text {
                Array(text.utf8).withUnsafeBufferPointer { DateParser.milliseconds($0) }
            } else {
                number?.text.flatMap { number in
                    Array(number.utf8).withUnsafeBufferPointer { DateParser.milliseconds(number: $0) }
                }
            }
        return instant.map(DateText.string)
    }

    private var canonicalJSON: String? {
        switch self {
        case .text(let text), .number(let text): text
        case .boolean(let value): value ? "true" : "false"
        case .null, .list: nil
        }
    }
}
