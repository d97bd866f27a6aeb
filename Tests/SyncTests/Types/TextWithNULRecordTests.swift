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
}
