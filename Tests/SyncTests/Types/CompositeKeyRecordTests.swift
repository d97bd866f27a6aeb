import Foundation
import GRDB
import Sync
import Testing

@Suite("Records of types with other keys than the primary key of their table")
struct CompositeKeyRecordTests {
    private func stack() async throws -> DataStack {
        let stack = try DataStack.inMemory(SyncModel(Job.self, Chore.self))
        let json =
            #"[{"id": 1, "tasks": [{"number": 1, "text": "a"}, {"number": 2, "text": "b"}]}, {"id": 2, "tasks": []}]"#
        try await Sync.changes(Data(json.utf8), as: Job.self, stack: stack)
        return stack
    }

    /// Updates a record as generic code of GRDB does.
    private func update(_ record: some PersistableRecord, _ db: Database) throws { try record.update(db) }
    private func save(_ record: some PersistableRecord, _ db: Database) throws { try record.save(db) }
    private func delete(_ record: some PersistableRecord, _ db: Database) throws -> Bool { try record.delete(db) }

    private func texts(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db, sql: "SELECT jobID || '.' || number || ' ' || coalesce(text, '-') FROM Chore ORDER BY 1")
    }

    @Test("GRDB updates, saves and deletes records with composite keys, fetched or made")
    func recordsAreWritten() async throws {
        let stack = try await stack()
        try await stack.write { db in
            var chore = try #require(try Chore.fetchAll(db).first { $0.number == 2 })
            chore.text = "B"
            try chore.update(db)
            #expect(try texts(db) == ["1.1 a", "1.2 B"])
            try Chore(job: 1, number: 1, text: "A").save(db)
            try Chore(job: 2, number: 1, text: "c").save(db)
            #expect(try texts(db) == ["1.1 A", "1.2 B", "2.1 c"])
            try update(Chore(job: 2, number: 1, text: "C"), db)
            try save(Chore(job: 1, number: 1, text: "x"), db)
            #expect(try texts(db) == ["1.1 x", "1.2 B", "2.1 C"])
            #expect(try Chore(job: 1, number: 2).exists(db))
            #expect(try Chore(job: 1, number: 2).delete(db))
            #expect(try delete(Chore(job: 1, number: 1), db))
            #expect(try texts(db) == ["2.1 C"])
        }
        #expect(try await stack.fetch(Job.self, id: 2, including: \.tasks)?.tasks.rows?.map(\.text) == ["C"])
    }

    @Test("The changes of a type with a composite key have keys with all parts")
    func changesHaveCompositeKeys() async throws {
        let stack = try DataStack.inMemory(SyncModel(Job.self, Chore.self, Scrap.self))
        let json = #"[{"id": 1, "tasks": [{"number": 1}, {"number": 2}]}]"#
        let result = try await Sync.changes(Data(json.utf8), as: Job.self, stack: stack)
        #expect(result[Job.self].inserted == [1])
        #expect(result[Chore.self].inserted == [[1, 1], [1, 2]] as [JSONValue])
        #expect(result[Scrap.self].inserted.isEmpty)
    }

    @Test("An update of a record with a composite key keeps its row")
    func updateKeepsTheRow() async throws {
        let stack = try await stack()
        try await stack.write { db in
            let before = try Int64.fetchAll(db, sql: "SELECT sync_id FROM Chore ORDER BY 1")
            var chore = Chore(job: 1, number: 1, text: "x")
            try chore.save(db)
            try chore.updateChanges(db) { $0.text = "y" }
            #expect(try Int64.fetchAll(db, sql: "SELECT sync_id FROM Chore ORDER BY 1") == before)
            #expect(try texts(db).first == "1.1 y")
        }
    }

    @Test("A record without a row is not updated or deleted, and a save inserts it")
    func recordWithoutRow() async throws {
        let stack = try await stack()
        try await stack.write { db in
            let none = Chore(job: 1, number: 9)
            #expect(throws: RecordError.self) { try none.update(db) }
            #expect(try none.delete(db) == false)
            #expect(try none.exists(db) == false)
            #expect(throws: DatabaseError.self) { try Chore(job: 1, number: 1).insert(db) }
            try none.save(db)
            #expect(try texts(db).count == 3)
        }
    }

    @Test("A keyless record can be inserted, and its deletion is an error")
    func keylessRecord() async throws {
        let stack = try DataStack.inMemory(SyncModel(Scrap.self))
        try await stack.write { db in
            try Scrap(text: "a").insert(db)
            try Scrap(text: "b").save(db)
            #expect(throws: RecordError.self) { try Scrap(text: "a").update(db) }
            let error = #expect(throws: SyncError.self) { try Scrap(text: "a").delete(db) }
            #expect(error?.code == .keylessEntity)
            #expect(try Scrap.fetchCount(db) == 2)
        }
    }

    @Test("A record of an existing table with an ID of the app is found by its remote ID")
    func recordIsFoundByRemoteID() async throws {
        let queue = try DatabaseQueue()
        try await queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE authors (id INTEGER PRIMARY KEY, remote_id INTEGER NOT NULL UNIQUE, name TEXT);
                    INSERT INTO authors VALUES (1, 2, 'Ada'), (2, 1, 'Bob')
                    """)
        }
        _ = try DataStack(model: SyncModel(Author.self), existingTablesIn: queue)
        try await queue.write { db in
            try Author(remoteID: 2, name: "Ada L.").update(db)
            try Author(remoteID: 1, name: "Bert").save(db)
            try Author(remoteID: 7, name: "Cyd").save(db)
        }
        #expect(try queue.lines("SELECT * FROM authors ORDER BY id") == ["1 2 Ada L.", "2 1 Bert", "3 7 Cyd"])
        #expect(try await queue.write { db in try Author(remoteID: 2, name: nil).delete(db) })
        #expect(try queue.lines("SELECT name FROM authors ORDER BY id") == ["Bert", "Cyd"])
    }
}
