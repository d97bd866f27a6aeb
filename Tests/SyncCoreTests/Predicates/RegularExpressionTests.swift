import Testing

@testable import SyncCore

@Suite("A regular expression")
struct RegularExpressionTests {
    private func matches(_ pattern: String, _ text: String) throws -> Bool {
        try #require(RegularExpression(pattern, ignoringCase: false)).matches(text)
    }

    @Test("that would try for years gives up", arguments: ["(a+)+b", "(a|a)*b", "(.*.*)*b"])
    func endless(pattern: String) throws {
        let error = try #require(throws: SyncError.self) {
            try matches(pattern, String(repeating: "a", count: 40))
        }
        #expect(error.code == .invalidPredicate)
    }

    @Test("does not say that a text is another where it cannot know")
    func memory() throws {
        let text = String(repeating: "a", count: 1_000_000)
        #expect(throws: SyncError.self) { try matches("(a|b)+", text) }
    }

    @Test("reads a long text to its end")
    func long() throws {
        let text = String(repeating: "a", count: 1_000_000)
        #expect(try matches("[a-z]*", text))
        #expect(try !matches("b", text))
    }
}
