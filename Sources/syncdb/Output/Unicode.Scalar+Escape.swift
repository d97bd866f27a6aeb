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
