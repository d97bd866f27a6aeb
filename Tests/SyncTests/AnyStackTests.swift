import Foundation
import Sync
import SyncTools
import Testing

/// A stack that is not a `DataStack`, so that its calls are those of every stack.
private struct ForwardingStack: SyncStack {
    let stack: DataStack

    var host: SyncHost { stack.host }
}

@Suite("Calls of every stack")
struct AnyStackTests {
    private func stacks() async throws -> (stack: ForwardingStack, own: DataStack) {
        let own = try DataStack.inMemory(Fixtures.model("company"))
        let stack = ForwardingStack(stack: own)
        try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack)
        return (stack, own)
    }

    @Test("Rows are fetched, counted and exported as in a transaction of SQLite")
    func reads() async throws {
        let (stack, own) = try await stacks()
        #expect(stack.model == own.model)
        let users = try await stack.fetch("User", where: "age > 30", orderedBy: "-age", limit: 2)
        let expected = try await own.read { db in
            try own.fetch("User", where: "age > 30", orderedBy: "-age", limit: 2, in: db)
        }
        #expect(users == expected && users.count == 2)
        let ada = try #require(try await stack.fetch("User", id: 1))
        #expect(ada["lastName"]?.string == "Lovelace")
        #expect(try await stack.fetch("User", id: 1000) == nil)
        #expect(try await stack.fetchRelated("notes", of: ada).map(\.key) == [.integer(11), .integer(12)])
        #expect(try await stack.fetchRelated("company", of: ada).map(\.key) == [.integer(1)])
        #expect(try await stack.count("Note", where: "user.id == 1") == 2)
        let exported = try await own.read { db in try own.export("User", in: db) }
        #expect(try await stack.export("User") == exported)
    }

    @Test("An export as text has the records of an export")
    func exportsText() async throws {
        let (stack, _) = try await stacks()
        let text = Locked(Data())
        try await stack.export("User", as: .json, orderedBy: "-id", offset: 1) { piece in
            text.withLock { $0 += piece }
        }
        let records = try await stack.export("User", orderedBy: "-id")
        #expect(try JSONValue(parsing: text.value) == .array(Array(records.dropFirst())))
    }

    @Test("Names that the model lacks are the errors of a DataStack")
    func unknownNames() async throws {
        let (stack, _) = try await stacks()
        let ada = try #require(try await stack.fetch("User", id: 1))
        let calls: [(SyncError.Code, () async throws -> Void)] = [
            (.unknownEntity, { _ = try await stack.fetch("Robot") }),
            (.unknownEntity, { _ = try await stack.count("Robot") }),
            (.unknownEntity, { _ = try await stack.export("Robot") }),
            (.unknownEntity, { try await Sync.delete(id: 1, inEntity: "Robot", stack: stack) }),
            (.unknownAttribute, { _ = try await stack.fetch("User", orderedBy: "wings") }),
            (.invalidPredicate, { _ = try await stack.fetch("User", where: .where("wings == 2")) }),
            (.unknownRelationship, { _ = try await stack.fetchRelated("wings", of: ada) }),
        ]
        for (code, call) in calls {
            let error = await #expect(throws: SyncError.self) { try await call() }
            #expect(error?.code == code)
        }
    }

    @Test("Single rows are inserted, updated, given another key, and deleted")
    func singleRows() async throws {
        let (stack, _) = try await stacks()
        let record: JSONValue = ["id": 100, "first_name": "Grace", "company": ["id": 1]]
        let inserted = try await Sync.insertOrUpdate(record, inEntity: "User", stack: stack)
        #expect(inserted.row.key == .integer(100) && inserted.result["User"].insertedCount == 1)
        let values: JSONValue = ["id": 101, "notes": [["id": 900, "text": "new"]]]
        let updated = try await Sync.update(id: 100, with: values, inEntity: "User", stack: stack)
        let row = try #require(updated?.row)
        #expect(row["firstName"]?.string == "Grace" && row.key == .integer(101))
        #expect(updated?.result["User"].updated.first?.changedAttributes.contains("id") == true)
        #expect(try await stack.fetchRelated("notes", of: row).map(\.key) == [.integer(900)])
        #expect(try await stack.fetchRelated("company", of: row).map(\.key) == [.integer(1)])
        #expect(try await Sync.update(id: 100, with: values, inEntity: "User", stack: stack) == nil)
        let taken: JSONValue = ["id": 1]
        let error = await #expect(throws: SyncError.self) {
            try await Sync.update(id: 101, with: taken, inEntity: "User", stack: stack)
        }
        #expect(error?.code == .duplicateKey)
        let deleted = try await Sync.delete(id: 101, inEntity: "User", stack: stack)
        #expect(deleted["User"].deleted == [.integer(101)] && deleted["Note"].deleted == [.integer(900)])
        #expect(try await Sync.delete(id: 101, inEntity: "User", stack: stack).isEmpty)
    }

    @Test("Each transaction with changes has a result, and a plan has none")
    func results() async throws {
        let (stack, _) = try await stacks()
        var results = stack.syncResults.makeAsyncIterator()
        let record: JSONValue = ["id": 1, "first_name": "Augusta"]
        _ = try await Sync.plan(record, inEntity: "User", stack: stack)
        try await Sync.insertOrUpdate(record, inEntity: "User", stack: stack)
        try await Sync.insertOrUpdate(record, inEntity: "User", stack: stack)
        try await Sync.delete(id: 1, inEntity: "User", stack: stack)
        #expect(await results.next()?["User"].updated.map(\.key) == [.integer(1)])
        #expect(await results.next()?["User"].deleted == [.integer(1)])
    }

    @Test("All rows are deleted")
    func deletesAllRows() async throws {
        let (stack, own) = try await stacks()
        try await Sync.deleteAllRows(stack: stack)
        for entity in own.model.entities { #expect(try await stack.count(entity.name) == 0) }
    }

    @Test("A payload is validated against the stored rows, and nothing is written")
    func validatesPayload() async throws {
        let (stack, own) = try await stacks()
        let before = try await own.contents()
        let json = Data(#"[{"id": 1, "first_name": "Ada", "wings": 2, "company_id": 1000}]"#.utf8)
        let findings = try await Sync.validate(json, inEntity: "User", stack: stack)
        #expect(findings.contains { $0.kind == .unmappedKey })
        #expect(findings.contains { $0.kind == .pendingReference })
        #expect(try await own.contents() == before)
    }
}
