import Foundation
import GRDB
import Sync
import Testing

@Suite("Reading for exports")
struct ExportReadingTests {
    private struct Stop: Error {}

    private func users() async throws -> DataStack {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack)
        return stack
    }

    @Test("Exports as an array, record by record and as text have the same records")
    func formsHaveSameRecords() async throws {
        let stack = try await users()
        let all = try await stack.export("User", orderedBy: "-age")
        #expect(all.count == 8)
        #expect(try stack.exportedRecords("User", orderedBy: "-age") == all)
        #expect(try JSONValue(parsing: stack.exportedText("User", orderedBy: "-age")) == .array(all))
        let lines = try stack.exportedText("User", as: .ndjson, orderedBy: "-age")
        let split = String(decoding: lines, as: UTF8.self).split(separator: "\n")
        #expect(try split.map { try JSONValue(parsing: String($0)) } == all)
    }

    @Test("An empty export is an empty array in JSON and no line in NDJSON")
    func emptyExportIsValid() async throws {
        let stack = try await users()
        for (form, expected) in [(PayloadFormat.json, "[]\n"), (.ndjson, "")] {
            let text = try stack.exportedText("User", as: form, where: .where("age > 200"))
            #expect(String(decoding: text, as: UTF8.self) == expected)
        }
    }

    @Test("An export of a million bytes comes in small buffers")
    func exportComesInBuffers() async throws {
        let stack = try DataStack.inMemory(
            SyncModel(entities: [
                SyncModel.Entity(
                    "Word", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("text", .string)])
            ]))
        let long = String(repeating: "x", count: 1000)
        let records = (1...1000).map { JSONValue.object([.init("id", JSONValue($0)), .init("text", .string(long))]) }
        try await Sync.changes(.array(records), inEntity: "Word", stack: stack)
        let sizes = try stack.exportedPieces("Word").map(\.count)
        #expect(sizes.reduce(0, +) > 1_000_000)
        #expect(sizes.allSatisfy { $0 < 100_000 })
    }

    @Test("An export may be filtered, ordered and limited")
    func exportIsFiltered() async throws {
        let stack = try await users()
        let records = try await stack.export(
            "User", where: "company.city == 'Oslo'", orderedBy: "age", limit: 2,
            options: ExportOptions(relationships: .none))
        #expect(records.compactMap { $0["first_name"] } == ["Hugo", "Chandra"])
        #expect(try await stack.export("User", limit: 0) == [])
    }

    @Test("An export in a transaction has its writes, and exports change nothing")
    func exportSeesTheTransaction() async throws {
        let stack = try await users()
        let before = try await stack.contents()
        try await stack.write { db in
            try db.execute(sql: "INSERT INTO Tag (id, name) VALUES (99, 'new')")
            let records = try stack.export("Tag", where: .where("id == 99"), in: db)
            #expect(records == [["id": 99, "name": "new", "users": []]])
            try db.execute(sql: "DELETE FROM Tag WHERE id = 99")
        }
        _ = try await stack.export("User")
        #expect(try await stack.contents() == before)
    }

    @Test("An error of the receiver ends an export and is rethrown")
    func receiverErrorEndsExport() async throws {
        let stack = try await users()
        await #expect(throws: Stop.self) { try await stack.exportEach("User") { _ in throw Stop() } }
        await #expect(throws: Stop.self) { try await stack.export("User", as: .json) { _ in throw Stop() } }
        #expect(try takenBeforeStop(stack) == 3)
    }

    private func takenBeforeStop(_ stack: DataStack) throws -> Int {
        var count = 0
        do {
            try stack.exportEach("User") { _ in
                count += 1
                if count == 3 { throw Stop() }
            }
        } catch is Stop {}
        return count
    }

    @Test("A cancelled export ends with CancellationError")
    func cancelledExportEnds() async throws {
        let stack = try await users()
        let task = Task {
            try await stack.exportEach("User") { _ in withUnsafeCurrentTask { $0?.cancel() } }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("Unknown entities, attributes and conditions are errors of an export")
    func unknownNamesAreErrors() async throws {
        let stack = try await users()
        let calls: [(SyncError.Code, @Sendable () async throws -> [JSONValue])] = [
            (.unknownEntity, { try await stack.export("Robot") }),
            (.unknownAttribute, { try await stack.export("User", orderedBy: "wings") }),
            (.invalidPredicate, { try await stack.export("User", where: "wings > 2") }),
            (.invalidPredicate, { try await stack.export("User", where: "age >") }),
        ]
        for (code, call) in calls {
            let error = await #expect(throws: SyncError.self) { _ = try await call() }
            #expect(error?.code == code)
        }
    }
}
