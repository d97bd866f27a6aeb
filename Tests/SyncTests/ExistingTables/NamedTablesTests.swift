import Foundation
import GRDB
import Sync
import Testing

@Suite("Models that name tables and columns")
struct NamedTablesTests {
    /// Returns the model of the sample with other names of tables and columns.
    static func named() throws -> SyncModel {
        let model = try Fixtures.model("company")
        return try model.replacing(
            entities: model.entities.map { entity in
                var entity = entity
                entity.table = Inflection.snakeCase(entity.name) + "_rows"
                for index in entity.attributes.indices {
                    entity.attributes[index].column = "c_" + Inflection.snakeCase(entity.attributes[index].name)
                }
                for index in entity.relationships.indices {
                    let relationship = entity.relationships[index]
                    if !relationship.isToMany { entity.relationships[index].column = relationship.name + "_id" }
                    guard relationship.name == "tags" else { continue }
                    entity.relationships[index].table = "user_tags"
                    entity.relationships[index].column = "tag_id"
                    entity.relationships[index].inverseColumn = "user_id"
                }
                return entity
            })
    }

    private func state(_ stack: DataStack) async throws -> [String] {
        var texts: [String] = []
        for entity in stack.model.entities {
            texts += try await stack.export(entity.name).map { "\($0)" }
        }
        return texts
    }

    @Test("A store has the tables and columns that its model names, and is synced like any other")
    func namedTablesAreSynced() async throws {
        let plain = try DataStack.inMemory(Fixtures.model("company"))
        let named = try DataStack.inMemory(Self.named())
        for day in ["day1", "day2"] {
            let payload = try Fixtures.payload(day)
            let wanted = try await Sync.changes(payload, inEntity: "User", stack: plain)
            #expect(try await Sync.changes(payload, inEntity: "User", stack: named) == wanted)
            #expect(try await Sync.changes(payload, inEntity: "User", stack: named).isEmpty)
            #expect(try await state(named) == state(plain))
        }
        let tables = try await named.read { db in
            try String.fetchSet(
                db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sync%'")
        }
        #expect(tables == ["user_rows", "company_rows", "note_rows", "tag_rows", "user_tags"])
        #expect(try await named.read { db in try db.columns(in: "user_tags").map(\.name) } == ["tag_id", "user_id"])
        let columns = try await named.read { db in try db.columns(in: "note_rows").map(\.name) }
        #expect(columns == ["c_id", "c_text", "c_created_at", "user_id"])
    }

    @Test("Conditions, orders and paths use the names of the model")
    func conditionsUseNamesOfTheModel() async throws {
        let plain = try DataStack.inMemory(Fixtures.model("company"))
        let named = try DataStack.inMemory(Self.named())
        for stack in [plain, named] {
            try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack)
        }
        for condition in [
            "firstName BEGINSWITH 'A'", "company.name != nil", "notes.@count > 0", "ANY tags.name CONTAINS 'a'",
            "joinedAt != nil AND id > 1",
        ] {
            let wanted = try await plain.fetch(
                "User", where: .where(condition), orderedBy: ["company.name", "-lastName"])
            let found = try await named.fetch(
                "User", where: .where(condition), orderedBy: ["company.name", "-lastName"])
            #expect(found.map(\.key) == wanted.map(\.key), "\(condition)")
            #expect(found.map(\.description) == wanted.map(\.description))
        }
        for stack in [plain, named] {
            let record: JSONValue = ["id": 900, "first_name": "New", "tag_ids": [1]]
            try await Sync.insertOrUpdate(record, inEntity: "User", stack: stack)
            let values: JSONValue = ["company_id": nil, "first_name": "Newer"]
            try await Sync.update(id: 900, with: values, inEntity: "User", stack: stack)
            try await Sync.delete(id: 1, inEntity: "User", stack: stack)
            try await Sync.changes(
                Data(#"[{"id": 901}]"#.utf8), inEntity: "User", stack: stack, parent: SyncParent("Company", id: 1))
        }
        #expect(try await state(named) == state(plain))
    }

    @Test("A migration renames tables and columns, and keeps all rows and links")
    func migrationRenamesTables() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        try await folder.importDay1()
        let models = try [Fixtures.model("company"), Self.named(), Fixtures.model("company")]
        var states: [[String]] = []
        for model in models {
            let stack = try DataStack(model: model, at: folder.database)
            states.append(try await state(stack))
            #expect(try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack).isEmpty)
            try stack.close()
        }
        #expect(!states[0].isEmpty)
        #expect(states[1] == states[0])
        #expect(states[2] == states[0])
    }
}
