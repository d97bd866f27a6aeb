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

    @Test("Calls inside the caller's transaction throw modelMismatch after a migration", arguments: [false, true])
    func callsInTransactionThrowModelMismatch(inMemory: Bool) throws {
        let queue = inMemory ? try DatabaseQueue() : try DatabaseQueue(path: url.path)
        let old = try DataStack(model: model(SyncModel.Attribute("name", .string)), in: queue)
        _ = try old.write { db in try old.insert("User", values: ["id": 1, "name": "Ann"], in: db) }
        let title = SyncModel.Attribute("title", .string, renamedFrom: "name")
        let new = try DataStack(model: model(title), in: queue)
        let calls: [(Database) throws -> Void] = [
            { db in _ = try old.fetch("User", in: db) },
            { db in _ = try old.fetch("User", id: 1, in: db) },
            { db in _ = try old.count("User", in: db) },
            { db in _ = try old.export("User", in: db) },
            { db in _ = try old.insert("User", values: ["id": 2], in: db) },
            { db in _ = try old.insertOrUpdate("User", with: ["id": 2], in: db) },
            { db in _ = try old.update("User", id: 1, with: ["id": 3], in: db) },
            { db in _ = try old.delete("User", id: 1, in: db) },
        ]
        try queue.write { db in
            for call in calls {
                let failure = try error { try call(db) }
                #expect(failure.code == .modelMismatch)
            }
        }
        #expect(try new.fetch("User").map { $0["title"]?.string } == ["Ann"])
        let titleInTransaction = try new.write { db in try new.fetch("User", id: 1, in: db)?["title"]?.string }
        #expect(titleInTransaction == "Ann")
    }

    @Test("Calls inside the caller's transaction accept tables that the transaction creates")
    func callsInTransactionAcceptOtherTables() throws {
        let stack = try DataStack(model: model(SyncModel.Attribute("name", .string)), at: url)
        try stack.write { db in
            try db.execute(sql: "CREATE TABLE other (id INTEGER PRIMARY KEY)")
            for id in 1...2 { try stack.insert("User", values: ["id": JSONValue(id)], in: db) }
            #expect(try stack.count("User", in: db) == 2)
        }
        #expect(try stack.count("User") == 2)
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
