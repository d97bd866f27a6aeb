import Foundation
import Sync
import Testing

@Suite("Value transformers")
struct TransformerTests {
    static let shout = AttributeTransformer("Shout") { json in
        guard case .string(let text) = json else { return nil }
        return .string(text.uppercased())
    }
    static let first = AttributeTransformer("First") { json in
        guard case .array(let elements) = json, let first = elements.first else { return nil }
        return .json(first)
    }

    private func store() throws -> DataStack {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "Word",
                attributes: [
                    SyncModel.Attribute("id", .integer), SyncModel.Attribute("text", .string, transformer: "Shout"),
                    SyncModel.Attribute("count", .integer, transformer: "First"),
                    SyncModel.Attribute("any", .transformable, transformer: "First"),
                    SyncModel.Attribute("none", .transformable),
                    SyncModel.Attribute("unknown", .string, transformer: "Nowhere"),
                ])
        ])
        return try DataStack.inMemory(
            model.registering(Self.shout).registering(Self.first), transformers: .optional)
    }

    @Test("A transformer runs before the coercion of its result, and is not called for null")
    func transformersReplaceCoercion() async throws {
        let stack = try store()
        let record: JSONValue = [
            "id": 1, "text": "loud", "count": ["7"], "any": [["a": 1]], "none": "x", "unknown": 5,
        ]
        try await Sync.changes(.array([record]), inEntity: "Word", stack: stack)
        let row = try #require(try await stack.fetch("Word", id: 1))
        #expect(row["text"] == .string("LOUD"))
        #expect(row["count"] == .integer(7))
        #expect(row["any"] == .json(["a": 1]))
        #expect(row["none"] == .null)
        #expect(row["unknown"] == .string("5"))
        #expect(try await Sync.changes(.array([record]), inEntity: "Word", stack: stack).isEmpty)
        try await Sync.changes([["id": 1, "text": nil]], inEntity: "Word", stack: stack)
        #expect(try await stack.fetch("Word", id: 1)?["text"] == .null)
    }

    @Test("A value that a transformer rejects keeps the stored value and is reported")
    func rejectedValueKeepsTheStoredOne() async throws {
        let stack = try store()
        try await Sync.changes([["id": 1, "count": [7]]], inEntity: "Word", stack: stack)
        let result = try await Sync.changes([["id": 1, "count": 8]], inEntity: "Word", stack: stack)
        #expect(result.diagnostics.map(\.path) == ["[0].count"])
        #expect(try await stack.fetch("Word", id: 1)?["count"] == .integer(7))
    }
}
