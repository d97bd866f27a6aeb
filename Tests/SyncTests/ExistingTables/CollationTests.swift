import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

/// A column with another collation than `BINARY` must compare as any column does: by its bytes.
@Suite("Existing tables with other collations than BINARY")
struct CollationTests {
    private static let tables = """
        CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE UNIQUE, nick TEXT COLLATE RTRIM,
          site TEXT COLLATE NOCASE, tag TEXT, team_id INTEGER REFERENCES team ON DELETE SET NULL);
        CREATE INDEX by_tag ON person (tag);
        CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE);
        INSERT INTO team VALUES (1, 'Red'), (2, 'red');
        INSERT INTO person VALUES (1, 'bob', 'b', 'http://a.example/x', 'k', 1), (2, 'Ann', 'b ', 'http://a.example/X', 'K', 2),
          (3, 'Carl', NULL, NULL, NULL, NULL);
        """

    private func stack() throws -> (DatabaseQueue, DataStack) {
        let queue = try DatabaseQueue()
        try queue.write { db in try db.execute(sql: Self.tables) }
        let model = try SyncModel(
            schemaData: Data(
                #"""
                { "entities": {
                  "Person": { "table": "person",
                    "attributes": { "id": "integer", "name": "string", "nick": "string", "site": "url", "tag": "string" },
                    "relationships": { "team": { "entity": "Team", "column": "team_id", "inverse": "people" } } },
                  "Team": { "table": "team", "attributes": { "id": "integer", "name": "string" },
                    "relationships": { "people": { "entity": "Person", "many": true, "inverse": "team" } } } } }
                """#.utf8))
        return (queue, try DataStack(model: model, existingTablesIn: queue))
    }

    private static let capitalized = Data(#"[{"id": 1, "name": "Bob", "nick": "b  "}]"#.utf8)

    @Test("A change of the case alone is planned and written, and a second sync writes nothing")
    func caseAloneIsWritten() async throws {
        let (queue, stack) = try stack()
        var options = SyncOptions()
        options.payloadKind = .delta
        options.resultDetail = .values
        let plan = try await Sync.plan(Self.capitalized, inEntity: "Person", stack: stack, options: options)
        #expect(plan["Person"].updated.map(\.key) == [.integer(1)])
        let result = try await Sync.changes(Self.capitalized, inEntity: "Person", stack: stack, options: options)
        #expect(result["Person"].updated.map(\.key) == [.integer(1)])
        #expect(try queue.lines("SELECT name || '|' || nick || '|' FROM person WHERE id = 1") == ["Bob|b  |"])
        let changes = try await queue.read { $0.totalChangesCount }
        let again = try await Sync.changes(Self.capitalized, inEntity: "Person", stack: stack, options: options)
        #expect(again.isEmpty)
        #expect(try await queue.read { $0.totalChangesCount } == changes)
    }

    /// Conditions, and the keys of the rows that satisfy them.
    static let conditions: [(String, [Int64])] = [
        ("name == 'BOB'", []), ("name == 'bob'", [1]), ("name ==[c] 'BOB'", [1]), ("name != 'BOB'", [1, 2, 3]),
        ("name IN {'BOB', 'Ann'}", [2]), ("name IN[c] {'BOB', 'ann'}", [1, 2]),
        ("NOT name IN {'BOB', 'ann'}", [1, 2, 3]),
        ("name < 'a'", [2, 3]), ("name > 'Z'", [1]), ("name BETWEEN {'A', 'Z'}", [2, 3]),
        ("name >=[c] 'BOB'", [1, 3]),
        ("nick == 'b'", [1]), ("nick <= 'b'", [1]), ("nick == 'b '", [2]),
        ("site == 'http://a.example/x'", [1]),
        ("name == #nick", []), ("nick != #tag", [1, 2]), ("team.name == 'red'", [2]), ("team.name < #name", [1]),
        ("ANY team.people.name == 'BOB'", []), ("tag == 'k'", [1]),
    ]

    @Test("A condition compares by bytes, as in a table of the library", arguments: conditions)
    func conditionComparesBytes(text: String, keys: [Int64]) async throws {
        let (queue, stack) = try stack()
        let own = try DataStack.inMemory(stack.model)
        try await own.write { db in
            for row in try queue.read({ db in try Row.fetchAll(db, sql: "SELECT * FROM team") }) {
                try db.execute(sql: "INSERT INTO team VALUES (?, ?)", arguments: StatementArguments(row.databaseValues))
            }
            for row in try queue.read({ db in try Row.fetchAll(db, sql: "SELECT * FROM person") }) {
                try db.execute(
                    sql: "INSERT INTO person (id, name, nick, site, tag, team_id) VALUES (?, ?, ?, ?, ?, ?)",
                    arguments: StatementArguments(row.databaseValues))
            }
        }
        for stack in [stack, own] {
            let rows = try await stack.fetch("Person", where: .where(text))
            #expect(rows.map(\.key) == keys.map { .integer($0) })
        }
    }

    @Test("A list of more values than SQLite binds is compared by bytes")
    func longListComparesBytes() async throws {
        let (_, stack) = try stack()
        let names = (1...200).map { "n\($0)" }
        #expect(try await stack.count("Person", where: .where("name IN %@", names + ["BOB"])) == 0)
        #expect(try await stack.count("Person", where: .where("name IN %@", names + ["bob"])) == 1)
    }

    @Test("Rows are ordered by bytes, also by a path")
    func orderIsByBytes() async throws {
        let (_, stack) = try stack()
        #expect(try await stack.fetch("Person", orderedBy: "name").map(\.key) == [2, 3, 1].map { .integer($0) })
        #expect(try await stack.fetch("Person", orderedBy: "-team.name").map(\.key) == [2, 1, 3].map { .integer($0) })
    }

    @Test("Comparisons and the order of a BINARY column use its index")
    func indexIsUsed() async throws {
        let (queue, stack) = try stack()
        for (condition, order) in [
            ("tag == 'k'", RowOrder.byKey), ("tag IN {'k', 'l'}", .byKey), ("tag > 'k'", "tag"), ("id > 0", "tag"),
        ] {
            let watch = try await StatementWatch.watch(stack) {
                _ = try await stack.fetch("Person", where: .where(condition), orderedBy: order)
            }
            let sql = try #require(watch.statements.first { $0.contains("person") })
            let plan = try await queue.read { db in
                let explanation = try db.makeStatement(sql: "EXPLAIN QUERY PLAN \(sql)")
                explanation.setUncheckedArguments(StatementArguments())
                return try Row.fetchAll(explanation).map { $0["detail"] as String }
            }
            #expect(plan.contains { $0.contains("by_tag") }, "\(plan)")
        }
    }

    @Test("An engine sends a local change of the case alone, and writes such a change of the service")
    func engineSeesCase() async throws {
        let (queue, stack) = try stack()
        let service = InMemoryService()
        await service.set("Person", 1, ["name": "bob", "nick": "b"])
        let engine = try SyncEngine(stack: stack, service: service, entities: ["Person"])
        try await engine.sync()
        await service.deleteRequests()
        try await queue.write { db in try db.execute(sql: "UPDATE person SET name = 'BOB' WHERE id = 1") }
        try await engine.sync()
        #expect(await service.accepted.last == ["name": "BOB"])
        await service.set("Person", 1, ["name": "Bob", "nick": "b "])
        #expect(try await engine.sync().total.pulledUpdates == 1)
        #expect(try queue.lines("SELECT name || '|' || nick || '|' FROM person WHERE id = 1") == ["Bob|b |"])
        #expect(try await engine.sync().total.pulledUpdates == 0)
    }
}
