extension Unicode.Scalar {
    /// Whether a terminal obeys it, or shows nothing for it, or turns round what stands beside it: a control character, a
    /// line break of any kind, an override of the direction of writing, a blank without width.
    var needsEscape: Bool {
        if value < 0x7F { return value < 0x20 }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        // The two that some scripts and emoji are spelled with.
        case .format: return self != "\u{200C}" && self != "\u{200D}"
        default: return false
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
