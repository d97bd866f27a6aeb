import Testing

@testable import SyncCore

@Suite("Regular expressions")
struct RegularExpressionTests {
    private func matches(_ pattern: String, _ text: String) throws -> Bool {
        try #require(RegularExpression(pattern, ignoringCase: false)).matches(text)
    }

    @Test("A pattern with exponential backtracking throws", arguments: ["(a+)+b", "(a|a)*b", "(.*.*)*b"])
    func limitsBacktracking(pattern: String) throws {
        let error = try #require(throws: SyncError.self) {
            try matches(pattern, String(repeating: "a", count: 40))
        }
        #expect(error.code == .invalidPredicate)
    }

    @Test("A match that runs out of memory throws instead of returning false")
    func throwsWhenOutOfMemory() throws {
        let text = String(repeating: "a", count: 1_000_000)
        #expect(throws: SyncError.self) { try matches("(a|b)+", text) }
    }

    @Test("A long text is matched to its end")
    func matchesLongText() throws {
        let text = String(repeating: "a", count: 1_000_000)
        #expect(try matches("[a-z]*", text))
        #expect(try !matches("b", text))
    }
}
