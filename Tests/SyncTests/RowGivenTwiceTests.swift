import Foundation
import Sync
import Testing

/// Of the records of one row one may be allowed to insert it and another only to update it.
@Suite("A row given as a root record and as a child, where only one of them may insert it,")
struct RowGivenTwiceTests {
    private func store() async throws -> DataStack {
        let stack = try DataStack.inMemory(Fixtures.model("tasks"))
        try await Sync.insertOrUpdate(["id": 1], inEntity: "Task", stack: stack)
        return stack
    }

    private func sync(_ json: String, _ operations: SyncOperations, _ stack: DataStack) async throws -> SyncResult {
        try await Sync.changes(Data(json.utf8), inEntity: "Task", stack: stack, operations: operations)
    }

    private func expectSettled(_ json: String, _ operations: SyncOperations, _ stack: DataStack) async throws {
        let written = try await stack.changesWritten()
        #expect(try await sync(json, operations, stack).isEmpty)
        #expect(try await stack.changesWritten() == written)
    }

    @Test("is updated and linked as the child that the root record inserts", arguments: [true, false])
    func insertedAsRoot(childFirst: Bool) async throws {
        let child = #"{"id": 1, "steps": [{"id": 2, "name": "child", "after": {"id": 5}}, {"id": 3}]}"#
        let root = #"{"id": 2, "name": "root"}"#
        let json = childFirst ? "[\(child), \(root)]" : "[\(root), \(child)]"
        let stack = try await store()
        let operations: SyncOperations = [.insert, .update, .updateRelationships]
        #expect(try await sync(json, operations, stack)["Task"].inserted == [.integer(2), .integer(5)])
        #expect(try await stack.fetch("Task", id: 2)?["name"] == .string(childFirst ? "root" : "child"))
        #expect(try await stack.count("Task", where: "whole.id == 1 AND after.id == 5") == 1)
        try await expectSettled(json, operations, stack)
    }

    @Test("is updated as the root record that a list inserts", arguments: [true, false])
    func insertedAsChild(childFirst: Bool) async throws {
        let child = #"{"id": 1, "steps": [{"id": 2, "name": "child"}]}"#
        let root = #"{"id": 2, "name": "root", "steps": [{"id": 4}]}, {"id": 3}"#
        let json = childFirst ? "[\(child), \(root)]" : "[\(root), \(child)]"
        let stack = try await store()
        let operations: SyncOperations = [.update, .insertRelationships, .updateRelationships]
        #expect(try await sync(json, operations, stack)["Task"].inserted == [.integer(2), .integer(4)])
        #expect(try await stack.fetch("Task", id: 2)?["name"] == .string(childFirst ? "root" : "child"))
        try await expectSettled(json, operations, stack)
    }
}
