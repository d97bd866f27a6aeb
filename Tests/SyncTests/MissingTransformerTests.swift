import Foundation
import GRDB
import Sync
import SyncTools
import Testing

@Suite("Missing transformers")
struct MissingTransformerTests {
    static let vault = AttributeTransformer("Vault") { json in
        .json(json)
    } exporting: {
        $0.string.map(JSONValue.string)
    }

    private func model() throws -> SyncModel {
        try SyncModel(entities: [
            SyncModel.Entity(
                "Safe",
                attributes: [
                    SyncModel.Attribute("id", .integer),
                    SyncModel.Attribute("code", .string, transformers: ["trimmed", "Vault"]),
                    SyncModel.Attribute("note", .string, transformers: ["Vault", "Other"]),
                    SyncModel.Attribute("mail", .string, transformer: "lowercased"),
                ])
        ])
    }

    private func expectRefused(_ open: () throws -> DataStack) throws {
        let error = try #require(throws: SyncError.self) { try open() }
        #expect(error.code == .missingTransformer)
        #expect(
            error.problems.map(\.path) == [
                "entities.Safe.attributes.code.transformer", "entities.Safe.attributes.note.transformer",
                "entities.Safe.attributes.note.transformer",
            ])
        #expect(error.description.contains("'Vault', 'Other'") || error.description.contains("'Vault' and 'Other'"))
    }

    @Test("Opening a store with a missing transformer is an error and creates no file")
    func openingIsAnError() throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let url = folder.url.appendingPathComponent("app.sqlite")
        let model = try model()
        try expectRefused { try DataStack.inMemory(model) }
        try expectRefused { try DataStack(model: model, at: url) }
        #expect(!FileManager.default.fileExists(atPath: url.path))
        let other = AttributeTransformer("Other") { .json($0) }
        try DataStack(model: model.registering(Self.vault, other), at: url).close()
        try expectRefused { try DataStack(at: url) }
        try expectRefused { try DataStack(reading: url) }
        let stack = try DataStack(at: url, registering: [Self.vault, other])
        #expect(stack.model.missingTransformers.isEmpty)
        try stack.close()
        #expect(try DataStack(reading: url, registering: [Self.vault, other]).model.missingTransformers.isEmpty)
    }

    @Test("A missing transformer is skipped if transformers are optional, and reported")
    func optionalTransformerIsSkipped() async throws {
        let stack = try DataStack.inMemory(model(), transformers: .optional)
        #expect(stack.model.missingTransformers.map(\.name) == ["Vault", "Vault", "Other"])
        try await Sync.changes([["id": 1, "code": " a ", "mail": "A@B"]], inEntity: "Safe", stack: stack)
        let row = try #require(try await stack.fetch("Safe", id: 1))
        #expect(row["code"] == .string("a"))
        #expect(row["mail"] == .string("a@b"))
        let found = try await stack.validate().filter { $0.kind == .missingTransformer }
        #expect(found.map(\.path).count == 3)
    }

    @Test("An attribute whose transformer cannot export is left out of exports and reported")
    func attributeIsNotExported() async throws {
        let oneWay = AttributeTransformer("Other") { .json($0) }
        let stack = try DataStack.inMemory(model().registering(Self.vault, oneWay))
        try await Sync.changes([["id": 1, "code": "a", "note": "b"]], inEntity: "Safe", stack: stack)
        let records = try await stack.export("Safe")
        #expect(records == [["id": 1, "code": "a", "mail": nil]])
        let omissions = try stack.model.exportOmissions(of: "Safe")
        #expect(omissions.map(\.path) == ["entities.Safe.attributes.note"])
        let found = try await stack.validate()
        #expect(found.map(\.kind) == [.notExported])
        #expect(found.map(\.path) == ["entities.Safe.attributes.note"])
    }

    @Test("Export omissions cover attributes of related rows")
    func omissionsCoverRelatedRows() throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "User",
                attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("picture", .transformable)],
                relationships: [SyncModel.Relationship("notes", to: "Note", many: true)]),
            SyncModel.Entity(
                "Note",
                attributes: [
                    SyncModel.Attribute("id", .integer), SyncModel.Attribute("a", .string, remoteKey: "x"),
                    SyncModel.Attribute("hidden", .transformable, isExported: false),
                    SyncModel.Attribute("stamp", .transformable),
                ]),
        ])
        func names(_ options: ExportOptions) throws -> [String] {
            try model.exportOmissions(of: "User", options: options).map(\.path)
        }
        #expect(try names(ExportOptions()) == ["entities.User.attributes.picture", "entities.Note.attributes.stamp"])
        #expect(try names(ExportOptions(relationships: .none)) == ["entities.User.attributes.picture"])
    }

    @Test("A standard transformer needs no registration")
    func standardTransformersAreRegistered() async throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "User",
                attributes: [
                    SyncModel.Attribute("id", .integer), SyncModel.Attribute("name", .string, transformer: "trimmed"),
                ])
        ])
        let stack = try DataStack.inMemory(model)
        let json = Data(#"[{"id": 1, "name": " a "}]"#.utf8)
        #expect(try await Sync.changes(json, inEntity: "User", stack: stack)["User"].insertedCount == 1)
        #expect(try await Sync.changes(json, inEntity: "User", stack: stack).isEmpty)
    }
}
