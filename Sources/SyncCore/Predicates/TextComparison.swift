import Foundation

/// Unicode case folding, for comparisons that ignore case.
package enum CaseFolding {
    /// Returns a string with its case folded. Each scalar is folded by itself, so `Straße` equals `STRASSE`, and all
    /// forms of sigma are equal.
    ///
    /// Lowercasing, uppercasing and lowercasing again is full case folding, with two exceptions. The Turkish dotless
    /// `ı` must not change. Cherokee letters become lowercase instead of uppercase, which makes no difference to
    /// comparisons.
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

/// A regular expression in ICU syntax that must match the whole string.
///
/// `.` matches one Unicode scalar other than a line break, unless the pattern begins with `(?s)`.
package struct RegularExpression: Sendable, Hashable {
    package let pattern: String
    private let expression: NSRegularExpression

    /// Creates the expression; nil if the pattern is invalid.
    package init?(_ pattern: String, ignoringCase: Bool) {
        let options: NSRegularExpression.Options = ignoringCase ? .caseInsensitive : []
        // Check the pattern by itself first: `a)(b` would become valid inside the parentheses. The empty pattern is
        // valid only inside them.
        guard pattern.isEmpty || (try? NSRegularExpression(pattern: pattern, options: options)) != nil,
            let whole = try? NSRegularExpression(pattern: "\\A(?:\(pattern))\\z", options: options)
        else { return nil }
        self.pattern = pattern
        expression = whole
    }

    /// Returns whether the whole string matches.
    ///
    /// - Throws: ``SyncError`` `invalidPredicate` if the match takes too many steps.
    package func matches(_ text: String) throws -> Bool {
        let length = text.utf16.count
        let reportLimit = Self.reportLimit + length / 1000
        var reports = 0
        var isMatch = false
        var isUnknown = false
        expression.enumerateMatches(
            in: text, options: [.reportProgress, .reportCompletion], range: NSRange(location: 0, length: length)
        ) { match, flags, stop in
            reports += 1
            if match != nil { isMatch = true }
            // ICU reports an internal error if backtracking exceeds its memory limit.
            isUnknown = !isMatch && (flags.contains(.internalError) || reports > reportLimit)
            stop.pointee = ObjCBool(isMatch || isUnknown)
        }
        if isUnknown { throw SyncError(.invalidPredicate, Self.tooManySteps) }
        return isMatch
    }

    /// The largest number of progress reports for a short text. ICU reports every ten thousand steps. A match without
    /// backtracking takes a few steps for each character, while backtracking can take any number of steps.
    private static let reportLimit = 1000

    /// The message for a pattern that takes too many steps.
    package static let tooManySteps =
        "MATCHES takes too many steps: avoid nested repetitions such as (a+)+ in its pattern"
}
