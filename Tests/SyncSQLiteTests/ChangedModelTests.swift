import Foundation
import GRDB
import SyncCore
import SyncSQLite
import Testing

/// A store that another stack migrates while stacks have it open.
@Suite final class ChangedModelTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    private var url: URL { folder.appendingPathComponent("store.sqlite") }

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private func model(_ attribute: SyncModel.Attribute) throws -> SyncModel {
        try SyncModel(entities: [
            SyncModel.Entity("User", attributes: [SyncModel.Attribute("id", .integer), attribute])
        ])
    }

    private func error(_ body: () throws -> Void) throws -> SyncError {
        try #require(throws: SyncError.self, performing: body)
    }

    @Test func openStacksThrowModelMismatchAfterAMigration() throws {
        let old = try DataStack(model: model(SyncModel.Attribute("name", .string)), at: url)
        try old.insert("User", values: ["id": 1, "name": "Ann"])
        let reader = try DataStack(reading: url)
        let new = try DataStack(model: model(SyncModel.Attribute("title", .string, renamedFrom: "name")), at: url)
        for stack in [old, reader] {
            #expect(try error { _ = try stack.fetch("User") }.code == .modelMismatch)
            #expect(try error { _ = try stack.count("User") }.code == .modelMismatch)
            #expect(try error { _ = try stack.export("User") }.code == .modelMismatch)
        }
        #expect(try error { _ = try old.insert("User", values: ["id": 2]) }.code == .modelMismatch)
        let deletion = try error { try old.deleteAllRows() }
        #expect(deletion.code == .modelMismatch)
        #expect(deletion.recoverySuggestion?.hasPrefix("Open a new DataStack") == true)
        #expect(try new.fetch("User").map { $0["title"]?.string } == ["Ann"])
    }

    @Test func openStacksAcceptOtherTablesAndOtherRemoteKeys() throws {
        let old = try DataStack(model: model(SyncModel.Attribute("name", .string)), at: url)
        let other = try DataStack(model: model(SyncModel.Attribute("name", .string, remoteKey: "full_name")), at: url)
        try other.write { db in try db.execute(sql: "CREATE TABLE other (id INTEGER PRIMARY KEY)") }
        try old.insert("User", values: ["id": 1, "name": "Ann"])
        #expect(try old.count("User") == 1)
        #expect(try other.count("User") == 1)
    }
}
