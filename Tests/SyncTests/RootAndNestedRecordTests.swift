import Foundation
import Sync
import Testing

/// The operations may allow one record of a row to insert it, and another only to update it.
@Suite("Rows with a root record and a nested record")
struct RootAndNestedRecordTests {
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

    @Test(
        "A row that only its root record may insert is updated and linked by its nested record",
        arguments: [true, false])
    func rootRecordInserts(childFirst: Bool) async throws {
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

    @Test("A row that only its nested record may insert is updated by its root record", arguments: [true, false])
    func nestedRecordInserts(childFirst: Bool) async throws {
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
