import Foundation
import Testing

@testable import syncdb

/// Text that would do something to a terminal, and what may be left of it.
enum HostileText {
    /// Sets the title, clears the screen, goes back on the line, takes colour by a C1 character, turns the text round.
    static let text = "z\u{1B}]0;title\u{7}\u{1B}[2J\r\u{9B}31m\u{202E}b\u{2028}\u{7F}"

    /// A JSON string of it.
    static var json: String {
        get throws { String(decoding: try JSONEncoder().encode(text), as: UTF8.self) }
    }

    /// Expects that a run said something, and nothing of this kind.
    static func expectSafe(_ run: Program.Run, _ what: String) {
        #expect(!(run.output + run.errors).isEmpty, "\(what)")
        #expect(isSafe(run.output + run.errors), "\(what)")
    }

    static func isSafe(_ text: String) -> Bool { text.unicodeScalars.allSatisfy { $0 == "\n" || !$0.needsEscape } }
}
