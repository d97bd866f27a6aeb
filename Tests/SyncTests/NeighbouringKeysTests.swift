import Foundation
import GRDB
import Sync
import Testing

/// A sync of a few records in a large table also reads rows with keys between theirs. Those rows must not change.
@Suite("A few records of a large table")
struct NeighbouringKeysTests {
    private static func model() throws -> SyncModel {
        try SyncModel(entities: [
            SyncModel.Entity(
                "User", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("name", .string)],
                relationships: [SyncModel.Relationship("tags", to: "Tag", many: true, inverse: "users")]),
            SyncModel.Entity(
                "Tag", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: [SyncModel.Relationship("users", to: "User", many: true, inverse: "tags")]),
        ])
    }

    private static func user(_ id: Int, name: String? = nil, tags: [Int]? = nil) -> String {
        #"{"id": \#(id), "name": "\#(name ?? "\(id)")", "tags": \#(tags ?? [id % 3, 3 + id % 5])}"#
    }

    private static func stack() async throws -> DataStack {
        let stack = try DataStack.inMemory(model())
        try await sync((0..<8).map { "{\"id\": \($0)}" }, "Tag", stack)
        try await sync((1...2000).map { user($0) }, "User", stack)
        return stack
    }

    @discardableResult
    private static func sync(_ records: [String], _ entity: String, _ stack: DataStack) async throws -> SyncResult {
        var options = SyncOptions()
        options.payloadKind = .delta
        let json = "[" + records.joined(separator: ", ") + "]"
        return try await Sync.changes(Data(json.utf8), inEntity: entity, stack: stack, options: options)
    }

    @Test(
        "A few records of a large table update their rows and no others",
        arguments: [[1, 2, 3, 4, 5, 6], [900, 902, 907, 911], [1, 1000, 2000]])
    func onlyNamedRowsChange(ids: [Int]) async throws {
        let stack = try await Self.stack()
        #expect(try await Self.sync(ids.map { Self.user($0) }, "User", stack).isEmpty)
        let result = try await Self.sync(ids.map { Self.user($0, name: "new", tags: [7]) }, "User", stack)
        #expect(result["User"].updated.map(\.key) == ids.map { .integer(Int64($0)) })
        #expect(result.linksAdded == ids.count - ids.count { $0 % 5 == 4 })
        #expect(try await stack.count("User", where: "name == 'new' AND ANY tags.id == 7") == ids.count)
        let list = ids.map(String.init).joined(separator: ", ")
        let others = try await stack.read { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM User WHERE id NOT IN (\(list)) AND name = id")
        }
        #expect(others == 2000 - ids.count)
        #expect(try await stack.count("User", where: "tags.@count == 2") == 2000 - ids.count)
    }

    @Test("A few records of a large table insert the rows that are missing between stored ones")
    func gapsAreFilled() async throws {
        let stack = try await Self.stack()
        try await stack.write { db in try db.execute(sql: "DELETE FROM User WHERE id IN (500, 502)") }
        let result = try await Self.sync((498...504).map { Self.user($0) }, "User", stack)
        #expect(result["User"].inserted == [.integer(500), .integer(502)])
        #expect(result["User"].unchangedCount == 5)
        #expect(result.linksAdded == 4)
    }
}
