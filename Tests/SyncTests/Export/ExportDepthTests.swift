import Foundation
import Sync
import Testing

@Suite("Deep exports")
struct ExportDepthTests {
    /// Returns a store whose rows are linked in one long circle.
    private func chain(_ count: Int) async throws -> DataStack {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "Link", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("any", .json)],
                relationships: [
                    SyncModel.Relationship("next", to: "Link", inverse: "previous"),
                    SyncModel.Relationship("previous", to: "Link", many: true, inverse: "next"),
                ])
        ])
        let stack = try DataStack.inMemory(model)
        let records: [JSONValue] = (1...count).map { ["id": JSONValue($0), "next": JSONValue($0 % count + 1)] }
        try await Sync.changes(.array(records), inEntity: "Link", stack: stack)
        return stack
    }

    /// Returns the number of nested objects along a relationship.
    private func length(_ record: JSONValue, along key: String) -> Int {
        var length = 1
        var current = record
        while let next = current[key] {
            if case .array(let elements) = next {
                guard let first = elements.first else { break }
                current = first
            } else {
                current = next
            }
            length += 1
        }
        return length
    }

    @Test("A deep export ends at the nesting limit of JSON, and its import changes nothing")
    func exportEndsAtTheLimit() async throws {
        let stack = try await chain(600)
        let records = try await stack.export("Link", limit: 1)
        #expect(length(try #require(records.first), along: "next") == 511)
        #expect(length(try #require(records.first), along: "previous") == 256)
        let text = try stack.exportedText("Link", limit: 1)
        var options = SyncOptions()
        options.payloadKind = .delta
        let result = try await Sync.changes(text, inEntity: "Link", stack: stack, options: options)
        #expect(result.isEmpty)
        #expect(result.diagnostics == [])
    }

    @Test("A circle of rows is exported once around")
    func circleIsExportedOnce() async throws {
        let stack = try await chain(5)
        let record = try #require(try await stack.export("Link", where: "id == 2").first)
        #expect(length(record, along: "next") == 5)
        #expect(length(record, along: "previous") == 5)
        try await RoundTrip.expectNoChange(stack, "a circle")
    }

    @Test("A JSON value is exported where it fits the nesting limit, and omitted elsewhere")
    func deepValueIsOmitted() async throws {
        let stack = try await chain(3)
        var deep: JSONValue = []
        for _ in 0..<509 { deep = [deep] }
        try await Sync.changes([["id": 1, "any": deep]], inEntity: "Link", stack: stack, options: delta)
        let record = try #require(try await stack.export("Link", where: "id == 1").first)
        #expect(record["any"] == deep)
        let next = try #require(try await stack.export("Link", where: "id == 3").first?["next"])
        #expect(next["id"] == 1)
        #expect(next["any"] == nil)
        let records = try await stack.export("Link")
        #expect(try await Sync.changes(.array(records), inEntity: "Link", stack: stack).isEmpty)
    }

    private var delta: SyncOptions {
        var options = SyncOptions()
        options.payloadKind = .delta
        return options
    }
}
