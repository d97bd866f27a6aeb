import SyncCore
import Testing

@testable import SyncTesting

@Suite("Comparison of exported JSON")
struct ExportMatcherTests {
    static let rows: JSONValue = [["id": 1], ["id": 2, "done": true]]
    static let turned: JSONValue = [["done": 1, "id": 2], ["id": .number("1.0")]]

    @Test("Lists of objects are compared as sets unless order matters")
    func lists() {
        #expect(ExportMatcher().matches(Self.rows, Self.turned))
        #expect(!ExportMatcher(isOrdered: true).matches(Self.rows, Self.turned))
        #expect(ExportMatcher(isOrdered: true).matches(Self.rows, Self.rows))
        #expect(!ExportMatcher().matches([["id": 1], ["id": 1]], [["id": 1], ["id": 2]]))
    }

    @Test("Objects with numbered members are compared as sets unless order matters")
    func numbered() {
        let one: JSONValue = ["notes": ["0": ["id": 1], "1": ["id": 2]]]
        let other: JSONValue = ["notes": ["0": ["id": 2], "1": ["id": 1]]]
        #expect(ExportMatcher().matches(one, other))
        #expect(!ExportMatcher(isOrdered: true).matches(one, other))
        #expect(!ExportMatcher().matches(one, ["notes": ["0": ["id": 2], "2": ["id": 1]]]))
    }

    @Test("Lists of plain values are compared in order")
    func values() {
        #expect(!ExportMatcher().matches(["a", "b"], ["b", "a"]))
    }

    @Test("Null differs from a missing member, and a Boolean from numbers other than 0 and 1")
    func exactness() {
        #expect(!ExportMatcher().matches(["a": nil], [:]))
        #expect(!ExportMatcher().matches(["a": true], ["a": 2]))
        #expect(!ExportMatcher().matches(["a": true], ["a": false]))
        #expect(ExportMatcher().matches(["a": 0], ["a": false]))
        #expect(!ExportMatcher().matches(["a": "1"], ["a": 1]))
        #expect(!ExportMatcher().matches(["e\u{301}": 1], ["\u{e9}": 1]))
    }
}
