import Foundation
import Sync

extension JSONValue {
    /// The value with the members of all objects sorted by key, as dictionaries are read.
    var sorted: JSONValue {
        switch self {
        case .array(let elements): .array(elements.map(\.sorted))
        case .object(let members):
            .object(members.sorted { $0.key < $1.key }.map { Member($0.key, $0.value.sorted) })
        default: self
        }
    }

    /// The JSON text.
    var text: String {
        get throws {
            switch self {
            case .null: "null"
            case .bool(let value): "\(value)"
            case .number(let value): value
            case .string(let value): try Self.quoted(value)
            case .array(let elements): "[\(try elements.map { try $0.text }.joined(separator: ","))]"
            case .object(let members):
                "{\(try members.map { "\(try Self.quoted($0.key)):\(try $0.value.text)" }.joined(separator: ","))}"
            }
        }
    }

    private static func quoted(_ text: String) throws -> String {
        String(decoding: try JSONEncoder().encode(text), as: UTF8.self)
    }

    /// Converts the value to Swift values, with numbers, booleans and null as Foundation objects if `isBoxed`.
    func native(isBoxed: Bool) -> any Sendable {
        switch self {
        case .null: isBoxed ? NSNull() : String?.none
        case .bool(let value): isBoxed ? NSNumber(value: value) : value
        case .number(let text): Self.number(text, isBoxed: isBoxed)
        case .string(let value): value
        case .array(let elements): elements.map { $0.native(isBoxed: isBoxed) }
        case .object(let members):
            Dictionary(members.map { ($0.key, $0.value.native(isBoxed: isBoxed)) }) { _, last in last }
        }
    }

    /// Returns the number in the simplest type that represents it exactly.
    private static func number(_ text: String, isBoxed: Bool) -> any Sendable {
        if let value = Int(text) { return isBoxed ? NSNumber(value: value) : value }
        if let value = UInt64(text) { return isBoxed ? NSNumber(value: value) : value }
        if text.count < 16, let value = Double(text), value.isFinite { return isBoxed ? NSNumber(value: value) : value }
        guard let value = Decimal(string: text), value.isFinite else { return JSONValue.number(text) }
        return isBoxed ? NSDecimalNumber(decimal: value) : value
    }
}
