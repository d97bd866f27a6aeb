import Foundation
import MemoryStore
import Sync
import SyncCore
import Testing

@Suite("Values that a store cannot keep")
struct ValueLimitTests {
    /// An attribute, its JSON key, a value at the limit, a value beyond it, and the description of the limit.
    struct Case: CustomTestStringConvertible, Sendable {
        let attribute: String
        let key: String
        let last: String
        let beyond: String
        let limit: String

        init(_ attribute: String, _ key: String, last: String, beyond: String, _ limit: String) {
            (self.attribute, self.key, self.last, self.beyond, self.limit) = (attribute, key, last, beyond, limit)
        }

        var testDescription: String { "\(key): \(beyond)" }
    }

    static let cases = [
        Case("text", "text", last: #""a b""#, beyond: #""a\u0000b""#, "a string without U+0000"),
        Case("text", "text", last: #""\\u0000""#, beyond: #""\\\u0000""#, "a string without U+0000"),
        Case("count", "count", last: "1000", beyond: "1001", "an integer from -1000 to 1000"),
        Case("count", "count", last: "\"-1000\"", beyond: "\"-1001\"", "an integer from -1000 to 1000"),
        Case("ratio", "ratio", last: "0.5", beyond: "0.500001", "a double from -0.5 to 0.5"),
        Case("price", "price", last: "2.50", beyond: "2.5000001", "a decimal from -2.5 to 2.5"),
        Case(
            "day", "day", last: "\"2000-12-31T00:00:00Z\"", beyond: "\"2000-12-31T00:00:00.001Z\"",
            "a date from 2000-01-01T00:00:00Z to 2000-12-31T00:00:00Z"),
        Case("day", "day", last: "946684800", beyond: "946684799", "a date from"),
        Case("extra", "extra", last: #"{"a": ["\\u0000"]}"#, beyond: #"{"a": ["\u0000"]}"#, "a json without U+0000"),
        Case("extra", "extra", last: #"{"a": 1}"#, beyond: #"{"a\\\u0000": 1}"#, "a json without U+0000"),
        Case("words", "words", last: #""a,b""#, beyond: #""a,\u0000""#, "a transformable without U+0000"),
    ]

    private func note(_ member: Case, _ value: String) -> Data {
        Data(#"[{"id": "n", "\#(member.key)": \#(value)}]"#.utf8)
    }

    @Test("A value beyond a limit is skipped, and the stored value stays", arguments: cases)
    func values(member: Case) async throws {
        let stack = try LimitedStore.stack()
        let first = try await Sync.changes(note(member, member.last), inEntity: "Note", stack: stack)
        #expect(first.diagnostics.isEmpty && first["Note"].insertedCount == 1)
        let stored = try #require(try await stack.fetch("Note", id: "n")?[member.attribute])
        #expect(!stored.isNull)

        let second = try await Sync.changes(note(member, member.beyond), inEntity: "Note", stack: stack)
        #expect(second.places == ["typeMismatch [0].\(member.key)"])
        #expect(second.diagnostics.first?.key == "n" && second.diagnostics.first?.entity == "Note")
        let message = second.diagnostics.first?.message
        #expect(message?.contains(" does not fit \(member.attribute), \(member.limit)") == true, "\(message ?? "")")
        #expect(try await stack.fetch("Note", id: "n")?[member.attribute] == stored)
        #expect(second["Note"].updatedCount == 0)
    }

    @Test("A strict sync fails for a value beyond a limit", arguments: cases)
    func strict(member: Case) async throws {
        let stack = try LimitedStore.stack()
        let options = SyncOptions(isStrict: true)
        _ = try await Sync.changes(note(member, member.last), inEntity: "Note", stack: stack, options: options)
        let error = await #expect(throws: SyncError.self) {
            try await Sync.changes(note(member, member.beyond), inEntity: "Note", stack: stack, options: options)
        }
        #expect(error?.code == .typeMismatch && error?.path == "[0].\(member.key)")
    }

    @Test("A store without limits keeps the same values, without a diagnostic", arguments: cases)
    func unlimited(member: Case) async throws {
        let stack = try LimitedStore.stack(.unlimited)
        let result = try await Sync.changes(note(member, member.beyond), inEntity: "Note", stack: stack)
        #expect(result.diagnostics.isEmpty)
        #expect(try await stack.fetch("Note", id: "n")?[member.attribute]?.isNull == false)
    }

    @Test("Values of nested records, of JSON values and of dictionaries are checked")
    func forms() async throws {
        let record: [String: Any] = [
            "id": "n", "text": "a\0b", "author": ["id": "a", "name": "\0"], "parts": [["kind": "k", "number": 1001]],
        ]
        let value = try JSONValue(any: record)
        let expected = ["typeMismatch [0].text", "typeMismatch [0].author.name", "typeMismatch [0].parts[0].number"]
        for result in [
            try await Sync.changes(JSONValue.array([value]), inEntity: "Note", stack: LimitedStore.stack()),
            try await Sync.changes([record], inEntity: "Note", stack: LimitedStore.stack()),
        ] {
            #expect(Set(expected).isSubset(of: result.places), "\(result.lines)")
            #expect(result["Author"].insertedCount == 1 && result["Part"].insertedCount == 0)
        }
    }

    @Test("Values in chunks are checked, with their paths in the payload", arguments: [1, 30, 1000])
    func chunks(size: Int) async throws {
        let stack = try LimitedStore.stack()
        let json = #"[{"id": "a", "text": "\u0000"}, {"id": "b", "count": 1001}, {"id": "c", "count": 1000}]"#
        let stream = AsyncStream<[UInt8]> { stream in
            for byte in json.utf8 { stream.yield([byte]) }
            stream.finish()
        }
        let result = try await Sync.changes(
            .buffers(stream), inEntity: "Note", stack: stack, options: SyncOptions(chunkSize: size))
        #expect(result.places == ["typeMismatch [0].text", "typeMismatch [1].count"])
        #expect(result["Note"].insertedCount == 3)
    }

    @Test("Values without a limit are stored")
    func otherValues() async throws {
        let stack = try LimitedStore.stack()
        let json = """
            [{"id": "n", "is_open": true, "site": "https://example.org", "photo": "AAEC", "plain": {"a": 1}, \
            "text": null, "count": null, "extra": null}]
            """
        let result = try await Sync.changes(Data(json.utf8), inEntity: "Note", stack: stack)
        #expect(result.diagnostics.isEmpty)
        let row = try #require(try await stack.fetch("Note", id: "n"))
        #expect(row["isOpen"] == .boolean(true) && row["photo"] == .binary(Data([0, 1, 2])))
        #expect(row["plain"] == .null && row["count"] == .null)
    }

    @Test("Dates beyond the years of the model limit nothing")
    func wideDates() {
        var capabilities = StoreCapabilities()
        capabilities.dates = Date.distantPast.addingTimeInterval(-1e11)...Date.distantFuture.addingTimeInterval(1e12)
        #expect(capabilities.limit(of: .date, isKey: false) == nil)
    }

    @Test("Calls for single rows skip or reject values beyond a limit")
    func singleRows() async throws {
        let stack = try LimitedStore.stack()
        let inserted = try await Sync.insertOrUpdate(
            ["id": "n", "text": "a\0b", "count": 1], inEntity: "Note", stack: stack)
        #expect(inserted.result.places == ["typeMismatch [0].text"] && inserted.row["text"] == .null)
        let updated = try await Sync.update(
            id: "n", with: ["count": 1001, "text": "c"], inEntity: "Note", stack: stack)
        #expect(updated?.result.places == ["typeMismatch [0].count"])
        #expect(updated?.row["count"] == .integer(1) && updated?.row["text"] == .string("c"))
        let error = await #expect(throws: SyncError.self) {
            try await stack.insert("Note", values: ["id": "m", "text": "\0"])
        }
        #expect(error?.code == .typeMismatch && error?.path == "text")
        try await stack.updateAttributes("Note", with: ["text": "\0", "count": 2], where: .where("id == 'n'"))
        #expect(try await stack.fetch("Note", id: "n")?["text"] == .string("c"))
    }

    @Test("The answers of an insert hook are checked")
    func hooks() async throws {
        var options = SyncOptions()
        options.willInsert = { row in
            guard case .object(let members) = row.record else { return row.record }
            return .object(members + [.init("text", "\0")])
        }
        let stack = try LimitedStore.stack()
        let result = try await Sync.changes(
            Data(#"[{"id": "n"}]"#.utf8), inEntity: "Note", stack: stack, options: options)
        #expect(result.places == ["typeMismatch [0].text"] && result["Note"].insertedCount == 1)
    }
}
