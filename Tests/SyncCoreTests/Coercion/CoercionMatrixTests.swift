import Foundation
import SyncCore
import Testing

/// Conversion of each kind of JSON to each attribute type.
@Suite("Coercion of JSON to attribute types")
struct CoercionMatrixTests {
    struct Cell: Sendable, CustomTestStringConvertible {
        let type: AttributeType
        let json: String
        /// Nil if the JSON has no value of the type.
        let expected: StoredValue?

        var testDescription: String { "\(type) of \(json)" }
    }

    private static func cells(_ type: AttributeType, _ values: [(String, StoredValue?)]) -> [Cell] {
        values.map { Cell(type: type, json: $0.0, expected: $0.1) }
    }

    private static func nothing(_ type: AttributeType, _ texts: [String]) -> [Cell] {
        texts.map { Cell(type: type, json: $0, expected: nil) }
    }

    private static let containers = ["{}", "[]", "[7]", "{\"a\":7}", "[\"7\"]"]

    static let cells: [Cell] = numbers + words + texts + structures

    // MARK: Numbers

    private static let numbers: [Cell] =
        cells(
            .integer,
            [
                ("7", .integer(7)), ("7.0", .integer(7)), ("1e2", .integer(100)), ("-0", .integer(0)),
                ("10e-1", .integer(1)),
                ("-7.000", .integer(-7)), ("0.5e1", .integer(5)), ("1E+2", .integer(100)), ("0e999999999", .integer(0)),
                ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
                ("9.223372036854775807e18", .integer(.max)), ("9007199254740993", .integer(9_007_199_254_740_993)),
                ("\"7\"", .integer(7)), ("\"7.0\"", .integer(7)), ("\"-1e2\"", .integer(-100)),
                ("\"\\u0037\"", .integer(7)),
                ("\"9223372036854775807\"", .integer(.max)), ("true", .integer(1)), ("false", .integer(0)),
            ])
        + nothing(
            .integer,
            [
                "7.5", "1e-2", "9223372036854775808", "-9223372036854775809", "1e19", "1e999999999999", "\"7.5\"",
                "\"\"",
                "\" 7\"", "\"7 \"", "\"seven\"", "\"0x7\"", "\"1,000\"", "\"1_000\"", "\"٧\"", "\"true\"", "\"-\"",
                "\".\"",
                "\"1e\"", "\"--1\"", "\"7\\u0000\"",
            ] + containers)
        + cells(
            .double,
            [
                ("7", .double(7)), ("0.1", .double(0.1)), ("-1.5e-7", .double(-1.5e-7)), ("-0.0", .double(0)),
                ("1.7976931348623157e308", .double(.greatestFiniteMagnitude)),
                ("5e-324", .double(.leastNonzeroMagnitude)),
                ("1e-400", .double(0)), ("100000000000000000000000000000", .double(1e29)),
                ("9007199254740993", .double(9_007_199_254_740_992)), ("0.30000000000000004", .double(0.1 + 0.2)),
                ("\"7.25\"", .double(7.25)), ("\"1e3\"", .double(1000)), ("\"-7\"", .double(-7)), ("true", .double(1)),
                ("false", .double(0)),
            ])
        + nothing(
            .double,
            [
                "1e309", "-1e400", "\"\"", "\"nan\"", "\"inf\"", "\"Infinity\"", "\"0x1p3\"", "\" 1\"", "\"1.5 \"",
                "\"1,5\"", "\"1.2.3\"",
            ]
                + containers)
        + cells(
            .decimal,
            [
                ("7", decimal("7")), ("7.50", decimal("7.5")), ("0.1", decimal("0.1")), ("-0.00", decimal("0")),
                ("1e3", decimal("1000")), ("-1.5e-7", decimal("-0.00000015")),
                ("12345678901234567890123456789012345678", decimal("12345678901234567890123456789012345678")),
                ("0.12345678901234567890123456789012345678", decimal("0.12345678901234567890123456789012345678")),
                ("99999999999999999999999999999999999999", decimal("99999999999999999999999999999999999999")),
                ("\"19.990\"", decimal("19.99")), ("\"-1e2\"", decimal("-100")), ("true", decimal("1")),
                ("false", decimal("0")),
            ])
        + nothing(
            .decimal,
            [
                "123456789012345678901234567890123456789", "0.123456789012345678901234567890123456789", "1e400",
                "1e-400",
                "\"\"", "\"x\"", "\"1,5\"", "\"nan\"", "\"NaN\"", "\" 1\"", "\"€5\"",
            ] + containers)

    private static func decimal(_ text: String) -> StoredValue? {
        Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")).map(StoredValue.decimal)
    }

    // MARK: Booleans and strings

    private static let words: [Cell] =
        ["1", "1.0", "10e-1", "true", "\"true\"", "\"TRUE\"", "\"Yes\"", "\"yes\"", "\"1\"", "\"\\u0031\""].map {
            Cell(type: .boolean, json: $0, expected: .boolean(true))
        }
        + ["0", "-0", "0.0", "false", "\"false\"", "\"False\"", "\"no\"", "\"NO\"", "\"0\""].map {
            Cell(type: .boolean, json: $0, expected: .boolean(false))
        }
        + nothing(
            .boolean,
            [
                "2", "-1", "0.5", "1e1", "\"\"", "\"2\"", "\"y\"", "\"on\"", "\"1.0\"", "\" true\"", "\"truee\"",
                "\"null\"",
            ]
                + containers)
        + cells(
            .string,
            [
                ("7", .string("7")), ("7.50", .string("7.5")), ("7.0", .string("7")), ("1e2", .string("100")),
                ("-0", .string("0")), ("-1.5e-3", .string("-0.0015")), ("0.1", .string("0.1")),
                ("12345678901234567890.5", .string("12345678901234567890.5")), ("\"\"", .string("")),
                ("\"7.50\"", .string("7.50")), ("\" a \"", .string(" a ")), ("\"é\\n\\u0000😀\"", .string("é\n\u{0}😀")),
                ("\"true\"", .string("true")), ("true", .string("1")), ("false", .string("0")),
            ]) + nothing(.string, containers)

    // MARK: Formatted strings

    private static let uuid = "0F8FAD5B-D9CB-469F-A165-70867728950E"

    private static let texts: [Cell] =
        cells(
            .date,
            [
                ("1441888808", .date(Date(timeIntervalSince1970: 1_441_888_808))),
                ("1441888808.5", .date(Date(timeIntervalSince1970: 1_441_888_808.5))),
                ("0", .date(Date(timeIntervalSince1970: 0))),
                ("\"1441888808\"", .date(Date(timeIntervalSince1970: 1_441_888_808))),
                ("\"2015-09-10T12:40:08Z\"", .date(Date(timeIntervalSince1970: 1_441_888_808))),
                ("\"2015\\u002d09-10 12:40:08.25\"", .date(Date(timeIntervalSince1970: 1_441_888_808.25))),
            ])
        + nothing(.date, ["1e30", "\"\"", "\"soon\"", "\"2015-13-01\"", "true", "false"] + containers)
        + cells(
            .uuid,
            [
                "\"\(uuid)\"", "\"\(uuid.lowercased())\"", "\"0f8FAD5B-d9cb-469F-A165-70867728950e\"",
                "\"\\u0030\(uuid.dropFirst())\"",
            ]
            .map { ($0, UUID(uuidString: uuid).map(StoredValue.uuid)) })
        + nothing(
            .uuid,
            [
                "\"\(uuid.dropLast())\"", "\"\(uuid)0\"", "\"{\(uuid)}\"", "\"\(uuid.replacing("-", with: ""))\"",
                "\"\(uuid.replacing("-", with: "0"))\"",
                "\"\"",
                "\"\(uuid.dropLast())G\"", "\" \(uuid)\"", "\"0F8FAD5BD-9CB-469F-A165-70867728950E\"", "7", "true",
                "false",
            ] + containers)
        + cells(
            .url,
            ["https://example.com/a?b=c#d", "/a/b%20c", "a", "mailto:a@b", "https://exämple.com/ü", "http://[::1]:80/"]
                .map {
                    ("\"\($0)\"", .url($0))
                } + [("\"https:\\/\\/a\"", .url("https://a"))])
        + nothing(
            .url,
            [
                "\"\"", "\"a b\"", "\" a\"", "\"a\\tb\"", "\"a%2\"", "\"a%zz\"", "\"%\"", "\"<a>\"", "\"a\\u0000\"",
                "7", "true", "false",
            ]
                + containers)
        + cells(
            .binary,
            [
                ("\"aGVsbG8=\"", .binary(Data("hello".utf8))), ("\"\"", .binary(Data())),
                ("\"+\\/+\\/\"", .binary(Data([0xFB, 0xFF, 0xBF]))),
                ("\"AA==\"", .binary(Data([0]))),
            ])
        + nothing(
            .binary,
            [
                "\"aGVsbG8\"", "\"a===\"", "\"=\"", "\"aGVs bA==\"", "\"aGVs\\nbA==\"", "\"-_-_\"", "\"é\"", "7",
                "true", "false",
            ] + containers)

    // MARK: Structures

    private static let structures: [Cell] =
        cells(
            .json,
            [
                ("7.0", .json(7)), ("\"a\\/b\"", .json("a/b")), ("true", .json(true)), ("false", .json(false)),
                ("[]", .json([])),
                ("{\"b\":1.50,\"a\":[null]}", .json(["a": [nil], "b": .number("1.5")])),
                ("{\"a\":1,\"a\":2}", .json(["a": 2])),
                ("\"2015-09-10\"", .json("2015-09-10")), ("1e2", .json(100)),
            ]) + nothing(.transformable, ["7", "7.5", "\"x\"", "\"\"", "true", "false"] + containers)

    @Test("JSON that fits the attribute type is converted, and other JSON is rejected", arguments: cells)
    func coercesFittingJSON(_ cell: Cell) throws {
        let value = try JSONValue(parsing: cell.json)
        #expect(Coercion.storedValue(value, as: cell.type) == cell.expected)
        // The mapper packs a value directly, so both conversions must agree.
        var arena: [UInt8] = []
        let expected = cell.expected?.slot(arena: &arena)
        let staged = try StagedValue(payload: cell.json, as: cell.type)
        #expect(staged == expected.map { StagedValue($0, arena: arena) })
    }

    @Test("Null converts to null for every attribute type", arguments: AttributeType.allCases)
    func nullStaysNull(_ type: AttributeType) throws {
        #expect(Coercion.storedValue(.null, as: type) == .null)
        #expect(try StagedValue(payload: "null", as: type) == StagedValue(.null, arena: []))
    }

    @Test("The JSON form of a stored value coerces to the same value", arguments: cells)
    func jsonFormRoundTrips(_ cell: Cell) {
        guard let stored = cell.expected else { return }
        #expect(Coercion.storedValue(stored.jsonForm, as: cell.type) == stored)
    }

    @Test("A packed value converts back to the stored value", arguments: cells)
    func packedValueRoundTrips(_ cell: Cell) {
        guard let stored = cell.expected else { return }
        var arena = Array("before".utf8)
        let slot = stored.slot(arena: &arena)
        let empty = UnsafeBufferPointer<UInt8>(start: nil, count: 0)
        let back = arena.withUnsafeBufferPointer {
            StoredValue(slot, as: cell.type, TextPool(payload: empty, arena: $0))
        }
        #expect(back == stored)
    }

    @Test("Every attribute type is tested with every kind of JSON", arguments: AttributeType.allCases)
    func matrixIsComplete(_ type: AttributeType) {
        let beginnings = Set(Self.cells.filter { $0.type == type }.compactMap(\.json.first))
        for kind in ["\"", "t", "f", "{", "["] as [Character] { #expect(beginnings.contains(kind)) }
        #expect(!beginnings.isDisjoint(with: "-0123456789"))
    }
}
