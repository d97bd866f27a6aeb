import Foundation
import Sync
import TestWork
import Testing

/// How the work of a sync grows, by SQLite's own counters. A slow algorithm fails here on any machine.
@Suite("Counted work")
struct CountedWorkTests {
    private func sync(
        _ payload: UserPayload, _ stack: DataStack, _ kind: PayloadKind = .snapshot
    ) async throws {
        var options = SyncOptions(payloadKind: kind)
        options.resultDetail = .counts
        try await Sync.changes(payload.data, inEntity: "User", stack: stack, options: options)
    }

    private func store(of users: Int) async throws -> DataStack {
        let stack = try DataStack.inMemory(Fixtures.model("company"))
        try await sync(UserPayload(ids: 1...users), stack)
        return stack
    }

    /// Returns the work of one sync into a store of 200 users, and into one of 2,000.
    private func work(
        of payload: (Int) -> UserPayload, _ kind: PayloadKind = .snapshot
    ) async throws -> (small: CountedWork, large: CountedWork) {
        var counted: [CountedWork] = []
        for users in [200, 2000] {
            let stack = try await store(of: users)
            counted.append(try await stack.counting { try await sync(payload(users), stack, kind) })
            #expect(counted.last?.automaticIndexes == 0)
        }
        return (counted[0], counted[1])
    }

    @Test("A repeated payload takes as many statements for many rows as for few, and writes nothing")
    func repeatedPayloadWritesNothing() async throws {
        let (small, large) = try await work(of: { UserPayload(ids: 1...$0) })
        #expect(small.statements > 0)
        #expect(large.statements == small.statements)
        #expect(large.statements(beginning: "INSERT", "UPDATE", "DELETE") == 0)
        #expect(large.steps <= small.steps * 10)
    }

    @Test("A first import runs at most one statement per row and link, and a few more")
    func firstImportHasFewStatements() async throws {
        for users in [200, 2000] {
            let stack = try DataStack.inMemory(Fixtures.model("company"))
            let payload = UserPayload(ids: 1...users)
            let before = try await stack.changesWritten()
            let work = try await stack.counting { try await sync(payload, stack) }
            #expect(try await stack.changesWritten() - before == payload.rowCount)
            #expect(work.statements(beginning: "INSERT") <= payload.rowCount)
            #expect(work.statements - payload.rowCount < 60)
            // The schema is read for triggers, once per table.
            #expect(work.scanned < 100)
        }
    }

    @Test("A change of one row in a hundred writes those rows, and reads the rest once")
    func fewChangesWriteFewRows() async throws {
        let (small, large) = try await work(of: { users in
            UserPayload(ids: 1...users, changed: Set(stride(from: 7, through: users, by: 100)))
        })
        #expect(small.statements(beginning: "INSERT", "UPDATE", "DELETE") == 2)
        #expect(large.statements(beginning: "INSERT", "UPDATE", "DELETE") == 20)
        #expect(large.statements - small.statements == 18)
        #expect(large.steps <= small.steps * 10)
    }

    @Test("A single record takes the same work in any store")
    func oneRecordTakesSameWork() async throws {
        let (small, large) = try await work(of: { _ in UserPayload(ids: 104...104, changed: [104]) }, .delta)
        #expect(small.statements(beginning: "UPDATE") == 1)
        #expect(large.runs == small.runs)
        #expect(large.steps <= small.steps + small.steps / 10)
        #expect(large.scanned == small.scanned)
    }

    @Test("Calls inside the caller's transaction do not read the stored model")
    func callsInTransactionReadNoModel() async throws {
        let stack = try await store(of: 20)
        let work = try await stack.counting {
            try await stack.write { db in
                for id in 1...10 { _ = try stack.fetch("User", id: JSONValue(id), in: db) }
            }
        }
        #expect(work.runs.keys.allSatisfy { !$0.contains("sync_model") })
    }

    @Test("Keyless rows of one list take work in proportion to their number")
    func keylessRowsTakeLinearWork() async throws {
        let model = try SyncModel(entities: [
            SyncModel.Entity(
                "User", attributes: [SyncModel.Attribute("id", .integer)],
                relationships: [SyncModel.Relationship("addresses", to: "Address", many: true, inverse: "user")]),
            SyncModel.Entity(
                "Address", attributes: [SyncModel.Attribute("street", .string)],
                relationships: [SyncModel.Relationship("user", to: "User", inverse: "addresses")]),
        ])
        var steps: [Int] = []
        for count in [50, 500] {
            let stack = try DataStack.inMemory(model)
            func user(_ streets: Range<Int>) -> JSONValue {
                [["id": 1, "addresses": .array(streets.map { ["street": .string("street \($0)")] })]]
            }
            try await Sync.changes(user(0..<count), inEntity: "User", stack: stack)
            steps.append(
                try await stack.counting {
                    try await Sync.changes(user(1..<count), inEntity: "User", stack: stack)
                }.steps)
        }
        #expect(steps[1] <= steps[0] * 11)
    }

    @Test("An export takes work in proportion to the number of rows")
    func exportTakesLinearWork() async throws {
        var counted: [CountedWork] = []
        for users in [200, 2000] {
            let stack = try await store(of: users)
            counted.append(try await stack.counting { _ = try await stack.export("User") })
        }
        #expect(counted[0].statements > 0)
        #expect(counted[1].statements <= counted[0].statements * 10)
        #expect(counted[1].steps <= counted[0].steps * 11)
    }

    @Test("An export reads related rows in sets")
    func exportReadsSets() async throws {
        // The users are read in groups of 1, 4, 16, 64, 256 and so on. Each group has three relationships.
        for (users, groups) in [(200, 5), (2000, 12)] {
            let stack = try await store(of: users)
            let work = try await stack.counting { _ = try await stack.export("User") }
            #expect(work.statements(beginning: "SELECT") <= 3 * groups + 10, "\(work)")
            #expect(work.automaticIndexes == 0)
        }
    }

    @Test("An export reads the rows of each nesting level in sets")
    func exportReadsLevels() async throws {
        let stack = try DataStack.inMemory(Self.shelves())
        let records = (1...1000).map { shelf -> JSONValue in
            let books = (0..<2).map { book -> JSONValue in
                let id = shelf * 10 + book
                return ["id": JSONValue(id), "chapters": [["id": JSONValue(2 * id)], ["id": JSONValue(2 * id + 1)]]]
            }
            return ["id": JSONValue(shelf), "books": .array(books)]
        }
        try await Sync.changes(.array(records), inEntity: "Shelf", stack: stack)
        let work = try await stack.counting {
            let exported = try await stack.export("Shelf")
            #expect(exported == records)
        }
        // Eight groups of shelves. The 512 books of 256 shelves are two groups.
        #expect(work.statements(beginning: "SELECT") <= 8 + 8 * 2 + 10, "\(work)")
    }

    @Test("A fetch of typed rows reads their related rows in sets")
    func typedRowsReadSets() async throws {
        let stack = try DataStack.inMemory(SyncModel(Job.self, Chore.self))
        let jobs = (1...1000).map { job -> JSONValue in
            ["id": JSONValue(job), "tasks": [["number": 2], ["number": 1]]]
        }
        try await Sync.changes(.array(jobs), inEntity: "Job", stack: stack)
        let work = try await stack.counting {
            let found = try await stack.fetch(Job.self, including: \.tasks)
            #expect(found.map(\.id) == Array(1...1000))
            #expect(found.allSatisfy { $0.tasks.rows?.map(\.number) == [1, 2] })
            #expect(found.allSatisfy { job in job.tasks.rows?.allSatisfy { $0.jobID == job.id } == true })
        }
        #expect(work.statements(beginning: "SELECT") <= 12, "\(work)")
    }

    private static func shelves() throws -> SyncModel {
        func entity(_ name: String, _ lists: [SyncModel.Relationship]) -> SyncModel.Entity {
            SyncModel.Entity(name, attributes: [SyncModel.Attribute("id", .integer)], relationships: lists)
        }
        return try SyncModel(entities: [
            entity("Shelf", [SyncModel.Relationship("books", to: "Book", many: true, inverse: "shelf")]),
            entity(
                "Book",
                [
                    SyncModel.Relationship("shelf", to: "Shelf", inverse: "books"),
                    SyncModel.Relationship("chapters", to: "Chapter", many: true, inverse: "book"),
                ]),
            entity("Chapter", [SyncModel.Relationship("book", to: "Book", inverse: "chapters")]),
        ])
    }
}
