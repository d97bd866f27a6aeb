import Foundation
import Sync
import SyncTesting
import TestSize
import Testing

@testable import SyncService

/// Answers with another row than the requested one, as a cache may give them.
@Suite("Answers with another row")
struct WrongRowTests {
    /// A service in memory whose answers have another row for a while.
    private actor Confused: InMemoryWrapper {
        nonisolated let memory: InMemoryService
        private let other: JSONValue
        private let kind: PushOperation.Kind
        /// The number of correct answers to changes at first.
        private var right: Int
        /// The remaining numbers of wrong answers to changes and to fetches.
        private var changes: Int
        private var rows: Int
        /// Whether changes with wrong answers are carried out.
        private let isDone: Bool

        init(
            _ memory: InMemoryService, other: JSONValue, kind: PushOperation.Kind, changes: Int, rows: Int = 0,
            isDone: Bool = true, right: Int = 0
        ) {
            (self.memory, self.other, self.kind) = (memory, other, kind)
            (self.changes, self.rows, self.isDone) = (changes, rows, isDone)
            self.right = right
        }

        func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
            var outcomes: [PushOutcome] = []
            for operation in operations {
                let isMeant = operation.kind == kind && operation.entity == "Task"
                let isWrong = isMeant && right == 0 && changes > 0
                if isWrong { changes -= 1 } else if isMeant { right = max(0, right - 1) }
                if isWrong, !isDone {
                    outcomes.append(rows > 0 ? .conflict(nil) : .applied(await row()))
                    continue
                }
                let outcome = try await memory.push([operation])[0]
                outcomes.append(isWrong ? .applied(await row()) : outcome)
            }
            return outcomes
        }

        func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome] {
            guard rows > 0 else { return try await memory.fetch(ids, of: entity) }
            rows -= 1
            // The record of another, deleted row.
            return ids.map { _ in .found(RemoteRecord(id: other, record: nil, version: "99")) }
        }

        private func row() async -> RemoteRecord {
            let record = await memory.contents(of: "Task")[other] ?? ["id": other, "title": "t"]
            return RemoteRecord(id: other, record: record, version: "1")
        }
    }

    private func memory(
        _ idempotency: ServiceCapabilities.CreateIdempotency,
        _ detection: ServiceCapabilities.DeletionDetection = .tombstones
    ) async -> InMemoryService {
        let memory = InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: detection, createIdempotency: idempotency,
                supportsPreconditions: true,
                providesModificationTimes: true, maxBatchSize: 10))
        for id in 1...6 { await memory.set("Task", JSONValue(id), ["title": .string("t\(id)")]) }
        return memory
    }

    /// Returns the titles of the tasks, which are finally equal on both sides.
    private func titles(_ device: Device, _ memory: InMemoryService) async throws -> [String] {
        for _ in 0..<3 { try await device.engine.sync() }
        let there = await memory.contents(of: "Task").map { "\($0.key) \($0.value["title"] ?? .null)" }.sorted()
        let here = try await device.rows("SELECT remoteID, '\"' || title || '\"' FROM Task ORDER BY remoteID")
        #expect(here == there)
        #expect(try await device.leftovers() == [])
        return there
    }

    @Test(
        "A new row is not matched with a known row that the answer has", arguments: [1, 3, 5],
        [.idempotencyKey, .markerField("birth"), .matchByContent] as [ServiceCapabilities.CreateIdempotency])
    func creation(_ other: Int, _ idempotency: ServiceCapabilities.CreateIdempotency) async throws {
        for changes in LongTests.some([1, 2], every: 2, of: other / 2) {
            let memory = await memory(idempotency)
            let service = Confused(memory, other: JSONValue(other), kind: .create, changes: changes)
            let device = try Device(service, entities: ["Project", "Task", "Tag"])
            try await device.engine.sync()
            try await device.write("UPDATE Task SET title = 'edited' WHERE remoteID = 1")
            try await device.write("DELETE FROM Task WHERE remoteID = 3")
            try await device.stack.insert("Task", values: ["title": "new"])
            let expected = [
                #"1 "edited""#, #"2 "t2""#, #"4 "t4""#, #"5 "t5""#, #"6 "t6""#,
            ]
            let titles = try await titles(device, memory)
            #expect(titles.filter { !$0.contains("new") } == expected)
            #expect(titles.count { $0.contains("new") } == 1)
        }
    }

    @Test("A new row is not matched with a row created after it was sent")
    func createdSince() async throws {
        let memory = await memory(.idempotencyKey)
        let service = Confused(memory, other: 7, kind: .create, changes: 2, right: 1)
        let device = try Device(service, entities: ["Project", "Task", "Tag"])
        try await device.engine.sync()
        for title in ["one", "two"] { try await device.stack.insert("Task", values: ["title": .string(title)]) }
        let titles = try await titles(device, memory)
        #expect(titles.suffix(2) == [#"7 "one""#, #"8 "two""#])
    }

    @Test("Two new rows are not matched with one record")
    func twoCreates() async throws {
        let memory = await memory(.idempotencyKey)
        let service = Confused(memory, other: 7, kind: .create, changes: 2)
        let device = try Device(service, entities: ["Project", "Task", "Tag"])
        try await device.engine.sync()
        for title in ["one", "two"] { try await device.stack.insert("Task", values: ["title": .string(title)]) }
        let titles = try await titles(device, memory)
        #expect(titles.count == 8)
        for title in ["one", "two"] { #expect(titles.count { $0.contains(title) } == 1) }
    }

    /// A service that numbers the rows of each entity from 1, and stores their strings in capitals.
    private actor Numbering: SyncService {
        nonisolated let identity = "numbering"
        nonisolated let capabilities = ServiceCapabilities(
            idAssignment: .server, deletionDetection: .listing, createIdempotency: .matchByContent,
            supportsPreconditions: false, providesModificationTimes: false,
            maxBatchSize: 10)
        private(set) var rows: [String: [RemoteRecord]] = [:]

        func pull(_ request: PullRequest) async throws -> PullPage { PullPage(records: rows[request.entity] ?? []) }
        func list(of entity: String, page: String?) async throws -> ListPage {
            ListPage(ids: (rows[entity] ?? []).map(\.id))
        }

        func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome] {
            ids.map { id in (rows[entity] ?? []).first { $0.id == id }.map { .found($0) } ?? .notFound }
        }

        func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
            operations.map { operation in
                let id = JSONValue((rows[operation.entity] ?? []).count + 1)
                let name = operation.entity == "Task" ? "title" : "name"
                let row = RemoteRecord(id: id, record: .object([.init("id", id), .init(name, "IN CAPITALS")]))
                rows[operation.entity, default: []].append(row)
                return .applied(row)
            }
        }
    }

    @Test("New rows of two entities may get equal IDs in the answers to one batch")
    func twoEntities() async throws {
        let service = Numbering()
        let device = try Device(service, entities: ["Project", "Task", "Tag"])
        for (entity, name) in [("Project", "name"), ("Task", "title"), ("Tag", "name")] {
            try await device.stack.insert(entity, values: [name: "in capitals"])
        }
        try await device.engine.sync()
        #expect(await service.rows.mapValues(\.count) == ["Project": 1, "Task": 1, "Tag": 1])
        #expect(try await device.rows("SELECT remoteID, title FROM Task") == ["1 IN CAPITALS"])
    }

    @Test(
        "A row created remote first may get another ID than requested, and an updated row may not"
    )
    func remoteFirst() async throws {
        let service = RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")),
            transport: Served { _, _ in (201, [:], ["id": 7, "title": "new"]) })
        let device = try Device(service, entities: ["Task"])
        func operation(_ kind: PushOperation.Kind) -> PushOperation {
            PushOperation(
                entity: "Task", kind: kind, id: 1, record: ["title": "new"], version: nil, cursor: nil,
                idempotencyKey: "k")
        }
        try await device.engine.write(remoteFirst: operation(.create))
        #expect(try await device.rows("SELECT remoteID, title FROM Task") == ["7 new"])
        let error = await #expect(throws: SyncError.self) {
            try await device.engine.write(remoteFirst: operation(.update))
        }
        #expect(error?.message.contains("a row other than") == true)
    }

    @Test("A change that was not carried out is sent again", arguments: [1, 2, 10])
    func change(_ changes: Int) async throws {
        let memory = await memory(.idempotencyKey)
        let service = Confused(memory, other: 5, kind: .update, changes: changes, isDone: false)
        let device = try Device(service, entities: ["Project", "Task", "Tag"])
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'edited' WHERE remoteID = 1")
        if changes > 3 {
            try await device.engine.sync()
            #expect(try await device.engine.blockedChanges().map(\.reason).first?.contains("a row other than") == true)
            #expect(try await device.rows("SELECT title FROM Task WHERE remoteID IN (1, 5)") == ["edited", "t5"])
            return
        }
        #expect(try await titles(device, memory).first == #"1 "edited""#)
    }

    @Test("A fetch that returns another, deleted row does not delete the requested row")
    func fetched() async throws {
        let memory = await memory(.idempotencyKey)
        let service = Confused(memory, other: 5, kind: .update, changes: 1, rows: 1, isDone: false)
        let device = try Device(service, entities: ["Project", "Task", "Tag"])
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'edited' WHERE remoteID = 1")
        let titles = try await titles(device, memory)
        #expect(titles.first == #"1 "edited""#)
        #expect(titles.count == 6)
    }

    @Test(
        "A missing row is fetched again if the response has another row, and then deleted",
        arguments: [.tombstones, .listing] as [ServiceCapabilities.DeletionDetection])
    func missing(_ detection: ServiceCapabilities.DeletionDetection) async throws {
        let memory = await memory(.idempotencyKey, detection)
        let service = Confused(memory, other: 5, kind: .update, changes: 0, rows: 1)
        let device = try Device(service, entities: ["Project", "Task", "Tag"])
        try await device.engine.sync()
        await memory.remove("Task", 3)
        try await device.engine.reset(.cursors)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["6"])
        #expect(try await titles(device, memory).count == 5)
    }

    @Test(
        "A REST service does not mix a record with the record of another row"
    )
    func rest() async throws {
        let memory = ServedMemory()
        var options = RESTOptions()
        (options.updateMethod, options.deletedField) = (.put, "gone")
        let service = RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")), options: options,
            transport: Served { request, _ in
                await memory.note(request)
                return (200, [:], ["id": 5, "title": "five", "extra": "of five", "gone": true])
            })
        let outcome = try await service.push([
            PushOperation(
                entity: "Task", kind: .update, id: 1, record: ["title": "one"], version: nil, cursor: nil,
                idempotencyKey: "k")
        ])
        guard case .unknown(let reason)? = outcome.first else {
            Issue.record("\(outcome)")
            return
        }
        #expect(reason.contains("a row other than"))
        #expect(await memory.requests.allSatisfy { $0.hasPrefix("GET") })
        #expect(try await service.fetch([1], of: "Task") != [.notFound])
        #expect(try await service.fetch([5], of: "Task") == [.notFound])
        #expect(try await service.fetch(["5"], of: "Task") == [.notFound])
    }
}
