import Foundation
import GRDB
import SyncCore
import SyncSQLite
import Testing

@Suite final class StoreFileTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    private var url: URL { folder.appendingPathComponent("store.sqlite") }

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private func error(_ body: () throws -> Void) throws -> SyncError {
        try #require(throws: SyncError.self, performing: body)
    }

    private func user(_ attributes: [SyncModel.Attribute]) throws -> SyncModel {
        try SyncModel(entities: [
            SyncModel.Entity("User", attributes: [SyncModel.Attribute("id", .integer)] + attributes)
        ])
    }

    @Test func aStoreKeepsItsRowsAndItsModel() throws {
        let model = try Models.links()
        let first = try DataStack(model: model, at: url)
        try first.insert("User", values: ["id": 1, "name": "Ann"])
        try first.close()
        let second = try DataStack(model: model, at: url)
        #expect(try second.fetch("User", id: 1)?["name"]?.string == "Ann")
        try second.close()
        let third = try DataStack(at: url)
        #expect(third.model == model)
        #expect(try third.count("User") == 1)
        try third.close()
        #expect(try files() == ["store.sqlite"])
    }

    @Test func connectionsOfAStoreAreConfigured() throws {
        let stack = try DataStack(model: Models.links(), at: url)
        func pragma(_ name: String) throws -> String? {
            try stack.write { db in try String.fetchOne(db, sql: "PRAGMA \(name)") }
        }
        #expect(try pragma("journal_mode") == "wal")
        #expect(try pragma("foreign_keys") == "1")
        #expect(try pragma("cache_size") == "-2048")
        #expect(try pragma("busy_timeout") == "5000")
        try stack.close()
    }

    @Test func aMissingStoreIsNotCreatedWithoutAModel() throws {
        let url = url
        #expect(try error { _ = try DataStack(at: url) }.code == .cannotOpenStore)
        #expect(try files().isEmpty)
    }

    @Test func aFileThatIsNoDatabaseIsRejectedAndKept() throws {
        let text = Data(String(repeating: "not a database\n", count: 100).utf8)
        try text.write(to: url)
        let url = url
        let model = try Models.links()
        #expect(try error { _ = try DataStack(at: url) }.code == .cannotOpenStore)
        #expect(try error { _ = try DataStack(model: model, at: url) }.code == .cannotOpenStore)
        #expect(try Data(contentsOf: url) == text)
        #expect(try files() == ["store.sqlite"])
    }

    @Test func aDatabaseOfAnotherAppIsRejectedAndKept() throws {
        let queue = try DatabaseQueue(path: url.path)
        try queue.write { db in try db.execute(sql: "CREATE TABLE other (id INTEGER PRIMARY KEY)") }
        try queue.close()
        let before = try Data(contentsOf: url)
        let url = url
        let model = try Models.links()
        #expect(try error { _ = try DataStack(at: url) }.code == .cannotOpenStore)
        #expect(try error { _ = try DataStack(model: model, at: url) }.code == .cannotOpenStore)
        #expect(try Data(contentsOf: url) == before)
        #expect(try files() == ["store.sqlite"])
    }

    @Test func anEmptyFileBecomesAStore() throws {
        try Data().write(to: url)
        let stack = try DataStack(model: Models.links(), at: url)
        #expect(try stack.count("User") == 0)
        try stack.close()
    }

    @Test func aFailedCreationLeavesNoFile() throws {
        let url = url
        // A table of SQLite has at most 2000 columns.
        let model = try SyncModel(entities: [
            SyncModel.Entity("User", attributes: (0...2000).map { SyncModel.Attribute("a\($0)", .integer) })
        ])
        #expect(try error { _ = try DataStack(model: model, at: url) }.code == .databaseError)
        #expect(try files().isEmpty)
        let missing = folder.appendingPathComponent("none/store.sqlite")
        let good = try Models.links()
        #expect(try error { _ = try DataStack(model: good, at: missing) }.code == .cannotOpenStore)
        #expect(try files().isEmpty)
    }

    @Test func aModelThatWouldLoseValuesIsRejectedWithItsPath() throws {
        let stack = try DataStack(
            model: user([
                SyncModel.Attribute("age", .integer), SyncModel.Attribute("name", .string),
                SyncModel.Attribute("gone", .date),
            ]), at: url)
        try stack.insert("User", values: ["id": 1, "name": "Ann", "gone": 5])
        try stack.close()
        let before = try Data(contentsOf: url)
        let url = url
        let other = try user([
            SyncModel.Attribute("age", .string), SyncModel.Attribute("name", .string),
            SyncModel.Attribute("new", .date),
        ])
        let error = try error { _ = try DataStack(model: other, at: url) }
        #expect(error.code == .modelMismatch)
        #expect(error.problems.map(\.path) == ["entities.User.attributes.gone"])
        #expect(error.problems.first?.message == "the attribute is no longer in the model: 1 value would be lost")
        #expect(try Data(contentsOf: url) == before)
        #expect(try files() == ["store.sqlite"])
    }

    @Test func aModelWithAnotherRemoteKeyIsStored() throws {
        try DataStack(model: user([SyncModel.Attribute("name", .string)]), at: url).close()
        let mapped = try user([SyncModel.Attribute("name", .string, remoteKey: "full_name")])
        try DataStack(model: mapped, at: url).close()
        let stack = try DataStack(at: url)
        #expect(stack.model == mapped)
        try stack.close()
    }

    @Test func aClosedStoreThrowsATypedError() throws {
        let stack = try DataStack(model: Models.links(), at: url)
        try stack.close()
        #expect(try error { _ = try stack.fetch("User") }.code == .storeClosed)
    }

    @Test func droppingRemovesEveryRowAndLeavesTheStoreUsable() throws {
        let stack = try DataStack(model: Models.links(), at: url)
        try stack.write { db in
            var last = try stack.insert("User", values: ["id": 0], in: db)
            for id in 1..<1100 {
                let links = ["manager": [last], "friends": [last]]
                last = try stack.insert("User", values: ["id": JSONValue(id)], relationships: links, in: db)
            }
            _ = try stack.insert("Note", values: ["id": 1], relationships: ["user": [last]], in: db)
        }
        try stack.deleteAllRows()
        for entity in stack.model.entities { #expect(try stack.count(entity.name) == 0) }
        #expect(try stack.read { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM User_friends") } == 0)
        try stack.insert("User", values: ["id": 0])
        #expect(try stack.count("User") == 1)
        try stack.close()
    }

    @Test(arguments: [
        "UPDATE sync_model SET version = 99", "UPDATE sync_model SET schema = '{'", "DELETE FROM sync_model",
    ])
    func aStoreWithAnUnreadableModelIsRejected(_ damage: String) throws {
        let model = try Models.links()
        let stack = try DataStack(model: model, at: url)
        try stack.write { db in try db.execute(sql: damage) }
        try stack.close()
        let url = url
        #expect(try error { _ = try DataStack(at: url) }.code == .cannotOpenStore)
        #expect(try error { _ = try DataStack(model: model, at: url) }.code == .cannotOpenStore)
    }

    @Test func aStoreThatIsNotClosedLeavesOneFile() throws {
        do {
            let stack = try DataStack(model: Models.links(), at: url)
            try stack.insert("User", values: ["id": 1])
            #expect(try stack.count("User") == 1)
        }
        #expect(try files() == ["store.sqlite"])
        let before = try Data(contentsOf: url)
        do {
            let stack = try DataStack(model: Models.links(), at: url)
            #expect(try stack.count("User") == 1)
        }
        #expect(try files() == ["store.sqlite"])
        #expect(try Data(contentsOf: url) == before)
    }
}
