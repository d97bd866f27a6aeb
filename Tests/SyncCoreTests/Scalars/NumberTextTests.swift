import Foundation
import SyncCore
import Testing

@Suite("Numbers as text")
struct NumberTextTests {
    private func exact(_ text: String) -> String? {
        var out: [UInt8] = []
        let isNumber = Array(text.utf8).withUnsafeBufferPointer { NumberText.appendExact($0, to: &out) }
        return isNumber ? String(decoding: out, as: UTF8.self) : nil
    }

    private func decimal(_ text: String) -> String? {
        var out: [UInt8] = []
        let fits = Array(text.utf8).withUnsafeBufferPointer { DecimalText.append($0, to: &out) }
        return fits ? String(decoding: out, as: UTF8.self) : nil
    }

    private func double(_ text: String) -> Double? {
        Array(text.utf8).withUnsafeBufferPointer { NumberText.double($0) }
    }
    private func integer(_ text: String) -> Int64? {
        Array(text.utf8).withUnsafeBufferPointer { NumberText.integer($0) }
    }

    private static func zeros(_ count: Int) -> String { String(repeating: "0", count: count) }

    static let exactTexts: [(String, String?)] = [
        ("7", "7"), ("7.0", "7"), ("7.50", "7.5"), ("-7.50", "-7.5"), ("0", "0"), ("-0", "0"), ("-0.000", "0"),
        ("0e5", "0"),
        ("1e2", "100"), ("1E+2", "100"), ("1.5e1", "15"), ("1.25e1", "12.5"), ("1e-3", "0.001"), ("12e-1", "1.2"),
        ("-1.5e-3", "-0.0015"), ("100", "100"), ("1000e-3", "1"), ("0.10", "0.1"), ("00012", "12"), ("+5", "5"),
        (".5", "0.5"),
        ("5.", "5"), ("12345678901234567890.5", "12345678901234567890.5"), ("1e400", "1" + zeros(400)),
        ("1e-400", "0." + zeros(399) + "1"), ("1e401", "1e401"), ("-25e-402", "-25e-402"), ("2500e-404", "25e-402"),
        ("", nil), ("-", nil), (".", nil), ("e5", nil), ("1e", nil), ("1e+", nil), ("1.2.3", nil), ("x", nil),
        ("1 ", nil),
        (" 1", nil), ("0x1", nil), ("1,5", nil), ("--1", nil), ("+-1", nil), ("1e1.5", nil), ("nan", nil),
        ("\u{0}", nil),
    ]

    @Test("A number has one shortest exact text", arguments: exactTexts)
    func writesExactly(_ text: String, _ expected: String?) {
        #expect(exact(text) == expected)
        if let expected { #expect(exact(expected) == expected) }
    }

    static let decimals: [(String, String?)] = [
        ("7.50", "7.5"), ("-0.0", "0"), ("1e3", "1000"), ("1e-7", "0.0000001"), ("19.990", "19.99"),
        ("12345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
        ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
        (
            "0.00000000000000000012345678901234567890123456789012345678",
            "0.00000000000000000012345678901234567890123456789012345678"
        ),
        ("123456789012345678901234567890123456780000", "123456789012345678901234567890123456780000"),
        ("1e127", "1" + zeros(127)), ("1e-127", "0." + zeros(126) + "1"), ("-1e127", "-1" + zeros(127)),
        ("123456789012345678901234567890123456789", nil), ("1.00000000000000000000000000000000000001", nil),
        ("1e128", nil),
        ("1e-128", nil), ("x", nil), ("", nil),
    ]

    @Test("A decimal has at most 38 digits and one text", arguments: decimals)
    func writesDecimals(_ text: String, _ expected: String?) {
        #expect(decimal(text) == expected)
    }

    @Test("The text of a decimal reads as the same decimal", arguments: decimals)
    func decimalsRoundTrip(_ text: String, _ expected: String?) throws {
        guard let expected else { return }
        let stored = try #require(StoredValue(text: expected, as: .decimal))
        var arena: [UInt8] = []
        let slot = stored.slot(arena: &arena)
        #expect(String(decoding: arena, as: UTF8.self) == expected)
        #expect(Int(slot.length) == arena.count)
    }

    @Test("Doubles are read as the nearest value, like strtod")
    func readsDoubles() {
        var state: UInt64 = 7
        func next(_ bound: UInt64) -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return (state >> 33) % bound
        }
        for _ in 0..<20_000 {
            let digits = String(next(1 << 31)) + (next(2) == 0 ? String(next(1 << 31)) : "")
            let place = Int(next(UInt64(digits.count)))
            var text =
                (next(2) == 0 ? "-" : "") + digits.prefix(place) + (place > 0 ? "." : "") + digits.dropFirst(place)
            if next(3) == 0 { text += "e\(Int(next(600)) - 300)" }
            let expected = Double(text).flatMap { $0.isFinite ? $0 : nil }
            #expect(double(text) == expected, "\(text)")
        }
    }

    @Test("The shortest text of a double reads as the same double")
    func doublesRoundTrip() {
        for value in [
            0.1, 1.0 / 3, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 123_456_789.125, 1e22, 1e23, -2.5e-8,
            9_007_199_254_740_992,
        ] {
            #expect(double("\(value)") == value)
            #expect(exact("\(value)").flatMap(double) == value)
        }
        for text in ["1e309", "-1e999999999999999999999", "nan", "inf", "infinity", "0x1p3", "", "-", "1e"] {
            #expect(double(text) == nil, "\(text)")
        }
        #expect(double("1e-999999999999999999999") == 0)
    }

    static let integers: [(String, Int64?)] = [
        ("0", 0), ("-0", 0), ("007", 7), ("+7", 7), ("7.000", 7), ("70e-1", 7), ("7e0", 7),
        ("1e18", 1_000_000_000_000_000_000),
        ("999999999999999999", 999_999_999_999_999_999), ("-99999999999999999", -99_999_999_999_999_999),
        ("9223372036854775807", .max), ("-9223372036854775808", .min), ("9223372036854775807.0", .max),
        ("9223372036854775808", nil), ("-9223372036854775809", nil), ("10000000000000000000", nil), ("1e19", nil),
        ("99999999999999999999", nil), ("0.1", nil), ("7.5", nil), ("1e-1", nil), ("-", nil), ("", nil), ("7a", nil),
        ("1e", nil),
        ("１", nil), ("1e99999999999999999999999", nil), ("0e99999999999999999999999", 0),
    ]

    @Test("Integers of 64 bits are read exactly in any spelling", arguments: integers)
    func readsIntegers(_ text: String, _ expected: Int64?) {
        #expect(integer(text) == expected)
    }

    @Test("A number of a million digits is read")
    func readsLongNumbers() {
        let nines = String(repeating: "9", count: 1_000_000)
        #expect(integer(nines) == nil)
        #expect(double(nines) == nil)
        #expect(decimal(nines) == nil)
        #expect(exact(nines) == nines)
        #expect(integer("1." + Self.zeros(1_000_000)) == 1)
        #expect(exact("0." + Self.zeros(1_000_000) + "1") == "1e-1000001")
    }
}
