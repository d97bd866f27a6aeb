import Foundation
import Sync

/// Text for people, which is safe to print on a terminal.
///
/// Literals are written unchanged. Interpolated values come from payloads, models, databases and arguments. Line breaks
/// and control characters in such values are escaped. Long values are truncated, with a note about the remaining size.
///
///     let text: TerminalText = "no attribute '\(name)'"    // no attribute 'a\u001b[2J'
struct TerminalText: ExpressibleByStringInterpolation, Hashable, Sendable {
    /// The default number of characters after which a value is truncated.
    static let limit = 500
    /// The number of characters of the note about the remaining size. At least as many characters must be omitted.
    private static let noteWidth = 18

    private(set) var text: String

    init(stringLiteral literal: String) { text = literal }

    init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    /// Creates text from an external value. The value is truncated to `limit` characters and a note, unless the omitted
    /// part would be shorter than the note.
    init(_ value: String, upTo limit: Int = Self.limit) {
        text = Self.shown(value.unicodeScalars[...], upTo: limit, keeping: [])
    }

    /// Creates text from external lines, such as help or JSON. Line breaks and tabs are preserved. A line is truncated
    /// only if `limit` is given. Without `limit`, JSON stays valid.
    init(lines: String, upTo limit: Int? = nil) {
        let lines = lines.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        text = lines.map { Self.shown($0, upTo: limit ?? .max / 2, keeping: ["\t"]) }.joined(separator: "\n")
    }

    /// Creates text from text that is already escaped.
    init(madeOfVisible text: String) { self.text = text }

    var isEmpty: Bool { text.isEmpty }

    static func + (left: TerminalText, right: TerminalText) -> TerminalText {
        TerminalText(madeOfVisible: left.text + right.text)
    }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        mutating func appendLiteral(_ literal: String) { text += literal }

        mutating func appendInterpolation(_ value: TerminalText) { text += value.text }

        mutating func appendInterpolation(_ value: some CustomStringConvertible, upTo limit: Int = TerminalText.limit) {
            text += TerminalText(value.description, upTo: limit).text
        }
    }

    /// Escapes and truncates text. It reads only the part of the text that is shown.
    private static func shown(
        _ text: Substring.UnicodeScalarView, upTo limit: Int, keeping kept: Set<Unicode.Scalar>
    ) -> String {
        var shown = ""
        var width = 0
        /// The length and the index at which the text is truncated if it is too long.
        var cut = (length: 0, place: text.startIndex)
        var place = text.startIndex
        var previous: Unicode.Scalar?
        while place < text.endIndex {
            let scalar = text[place]
            let escape = scalar.needsEscape(after: previous) && !kept.contains(scalar) ? scalar.escape : nil
            previous = scalar
            width += escape?.utf8.count ?? 1
            guard width <= limit + noteWidth else {
                let rest = Substring(text[cut.place...]).utf8.count
                return String(decoding: shown.utf8.prefix(cut.length), as: UTF8.self)
                    + "… (\(ByteAmount.text(rest)) more)"
            }
            if let escape { shown += escape } else { shown.unicodeScalars.append(scalar) }
            place = text.index(after: place)
            if width < limit { cut = (shown.utf8.count, place) }
        }
        return shown
    }
}

extension Sequence<TerminalText> {
    func joined(separator: TerminalText) -> TerminalText {
        TerminalText(madeOfVisible: map(\.text).joined(separator: separator.text))
    }
}

/// The width of text in terminal columns. East Asian characters and emoji take two columns, and combining marks take
/// none.
enum DisplayWidth {
    static func of(_ text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + of($1) }
    }

    /// Returns the width of a character. An emoji of several scalars is drawn as a single emoji.
    static func of(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first else { return 0 }
        if scalars.count == 1 { return of(first) }
        let sum = scalars.reduce(0) { $0 + of($1) }
        guard first.properties.isEmoji, !first.isASCII else { return sum }
        return scalars.contains("\u{FE0F}") ? 2 : min(sum, 2)
    }

    /// Returns the beginning of a text that fits a width, with an ellipsis in the last column if it was truncated.
    static func cut(_ text: String, to width: Int) -> (text: String, width: Int) {
        let whole = of(text)
        guard whole > width else { return (text, whole) }
        var (kept, taken) = ("", 0)
        for character in text {
            let next = of(character)
            guard taken + next < width else { break }
            kept.append(character)
            taken += next
        }
        return width > 0 ? (kept + "…", taken + 1) : ("", 0)
    }

    private static func of(_ scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        if value < 0x300 { return value == 0xAD ? 0 : 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: break
        }
        // Medial vowels and final consonants of Hangul are drawn within the syllable of the first consonant.
        if 0x1160...0x11FF ~= value || 0xD7B0...0xD7FF ~= value { return 0 }
        return isWide(scalar) ? 2 : 1
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        let value = scalar.value
        // A pair of regional indicators is drawn as one flag, so each takes one column.
        if scalar.properties.isEmojiPresentation { return !(0x1F1E6...0x1F1FF ~= value) }
        return wide.contains { $0 ~= value }
    }

    /// The blocks with East_Asian_Width W and F in Unicode's EastAsianWidth.txt, without emoji.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97C,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
        0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1D300...0x1D376, 0x1F200...0x1F2FF, 0x1F300...0x1F320,
        0x1F900...0x1F9FF, 0x20000...0x3FFFD,
    ]
}

/// The colors and bold text of a terminal. The plain style adds neither.
struct Style {
    let isOn: Bool

    static let plain = Style(isOn: false)

    func green(_ text: TerminalText) -> TerminalText { wrapped(text, "32") }
    func yellow(_ text: TerminalText) -> TerminalText { wrapped(text, "33") }
    func red(_ text: TerminalText) -> TerminalText { wrapped(text, "31") }
    func bold(_ text: TerminalText) -> TerminalText { wrapped(text, "1") }

    private func wrapped(_ text: TerminalText, _ code: String) -> TerminalText {
        isOn && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}

// MARK: - Escapes

extension Unicode.Scalar {
    /// Whether a scalar is escaped, because a terminal interprets it, does not show it, or reorders the text around it.
    /// Such scalars are control characters, line breaks, direction overrides, invisible characters, private use and
    /// unassigned scalars.
    var needsEscape: Bool {
        if value < 0x7F { return value < 0x20 }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .format, .unassigned, .privateUse: return true
        default: return properties.isDefaultIgnorableCodePoint
        }
    }

    /// Returns whether a scalar is escaped after another one. Some scripts and emoji contain invisible joiners.
    /// Elsewhere, such joiners would hide a difference between two texts.
    func needsEscape(after previous: Unicode.Scalar?) -> Bool {
        guard let previous, !previous.isASCII else { return needsEscape }
        switch self {
        // The variation selector of an emoji. The joiner of an emoji sequence may follow it.
        case "\u{FE0F}": return !previous.properties.isEmoji
        case "\u{200D}" where previous == "\u{FE0F}": return false
        case "\u{200C}", "\u{200D}": return previous.needsEscape
        default: return needsEscape
        }
    }

    /// The JSON escape, such as `\n` or `\u001b`.
    var escape: String {
        switch self {
        case "\n": "\\n"
        case "\r": "\\r"
        case "\t": "\\t"
        default:
            UTF16.encode(self).map { units in
                units.map { "\\u" + String(0x10000 + Int($0), radix: 16).dropFirst() }.joined()
            } ?? "\u{FFFD}"
        }
    }
}

// MARK: - Truncated lists

extension TruncatedList {
    /// Returns a line for each shown element, and a line with the number of omitted elements.
    ///
    /// - Parameter hint: A note about the option that shows all elements; nil if there is none.
    func lines(_ line: (Element) -> TerminalText, hint: TerminalText?) -> [TerminalText] {
        guard omittedCount > 0, !shown.isEmpty else { return shown.map(line) }
        let hint = hint.map { " (\($0))" as TerminalText } ?? ""
        return shown.map(line) + ["  and \(omittedCount) more\(hint)"]
    }
}

extension TruncatedList<TerminalText> {
    /// Returns the shown elements and the number of omitted elements on one line, such as `a, b and 3 more`.
    func text(between separator: TerminalText) -> TerminalText {
        shown.joined(separator: separator) + (omittedCount > 0 ? " and \(omittedCount) more" : "")
    }
}
