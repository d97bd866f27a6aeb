import Foundation
import Sync

/// A JSON value as text on one line. The order of members is preserved.
enum JSONLine {
    static func text(of value: JSONValue) -> String {
        var text: [UInt8] = []
        append(value, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends to one buffer, so that nested values are not copied at each level.
    private static func append(_ value: JSONValue, to text: inout [UInt8]) {
        switch value {
        case .array(let elements):
            append(elements, "[", "]", to: &text) { append($0, to: &$1) }
        case .object(let members):
            append(members, "{", "}", to: &text) {
                JSONText.append(quoted: $0.key, to: &$1)
                $1 += ": ".utf8
                append($0.value, to: &$1)
            }
        default: JSONText.append(value, to: &text)
        }
    }

    private static func append<Element>(
        _ elements: [Element], _ start: String, _ end: String, to text: inout [UInt8],
        _ append: (Element, inout [UInt8]) -> Void
    ) {
        text += start.utf8
        for (index, element) in elements.enumerated() {
            if index > 0 { text += ", ".utf8 }
            append(element, &text)
        }
        text += end.utf8
    }
}

/// A number of bytes as text, in decimal units: `27 bytes`, `1.2 kB`, `140 MB`.
enum ByteAmount {
    static func text(_ count: Int) -> String {
        let units = [count == 1 ? "byte" : "bytes", "kB", "MB", "GB", "TB"]
        var (value, unit) = (Double(count), 0)
        while value >= 1000, unit < units.count - 1 { (value, unit) = (value / 1000, unit + 1) }
        let digits = unit > 0 && value < 10 ? "\((value * 10).rounded(.down) / 10)" : "\(Int(value))"
        return "\(digits) \(units[unit])"
    }
}

// MARK: - Stored values

extension StoredValue {
    /// The value as text in a table.
    var text: String {
        switch jsonValue {
        case .null: ""
        case .bool(let value): value ? "true" : "false"
        case .number(let text), .string(let text): text
        case let other: JSONLine.text(of: other)
        }
    }

    /// The value as JSON: dates as ISO 8601 in UTC, bytes as base64.
    var jsonValue: JSONValue {
        switch self {
        case .null: .null
        case .integer(let value): .number("\(value)")
        case .double(let value): value.isFinite ? .number("\(value)") : .null
        case .decimal(let value): .number("\(value)")
        case .boolean(let value): .bool(value)
        case .string(let value), .url(let value): .string(value)
        case .date(let value): .string(Self.text(of: value))
        case .uuid(let value): .string(value.uuidString)
        case .binary(let value): .string(value.base64EncodedString())
        case .json(let value): value
        }
    }

    private static func text(of date: Date) -> String {
        // The format style truncates to milliseconds, and the binary fraction of a second may be slightly too small.
        let rounded = date.addingTimeInterval(0.0005)
        let text = rounded.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        return text.hasSuffix(".000Z") ? text.dropLast(5) + "Z" : text
    }
}
