import Foundation
import SyncCore

/// The text forms of values in columns: equal values have equal text.
enum ColumnText {
    /// No exponent, no needless zeros; nil for what is no number or has too many digits.
    static func decimal(_ value: Decimal) -> String? {
        var text: [UInt8] = []
        let isNumber = Array("\(value)".utf8).withUnsafeBufferPointer { DecimalText.append($0, to: &text) }
        return isNumber ? String(decoding: text, as: UTF8.self) : nil
    }

    /// `2024-02-29 18:29:59.999`, UTC; nil outside the years 1 to 9999.
    static func date(_ value: Date) -> String? {
        value.milliseconds.map(DateText.string)
    }

    /// Keys sorted, no blanks.
    static func json(_ value: JSONValue) -> String {
        String(decoding: CanonicalJSON.bytes(value), as: UTF8.self)
    }
}
