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
