import Foundation
import Sync
import Testing

/// Texts that look alike and have different bytes. They are equal as Swift strings, but not in JSON and in the
/// database.
@Suite("Texts that look alike")
struct CanonicallyEquivalentTextTests {
    private let composed = "Caf\u{E9}"
    private let combined = "Cafe\u{301}"
    private let stack: DataStack

    init() throws {
        let attributes = [
            SyncModel.Attribute("id", .string, isPrimaryKey: true), SyncModel.Attribute("name", .string),
            SyncModel.Attribute("extra", .json),
        ]
        stack = try DataStack.inMemory(SyncModel(entities: [SyncModel.Entity("Place", attributes: attributes)]))
    }

    private func place(_ id: String, name: String, extra: JSONValue = nil) -> JSONValue {
        ["id": .string(id), "name": .string(name), "extra": extra]
    }

    @Test("A text that looks like the stored one and has other bytes is an update, once")
    func lookalikeIsAnUpdate() async throws {
        _ = try await Sync.changes([place("1", name: composed)], inEntity: "Place", stack: stack)
        let second = try await Sync.changes([place("1", name: combined)], inEntity: "Place", stack: stack)
        #expect(second["Place"].updatedCount == 1)
        let row = try #require(try await stack.fetch("Place", id: "1"))
        #expect(row["name"] == .string(combined))
        #expect(row["name"] != .string(composed))
        #expect(try await Sync.changes([place("1", name: combined)], inEntity: "Place", stack: stack).isEmpty)
    }

    @Test("A text that looks like the stored one and has other bytes updates a single row")
    func lookalikeUpdatesSingleRow() throws {
        _ = try stack.updateAttributes("Place", with: place("1", name: composed))
        let predicate = RowPredicate.where("id == '1'")
        let filled = try stack.updateAttributes("Place", with: ["name": .string(combined)], where: predicate)
        let name = try #require(filled.row["name"]?.string)
        #expect(Array(name.utf8) == Array(combined.utf8))
    }

    @Test("Texts that look alike and have different bytes are different row keys")
    func lookalikesAreDifferentKeys() async throws {
        let payload: JSONValue = [place(composed, name: "a"), place(combined, name: "b")]
        let result = try await Sync.changes(payload, inEntity: "Place", stack: stack)
        #expect(result["Place"].insertedCount == 2)
        #expect(try await stack.fetch("Place", id: .string(composed))?["name"] == .string("a"))
        #expect(try await stack.fetch("Place", id: .string(combined))?["name"] == .string("b"))
        let changes = try await Sync.changes(
            [place(composed, name: "c"), place(combined, name: "d")], inEntity: "Place", stack: stack)
        #expect(changes["Place"].updated.count == 2)
        #expect(changes["Place"].deleted.isEmpty)
        #expect(
            try await Sync.changes([place(composed, name: "c")], inEntity: "Place", stack: stack)["Place"].deletedCount
                == 1)
        #expect(try await stack.fetch("Place", id: .string(composed)) != nil)
    }

    @Test("Texts that look alike and have different bytes are different keys in a JSON attribute")
    func lookalikesAreDifferentJSONKeys() async throws {
        let extra = JSONValue.object([.init(combined, 1), .init(composed, 2)])
        _ = try await Sync.changes([place("1", name: "a", extra: extra)], inEntity: "Place", stack: stack)
        let stored = try #require(try await stack.fetch("Place", id: "1")?["extra"]?.json)
        #expect(stored[combined] == 1)
        #expect(stored[composed] == 2)
    }

    @Test("An observation reports a text that looks like the old one and has other bytes")
    func lookalikeIsObserved() async throws {
        _ = try await Sync.changes(
            [place(composed, name: composed), place(combined, name: "b")], inEntity: "Place", stack: stack)
        var changes = stack.observeChanges("Place").makeAsyncIterator()
        let first = try #require(try await changes.next())
        #expect(first.inserted == [0, 1])
        let index = try #require(first.rows.firstIndex { $0.key == .text(composed) })
        _ = try await Sync.changes(
            [place(composed, name: combined), place(combined, name: "b")], inEntity: "Place", stack: stack)
        let second = try #require(try await changes.next())
        #expect(second.updated == [.init(old: index, new: index)])
        #expect(second.inserted.isEmpty && second.removed.isEmpty && second.moved.isEmpty)
    }

    @Test("An export keyed by an attribute takes texts that look alike as different keys")
    func lookalikesAreDifferentObjectKeys() async throws {
        _ = try await Sync.changes(
            [place("1", name: composed), place("2", name: combined)], inEntity: "Place", stack: stack)
        let exported = try JSONValue(parsing: exportedByName())
        #expect(exported[composed]?["id"] == "1")
        #expect(exported[combined]?["id"] == "2")
    }

    private func exportedByName() throws -> Data {
        var text = Data()
        try stack.writeExport("Place", options: ExportOptions(keyedBy: .attribute("name"))) { text += $0 }
        return text
    }

    @Test("Two contents of a store differ if a text has other bytes")
    func contentsAreComparedByteForByte() async throws {
        _ = try await Sync.changes([place("1", name: composed)], inEntity: "Place", stack: stack)
        let before = try await stack.contents()
        _ = try await Sync.changes([place("1", name: combined)], inEntity: "Place", stack: stack)
        let after = try await stack.contents()
        #expect(after != before)
        #expect(after.differences(from: before).count == 1)
    }

    @Test("A keyed relationship to rows whose keys look alike is exported as an object")
    func lookalikesAreKeysOfRelationship() async throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "Trip", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: [SyncModel.Relationship("places", to: "Place", many: true, keyedBy: .primaryKey)]),
            SyncModel.Entity("Place", attributes: [SyncModel.Attribute("id", .string)]),
        ])
        let stack = try DataStack.inMemory(model)
        let places = JSONValue.object([.init(composed, [:]), .init(combined, [:])])
        let result = try await Sync.changes([["id": 1, "places": places]], inEntity: "Trip", stack: stack)
        #expect(result["Place"].insertedCount == 2)
        let exported = try #require(try await stack.export("Trip").first?["places"])
        #expect(exported[composed] == [:])
        #expect(exported[combined] == [:])
    }
}
