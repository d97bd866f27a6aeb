import Testing

@testable import SyncCore

@Suite("Text matching in conditions")
struct PredicateTextMatchingTests {
    static let folded: [(String, String)] = [
        ("ABC", "abc"), ("Straße", "STRASSE"), ("ẞ", "ss"), ("ΣΊΣΥΦΟΣ", "σίσυφος"), ("ÉCOLE", "école"),
        ("ŉ", "ʼn"),
        ("ﬁ", "FI"), ("Ꭰ", "ꭰ"), ("K", "k"), ("µ", "Μ"), ("Ⅷ", "ⅷ"), ("İ", "i̇"),
    ]

    @Test("Texts that differ only in case fold to the same text", arguments: folded)
    func foldsCase(left: String, right: String) { #expect(CaseFolding.fold(left) == CaseFolding.fold(right)) }

    @Test(
        "Texts that differ in more than case stay different",
        arguments: [("ı", "i"), ("e", "é"), ("o", "ø"), ("a", "b")])
    func keepsOtherDifferences(left: String, right: String) {
        #expect(CaseFolding.fold(left) != CaseFolding.fold(right))
    }

    static let patterns: [(String, String, Bool)] = [
        ("", "", true), ("", "a", false), ("*", "", true), ("**", "abc", true), ("?", "", false),
        ("?", "é", true),
        ("?", "👨‍👩‍👧", true), ("a*c", "abbc", true), ("a*c", "abcb", false), ("*b*", "abc", true),
        ("a?c", "ac", false),
        ("*ab", "aab", true), ("*a*b*c", "xaxbxc", true), ("\\*", "*", true), ("\\*", "x", false),
        ("\\?", "?", true),
        ("\\\\", "\\", true), ("a\\b", "a\\b", true), ("a\\", "a\\", true), ("[a]", "a", false),
        ("%", "abc", false),
    ]

    @Test("A wildcard pattern matches a text", arguments: patterns)
    func matchesPattern(pattern: String, text: String, isMatch: Bool) {
        #expect(WildcardPattern(pattern).matches(text) == isMatch)
    }

    @Test("A pattern with many stars takes no exponential time")
    func matchesManyStars() {
        let pattern = String(repeating: "*a", count: 50) + "b"
        #expect(!WildcardPattern(pattern).matches(String(repeating: "a", count: 2000)))
    }
}
