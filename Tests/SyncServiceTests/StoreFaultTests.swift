import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Errors of the database during a run: the disk is full, or another connection holds the lock.
@Suite("Store errors during a run")
struct StoreFaultTests {
    private static func service(_ count: Int) async -> InMemoryService {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: .tombstones, createIdempotency: .idempotencyKey,
                supportsPreconditions: true, providesModificationTimes: true,
                maxBatchSize: 10), pageSize: 20)
        for id in 1...count {
            await service.set("Task", JSONValue(id), ["title": .string(String(repeating: "long ", count: 200))])
        }
        return service
    }

    @Test("A full disk ends the run, and a later run continues after the stored pages")
    func full() async throws {
        let service = await Self.service(200)
        let device = try Device(service)
        try await device.write("INSERT INTO Task (remoteID, title) VALUES (-1, 'mine')")
        let pages = try await device.stack.read { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
        try await device.stack.write { db in _ = try Int.fetchOne(db, sql: "PRAGMA max_page_count = \(pages + 20)") }
        let error = await #expect(throws: SyncError.self) { try await device.engine.sync() }
        #expect(error?.code == .databaseError)
        #expect(error.map { "\($0)" }?.contains("full") == true)
        let stored = try await device.rows("SELECT count(*) FROM Task").first.flatMap { Int($0) } ?? 0
        // Complete pages of the service, and the local row.
        #expect(stored > 1 && stored < 200 && stored % 20 == 1)
        #expect(await service.contents(of: "Task").count == 200)
        #expect(try await device.engine.status().first { $0.entity == "Task" }?.isInitialSyncComplete == false)

        try await device.stack.write { db in _ = try Int.fetchOne(db, sql: "PRAGMA max_page_count = 100000") }
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["201"])
        #expect(await service.contents(of: "Task").count == 201)
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
    }

    /// The outcome cannot be stored. The request is in doubt, and is sent again with its idempotency key.
    @Test("A store error after a request is sent does not duplicate its row")
    func fullAfterSending() async throws {
        let service = await Self.service(1)
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write("INSERT INTO Task (remoteID, title) VALUES (-1, 'mine')")
        try await device.write(
            """
            CREATE TRIGGER refuses BEFORE DELETE ON sync_request BEGIN SELECT raise(ABORT, 'no'); END
            """)
        await #expect(throws: SyncError.self) { try await device.engine.sync() }
        #expect(await service.contents(of: "Task").count == 2)
        #expect(try await device.rows("SELECT count(*) FROM sync_request") == ["1"])
        try await device.write("DROP TRIGGER refuses")
        try await device.engine.sync()
        #expect(await service.contents(of: "Task").count == 2)
        #expect(try await device.rows("SELECT count(*) FROM Task WHERE remoteID > 0") == ["2"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A locked database ends the run with an error and changes nothing")
    func busy() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("busy-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("store.sqlite")
        let service = await Self.service(30)
        // A connection of the app that does not wait.
        var configuration = Configuration()
        configuration.journalMode = .wal
        let queue = try DatabaseQueue(path: file.path, configuration: configuration)
        let device = try Device(DataStack(model: SyncModel(schemaData: Data(Device.schema.utf8)), in: queue), service)
        // The transaction stays open between calls.
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: file.path, configuration: configuration)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "BEGIN IMMEDIATE") }
        let error = await #expect(throws: SyncError.self) { try await device.engine.sync() }
        #expect(error?.code == .databaseBusy)
        try await other.writeWithoutTransaction { db in try db.execute(sql: "COMMIT") }
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["30"])
    }

    @Test("A new row whose key is not valid UTF-8 ends the run with an error, and changes nothing")
    func invalidKey() async throws {
        let schema = #"{"entities": {"Note": {"attributes": {"id": "string", "text": "string"}}}}"#
        let service = InMemoryService()
        let device = try Device(service, schema: schema, entities: ["Note"])
        try await device.engine.sync()
        try await device.write("INSERT INTO Note (id, text) VALUES (CAST(x'ff' AS TEXT), 'n')")
        let error = await #expect(throws: SyncError.self) { try await device.engine.sync() }
        #expect(error?.message.contains("not valid UTF-8") == true && error?.entity == "Note")
        #expect(await service.contents(of: "Note").isEmpty)
        try await device.write("UPDATE Note SET id = 'n1'")
        try await device.engine.sync()
        #expect(await service.contents(of: "Note").count == 1)
    }
}
