import Foundation
import Sync
import Testing

@Suite("Exported values")
struct ExportValueTests {
    static let wrapped = AttributeTransformer("Wrapped") { json in
        guard case .array(let elements) = json, let first = elements.first else { return .json(json) }
        return .json(first)
    } exporting: { value in
        guard let text = value.string, !text.isEmpty else { return nil as JSONValue? }
        return [.string(text)]
    }
    static let oneWay = AttributeTransformer("OneWay") { .json($0) }

    private func exported(_ values: JSONValue) async throws -> JSONValue? {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "Word",
                attributes: [
                    SyncModel.Attribute("id", .integer), SyncModel.Attribute("both", .string, transformer: "Wrapped"),
                    SyncModel.Attribute("oneWay", .string, transformer: "OneWay"),
                    SyncModel.Attribute("unknown", .string, transformer: "Nowhere"),
                    SyncModel.Attribute("opaque", .transformable, transformer: "Wrapped"),
                ])
        ])
        let stack = try DataStack.inMemory(model.registering(Self.wrapped, Self.oneWay), transformers: .optional)
        try await Sync.changes([values], inEntity: "Word", stack: stack)
        try await RoundTrip.expectNoChange(stack, "transformers")
        return try await stack.export("Word").first
    }

    @Test("Exported values pass their transformer, and are left out if it cannot export")
    func transformersExportValues() async throws {
        let all: JSONValue = ["id": 1, "both": ["a"], "one_way": "b", "unknown": "c", "opaque": ["d"]]
        #expect(try await exported(all) == ["id": 1, "both": ["a"], "unknown": "c"])
        #expect(try await exported(["id": 1, "both": ""]) == ["id": 1, "unknown": nil])
        #expect(try await exported(["id": 1]) == ["id": 1, "both": nil, "unknown": nil])
    }

    /// Returns an exported date. An ISO 8601 date must be read as the same instant.
    private func date(_ text: String, _ options: ExportOptions) async throws -> String? {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "Day", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("at", .date)])
        ])
        let stack = try DataStack.inMemory(model)
        try await Sync.changes([["id": 1, "at": .string(text)]], inEntity: "Day", stack: stack)
        let record = try #require(try await stack.export("Day", options: options).first)
        if [.attribute, .iso8601].contains(options.dateFormat) {
            let result = try await Sync.changes([record], inEntity: "Day", stack: stack)
            #expect(result.isEmpty)
            #expect(result.diagnostics == [])
        }
        guard case .string(let found)? = record["at"] else { return nil }
        return found
    }

    static let zones: [(String, String, String)] = [
        ("2024-02-29T18:29:59.999Z", "GMT", "2024-02-29T18:29:59.999Z"),
        ("2024-02-29T18:29:59.010Z", "Asia/Kathmandu", "2024-03-01T00:14:59.010+05:45"),
        ("2024-07-01T00:00:00Z", "America/St_Johns", "2024-06-30T21:30:00-02:30"),
        ("0001-01-01T00:00:00Z", "Etc/GMT+3", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999Z", "Etc/GMT-3", "9999-12-31T23:59:59.999Z"),
    ]

    @Test("Dates in a time zone end in its offset and read as the same instant", arguments: zones)
    func dateHasOffset(text: String, zone: String, expected: String) async throws {
        let zone = try #require(TimeZone(identifier: zone))
        #expect(try await date(text, ExportOptions(timeZone: zone)) == expected)
    }

    @Test("A date whose offset has seconds is exported in UTC")
    func offsetWithSecondsIsUTC() async throws {
        let zone = try #require(TimeZone(identifier: "America/New_York"))
        let found = try await date("1880-01-01T12:00:00Z", ExportOptions(timeZone: zone))
        #expect(found == "1880-01-01T12:00:00Z")
    }

    @Test("Dates may be exported in a pattern")
    func datesInAPattern() async throws {
        let options = ExportOptions(dateFormat: .pattern("EEE d MMM yyyy"))
        #expect(try await date("2024-02-29T18:29:59Z", options) == "Thu 29 Feb 2024")
        #expect(try await date("1066-10-14", ExportOptions(dateFormat: .pattern("yyyy-MM-dd"))) == "1066-10-14")
    }

    @Test(
        "An export with an invalid pattern of dates is an error",
        arguments: ["YYYY-MM-DD", "foo", "unix-seconds", "%Y-%m-%d", "", "''", "'day"])
    func invalidPattern(_ pattern: String) async throws {
        let error = await #expect(throws: SyncError.self) {
            try await date("2024-12-30", ExportOptions(dateFormat: .pattern(pattern)))
        }
        #expect(error?.code == .invalidOption)
        #expect(error?.message.hasPrefix("'\(pattern)' is not a date pattern: ") == true)
    }

    @Test("Exported text is imported byte for byte")
    func textIsExact() async throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "Word", primaryKey: "word",
                attributes: [SyncModel.Attribute("word", .string), SyncModel.Attribute("size", .double)])
        ])
        let stack = try DataStack.inMemory(model)
        let words = ["", "\u{0}x", "é", "e\u{301}", "\"\\/\n\r\t\u{1F}\u{7F}\u{2028}", "\u{1F469}\u{200D}\u{1F680}"]
        let records = words.map { JSONValue.object([.init("word", .string($0)), .init("size", .number("5e-324"))]) }
        try await Sync.changes(.array(records), inEntity: "Word", stack: stack)
        let text = try stack.exportedText("Word")
        guard case .array(let found) = try JSONValue(parsing: text) else {
            Issue.record("no array")
            return
        }
        #expect(Set(found.compactMap { $0["word"] }) == Set(words.map { .string($0) }))
        #expect(try await Sync.changes(text, inEntity: "Word", stack: stack).isEmpty)
    }
}
