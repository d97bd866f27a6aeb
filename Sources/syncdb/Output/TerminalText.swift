import Foundation
import Sync

/// Text for people. Nothing else is written to them, on a terminal, into a pipe or into a file.
///
/// What stands in the source is written as it stands. What is put into it comes from payloads, models, databases and
/// arguments: it stays on its line, what a terminal would obey is made visible, and of what is very long the beginning is
/// shown and the size of the rest.
///
///     let text: TerminalText = "no attribute '\(name)'"    // no attribute 'a\u001b[2J'
struct TerminalText: ExpressibleByStringInterpolation, Hashable, Sendable {
    /// How many characters of a value are shown, where nothing else is said.
    static let limit = 500
    /// What it takes to say how much is left out. No less is left out.
    private static let noteWidth = 18

    private(set) var text: String

    init(stringLiteral literal: String) { text = literal }

    init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    /// A value from outside, of at most so many characters and a note of the rest.
    init(_ value: String, upTo limit: Int = Self.limit) {
        text = Self.shown(value.unicodeScalars[...], upTo: limit, keeping: [])
    }

    /// Lines from outside, such as help or JSON, which stay JSON. Their breaks and tabs are kept, and their length too if
    /// no limit is given.
    init(lines: String, upTo limit: Int? = nil) {
        let lines = lines.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        text = lines.map { Self.shown($0, upTo: limit ?? .max / 2, keeping: ["\t"]) }.joined(separator: "\n")
    }

    /// Text that was made of visible text alone, as cells are lined up.
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

    /// Looks no further than what is shown, however long the text is.
    private static func shown(
        _ text: Substring.UnicodeScalarView, upTo limit: Int, keeping kept: Set<Unicode.Scalar>
    ) -> String {
        var shown = ""
        var width = 0
        /// Where it is cut if it turns out to be too long: so much is shown, from there on it is not.
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

/// How many columns of a terminal text takes: two for the characters of East Asian scripts and emoji, none for marks that
/// combine with the character before them.
enum DisplayWidth {
    static func of(_ text: String) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + of($1) }
    }

    /// What a character takes. The parts of an emoji that is made of several are drawn as one.
    static func of(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first else { return 0 }
        if scalars.count == 1 { return of(first) }
        let sum = scalars.reduce(0) { $0 + of($1) }
        guard first.properties.isEmoji, !first.isASCII else { return sum }
        return scalars.contains("\u{FE0F}") ? 2 : min(sum, 2)
    }

    /// The beginning of a text that takes so many columns at most, with an ellipsis in the last if that is not all.
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
        // Vowels and final consonants of Hangul stand within the syllable that a first consonant begins.
        if 0x1160...0x11FF ~= value || 0xD7B0...0xD7FF ~= value { return 0 }
        return isWide(scalar) ? 2 : 1
    }

    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        let value = scalar.value
        // Letters for flags, of which two are drawn as one, are emoji by themselves.
        if scalar.properties.isEmojiPresentation { return !(0x1F1E6...0x1F1FF ~= value) }
        return wide.contains { $0 ~= value }
    }

    /// The blocks of East_Asian_Width W and F in Unicode's EastAsianWidth.txt, but for emoji.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97C,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6,
        0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1D300...0x1D376, 0x1F200...0x1F2FF, 0x1F300...0x1F320,
        0x1F900...0x1F9FF, 0x20000...0x3FFFD,
    ]
}

/// Colours and weights for a terminal; none of them where the output goes elsewhere.
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

// MARK: - Unicode.Scalar+Escape

extension Unicode.Scalar {
    /// Whether a terminal obeys it, or shows nothing for it, or turns round what stands beside it, or nobody knows what it
    /// shows: a control character, a line break of any kind, an override of the direction of writing, a filler or a blank
    /// without width, a character of private use or of none.
    var needsEscape: Bool {
        if value < 0x7F { return value < 0x20 }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .format, .unassigned, .privateUse: return true
        default: return properties.isDefaultIgnorableCodePoint
        }
    }

    /// The same behind another character, where some scripts and emoji are spelled with characters that show nothing
    /// themselves. Where they join nothing, they would only hide that a text is another.
    func needsEscape(after previous: Unicode.Scalar?) -> Bool {
        guard let previous, !previous.isASCII else { return needsEscape }
        switch self {
        // How an emoji is shown; the joiner of a sequence may follow it.
        case "\u{FE0F}": return !previous.properties.isEmoji
        case "\u{200D}" where previous == "\u{FE0F}": return false
        case "\u{200C}", "\u{200D}": return previous.needsEscape
        default: return needsEscape
        }
    }

    /// It as JSON writes it: `\n`, `\u001b`.
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

// MARK: - TruncatedList+Lines

extension TruncatedList {
    /// A line for each element, and one for all that are left out.
    ///
    /// - Parameter hint: How to see them, if that is possible.
    func lines(_ line: (Element) -> TerminalText, hint: TerminalText?) -> [TerminalText] {
        guard omittedCount > 0, !shown.isEmpty else { return shown.map(line) }
        let hint = hint.map { " (\($0))" as TerminalText } ?? ""
        return shown.map(line) + ["  and \(omittedCount) more\(hint)"]
    }
}

extension TruncatedList<TerminalText> {
    /// All on one line: `a, b and 3 more`.
    func text(between separator: TerminalText) -> TerminalText {
        shown.joined(separator: separator) + (omittedCount > 0 ? " and \(omittedCount) more" : "")
    }
}
