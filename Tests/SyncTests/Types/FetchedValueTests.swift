import Foundation
import GRDB
import Sync
import Testing

@Suite("Saves of fetched values")
struct FetchedValueTests {
    private struct Failure: Error {}

    private let stack: DataStack

    init() async throws {
        stack = try Self.emptyStack()
        let json: JSONValue = [
            [
                "id": 1, "stage": "open", "level": 1, "place": ["street": "Elm", "zip": "1234"],
                "tasks": [["number": 1, "text": "a"], ["number": 2, "text": "b"]],
            ],
            ["id": 2],
        ]
        try await Sync.changes(json, inEntity: "Job", stack: stack)
    }

    private static func emptyStack() throws -> DataStack {
        try DataStack.inMemory(SyncModel(Job.self, Chore.self))
    }

    private func job() async throws -> Job { try #require(try await stack.fetch(Job.self, id: 1, including: \.tasks)) }

    /// Changes a row as another writer would.
    private func write(_ values: JSONValue) async throws {
        #expect(try await Sync.update(id: 1, with: values, inEntity: "Job", stack: stack) != nil)
    }

    /// Saves a value in a transaction of the caller, which is committed or rolled back.
    private func saveInTransaction(_ job: Job, isCommitted: Bool) async throws {
        do {
            try await stack.write { [stack] db in
                try stack.save([job], in: db)
                if !isCommitted { throw Failure() }
            }
        } catch is Failure {
            #expect(!isCommitted)
        }
    }

    private func expect(level: Int8, stage: Stage, in stack: DataStack? = nil) async throws {
        let job = try #require(try await (stack ?? self.stack).fetch(Job.self, id: 1))
        #expect(job.level == level && job.stage == stage, "level \(job.level ?? -1), stage \(job.stage ?? .open)")
    }

    @Test("A save writes the changed attributes only", arguments: [true, false])
    func writesChangedAttributes(isSync: Bool) async throws {
        var held = try await job()
        try await write(["stage": "done", "place": ["street": "Oak", "zip": "9"]])
        held.level = 2
        let result = isSync ? try await Sync.changes([held], stack: stack) : try await stack.save(held)
        #expect(result["Job"].updated.map(\.changedAttributes) == [["level"]])
        try await expect(level: 2, stage: .done)
        #expect(try await stack.fetch("Job", id: 1)?["place"]?.json?["zip"] == "9")
    }

    @Test("A second save of the same value writes what changed since the first")
    func savesTwice() async throws {
        var held = try await job()
        held.level = 2
        try await stack.save(held)
        try await write(["stage": "done"])
        held.level = 1
        try await stack.save(held)
        try await expect(level: 1, stage: .done)
        held.tasks.rows?[0].text = "A"
        try await stack.save(held)
        held.tasks.rows?[0].text = "a"
        try await stack.save(held)
        #expect(try await stack.fetch(Chore.self).map(\.text) == ["a", "b"])
    }

    @Test("If the edits of a type are not tracked, a copy that was kept before a save restores the values")
    func restoresCopy() async throws {
        let former = try await job()
        var held = former
        held.level = 2
        try await stack.save(held)
        try await write(["stage": "done"])
        try await stack.save(former)
        try await expect(level: 1, stage: .done)
    }

    @Test("A value of another store is written whole, with its related rows", arguments: [true, false])
    func copiesToOtherStore(isSync: Bool) async throws {
        let other = try Self.emptyStack()
        try await other.save(Job(id: 1))
        let held = try await job()
        if isSync { try await Sync.changes([held], stack: other) } else { try await other.save(held) }
        try await expect(level: 1, stage: .open, in: other)
        #expect(try await other.fetch(Chore.self).map(\.text) == ["a", "b"])
    }

    @Test("A value whose row was deleted is inserted with all values")
    func insertsDeletedRow() async throws {
        var held = try await job()
        try await Sync.delete(id: 1, inEntity: "Job", stack: stack)
        held.level = 3
        try await stack.save(held)
        try await expect(level: 3, stage: .open)
        #expect(try await stack.fetch(Job.self, id: 1)?.place?.street == "Elm")
    }

    @Test("A copy with another key is written whole")
    func copiesRow() async throws {
        var held = try await job()
        held.id = 3
        held.tasks = RelatedRows()
        try await stack.save(held)
        let copy = try #require(try await stack.fetch(Job.self, id: 3))
        #expect(copy.level == 1 && copy.stage == .open && copy.place?.street == "Elm")
    }

    @Test("After a commit that failed, a save writes the changes again")
    func savesAfterFailedCommit() async throws {
        /// Fails the first commit.
        final class Observer: TransactionObserver {
            private var failed = false
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
            func databaseDidChange(with event: DatabaseEvent) {}
            func databaseWillCommit() throws {
                if failed { return }
                failed = true
                throw Failure()
            }
            func databaseDidCommit(_ db: Database) {}
            func databaseDidRollback(_ db: Database) {}
        }
        var held = try await job()
        try await write(["stage": "done"])
        held.level = 2
        let value = held
        stack.writer.add(transactionObserver: Observer(), extent: .databaseLifetime)
        await #expect(throws: (any Error).self) { try await stack.save(value) }
        try await expect(level: 1, stage: .done)
        try await stack.save(held)
        try await expect(level: 2, stage: .done)
    }

    @Test("A save that fails keeps the state of the value")
    func savesAfterError() async throws {
        var held = try await job()
        try await write(["stage": "done"])
        held.level = 2
        var other = held
        other.level = 3
        let both = [held, other]
        await #expect(throws: SyncError.self) { try await stack.save(both) }
        try await stack.save(held)
        try await expect(level: 2, stage: .done)
    }

    @Test("A save in a transaction that is rolled back is repeated whole")
    func savesAfterRollbackOfCaller() async throws {
        var held = try await job()
        held.level = 2
        let values = [held]
        try await saveInTransaction(held, isCommitted: false)
        try await stack.write { [stack] db in
            try db.inSavepoint {
                try stack.save(values, in: db)
                return .rollback
            }
        }
        try await expect(level: 1, stage: .open)
        try await stack.save(held)
        try await expect(level: 2, stage: .open)
    }

    @Test("After a save in the caller's transaction, a value that is set back is written")
    func savesAfterTransactionOfCaller() async throws {
        var held = try await job()
        held.level = 2
        let values = [held]
        try await stack.write { [stack] db in
            try stack.save(values, in: db)
            var again = values[0]
            again.level = 1
            try stack.save([again], in: db)
            try stack.save(values, in: db)
        }
        try await expect(level: 2, stage: .open)
        held.level = 1
        try await stack.save(held)
        try await expect(level: 1, stage: .open)
    }

    @Test("After a save in the caller's transaction, a save keeps changes of others", arguments: [true, false])
    func keepsChangesAfterTransactionOfCaller(isCommitted: Bool) async throws {
        var held = try await job()
        held.level = 2
        try await saveInTransaction(held, isCommitted: isCommitted)
        try await expect(level: isCommitted ? 2 : 1, stage: .open)
        try await write(["stage": "done"])
        held.place?.street = "Oak"
        try await stack.save(held)
        try await expect(level: 2, stage: .done)
    }

    @Test("A list that was saved in the caller's transaction is written again", arguments: [true, false])
    func savesListAfterTransactionOfCaller(isCommitted: Bool) async throws {
        var held = try await job()
        let removed = held.tasks.rows?.removeLast()
        try await saveInTransaction(held, isCommitted: isCommitted)
        try await Sync.changes([held], stack: stack)
        #expect(try await stack.fetch(Chore.self).map(\.text) == ["a"])
        held.tasks.rows?.append(try #require(removed))
        try await stack.save(held)
        #expect(try await stack.fetch(Chore.self).map(\.text) == ["a", "b"])
    }

    @Test("A value that the app created and saved keeps what others changed after the save")
    func savesCreatedValueTwice() async throws {
        var created = Job(id: 5)
        (created.level, created.stage) = (1, .open)
        try await stack.save(created)
        #expect(try await Sync.update(id: 5, with: ["stage": "done"], inEntity: "Job", stack: stack) != nil)
        created.level = 2
        try await stack.save(created)
        let stored = try #require(try await stack.fetch(Job.self, id: 5))
        #expect(stored.level == 2 && stored.stage == .done)
        // Copies with other keys, and without keys, are rows of their own.
        created.id = 6
        try await stack.save(created)
        #expect(try await stack.fetch(Job.self, id: 6)?.level == 2)
        let other = try Self.emptyStack()
        try await other.save(created)
        #expect(try await other.fetch(Job.self, id: 6)?.stage == .open)
    }

    @Test("A value that GRDB wrote is written where it may differ")
    func savesAfterRecordWrite() async throws {
        var held = try await job()
        held.level = 2
        let written = held
        try await stack.write { db in try written.update(db) }
        try await expect(level: 2, stage: .open)
        held.level = 1
        try await stack.save(held)
        try await expect(level: 1, stage: .open)
    }

    @Test("A sync that excludes updates does not count as a save")
    func savesAfterPartialSync() async throws {
        var held = try await job()
        held.level = 2
        try await Sync.changes([held], stack: stack, operations: .insert)
        try await expect(level: 1, stage: .open)
        try await stack.save(held)
        try await expect(level: 2, stage: .open)
    }

    @Test("A snapshot of fetched values is written whole")
    func snapshotOfValues() async throws {
        let held = try await [job(), #require(stack.fetch(Job.self, id: 2))]
        try await write(["stage": "done"])
        try await Sync.changes(held, stack: stack, options: SyncOptions(payloadKind: .snapshot))
        try await expect(level: 1, stage: .open)
        #expect(try await stack.count(Chore.self) == 2)
    }

    @Test("A row with a composite key cannot be appended to a list that is not loaded")
    func appendsToUnloadedCompositeList() async throws {
        var held = try #require(try await stack.fetch(Job.self, id: 1))
        held.tasks.rows = [Chore(job: 1, number: 3)]
        let value = held
        let error = await #expect(throws: SyncError.self) { try await Sync.changes([value], stack: stack) }
        #expect(error?.code == .invalidOption && error?.path == "tasks")
        #expect(try await stack.count(Chore.self) == 2)
    }

    @Test("An attribute that the type lacks keeps its value, or gets its default", arguments: [true, false])
    func attributeOutsideType(isSync: Bool) async throws {
        var entities = [Job.syncEntity, Chore.syncEntity]
        entities[0].attributes += [.init("code", .string), .init("rank", .integer, defaultValue: .integer(7))]
        entities[1].attributes += [.init("code", .string)]
        let stack = try DataStack.inMemory(SyncModel(entities: entities))
        let json: JSONValue = [
            ["id": 1, "code": "K", "rank": 3, "tasks": [["number": 1, "text": "a", "code": "C"]]]
        ]
        try await Sync.changes(json, inEntity: "Job", stack: stack)
        func save(_ job: Job, _ options: SyncOptions = SyncOptions()) async throws {
            _ = isSync ? try await Sync.changes([job], stack: stack, options: options) : try await stack.save(job)
        }
        func stored() async throws -> [String] {
            let sql = "SELECT id, code, rank FROM Job UNION ALL SELECT number, code, text FROM Chore"
            return try await stack.read { db in
                try Row.fetchAll(db, sql: sql).map { $0.databaseValues.map(\.description).joined(separator: " ") }
            }
        }
        var held = try #require(try await stack.fetch(Job.self, id: 1, including: \.tasks))
        try await save(held)
        #expect(try await stored() == [#"1 "K" 3"#, #"1 "C" "a""#])
        held.level = 2
        held.tasks.rows?[0].text = "b"
        try await save(held)
        #expect(try await stored() == [#"1 "K" 3"#, #"1 "C" "b""#])
        try await save(Job(id: 1), SyncOptions(payloadKind: .snapshot))
        #expect(try await stored().first == #"1 "K" 3"#)
        try await stack.update(Job.self, id: 1) { $0.level = 4 }
        #expect(try await stored().first == #"1 "K" 3"#)
        try await save(Job(id: 2))
        #expect(try await stored().contains("2 NULL 7"))
    }

    @Test("A changed Codable value keeps the members that its type lacks, and what others added")
    func unknownMembers() async throws {
        let json: JSONValue = [["id": 1, "place": ["street": "a", "floor": 3, "map": ["zoom": 2], "code": "K"]]]
        try await Sync.changes(json, inEntity: "Job", stack: stack)
        func place() async throws -> String? {
            try await stack.read { db in try String.fetchOne(db, sql: "SELECT place FROM Job") }
        }
        var job = try #require(try await stack.fetch(Job.self, id: 1))
        job.place?.street = "b"
        try await stack.save(job)
        #expect(try await place() == #"{"code":"K","floor":3,"map":{"zoom":2},"street":"b"}"#)
        let other: JSONValue = ["street": "b", "floor": 3, "code": "L", "new": true]
        try await Sync.update(id: 1, with: ["place": other], inEntity: "Job", stack: stack)
        job.place?.floor = nil
        try await stack.save(job)
        #expect(try await place() == #"{"code":"L","new":true,"street":"b"}"#)
        try await stack.update(Job.self, id: 1) { $0.place?.street = "c" }
        #expect(try await place() == #"{"code":"L","new":true,"street":"c"}"#)
        try await Sync.update(id: 1, with: ["place": ["street": "d"]], inEntity: "Job", stack: stack)
        job.place = nil
        try await stack.save(job)
        #expect(try await place() == nil)
        job.place = Place(street: "e", floor: nil)
        try await stack.write { [job, stack] db in _ = try stack.save(job, in: db) }
        #expect(try await place() == #"{"street":"e"}"#)
    }

    @Test("The state takes no part in comparisons")
    func comparesProperties() async throws {
        let fetched = try await job()
        var created = Job(id: 1)
        (created.stage, created.level, created.place) = (fetched.stage, fetched.level, fetched.place)
        created.tasks = fetched.tasks
        #expect(created == fetched)
        #expect(FetchedRow().hashValue == fetched.syncFetchedRow.hashValue)
        let json = try JSONEncoder().encode([fetched.syncFetchedRow])
        #expect(try JSONDecoder().decode([FetchedRow].self, from: json).count == 1)
    }
}
