import Foundation

/// An ``AttributeFormat`` ready for use.
enum DateFormat: Sendable {
    case unix(UnixTime)
    case iso8601
    case pattern(DatePattern)

    /// Nil for a pattern that is none, which a model cannot have.
    init?(_ format: AttributeFormat) {
        switch format {
        case .unixSeconds: self = .unix(.seconds)
        case .unixMilliseconds: self = .unix(.milliseconds)
        case .unixMicroseconds: self = .unix(.microseconds)
        case .unixNanoseconds: self = .unix(.nanoseconds)
        case .iso8601: self = .iso8601
        case .pattern(let text):
            guard let pattern = try? DatePattern(text) else { return nil }
            self = .pattern(pattern)
        }
    }

    /// The instant that a number or a text is in this format; nil if it is none.
    func milliseconds(_ kind: JSONTape.Kind, _ text: UnsafeBufferPointer<UInt8>) -> Int64? {
        switch (self, kind) {
        case (.unix(let unit), .number), (.unix(let unit), .string): unit.milliseconds(text)
        // Without its dashes a text would be taken for Unix time.
        case (.iso8601, .string) where text.count >= 10 && text[4] == .minus: DateParser.milliseconds(text)
        // `20240229` is written as a number too.
        case (.pattern(let pattern), .string), (.pattern(let pattern), .number): pattern.milliseconds(text)
        default: nil
        }
    }

    /// A value that a transformer gives.
    func milliseconds(_ value: JSONValue) -> Int64? {
        let (kind, text): (JSONTape.Kind, String)
        switch value {
        case .number(let number): (kind, text) = (.number, number)
        case .string(let string): (kind, text) = (.string, string)
        default: return nil
        }
        return Array(text.utf8).withUnsafeBufferPointer { milliseconds(kind, $0) }
    }

    /// The instant in this format; nil if the format cannot say it.
    func json(_ date: Date) -> JSONValue? {
        guard let milliseconds = date.milliseconds else { return nil }
        return switch self {
        case .unix(let unit): .number(unit.text(milliseconds))
        case .iso8601: .string(DateText.iso(milliseconds))
        case .pattern(let pattern): pattern.text(milliseconds).map(JSONValue.string)
        }
    }
}
