import Foundation
import GRDB
import SyncCore
import SyncSQLite
import Testing

/// A store file that is opened with different models in turn. Its folder is deleted with this object.
final class MigratingStore {
    let folder: URL
    var url: URL { folder.appendingPathComponent("store.sqlite") }

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("migration-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Opens the store with this model, and passes it to `body`.
    @discardableResult
    func open<Result>(
        _ schema: String, _ policy: MigrationPolicy = .keepingData, _ body: (DataStack) throws -> Result
    ) throws -> Result {
        let stack = try DataStack(model: Self.model(schema), at: url, migration: policy)
        let result = try body(stack)
        try stack.close()
        return result
    }

    /// Creates a model from the entities of a schema file, without the braces around them.
    static func model(_ schema: String) throws -> SyncModel {
        try SyncModel(schemaData: Data("{\"entities\": {\(schema)}}".utf8))
    }

    /// Checks that the schema of this store equals that of a new store with the model.
    func expectFreshSchema(_ schema: String, _ place: SourceLocation = #_sourceLocation) throws {
        let fresh = try DataStack.inMemory(Self.model(schema))
        let expected = try fresh.read(Self.schema)
        let stack = try DataStack(at: url)
        let found = try stack.read { db in
            #expect(try Row.fetchAll(db, sql: "PRAGMA foreign_key_check").isEmpty, sourceLocation: place)
            #expect(try String.fetchAll(db, sql: "PRAGMA integrity_check") == ["ok"], sourceLocation: place)
            return try Self.schema(db)
        }
        #expect(found == expected, sourceLocation: place)
        #expect(try stack.model == Self.model(schema), sourceLocation: place)
        try stack.close()
    }

    static func schema(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db, sql: "SELECT type || ' ' || name || ' on ' || tbl_name || ': ' || coalesce(sql, '') FROM sqlite_schema"
        ).sorted()
    }

    /// Returns the rows as text, for example `a|b|NULL`.
    func rows(_ sql: String) throws -> [String] {
        let queue = try DatabaseQueue(path: url.path)
        defer { try? queue.close() }
        return try queue.read { db in
            try Row.fetchAll(db, sql: sql).map { row in
                row.map { _, value in value.isNull ? "NULL" : "\(value.storage.value ?? "")" }.joined(separator: "|")
            }
        }
    }
}
