import Foundation
import SyncCore

/// Equality of JSON values by meaning: numbers by value, objects without order.
enum JSONComparison {
    static func equal(_ left: JSONValue, _ right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let l), .bool(let r)): l == r
        case (.number(let l), .number(let r)): equal(l, r)
        case (.string(let l), .string(let r)): equal(l, toText: r)
        case (.array(let l), .array(let r)): l.count == r.count && zip(l, r).allSatisfy { equal($0, $1) }
        case (.object(let l), .object(let r)): equal(l, r)
        default: false
        }
    }

    /// Whether two number texts mean the same number (`7`, `7.0`, `70e-1`).
    static func equal(_ left: String, _ right: String) -> Bool {
        if left == right { return true }
        guard Double(left) == Double(right) else { return false }
        // Integers and decimals beyond 53 bits differ where their doubles do not.
        guard let l = decimal(left), let r = decimal(right) else { return true }
        return l == r
    }

    /// Whether two strings have the same bytes. Swift's `==` takes composed and decomposed letters for the same.
    static func equal(_ left: String, toText right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }

    private static func equal(_ left: [JSONValue.Member], _ right: [JSONValue.Member]) -> Bool {
        let l = Dictionary(left.map { ($0.key, $0.value) }) { $1 }
        let r = Dictionary(right.map { ($0.key, $0.value) }) { $1 }
        return l.count == r.count && l.allSatisfy { key, value in r[key].map { equal(value, $0) } ?? false }
    }

    private static func decimal(_ text: String) -> Decimal? {
        Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
    }
}
