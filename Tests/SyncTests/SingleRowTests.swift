import Foundation
import GRDB
import Sync
import Testing

@Suite("Single rows")
struct SingleRowTests {
    private func store() async throws -> DataStack {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack)
        return stack
    }

    @Test("A single row is inserted or updated with its nested records, and no sibling is deleted")
    func nestedRecordsAreWritten() async throws {
        let stack = try await store()
        let users = try await stack.count("User")
        let record: JSONValue = ["id": 1, "first_name": "New", "notes": [["id": 900, "text": "only"]]]
        let (row, result) = try await Sync.insertOrUpdate(record, inEntity: "User", stack: stack)
        #expect(row["firstName"]?.string == "New")
        #expect(result["User"].updated.map(\.key) == [.integer(1)])
        #expect(try await stack.fetch("Note", where: "user.id == 1").map(\.key) == [.integer(900)])
        #expect(try await stack.count("User") == users)
        #expect(try await Sync.insertOrUpdate(record, inEntity: "User", stack: stack).result.isEmpty)
        let made = try await Sync.insertOrUpdate(["id": 77, "age": 5] as [String: Any], inEntity: "User", stack: stack)
        #expect(made.row.key == .integer(77))
        #expect(made.result["User"].inserted == [.integer(77)])
    }

    @Test("A single row without a readable key is an error and changes nothing")
    func rowWithoutKeyIsError() async throws {
        let stack = try await store()
        let before = try await stack.contents()
        for record in [["first_name": "x"], ["id": "no number"], ["id": nil]] as [JSONValue] {
            let error = await #expect(throws: SyncError.self) {
                try await Sync.insertOrUpdate(record, inEntity: "User", stack: stack)
            }
            #expect(error?.code == .primaryKeyMissing)
        }
        let error = await #expect(throws: SyncError.self) {
            try await Sync.insertOrUpdate([1, 2] as JSONValue, inEntity: "User", stack: stack)
        }
        #expect(error?.code == .recordExpected)
        #expect(try await stack.contents() == before)
    }

    @Test("A single row that lacks a required value or is of another entity is an error and changes nothing")
    func unfitRowIsError() async throws {
        let stack = try DataStack.inMemory(
            SyncModel(entities: [
                SyncModel.Entity(
                    "Animal", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("name", .string)]),
                SyncModel.Entity(
                    "Dog", parent: "Animal", attributes: [SyncModel.Attribute("tricks", .integer, isOptional: false)]),
                SyncModel.Entity("Cat", parent: "Animal"),
            ]))
        let missing = await #expect(throws: SyncError.self) {
            try await Sync.insertOrUpdate(["id": 1], inEntity: "Dog", stack: stack)
        }
        #expect(missing?.code == .typeMismatch)
        try await Sync.insertOrUpdate(["id": 1, "name": "Tom"], inEntity: "Cat", stack: stack)
        let other = await #expect(throws: SyncError.self) {
            try await Sync.insertOrUpdate(["id": 1, "tricks": 3], inEntity: "Dog", stack: stack)
        }
        #expect(other?.code == .entityMismatch)
        #expect(try await stack.fetch("Animal").map(\.entity) == ["Cat"])
    }

    @Test("A row is updated by its ID, and an unknown ID gives nil")
    func rowIsUpdatedByID() async throws {
        let stack = try await store()
        let updated = try await Sync.update(id: 1, with: ["age": 99, "company_id": 2], inEntity: "User", stack: stack)
        #expect(updated?.row["age"]?.int == 99)
        #expect(updated?.result["User"].updated.map(\.changedAttributes) == [["age", "company"]])
        #expect(try await stack.fetch("User", where: "company.id == 2").contains { $0.key == .integer(1) })
        #expect(try await Sync.update(id: 4711, with: ["age": 1], inEntity: "User", stack: stack) == nil)
        #expect(try await Sync.update(id: 1, with: ["age": nil] as JSONValue, inEntity: "User", stack: stack) != nil)
        #expect(try await stack.fetch("User", id: 1)?["age"] == .null)
    }

    @Test("A row may change its key, and referencing rows follow")
    func changedKeyIsFollowed() async throws {
        let stack = try await store()
        let notes = try await stack.count("Note", where: "user.id == 1")
        #expect(notes > 0)
        let updated = try await Sync.update(id: 1, with: ["id": 1000, "age": 7], inEntity: "User", stack: stack)
        #expect(updated?.row.key == .integer(1000))
        #expect(updated?.result["User"].updated.first.map { Set($0.changedAttributes) } == ["id", "age"])
        #expect(try await stack.count("Note", where: "user.id == 1000") == notes)
        #expect(try await stack.fetch("User", id: 1) == nil)
        #expect(try await stack.damage() == [])
    }

    @Test("A key that another row has is an error and changes nothing")
    func takenKeyIsError() async throws {
        let stack = try await store()
        let before = try await stack.contents()
        let error = await #expect(throws: SyncError.self) {
            try await Sync.update(id: 1, with: ["id": 2, "age": 7], inEntity: "User", stack: stack)
        }
        #expect(error?.code == .duplicateKey)
        #expect(try await stack.contents() == before)
    }

    @Test("A row without a remote ID takes one later and keeps its pending references")
    func temporaryKeyIsReplaced() async throws {
        let stack = try await store()
        let draft = try await stack.insert("User", values: ["firstName": "Draft"])
        #expect(draft["id"] == .null)
        let id = try #require({ if case .integer(let id) = draft.key { id } else { nil } }() as Int64?)
        _ = try await Sync.update(id: JSONValue(id), with: ["company_id": 555], inEntity: "User", stack: stack)
        #expect(try await stack.pendingReferences().map(\.key) == [draft.key])
        let adopted = try await Sync.update(id: JSONValue(id), with: ["id": 500], inEntity: "User", stack: stack)
        #expect(adopted?.row.key == .integer(500))
        #expect(try await stack.pendingReferences().map(\.key) == [.integer(500)])
        try await Sync.insertOrUpdate(["id": 555, "name": "Late"], inEntity: "Company", stack: stack)
        #expect(try await stack.fetch("User", where: "company.id == 555").map(\.key) == [.integer(500)])
    }

    private static func orders() async throws -> DataStack {
        let json = """
            {"entities": {
              "Order": {"primaryKey": ["shop", "number"], "attributes": {"shop": "string", "number": "integer"},
                "relationships": {"lines": {"entity": "Line", "many": true, "inverse": "order"}}},
              "Line": {"primaryKey": ["order", "position"], "attributes": {"position": "integer", "count": "integer"},
                "relationships": {"order": {"entity": "Order", "inverse": "lines"}}}}}
            """
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(json.utf8)))
        let orders: JSONValue = [["shop": "a", "number": 1, "lines": [["position": 7]]]]
        try await Sync.changes(orders, inEntity: "Order", stack: stack)
        return stack
    }

    @Test(
        "Null for a part of a composite key keeps the part, and is reported with its path",
        arguments: [
            (["position": nil, "count": 3], ["[0].position"]), (["order": nil, "count": 3], ["[0].order"]),
            (["order_id": nil, "position": nil, "count": 3], ["[0].order_id", "[0].position"]),
            (["position": "x", "count": 3], ["[0].position"]),
        ] as [(JSONValue, [String])])
    func nullPartIsKept(values: JSONValue, paths: [String]) async throws {
        let stack = try await Self.orders()
        let updated = try await Sync.update(id: [["a", 1], 7], with: values, inEntity: "Line", stack: stack)
        #expect(updated?.row.key.json == [["a", 1], 7])
        #expect(updated?.row["count"]?.int == 3)
        #expect(updated?.result.diagnostics.map(\.path).sorted() == paths)
        #expect(try await stack.count("Line", where: "order.shop == 'a'") == 1)
    }

    @Test("A wrong value for one part of a composite key keeps only this part")
    func wrongPartIsKept() async throws {
        let stack = try await Self.orders()
        let values: JSONValue = ["shop": "b", "number": "x"]
        let updated = try await Sync.update(id: ["a", 1], with: values, inEntity: "Order", stack: stack)
        #expect(updated?.row.key.json == ["b", 1])
        #expect(updated?.result.diagnostics.map(\.path) == ["[0].number"])
        #expect(try await stack.fetch("Line").map(\.key.json) == [[["b", 1], 7]])
    }

    @Test("A strict update rejects null for a part of a composite key, with its path")
    func strictUpdateRejectsNullPart() async throws {
        let stack = try await Self.orders()
        let values: JSONValue = ["position": nil]
        let error = await #expect(throws: SyncError.self) {
            try await Sync.update(
                id: [["a", 1], 7], with: values, inEntity: "Line", stack: stack, options: SyncOptions(isStrict: true))
        }
        #expect(error?.code == .typeMismatch && error?.path == "[0].position")
    }

    @Test("A row that gets an awaited key gives up its link to the row with the pending reference")
    func awaitedKeyResolvesReferences() async throws {
        let stack = try DataStack.inMemory(Fixtures.model("village"))
        let people: JSONValue = [["id": 1, "spouse_id": 99], ["id": 60, "spouse_id": 5], ["id": 5]]
        try await Sync.changes(people, inEntity: "Person", stack: stack)
        let updated = try await Sync.update(id: 60, with: ["id": 99], inEntity: "Person", stack: stack)
        let result = try #require(updated?.result)
        #expect(Set(result["Person"].updated.map(\.key)) == [.integer(1), .integer(5), .integer(99)])
        #expect(try await stack.fetch("Person", where: "spouse.id == 99").map(\.key) == [.integer(1)])
        #expect(try await stack.fetch("Person", where: "spouse.id == 1").map(\.key) == [.integer(99)])
        #expect(try await stack.pendingReferences().isEmpty)
        #expect(try await stack.damage() == [])
    }

    @Test("A link that the app wrote stays if another pending reference to the row is resolved")
    func writtenLinkStays() async throws {
        let stack = try DataStack.inMemory(Fixtures.model("fleet"))
        let people: JSONValue = [["id": 1, "commands_ids": ["a"], "repairs_ids": ["a"]], ["id": 2]]
        try await Sync.changes(people, inEntity: "Person", stack: stack)
        try await stack.write { db in try db.execute(sql: "INSERT INTO Ship (id, mechanicID) VALUES ('a', 2)") }
        let ships: JSONValue = [["id": "a"]]
        try await Sync.changes(ships, inEntity: "Ship", stack: stack)
        #expect(try await stack.count("Ship", where: "captain.id == 1 AND mechanic.id == 2") == 1)
    }

    @Test("A single row is deleted by the delete rules, and an unknown ID changes nothing")
    func deletionFollowsRules() async throws {
        let stack = try await store()
        let notes = try await stack.count("Note", where: "user.id == 1")
        let result = try await Sync.delete(id: 1, inEntity: "User", stack: stack)
        #expect(result["User"].deleted == [.integer(1)])
        #expect(result["Note"].deletedCount == notes)
        #expect(try await stack.fetch("User", id: 1) == nil)
        #expect(try await Sync.delete(id: 1, inEntity: "User", stack: stack).isEmpty)
        #expect(try await stack.damage() == [])
    }

    @Test("Calls on single rows inside a write are rolled back with it")
    func callsAreRolledBack() async throws {
        struct Stop: Error {}
        let stack = try await store()
        let before = try await stack.contents()
        #expect(throws: Stop.self) {
            try stack.write { db in
                let row = try stack.insertOrUpdate("User", with: ["id": 70, "first_name": "A"], in: db).row
                #expect(row["firstName"]?.string == "A")
                #expect(try stack.update("User", id: 70, with: ["age": 3], in: db)?.row["age"]?.int == 3)
                #expect(try stack.fetch("User", id: 70, in: db)?["age"]?.int == 3)
                try stack.insert("Tag", values: ["id": 900], in: db)
                try stack.updateAttributes("Tag", with: ["name": "filled"], where: .where("id == 900"), in: db)
                try stack.delete("User", id: 1, in: db)
                throw Stop()
            }
        }
        #expect(try await stack.contents() == before)
    }

    @Test("A call that fails inside a write keeps what was written before it")
    func failedCallKeepsEarlierRows() async throws {
        let stack = try await store()
        try await stack.write { db in
            try stack.insertOrUpdate("User", with: ["id": 70], in: db)
            #expect(throws: SyncError.self) {
                try stack.update("User", id: 70, with: ["id": 1, "notes": [["id": 800]]], in: db)
            }
        }
        #expect(try await stack.fetch("User", id: 70) != nil)
        #expect(try await stack.fetch("Note", id: 800) == nil)
    }

    @Test("An insert that fails inside a write stores no row")
    func failedInsertStoresNothing() async throws {
        let stack = try await store()
        _ = try await stack.write { db in
            #expect(throws: SyncError.self) {
                try stack.insert("Note", values: ["id": 901], relationships: ["nope": []], in: db)
            }
        }
        #expect(try await stack.fetch("Note", id: 901) == nil)
    }
}
