import Foundation

/// Values of a type that attributes can be of.
struct AttributeFitting<Value: AttributeValue>: ValueFitting {
    let integers: ClosedRange<Int64>?

    /// Nil for types that any value of their kind fits.
    init?(_ type: Value.Type) {
        switch Value.self {
        case is any WideValue.Type: return nil
        case let integer as any FixedWidthInteger.Type: integers = Self.range(integer)
        default: integers = nil
        }
    }

    private static func range<Number: FixedWidthInteger>(_ type: Number.Type) -> ClosedRange<Int64> {
        Int64(clamping: Number.min)...Int64(clamping: Number.max)
    }

    var typeName: String { "\(Value.self)" }

    func fits(_ value: StoredValue) -> Bool { Value(storedValue: value) != nil }
}

/// Values that have raw values of a type that attributes can be of.
struct RawFitting<Value: RawRepresentable>: ValueFitting where Value.RawValue: AttributeValue {
    var typeName: String { "\(Value.self)" }

    func fits(_ value: StoredValue) -> Bool {
        Value.RawValue(storedValue: value).map { Value(rawValue: $0) != nil } ?? false
    }
}

/// Values that are kept as JSON.
struct CodedFitting<Value: Decodable>: ValueFitting {
    var typeName: String { "\(Value.self)" }

    func fits(_ value: StoredValue) -> Bool {
        value.json.map { (try? CodedValue.value($0, as: Value.self)) != nil } ?? false
    }
}

/// A type that has room for any value of its attribute type.
private protocol WideValue {}

extension Int: WideValue {}
extension Int64: WideValue {}
extension Double: WideValue {}
extension Float: WideValue {}
extension Bool: WideValue {}
extension String: WideValue {}
extension Date: WideValue {}
extension UUID: WideValue {}
extension URL: WideValue {}
extension Decimal: WideValue {}
extension Data: WideValue {}
extension JSONValue: WideValue {}
extension Optional: WideValue where Wrapped: WideValue {}
