import Foundation
import GRDB
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Imports beside the engine, and paged imports without an engine.
@Suite("Imports beside the engine")
struct LocalImportTests {
    private let service = InMemoryService()

    private func sent() async -> [String] {
        await service.requests.flatMap { request -> [String] in
            guard case .push(let operations) = request else { return [] }
            return operations.map { "\($0.kind) \($0.id ?? .null) \($0.record)" }
        }
    }

    // MARK: Sync.changes

    @Test("Rows that Sync.changes inserts, updates and deletes in a synced entity are sent, and no others")
    func isEdit() async throws {
        await service.set("Project", 1, ["name": "p"])
        for id in 1...4 {
            await service.set(
                "Task", JSONValue(id), ["title": .string("t\(id)"), "points": 0, "done": false, "project_id": 1])
        }
        let device = try Device(service)
        try await device.engine.sync()
        await service.deleteRequests()
        let list: JSONValue = [
            ["id": 1, "title": "changed"], ["id": 2, "title": "t2", "points": 0], ["id": 3, "points": 7],
            ["id": 90, "title": "made"],
        ]
        let result = try await Sync.changes(list, inEntity: "Task", stack: device.stack)
        #expect(result.entities["Task"]?.deleted == [.integer(4)])
        #expect(try await device.engine.status().map(\.pendingChanges) == [0, 4, 0])
        #expect(await service.requests.isEmpty)
        let report = try await device.engine.sync()
        #expect(report.total.pushedUpdates == 2 && report.total.pushedInserts == 1 && report.total.pushedDeletes == 1)
        let sent = await sent()
        #expect(sent.count == 4)
        for part in ["update 1 {\"title\":\"changed\"}", "update 3 {\"points\":7}", "delete 4 {}"] {
            #expect(sent.contains(part), "\(sent)")
        }
        #expect(sent.contains { $0.hasPrefix("create") && $0.contains("\"title\":\"made\"") }, "\(sent)")
        let there = await service.contents(of: "Task")
        #expect(there.count == 4)
        #expect(there[1]?["points"] == 0 && there[1]?["project_id"] == 1)
        #expect(there.values.filter { $0["title"] == "made" }.count == 1)
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
    }

    @Test("An import equal to the stored rows records no pending changes")
    func equalImport() async throws {
        await service.set("Task", 1, ["title": "t", "points": 3])
        let device = try Device(service)
        try await device.engine.sync()
        await service.deleteRequests()
        try await Sync.changes([["id": 1, "title": "t", "points": 3]], inEntity: "Task", stack: device.stack)
        #expect(try await device.engine.pendingChangeCount() == 0)
        try await device.engine.push()
        #expect(await sent() == [])
    }

    // MARK: The deletion limit

    private static func guarded(_ limit: DeletionLimit?) -> SyncEngine.Configuration {
        var configuration = Device.configuration
        configuration.deletionLimit = limit
        return configuration
    }

    private func code(_ device: Device) async -> SyncError? {
        await #expect(throws: SyncError.self) { try await device.engine.sync() }
    }

    @Test("If the service lacks most preexisting rows, the deletion limit rejects their deletion")
    func firstContact() async throws {
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(Device.schema.utf8)))
        try await stack.write { db in
            for id in 1...20 {
                try db.execute(sql: "INSERT INTO Task (remoteID, title) VALUES (?, 'only here')", arguments: [id])
            }
        }
        await service.set("Task", 1, ["title": "there"])
        await service.set("Task", 50, ["title": "there"])
        let device = try Device(stack, service, Self.guarded(.half))
        for _ in 1...2 {
            let error = await code(device)
            #expect(error?.code == .deletionLimitExceeded)
            #expect(error?.entity == "Task")
            #expect(error?.message.hasPrefix("the sync would delete 19 of 2") == true, "\(error?.message ?? "")")
            // Everything else is applied.
            #expect(
                try await device.rows("SELECT title, count(*) FROM Task GROUP BY 1") == ["only here 19", "there 2"])
        }
        #expect(await service.creations == 0)
        try await Device(stack, service, Self.guarded(nil)).engine.sync()
        #expect(try await device.rows("SELECT remoteID, title FROM Task ORDER BY 1") == ["1 there", "50 there"])
        #expect(Set(try await device.engine.conflicts().map { "\($0.key)" }).count == 20)
        #expect(try await device.leftovers() == [])
    }

    @Test("The deletion limit also counts rows that cascades delete")
    func cascadesAlone() async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: .listing, createIdempotency: .idempotencyKey,
                supportsPreconditions: true, providesModificationTimes: true,
                maxBatchSize: 10))
        for id in 1...20 { await service.set("Project", JSONValue(id), ["name": "p"]) }
        for id in 1...30 {
            await service.set("Task", JSONValue(id), ["title": "t", "project_id": JSONValue(id <= 25 ? 1 : 2)])
        }
        let device = try Device(service, Self.guarded(.half))
        try await device.engine.sync()
        // One of twenty projects; its tasks still exist on the service.
        await service.remove("Project", 1)
        let error = await code(device)
        #expect(error?.code == .deletionLimitExceeded)
        #expect(error?.entity == "Task")
        #expect(error?.message.hasPrefix("the sync would delete 25 of 30 Task") == true, "\(error?.message ?? "")")
        #expect(
            try await device.rows("SELECT (SELECT count(*) FROM Project), (SELECT count(*) FROM Task)") == ["20 30"])
        // The limit allows this many rows of the cascade.
        try await Device(device.stack, service, Self.guarded(.rows(25))).engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Project") == ["19"])
    }

    // MARK: Pages

    /// A list of three pages of two rows. One page may fail.
    private actor Pages: HTTPTransport {
        private var rows: [Int]
        private var failing: Int?
        private(set) var asked: [String] = []
        private let watched: Watched?

        init(_ rows: [Int], watched: Watched? = nil) { (self.rows, self.watched) = (rows, watched) }

        func set(_ rows: [Int], failing: Int?) { (self.rows, self.failing, asked) = (rows, failing, []) }

        func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
            let path = request.path ?? ""
            asked.append(path)
            guard let page = path.split(separator: "=").last.flatMap({ Int($0) }) else {
                let id = Int(path.split(separator: "/").last ?? "")
                let isThere = id.map(rows.contains) ?? false
                return (HTTPResponse(status: isThere ? .ok : .notFound), Data("{\"id\": \(id ?? 0)}".utf8))
            }
            // By now the progress of the previous page was delivered.
            await watched?.wait(for: page - 1)
            if page == failing { throw URLError(.timedOut) }
            let part = rows.dropFirst((page - 1) * 2).prefix(2)
            let records = part.map { "{\"id\": \($0), \"title\": \"t\($0)\"}" }.joined(separator: ",")
            return (
                HTTPResponse(status: .ok), Data("{\"pages\": \((rows.count + 1) / 2), \"data\": [\(records)]}".utf8)
            )
        }
    }

    /// The progress of an import.
    private final class Watched: @unchecked Sendable {
        private let lock = NSLock()
        private var lines: [String] = []

        var all: [String] { lock.withLock { lines } }
        func note(_ rows: Int, _ total: Int?) { lock.withLock { lines.append("\(rows) \(total ?? -1)") } }

        /// Waits for a number of lines, with a time limit.
        func wait(for count: Int) async {
            for _ in 0..<3000 where all.count < count { try? await Task.sleep(for: .milliseconds(10)) }
        }
    }

    private func pages(_ transport: Pages) throws -> RESTService {
        var options = RESTOptions()
        options.recordsKeyPath = "data"
        options.paging = .page(size: nil, limit: 2, total: "pages")
        return RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")), options: options, transport: transport)
    }

    @Test("A paged import from a service restores deleted rows and overwrites edited rows")
    func deletedLocally() async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: .listing, createIdempotency: .idempotencyKey,
                supportsPreconditions: true, providesModificationTimes: true,
                maxBatchSize: 10))
        for id in 1...3 { await service.set("Task", JSONValue(id), ["title": "t"]) }
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(Device.schema.utf8)))
        try await Sync.importPages(from: service, entity: "Task", stack: stack, configuration: Device.configuration)
        try await stack.write { db in
            try db.execute(
                sql: "DELETE FROM Task WHERE remoteID = 1; UPDATE Task SET title = 'mine' WHERE remoteID = 2")
            // The state with a service that has no cursors.
            try db.execute(sql: "UPDATE sync_cursor SET cursor = NULL")
        }
        await service.set("Task", 2, ["title": "theirs"])
        try await Sync.importPages(from: service, entity: "Task", stack: stack, configuration: Device.configuration)
        let rows = try await stack.read { db in
            try String.fetchAll(db, sql: "SELECT remoteID || title FROM Task ORDER BY remoteID")
        }
        #expect(rows == ["1t", "2theirs", "3t"])
        #expect(try await stack.pendingChangeCount() == 0)
        let pushes = await service.requests.filter { if case .push = $0 { true } else { false } }
        #expect(pushes.isEmpty)
    }

    @Test("An interrupted paged import deletes nothing, resumes, and deletes omitted rows at its end")
    func interrupted() async throws {
        let transport = Pages(Array(1...6))
        let service = try pages(transport)
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(Device.schema.utf8)))
        var configuration = Device.impatient
        try await Sync.importPages(from: service, entity: "Task", stack: stack, configuration: configuration)
        #expect(try await stack.count("Task") == 6)
        // The first row is no longer on any page.
        for failing in [2, 3] {
            await transport.set([2, 3, 4, 5, 6, 7], failing: failing)
            await #expect(throws: SyncError.self) {
                try await Sync.importPages(from: service, entity: "Task", stack: stack, configuration: configuration)
            }
            #expect(try await stack.fetch("Task", id: 1) != nil)
            #expect(try await stack.fetch("Task", id: 7) == nil)
        }
        #expect(await transport.asked == ["/v1/tasks?page=2", "/v1/tasks?page=3"])
        await transport.set([2, 3, 4, 5, 6, 7], failing: nil)
        configuration.maxAttempts = 2
        let report = try await Sync.importPages(
            from: service, entity: "Task", stack: stack, configuration: configuration)
        #expect(report.total.pulledDeletes == 1 && report.total.pulledInserts == 1)
        #expect(await transport.asked == ["/v1/tasks?page=3", "/v1/tasks/1"])
        #expect(try await stack.fetch("Task", id: 1) == nil)
        #expect(try await stack.count("Task") == 6)
    }

    @Test("A paged import reports the number of rows so far and the total")
    func progress() async throws {
        let watched = Watched()
        let transport = Pages(Array(1...6), watched: watched)
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(Device.schema.utf8)))
        try await Sync.importPages(
            from: try pages(transport), entity: "Task", stack: stack, configuration: Device.configuration
        ) { watched.note($0, $1) }
        #expect(watched.all.count > 2)
        #expect(Array(watched.all.prefix(2)) == ["2 6", "4 6"])
        #expect(watched.all.dropFirst(2).allSatisfy { $0.hasPrefix("6 ") })
    }

    @Test(
        "Rows deleted after a paged import and before the first engine are not deleted on the service",
        arguments: [false, true])
    func deletedBeforeEngine(_ isKeptBefore: Bool) async throws {
        await service.set("Project", 1, ["name": "p"])
        for id in 1...4 { await service.set("Task", JSONValue(id), ["title": "t", "project_id": 1]) }
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(Device.schema.utf8)))
        if isKeptBefore {
            try await Device(stack, service).engine.sync()
            _ = try Device(stack, service, entities: ["Project"])
        }
        try await Sync.importPages(from: service, entity: "Task", stack: stack, configuration: Device.configuration)
        try await stack.write { db in
            try db.execute(sql: "DELETE FROM Task WHERE remoteID = 2")
            try db.execute(sql: "UPDATE Task SET title = 'edited' WHERE remoteID = 3")
        }
        await service.deleteRequests()
        let device = try Device(stack, service)
        #expect(try await device.engine.status().allSatisfy { $0.pendingChanges == 0 })
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await sent().allSatisfy { !$0.hasPrefix("delete") && !$0.hasPrefix("create") })
        #expect(await service.contents(of: "Task").count == 4)
        #expect(try await device.rows("SELECT remoteID FROM Task ORDER BY 1") == ["1", "2", "3", "4"])
        #expect(try await device.leftovers() == [])
        // With the engine, a deletion is captured.
        try await device.write("DELETE FROM Task WHERE remoteID = 2")
        try await device.engine.sync()
        #expect(await service.contents(of: "Task").count == 3)
    }
}
