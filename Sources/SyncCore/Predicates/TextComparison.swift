import Foundation

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

/// A regular expression, in ICU's syntax, that all of a text must match.
///
/// `.` is one Unicode scalar and no line break, unless the pattern begins with `(?s)`.
package struct RegularExpression: Sendable, Hashable {
    package let pattern: String
    private let expression: NSRegularExpression

    /// Nil if the pattern is none.
    package init?(_ pattern: String, ignoringCase: Bool) {
        let options: NSRegularExpression.Options = ignoringCase ? .caseInsensitive : []
        // By itself first: `a)(b` is a pattern only within parentheses. The empty one is none by itself.
        guard pattern.isEmpty || (try? NSRegularExpression(pattern: pattern, options: options)) != nil,
            let whole = try? NSRegularExpression(pattern: "\\A(?:\(pattern))\\z", options: options)
        else { return nil }
        self.pattern = pattern
        expression = whole
    }

    /// - Throws: ``SyncError`` `invalidPredicate` if it takes too many steps to find out.
    package func matches(_ text: String) throws -> Bool {
        let length = text.utf16.count
        let patience = Self.patience + length / 1000
        var reports = 0
        var isMatch = false
        var isUnknown = false
        expression.enumerateMatches(
            in: text, options: [.reportProgress, .reportCompletion], range: NSRange(location: 0, length: length)
        ) { match, flags, stop in
            reports += 1
            if match != nil { isMatch = true }
            // What it keeps to try again is limited too.
            isUnknown = !isMatch && (flags.contains(.internalError) || reports > patience)
            stop.pointee = ObjCBool(isMatch || isUnknown)
        }
        if isUnknown { throw SyncError(.invalidPredicate, Self.tooManySteps) }
        return isMatch
    }

    /// How often ICU may report that it is still at it, which is each ten thousand steps: a text that is read once takes
    /// a few steps per character, one that is read again for each of its beginnings any number.
    private static let patience = 1000

    /// What is wrong with a pattern that takes too many.
    package static let tooManySteps =
        "MATCHES takes too many steps: its pattern can take a text apart in too many ways, as (a+)+ can"
}
