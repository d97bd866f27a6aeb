/// Unicode case folding, for comparisons that ignore case.
package enum CaseFolding {
    /// Folds each character by itself: `Straße` and `STRASSE` are the same, and so are all forms of sigma.
    ///
    /// Lower case of upper case of lower case is full case folding, but for two things: the Turkish dotless ı, which
    /// folds to itself, and Cherokee, where it picks the other one of two letters, which makes no difference.
    package static func fold(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
        var folded = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == "ı" {
                folded.append(scalar)
                continue
            }
            for lower in scalar.properties.lowercaseMapping.unicodeScalars {
                for upper in lower.properties.uppercaseMapping.unicodeScalars {
                    folded.append(contentsOf: upper.properties.lowercaseMapping.unicodeScalars)
                }
            }
        }
        return String(folded)
    }
}
