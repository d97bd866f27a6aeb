import Foundation
import Testing

@testable import syncdb

/// Text with control characters for a terminal, and checks that output has none.
enum HostileText {
    /// Sets the title, clears the screen, returns the carriage, sets a color by a C1 character, and reverses the text.
    static let text = "z\u{1B}]0;title\u{7}\u{1B}[2J\r\u{9B}31m\u{202E}b\u{2028}\u{7F}"

    /// The text as a JSON string.
    static var json: String {
        get throws { String(decoding: try JSONEncoder().encode(text), as: UTF8.self) }
    }

    /// Expects that a run has output, and that the output is safe.
    static func expectSafe(_ run: Program.Run, _ what: String) {
        #expect(!(run.output + run.errors).isEmpty, "\(what)")
        #expect(isSafe(run.output + run.errors), "\(what)")
    }

    static func isSafe(_ text: String) -> Bool { text.unicodeScalars.allSatisfy { $0 == "\n" || !$0.needsEscape } }
}
