import Foundation
import GRDB
import Sync
import TestWork
import Testing

/// Notifications of tables that triggers and foreign-key actions of an app write during a sync.
@Suite("Observers of tables that triggers and foreign keys write", .timeLimit(.minutes(60)))
struct IndirectWriteTests {
    private static let schema = """
        {"entities": {
          "Project": {"table": "project", "attributes": {"id": "integer", "name": "string"}, "relationships": {
            "tasks": {"entity": "Task", "many": true, "inverse": "project", "deleteRule": "cascade"}}},
          "Task": {"table": "task", "attributes": {"id": "integer", "title": "string", "done": "boolean"},
            "relationships": {"project": {"entity": "Project", "inverse": "tasks", "column": "project_id"}}}}}
        """
    private let queue: DatabaseQueue
    private let stack: DataStack

    /// Creates a database with a counter that triggers update, and with comments of the app.
    init() async throws {
        queue = try DatabaseQueue()
        try await queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE project (id INTEGER PRIMARY KEY, name TEXT, openTasks INTEGER NOT NULL DEFAULT 0);
                    CREATE TABLE task (id INTEGER PRIMARY KEY, title TEXT, done BOOLEAN,
                      project_id INTEGER REFERENCES project ON DELETE CASCADE);
                    CREATE TABLE comment (id INTEGER PRIMARY KEY,
                      task_id INTEGER NOT NULL REFERENCES task ON DELETE CASCADE ON UPDATE CASCADE);
                    CREATE TABLE vote (id INTEGER PRIMARY KEY, comment_id INTEGER REFERENCES comment ON DELETE SET NULL);
                    CREATE TABLE other (id INTEGER PRIMARY KEY);
                    CREATE TRIGGER counter AFTER UPDATE OF done ON task BEGIN
                      UPDATE project SET openTasks =
                        (SELECT count(*) FROM task WHERE project_id = NEW.project_id AND NOT done)
                      WHERE id = NEW.project_id;
                    END
                    """)
        }
        stack = try DataStack(model: SyncModel(schemaData: Data(Self.schema.utf8)), existingTablesIn: queue)
        try await sync(
            #"[{"id": 1, "tasks": [{"id": 11, "done": false}, {"id": 12, "done": false}]}]"#, "Project")
        try await queue.write { db in
            try db.execute(sql: "INSERT INTO comment VALUES (1, 11); INSERT INTO vote VALUES (1, 1)")
        }
    }

    @discardableResult
    private func sync(_ json: String, _ entity: String = "Task") async throws -> SyncResult {
        try await Sync.changes(Data(json.utf8), inEntity: entity, stack: stack)
    }

    /// Counts the notifications of a table.
    private func observer(of table: String) -> NoticeCounter {
        let observer = NoticeCounter(table)
        queue.add(transactionObserver: observer)
        return observer
    }

    @Test("An observation of a column that a trigger writes gives its new value after a sync")
    func writesOfTriggersAreObserved() async throws {
        var open = ValueObservation.tracking { db in try Int.fetchOne(db, sql: "SELECT openTasks FROM project") ?? -1 }
            .removeDuplicates().values(in: queue).makeAsyncIterator()
        #expect(try await open.next() == 0)
        let result = try await sync(#"[{"id": 11, "done": false}, {"id": 12, "done": true}]"#)
        #expect(result["Project"].isEmpty && result.linksAdded + result.linksRemoved == 0)
        #expect(try await open.next() == 1)
    }

    @Test("An observation of rows that ON DELETE CASCADE deletes gives the remaining rows after a sync")
    func deletionsByForeignKeysAreObserved() async throws {
        let vote = observer(of: "vote")
        var comments = ValueObservation.tracking { db in try Int.fetchOne(db, sql: "SELECT count(*) FROM comment") ?? -1
        }
        .removeDuplicates().values(in: queue).makeAsyncIterator()
        #expect(try await comments.next() == 1)
        try await sync(#"[{"id": 12}]"#)
        #expect(try await comments.next() == 0)
        #expect(vote.count == 1)
    }

    @Test("A table is notified only of changes for which a trigger or a foreign key may write it")
    func otherChangesAreNotNotified() async throws {
        let (project, comment, other) = (observer(of: "project"), observer(of: "comment"), observer(of: "other"))
        try await sync(#"[{"id": 11, "title": "a"}, {"id": 12}, {"id": 13}]"#)
        #expect(project.count == 1)
        #expect(comment.count == 0)
        try await sync(#"[{"id": 11}, {"id": 12}]"#)
        #expect(project.count == 1)
        #expect(comment.count == 1)
        _ = try await Sync.plan(Data("[]".utf8), inEntity: "Task", stack: stack)
        try await sync(#"[{"id": 11}, {"id": 12}]"#)
        #expect(comment.count == 1)
        #expect(other.count == 0)
    }

    @Test("The triggers are looked up again only after a change of the schema, also in a caller's transaction")
    func triggersAreLookedUpOnce() async throws {
        func lookups(_ id: Int) async throws -> Int {
            let work = try await stack.counting {
                try await queue.write { db throws in
                    _ = try Sync.changes(
                        [["id": 11], ["id": 12], ["id": JSONValue(id)]] as JSONValue, inEntity: "Task", stack: stack,
                        operations: .insert, in: db)
                }
            }
            return work.statements(beginning: "EXPLAIN")
        }
        let other = observer(of: "other")
        #expect(try await lookups(20) == 0)
        #expect(try await lookups(21) == 0)
        let sql = "CREATE TRIGGER seen AFTER INSERT ON task BEGIN DELETE FROM other; END"
        await #expect(throws: CancellationError.self) {
            try await queue.write { db throws -> Void in
                try db.execute(sql: sql)
                try Sync.changes(
                    [["id": 22]] as JSONValue, inEntity: "Task", stack: stack, operations: .insert, in: db)
                throw CancellationError()
            }
        }
        let before = other.count
        try await queue.write { db in
            try db.execute(sql: sql.replacingOccurrences(of: "INSERT", with: "UPDATE"))
        }
        #expect(try await lookups(23) > 0)
        #expect(try await lookups(24) == 0)
        #expect(other.count == before)
        try await sync(#"[{"id": 11, "title": "b"}, {"id": 12}, {"id": 20}, {"id": 21}, {"id": 23}, {"id": 24}]"#)
        #expect(other.count == before + 1)
        try await queue.write { db in
            try db.execute(
                sql: """
                    DROP TRIGGER seen;
                    CREATE TEMP TRIGGER seen AFTER INSERT ON task BEGIN DELETE FROM other; END
                    """)
        }
        #expect(try await lookups(25) > 0)
        #expect(other.count == before + 2)
    }

    @Test("A trigger that SQLite cannot compile matters only to syncs that fire it")
    func brokenTrigger() async throws {
        try await queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE log (text TEXT);
                    CREATE TRIGGER broken AFTER UPDATE OF title ON task BEGIN INSERT INTO log VALUES (NEW.title); END;
                    DROP TABLE log
                    """)
        }
        let projects = observer(of: "project")
        try await sync(#"[{"id": 11, "done": true}, {"id": 12}]"#)
        #expect(projects.count > 0)
        await #expect(throws: (any Error).self) { try await sync(#"[{"id": 11, "title": "new"}, {"id": 12}]"#) }
    }

    @Test("Triggers on tables that Sync created notify the tables that they write")
    func triggersOnTablesOfSync() async throws {
        let queue = try DatabaseQueue()
        let stack = try DataStack(model: Fixtures.model("company"), in: queue)
        try await Sync.changes(Fixtures.payload("day1"), inEntity: "User", stack: stack)
        try await queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE log (text TEXT);
                    CREATE TRIGGER seen AFTER INSERT ON Note BEGIN INSERT INTO log VALUES (NEW.text); END
                    """)
        }
        var texts = ValueObservation.tracking { db in try String.fetchAll(db, sql: "SELECT text FROM log") }
            .removeDuplicates().values(in: queue).makeAsyncIterator()
        #expect(try await texts.next()?.isEmpty == true)
        try await Sync.changes(
            [["id": 500, "text": "new"]] as JSONValue, inEntity: "Note", stack: stack, operations: .insert)
        #expect(try await texts.next() == ["new"])
    }
}

/// A transaction observer of the app that counts the notifications of a table.
private final class NoticeCounter: TransactionObserver, @unchecked Sendable {
    private let table: String
    private let lock = NSLock()
    private var notices = 0

    init(_ table: String) { self.table = table }

    var count: Int { lock.withLock { notices } }

    func observes(eventsOfKind kind: DatabaseEventKind) -> Bool { kind.tableName == table }
    func databaseDidChange() { lock.withLock { notices += 1 } }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) {}
}
