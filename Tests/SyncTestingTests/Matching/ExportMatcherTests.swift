import SyncCore
import Testing

@testable import SyncTesting

@Suite("Exported JSON")
struct ExportMatcherTests {
    static let rows: JSONValue = [["id": 1], ["id": 2, "done": true]]
    static let turned: JSONValue = [["done": 1, "id": 2], ["id": .number("1.0")]]

    @Test("compares lists of objects as sets unless order counts")
    func lists() {
        #expect(ExportMatcher().matches(Self.rows, Self.turned))
        #expect(!ExportMatcher(isOrdered: true).matches(Self.rows, Self.turned))
        #expect(ExportMatcher(isOrdered: true).matches(Self.rows, Self.rows))
        #expect(!ExportMatcher().matches([["id": 1], ["id": 1]], [["id": 1], ["id": 2]]))
    }

    @Test("compares numbered objects as sets unless order counts")
    func numbered() {
        let one: JSONValue = ["notes": ["0": ["id": 1], "1": ["id": 2]]]
        let other: JSONValue = ["notes": ["0": ["id": 2], "1": ["id": 1]]]
        #expect(ExportMatcher().matches(one, other))
        #expect(!ExportMatcher(isOrdered: true).matches(one, other))
        #expect(!ExportMatcher().matches(one, ["notes": ["0": ["id": 2], "2": ["id": 1]]]))
    }

    @Test("compares lists of plain values in their order")
    func values() {
        #expect(!ExportMatcher().matches(["a", "b"], ["b", "a"]))
    }

    @Test("tells null from absent, and booleans from other numbers")
    func exactness() {
        #expect(!ExportMatcher().matches(["a": nil], [:]))
        #expect(!ExportMatcher().matches(["a": true], ["a": 2]))
        #expect(!ExportMatcher().matches(["a": true], ["a": false]))
        #expect(ExportMatcher().matches(["a": 0], ["a": false]))
        #expect(!ExportMatcher().matches(["a": "1"], ["a": 1]))
    }
}
