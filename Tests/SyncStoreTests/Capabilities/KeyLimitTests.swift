import Foundation
import MemoryStore
import Sync
import SyncCore
import Testing

/// Keys of at most 12 bytes without U+0000.
@Suite("Keys that a store cannot keep")
struct KeyLimitTests {
    static let last = ["123456789012", "éééééé", "\u{1}"]
    static let beyond = ["1234567890123", "éééééé!", "a\0", "\0"]

    private func sync(
        _ json: String, _ entity: String, _ stack: MemoryStack, parent: SyncParent? = nil,
        options: SyncOptions = SyncOptions(resultDetail: .keys)
    ) async throws -> SyncResult {
        try await Sync.changes(Data(json.utf8), inEntity: entity, stack: stack, parent: parent, options: options)
    }

    private func text(_ key: String) -> String { JSONValue.string(key).description }

    @Test("The longest keys are stored", arguments: last)
    func lastKeys(key: String) async throws {
        let stack = try LimitedStore.stack()
        let record = #"[{"id": \#(text(key)), "author_id": \#(text(key)), "tags_ids": [\#(text(key))]}]"#
        let result = try await sync(record, "Note", stack)
        #expect(result.diagnostics.isEmpty && result.pendingReferences.count == 2)
        #expect(try await stack.fetch("Note", id: .string(key))?.key == .text(key))
    }

    @Test("A root record whose key the store cannot keep has an unreadable key", arguments: beyond)
    func rootRecords(key: String) async throws {
        let stack = try LimitedStore.stack()
        _ = try await sync(#"[{"id": "a"}, {"id": "b"}]"#, "Note", stack)
        let result = try await sync(#"[{"id": "a"}, {"id": \#(text(key))}]"#, "Note", stack)
        #expect(
            result.places == ["typeMismatch [1].id", "missingPrimaryKey [1]", "deletionsSkipped [1]"],
            "\(result.lines)")
        #expect(result.lines.first?.hasSuffix("does not fit id, a string of at most 12 bytes without U+0000") == true)
        #expect(try await stack.count("Note") == 2)
        for options in [SyncOptions(isStrict: true), SyncOptions()] {
            let error = await #expect(throws: SyncError.self) {
                try await sync(#"[{"id": \#(text(key))}]"#, "Note", stack, options: options)
            }
            #expect(error?.code == (options.isStrict ? .typeMismatch : .noRecords))
        }
    }

    @Test("A nested record whose key the store cannot keep is skipped, and its links stay", arguments: beyond)
    func nestedRecords(key: String) async throws {
        let stack = try LimitedStore.stack()
        _ = try await sync(#"[{"id": "n", "author": {"id": "a"}, "tags": [{"id": "t"}]}]"#, "Note", stack)
        let record = #"[{"id": "n", "author": {"id": \#(text(key))}, "tags": [{"id": \#(text(key))}]}]"#
        let result = try await sync(record, "Note", stack)
        #expect(
            Set(result.places) == [
                "typeMismatch [0].author.id", "missingPrimaryKey [0].author", "typeMismatch [0].tags[0].id",
                "missingPrimaryKey [0].tags[0]",
            ])
        let row = try #require(try await stack.fetch("Note", id: "n"))
        #expect(try await stack.fetchRelated("author", of: row).map(\.key) == [.text("a")])
        #expect(try await stack.fetchRelated("tags", of: row).map(\.key) == [.text("t")])
    }

    @Test("An ID that the store cannot keep is skipped", arguments: beyond)
    func references(key: String) async throws {
        let stack = try LimitedStore.stack()
        _ = try await sync(#"[{"id": "n", "author": {"id": "a"}, "tags": [{"id": "t"}]}]"#, "Note", stack)
        let record = #"[{"id": "n", "author_id": \#(text(key)), "tags_ids": ["t", \#(text(key))]}]"#
        let result = try await sync(record, "Note", stack)
        #expect(result.places == ["typeMismatch [0].author_id", "typeMismatch [0].tags_ids"])
        #expect(
            result.diagnostics.last?.message
                == "a string is not a valid key of Tag, a string of at most 12 bytes without U+0000; it is skipped")
        #expect(result.pendingReferences.isEmpty)
        let row = try #require(try await stack.fetch("Note", id: "n"))
        #expect(try await stack.fetchRelated("author", of: row).map(\.key) == [.text("a")])
        #expect(try await stack.fetchRelated("tags", of: row).map(\.key) == [.text("t")])
    }

    @Test("An object key that the store cannot keep makes its record unreadable")
    func objectKeys() async throws {
        let stack = try LimitedStore.stack()
        let json = #"{"123456789012": {"text": "a"}, "1234567890123": {"text": "b"}, "\u0000": {"text": "c"}}"#
        let result = try await sync(json, "Note", stack, options: SyncOptions(keyedBy: .primaryKey))
        #expect(result["Note"].insertedCount == 1)
        #expect(result.diagnostics.filter { $0.kind == .typeMismatch }.count == 2)
        #expect(result.diagnostics.filter { $0.kind == .missingPrimaryKey }.count == 2)
    }

    // MARK: Composite keys

    @Test("A composite key has the length of its text")
    func compositeKeys() async throws {
        let stack = try LimitedStore.stack()
        let json = """
            [{"kind": "123456", "number": 1, "bolts": [{"size": 7}]},
             {"kind": "1234567", "number": 1}, {"kind": "12", "number": 1, "bolts": [{"size": 1}, {"size": 10}]},
             {"kind": "\\u0000", "number": 1}, {"kind": "", "number": 1001}]
            """
        let result = try await sync(json, "Part", stack)
        #expect(
            Set(result.lines.filter { $0.hasPrefix("missingPrimaryKey") }) == [
                "missingPrimaryKey [0].bolts[0]: the record has no readable key of at most 12 bytes; the record is skipped",
                "missingPrimaryKey [1]: the record has no readable key of at most 12 bytes; the record is skipped",
                "missingPrimaryKey [2].bolts[1]: the record has no readable key of at most 12 bytes; the record is skipped",
                "missingPrimaryKey [3]: the record has no readable kind; the record is skipped",
                "missingPrimaryKey [4]: the record has no readable number; the record is skipped",
            ])
        #expect(result["Part"].inserted.map(\.description).sorted() == [#"["12",1]"#, #"["123456",1]"#])
        #expect(result["Bolt"].inserted.map(\.description) == [#"[["12",1],1]"#])
        #expect(result.diagnostics.filter { $0.kind == .typeMismatch }.map(\.path) == ["[3].kind", "[4].number"])
        let unlimited = try LimitedStore.stack(.unlimited)
        #expect(try await sync(json, "Part", unlimited).diagnostics.isEmpty)
        #expect(try await unlimited.count("Part") == 5)
    }

    @Test("A composite ID that the store cannot keep is skipped")
    func compositeReferences() async throws {
        let stack = try LimitedStore.stack()
        let json = #"[{"id": "n", "parts_ids": [["123456", 1], ["1234567", 1], ["\u0000", 1], ["a", 1001]]}]"#
        let result = try await sync(json, "Note", stack)
        #expect(result.pendingReferences.map(\.target.description) == [#"["123456",1]"#])
        #expect(result.places == Array(repeating: "typeMismatch [0].parts_ids", count: 3))
        #expect(
            result.diagnostics.first?.message
                == "an array is not a valid key of Part, a list of at most 12 bytes; it is skipped")
    }

    // MARK: Keys of callers

    @Test("No row has a key that the store cannot keep", arguments: beyond)
    func keysOfCallers(key: String) async throws {
        let stack = try LimitedStore.stack()
        _ = try await sync(#"[{"id": "n"}]"#, "Note", stack)
        let id = JSONValue.string(key)
        #expect(try await stack.fetch("Note", id: id) == nil)
        #expect(try await Sync.update(id: id, with: ["text": "a"], inEntity: "Note", stack: stack) == nil)
        #expect(try await Sync.delete(id: id, inEntity: "Note", stack: stack).isEmpty)
        let error = await #expect(throws: SyncError.self) {
            try await Sync.insertOrUpdate(["id": id], inEntity: "Note", stack: stack)
        }
        #expect(error?.code == .primaryKeyMissing)
        let parent = await #expect(throws: SyncError.self) {
            try await sync("[]", "Note", stack, parent: SyncParent("Author", id: id))
        }
        #expect(parent?.code == .typeMismatch && parent?.entity == "Author")
        for (entity, values) in [("Note", ["id": id]), ("Part", ["kind": id, "number": 1])] {
            let error = await #expect(throws: SyncError.self) { try await stack.insert(entity, values: values) }
            #expect(error?.code == .typeMismatch)
        }
    }

    @Test("An update keeps a key that the new value cannot replace", arguments: beyond)
    func updates(key: String) async throws {
        let stack = try LimitedStore.stack()
        _ = try await sync(#"[{"id": "n"}]"#, "Note", stack)
        let updated = try await Sync.update(
            id: "n", with: ["id": .string(key), "text": "a"], inEntity: "Note", stack: stack)
        #expect(updated?.row.key == .text("n") && updated?.row["text"] == .string("a"))
        #expect(updated?.result.places == ["typeMismatch [0].id"])
        try await stack.updateAttributes("Note", with: ["id": .string(key)], where: .where("id == 'n'"))
        #expect(try await stack.fetch("Note", id: "n") != nil)
    }

    @Test("An update keeps a part that the new value cannot replace, and rejects a key that is too long")
    func compositeUpdates() async throws {
        let stack = try LimitedStore.stack()
        _ = try await sync(#"[{"kind": "a", "number": 1}]"#, "Part", stack)
        let kept = try await Sync.update(
            id: ["a", 1], with: ["kind": "\0", "number": 2], inEntity: "Part", stack: stack)
        #expect(kept?.row.key == .composite([.text("a"), .integer(2)]))
        #expect(kept?.result.places == ["typeMismatch [0].kind"])
        let error = await #expect(throws: SyncError.self) {
            try await Sync.update(id: ["a", 2], with: ["kind": "1234567"], inEntity: "Part", stack: stack)
        }
        #expect(error?.code == .typeMismatch && error?.entity == "Part")
        let longest = try await Sync.update(id: ["a", 2], with: ["kind": "123456"], inEntity: "Part", stack: stack)
        #expect(longest?.row.key == .composite([.text("123456"), .integer(2)]))
        #expect(try await stack.count("Part") == 1)
    }

    @Test("A JSON:API resource whose key the store cannot keep is unreadable")
    func resources() async throws {
        let stack = try LimitedStore.stack()
        let json = """
            {"data": [{"type": "notes", "id": "1234567890123"}, {"type": "notes", "id": "n", "relationships": {
              "author": {"data": {"type": "authors", "id": "1234567890123"}},
              "tags": {"data": [{"type": "tags", "id": "123456789012"}, {"type": "tags", "id": "\\u0000"}]}}}]}
            """
        let result = try await sync(json, "Note", stack, options: SyncOptions(format: .jsonAPI))
        #expect(result["Note"].insertedCount == 1 && result.pendingReferences.count == 1)
        #expect(result.diagnostics.filter { $0.kind == .typeMismatch }.count == 3)
    }
}
