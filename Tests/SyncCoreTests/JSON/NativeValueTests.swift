import Foundation
import SyncCore
import Testing

@Suite("JSON from Swift values")
struct NativeValueTests {
    private func canonical(_ value: Any) throws -> String {
        var builder = JSONTapeBuilder()
        try builder.read(any: value, path: "[0]")
        return canonical(builder)
    }

    private func canonical(_ builder: JSONTapeBuilder) -> String {
        let tape = builder.tape
        var out: [UInt8] = []
        #expect(tape.tokens.first?.next == UInt32(tape.tokens.count))
        builder.bytes.withUnsafeBufferPointer { CanonicalJSON.append(tape, at: 0, in: $0, to: &out) }
        return String(decoding: out, as: UTF8.self)
    }

    private func refusal(_ value: Any) -> SyncError? {
        var builder = JSONTapeBuilder()
        do {
            try builder.read(any: value, path: "[3]")
            return nil
        } catch {
            return error as? SyncError
        }
    }

    static let values: [(any Sendable, String)] = [
        ("a\"b\n\\", #""a\"b\n\\""#), (7, "7"), (Int8(-8), "-8"), (UInt64.max, "18446744073709551615"), (UInt8(1), "1"),
        (7.25, "7.25"), (7.0, "7"), (1e300, "1" + String(repeating: "0", count: 300)), (Float(0.5), "0.5"),
        (true, "true"), (false, "false"), (Int?.some(5), "5"), (Int?.none, "null"), (String?.none, "null"),
        ([1, 2], "[1,2]"), (["b": 1, "a": 2], #"{"a":2,"b":1}"#),
        (Date(timeIntervalSince1970: 1_441_888_808.123), "\"2015-09-10T12:40:08.123Z\""), (Data("hi".utf8), "\"aGk=\""),
        (Decimal(string: "0.10") ?? 0, "0.1"),
        (Decimal(string: "12345678901234567890.5") ?? 0, "12345678901234567890.5"),
        (UUID(uuidString: "0f8fad5b-d9cb-469f-a165-70867728950e"), "\"0F8FAD5B-D9CB-469F-A165-70867728950E\""),
        (URL(string: "http://a/b"), "\"http://a/b\""),
        (["k": [.number("1.50"), nil]] as JSONValue, #"{"k":[1.5,null]}"#),
        ([] as [Int], "[]"), ([:] as [String: Int], "{}"), (["a": ["b": [Int?.none]]], #"{"a":{"b":[null]}}"#),
    ]

    @Test("Swift values convert to the equivalent JSON", arguments: values.indices)
    func convertsSwiftValues(_ index: Int) throws {
        let (value, expected) = Self.values[index]
        #expect(try canonical(value) == expected)
        #expect(try canonical(["k": value] as [String: Any]) == "{\"k\":\(expected)}")
    }

    @Test("Values parsed by Foundation keep Booleans and numbers apart")
    func convertsFoundationValues() throws {
        let text = #"{"a":[true,false,1,0,1.5,-3,18446744073709551615,null,"x",[],{}],"b":{"c":"d"}}"#
        #expect(try canonical(JSONSerialization.jsonObject(with: Data(text.utf8))) == text)
        let numbers: [Any] = [
            NSNumber(value: true), NSNumber(value: false), NSNumber(value: 1), NSNumber(value: 0),
            NSNumber(value: UInt64.max),
            NSNumber(value: 0.25), NSNull(), NSNumber(value: Int64.min),
        ]
        #expect(try canonical(numbers) == "[true,false,1,0,18446744073709551615,0.25,null,-9223372036854775808]")
    }

    @Test("A boxed one-byte number is a number, not a Boolean")
    func boxedSmallNumbersStayNumbers() throws {
        #expect(
            try canonical([NSNumber(value: Int8(1)), NSNumber(value: Int8(5)), NSNumber(value: UInt8(0))]) == "[1,5,0]")
    }

    @Test("Values that are not JSON are rejected with their path")
    func rejectsOtherValues() {
        struct Thing {}
        let deep = refusal(["a": [1, ["b": Thing()] as [String: Any]] as [Any]] as [String: Any])
        #expect(summary(of: deep) == "typeMismatch [3].a[1].b")
        #expect(deep?.message.contains("Thing") == true)
        for value in [Double.nan, Double.infinity, -Float.infinity, Decimal.nan, Date(timeIntervalSince1970: 1e13)]
            as [Any]
        {
            #expect(summary(of: refusal(["a": value])) == "typeMismatch [3].a", "\(value)")
        }
        for text in [
            "1x", "", "01", "-01", "00", "+1", "1.", ".5", "-", "-.5", "1.e5", "1e", "1e+", "1e+-1", "1ee1", " 1", "1 ",
            "NaN",
            "1 2", "1\r", "\r1", "1\u{0E}5", "\"1\"", "[1]",
        ] {
            #expect(refusal(["a": JSONValue.number(text)])?.code == .typeMismatch, "\(text)")
        }
        #expect(refusal([1: "a"])?.code == .typeMismatch)
        #expect(refusal(NSNumber(value: Double.nan))?.code == .typeMismatch)
    }

    @Test("Values may be nested 512 levels deep and no deeper")
    func limitsDepth() {
        var (any, value): (Any, JSONValue) = (1, 1)
        for _ in 0..<512 { (any, value) = ([any], [value]) }
        #expect(refusal(any) == nil)
        #expect(refusal(value) == nil)
        #expect(refusal([any])?.code == .nestingTooDeep)
        #expect(refusal([value] as JSONValue)?.code == .nestingTooDeep)
    }

    @Test("Every spelling of a JSON number is accepted")
    func acceptsNumberSpellings() {
        for text in ["0", "-0", "10", "0.0", "-0.5e0", "1E5", "1e-05", "1.25E+3", "123456789012345678901234567890"] {
            #expect(refusal(JSONValue.number(text)) == nil, "\(text)")
        }
    }

    @Test("A boxed decimal keeps its digits")
    func boxedDecimalsKeepDigits() throws {
        let text = "123456789012345678901234567890"
        #expect(try canonical(NSDecimalNumber(string: text)) == text)
        #expect(try canonical(JSONSerialization.jsonObject(with: Data("[\(text)]".utf8))) == "[\(text)]")
        #expect(refusal(["a": NSDecimalNumber.notANumber])?.code == .typeMismatch)
    }

    @Test("The path of a rejected value counts the complete values before it")
    func pathsCountCompleteValues() {
        struct Thing {}
        let before: [Any] = [["x": 1, "y": [2, 3]] as [String: Any], [] as [Any], [:] as [String: Any]]
        #expect(refusal(Thing())?.path == "[3]")
        #expect(refusal([Thing()])?.path == "[3][0]")
        #expect(refusal(before + [Thing()])?.path == "[3][3]")
        #expect(refusal(["a": before, "b": ["c": before + [["d": Thing()]]]] as [String: Any])?.path == "[3].b.c[3].d")
        #expect(refusal(["a": [1, ["b": JSONValue.number("x")]] as [Any]] as [String: Any])?.path == "[3].a[1].b")
    }
}
