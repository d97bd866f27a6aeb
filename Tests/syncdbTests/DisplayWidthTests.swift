import Testing

@testable import syncdb

@Suite("The width of text on a terminal")
struct DisplayWidthTests {
    @Test(
        "The display width counts wide characters twice and combining ones not at all",
        arguments: [
            ("", 0), ("abc", 3), ("Müller", 6), ("e\u{301}", 1), ("日本語", 6), ("ｆｕｌｌ", 8), ("한국", 4),
            ("\u{1112}\u{1161}\u{11AB}", 2), ("👍", 2), ("👍🏽", 2), ("👨‍👩‍👧", 2), ("❤️", 2), ("🇳🇴", 2), ("✓", 1), ("→", 1),
            ("ก็", 1), ("a\u{200D}", 1), ("𠀀", 2), ("½", 1), ("“”…", 3), ("שלום", 4), ("123", 3),
        ])
    func widthOfCharacters(text: String, width: Int) {
        #expect(DisplayWidth.of(text) == width)
    }

    private func cut(_ text: String, to width: Int) -> String {
        let cut = DisplayWidth.cut(text, to: width)
        return "\(cut.text) \(cut.width)"
    }

    @Test("A cut text fits its width and splits no character")
    func cutTextFits() {
        #expect(cut("abcdef", to: 4) == "abc…" + " 4")
        #expect(cut("abcd", to: 4) == "abcd" + " 4")
        #expect(cut("日本語", to: 4) == "日…" + " 3")
        #expect(cut("e\u{301}e\u{301}e\u{301}", to: 2) == "e\u{301}…" + " 2")
        #expect(cut("abc", to: 1) == "…" + " 1")
        #expect(cut("abc", to: 0) == "" + " 0")
    }
}
