import Foundation
import SyncCore

/// A value of Swift and Foundation, and the same value as JSON. The JSON has sorted members, and one member for keys
/// that are canonically equivalent.
struct NativeValue {
    let any: Any
    let json: JSONValue

    /// - Parameter isBoxed: Whether numbers are boxed, as by `JSONSerialization`.
    init(_ value: JSONValue, isBoxed: Bool) {
        switch value {
        case .null: self.init(NSNull(), value)
        case .bool(let flag): self.init(isBoxed ? NSNumber(value: flag) : flag, value)
        case .number(let text): self.init(Self.number(text, isBoxed: isBoxed), value)
        case .string(let text): self.init(text, value)
        case .array(let elements):
            let elements = elements.map { NativeValue($0, isBoxed: isBoxed) }
            self.init(elements.map(\.any), .array(elements.map(\.json)))
        case .object(let members):
            let members = Dictionary(members.map { ($0.key, NativeValue($0.value, isBoxed: isBoxed)) }) { $1 }
            let sorted = members.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, $0.value.json) }
            self.init(members.mapValues(\.any), .object(sorted))
        }
    }

    private init(_ any: Any, _ json: JSONValue) {
        self.any = any
        self.json = json
    }

    /// Returns the first type that prints the number unchanged; a `JSONValue` if there is none.
    private static func number(_ text: String, isBoxed: Bool) -> Any {
        if let integer = Int(text), "\(integer)" == text { return isBoxed ? NSNumber(value: integer) : integer }
        if let real = Double(text), "\(real)" == text { return isBoxed ? NSNumber(value: real) : real }
        if let decimal = Decimal(string: text), "\(decimal)" == text { return decimal }
        return JSONValue.number(text)
    }
}
