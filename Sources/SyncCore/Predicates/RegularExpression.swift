import Foundation

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

    package func matches(_ text: String) -> Bool {
        expression.firstMatch(in: text, range: NSRange(location: 0, length: text.utf16.count)) != nil
    }
}
