import Foundation
import TestSize
import Testing

@testable import syncdb

@Suite("Text for people")
struct TerminalTextTests {
    @Test(
        "Characters that a terminal obeys or does not show are escaped",
        arguments: [
            ("\u{1B}[2J", #"\u001b[2J"#), ("a\u{7}", #"a\u0007"#), ("a\rb", #"a\rb"#), ("a\nb\tc", #"a\nb\tc"#),
            ("a\r\nb", #"a\r\nb"#), ("\0", #"\u0000"#), ("\u{7F}", #"\u007f"#), ("\u{9B}31m", #"\u009b31m"#),
            ("a\u{202E}b", #"a\u202eb"#), ("\u{2066}\u{2069}", #"\u2066\u2069"#), ("\u{200F}", #"\u200f"#),
            ("\u{2028}\u{2029}\u{85}", #"\u2028\u2029\u0085"#), ("\u{FEFF}\u{200B}\u{AD}", #"\ufeff\u200b\u00ad"#),
            ("\u{E0041}", #"\udb40\udc41"#), ("e\u{301}\u{1B}", "e\u{301}\\u001b"),
            // Invisible characters: joiners without neighbors, fillers, variation selectors, unassigned and private
            // characters.
            ("a\u{34F}\u{200D}\u{200C}\u{FE0F}", #"a\u034f\u200d\u200c\ufe0f"#), ("\u{200D}é", #"\u200dé"#),
            ("é\u{200D}\u{200D}\u{FE0F}", "é\u{200D}\\u200d\\ufe0f"), ("🎉\u{FE0F}\u{FE0F}", "🎉\u{FE0F}\\ufe0f"),
            ("\u{115F}\u{1160}\u{3164}\u{FFA0}", #"\u115f\u1160\u3164\uffa0"#), ("\u{E0100}", #"\udb40\udd00"#),
            ("\u{17B4}\u{17B5}\u{180B}\u{2065}\u{FFF0}", #"\u17b4\u17b5\u180b\u2065\ufff0"#),
            ("\u{378}\u{FFFF}\u{E000}\u{10FFFD}", #"\u0378\uffff\ue000\udbff\udffd"#),
        ])
    func controlCharactersAreEscaped(value: String, shown: String) {
        #expect(TerminalText(value).text == shown)
        let interpolated: TerminalText = "key '\(value)'"
        #expect(interpolated.text == "key '\(shown)'")
    }

    @Test(
        "Other text is not escaped",
        arguments: ["Åsa", "日本語", "👩‍👩‍👧", "می‌خواهم", "a\\nb", "שלום", " ", "\u{A0}", "❤️‍🔥 ☎️", "क्‍ष", "\u{FFFD}"])
    func otherTextIsUnchanged(value: String) { #expect(TerminalText(value).text == value) }

    @Test("Literals and escaped text are not escaped again")
    func literalsAreUnchanged() {
        let style = Style(isOn: true)
        let newline = "\n"
        let text: TerminalText = "\(style.red("a\("\u{1B}")"))\n\(TerminalText(newline))"
        #expect(text.text == "\u{1B}[31ma\\u001b\u{1B}[0m\n\\n")
    }

    @Test("Every character is either shown or escaped")
    func everyCharacterIsSafe() {
        for value in stride(from: UInt32(0), through: 0x10FFFF, by: LongTests.count(17, many: 1)) {
            guard let scalar = Unicode.Scalar(value), scalar.needsEscape else { continue }
            #expect(scalar.escape.unicodeScalars.allSatisfy { 0x20...0x7E ~= $0.value })
        }
        let controls = (UInt32(0)...0x9F).compactMap(Unicode.Scalar.init).filter {
            $0.properties.generalCategory == .control
        }
        let directions = (UInt32(0)...0x10FFFF).compactMap(Unicode.Scalar.init).filter(\.properties.isBidiControl)
        #expect(controls.count == 65 && directions.count == 12)
        #expect((controls + directions).allSatisfy { $0.needsEscape })
        let ignorable = (UInt32(0)...0x10FFFF).compactMap(Unicode.Scalar.init).filter {
            $0.properties.isDefaultIgnorableCodePoint
        }
        #expect(ignorable.count > 4000)
        #expect(ignorable.allSatisfy { $0.needsEscape && $0.needsEscape(after: nil) && $0.needsEscape(after: "a") })
    }

    @Test("Lines keep their breaks, and escaped JSON is equal JSON")
    func linesKeepTheirBreaks() throws {
        let value = ["a\u{9B}\u{202E}b": "\u{1B}\r\n\u{2028}\u{E0041}\u{7F}"]
        let encoder = JSONEncoder()
        encoder.outputFormatting = .prettyPrinted
        let json = String(decoding: try encoder.encode(value), as: UTF8.self)
        let shown = TerminalText(lines: json).text
        #expect(shown != json)
        #expect(shown.unicodeScalars.allSatisfy { $0 == "\n" || !$0.needsEscape })
        #expect(try JSONDecoder().decode([String: String].self, from: Data(shown.utf8)) == value)
        #expect(TerminalText(lines: "a\tb\r\n\n\u{1B}").text == "a\tb\\r\n\n\\u001b")
    }

    // MARK: Length

    @Test("A long text is cut, with the size of the rest")
    func longTextIsCut() {
        let text = String(repeating: "x", count: 3_000_000)
        #expect(TerminalText(text, upTo: 10).text == "xxxxxxxxx… (2.9 MB more)")
        #expect(TerminalText(text).text.count < 530)
        // The limit counts displayed characters, not bytes.
        #expect(TerminalText(String(repeating: "é", count: 100), upTo: 10).text == "ééééééééé… (182 bytes more)")
        // One character may have any length.
        #expect(TerminalText("e" + String(repeating: "\u{301}", count: 9_999)).text.unicodeScalars.count < 530)
        // An escape counts with its full width, and is not split.
        let escapes = String(repeating: "\u{1B}", count: 1_000)
        #expect(TerminalText(escapes, upTo: 20).text == #"\u001b\u001b\u001b… (997 bytes more)"#)
    }

    @Test("A text is cut only if that makes it shorter")
    func shortTextIsNotCut() {
        for count in 0...600 {
            let text = String(repeating: "x", count: count)
            let shown = TerminalText(text).text
            #expect(shown == text || shown.count < count, "\(count)")
        }
        #expect(TerminalText(lines: String(repeating: "x", count: 100_000)).text.count == 100_000)
    }

    @Test("The time to cut a long text does not depend on its length")
    func cuttingTakesConstantTime() {
        func time(_ text: String) -> Double {
            var (before, after) = (timespec(), timespec())
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before)
            for _ in 0..<100 { _ = TerminalText(text) }
            clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after)
            return Double(after.tv_sec - before.tv_sec) + Double(after.tv_nsec - before.tv_nsec) / 1e9
        }
        // The clock counts this thread only, so that other work of the machine does not matter. A scan of the whole
        // text would take a thousand times as long.
        let short = time(String(repeating: "é", count: 2_000))
        #expect(time(String(repeating: "é", count: 2_000_000)) < 50 * max(short, 0.001))
    }
}
