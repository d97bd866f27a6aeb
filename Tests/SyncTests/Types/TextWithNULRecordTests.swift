import Foundation
import GRDB
import Sync
import Testing

private struct Folder: EntityRecord, Equatable {
    var id: String
    var name: String?
    var files = RelatedRows<File>()

    static let entityName = "Folder"
    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName, attributes: [.init("id", String.self, isKey: true), .init("name", String?.self)],
            relationships: [.init("files", to: File.self, many: true, inverse: "folder")])
    }
    static var syncProperties: [PartialKeyPath<Folder>: SyncProperty] {
        [\.id: "id", \.name: "name", \.files: SyncProperty("files", to: File.self)]
    }
    typealias SyncKey = String
    var syncKey: String? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        name = try row.value("name")
    }
    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        try row.set("name", to: name)
        row.setRelated("files", to: files.rows)
    }
    mutating func setRelated(_ rows: [any EntityRecord], for relationship: String) { files.load(rows) }
}

private struct File: EntityRecord, Equatable {
    var id: Int
    var folderID: String?

    static let entityName = "File"
    static var syncEntity: SyncModel.Entity {
        SyncModel.Entity(
            entityName, attributes: [.init("id", Int.self, isKey: true)],
            relationships: [.init("folder", to: Folder.self, inverse: "files")])
    }
    static var syncProperties: [PartialKeyPath<File>: SyncProperty] {
        [\.id: "id", \.folderID: SyncProperty("folder", to: Folder.self)]
    }
    typealias SyncKey = Int
    var syncKey: Int? { id }
    var syncID: JSONValue { Self.syncID(of: id) }

    init(entityRow row: EntityRowDecoder) throws {
        id = try row.value("id")
        folderID = try row.value("folderID")
    }
    func encode(into row: inout EntityRowEncoder) throws {
        try row.set("id", to: id)
        row.setForeignKey("folder", to: folderID, in: "folderID")
    }
}

/// GRDB itself reads text only up to the first U+0000.
@Suite("Typed rows whose texts contain U+0000")
struct TextWithNULRecordTests {
    @Test("Texts and keys are read completely, and each row gets its own related rows")
    func related() async throws {
        let stack = try DataStack.inMemory(SyncModel(Folder.self, File.self))
        let json: JSONValue = [
            ["id": "a\u{0}b", "name": "x\u{0}y", "files": [["id": 1]]],
            ["id": "a\u{0}c", "name": "z", "files": [["id": 2], ["id": 3]]],
        ]
        try await Sync.changes(json, inEntity: "Folder", stack: stack)
        let folders = try await stack.fetch(Folder.self, including: \.files)
        #expect(folders.map(\.id) == ["a\u{0}b", "a\u{0}c"])
        #expect(folders.map(\.name) == ["x\u{0}y", "z"])
        #expect(folders.map { $0.files.rows?.map(\.id) } == [[1], [2, 3]])
        #expect(folders[1].files.rows?.map(\.folderID) == ["a\u{0}c", "a\u{0}c"])
    }

    @Test("Writes of single rows distinguish keys that are equal up to U+0000")
    func singleRows() async throws {
        let model = try SyncModel(
            schemaData: Data(#"{"entities": {"User": {"attributes": {"id": "string", "name": "string"}}}}"#.utf8))
        let stack = try DataStack.inMemory(model)
        try await Sync.changes(
            Data(#"[{"id": "a", "name": "plain"}, {"id": "a\u0000b", "name": "nul"}]"#.utf8), inEntity: "User",
            stack: stack)
        let updated = try await Sync.update(id: "a\u{0}b", with: ["id": "a\u{0}c"], inEntity: "User", stack: stack)
        #expect(updated?.row["id"]?.string == "a\u{0}c" && updated?.row["name"]?.string == "nul")
        let inserted = try await stack.insert("User", values: ["id": "a\u{0}x", "name": "new"])
        #expect(inserted["name"]?.string == "new")
        try await Sync.update(id: "a\u{0}x", with: ["name": "newer"], inEntity: "User", stack: stack)
        let names = try await stack.fetch("User", orderedBy: "name").map { $0["name"]?.string }
        #expect(names == ["newer", "nul", "plain"])
    }
}
