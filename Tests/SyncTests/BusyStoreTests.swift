import Foundation
import GRDB
import Sync
import SyncTools
import Testing

/// Calls on a store while another connection has an open write transaction.
@Suite final class BusyStoreTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    private var url: URL { folder.appendingPathComponent("store.sqlite") }
    private let payload = Data(#"[{"id": 1, "name": "Ann"}, {"id": 2}]"#.utf8)

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let stack = try DataStack(model: Self.model(), at: url)
        try stack.insert("User", values: ["id": 1, "name": "Bob"])
        try stack.close()
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private static func model() throws -> SyncModel {
        try SyncModel(entities: [
            SyncModel.Entity(
                "User", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("name", .string)])
        ])
    }

    /// Runs `body` while another connection has an open write transaction.
    private func whileWriting(_ mode: String = "wal", _ body: () async throws -> Void) async throws {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let writer = try DatabaseQueue(path: url.path, configuration: configuration)
        try await writer.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA journal_mode = \(mode)")
            try db.execute(sql: "BEGIN IMMEDIATE; UPDATE User SET name = 'half'")
        }
        try await body()
        try await writer.writeWithoutTransaction { db in try db.execute(sql: "ROLLBACK") }
        try writer.close()
    }

    /// Returns the error code that a call ends with.
    private func code(_ body: () async throws -> SyncResult) async -> SyncError.Code? {
        do {
            _ = try await body()
            return nil
        } catch {
            return (error as? SyncError)?.code
        }
    }

    private func isWhatIsPlanned(_ result: SyncResult) {
        #expect(result["User"].updated.map(\.key) == [PrimaryKeyValue.integer(1)])
        #expect(result["User"].inserted == [PrimaryKeyValue.integer(2)])
    }

    @Test(arguments: ["wal", "delete"])
    func readerPlansFromCommittedRows(_ mode: String) async throws {
        try await whileWriting(mode) {
            let stack = try DataStack(reading: url)
            isWhatIsPlanned(try await Sync.plan(payload, inEntity: "User", stack: stack))
            let chunks = AsyncStream<Data> { stream in
                stream.yield(payload)
                stream.finish()
            }
            let inPieces = try await Sync.plan(
                .buffers(chunks), inEntity: "User", stack: stack, options: SyncOptions(resultDetail: .keys))
            isWhatIsPlanned(inPieces)
            let examination = try await Sync.validate(payload, inEntity: "User", stack: stack)
            #expect(!examination.losesData)
            let count = try await stack.count("User")
            #expect(count == 1)
            let records = try await stack.export("User")
            #expect(records.first?["name"] == "Bob")
            let migration = try DataStack.migration(to: Self.model(), at: url)
            #expect(migration.dataLosses.isEmpty)
        }
        let count = try await DataStack(reading: url).count("User")
        #expect(count == 1)
    }

    @Test func writableStorePlansFromCommittedRows() async throws {
        let stack = try DataStack(model: Self.model(), at: url)
        try await whileWriting {
            isWhatIsPlanned(try await Sync.plan(payload, inEntity: "User", stack: stack))
        }
        try stack.close()
    }

    @Test("A store with an unchanged model opens while another connection writes", arguments: [false, true])
    func unchangedStoreOpens(isAppDatabase: Bool) async throws {
        // Opening an empty write-ahead log writes to it.
        let other = try DataStack(at: url)
        try await other.insert("User", values: ["id": 7])
        try await whileWriting {
            var configuration = Configuration()
            configuration.busyMode = .immediateError
            let pool = try isAppDatabase ? DatabasePool(path: url.path, configuration: configuration) : nil
            let stack =
                try pool.map { try DataStack(model: Self.model(), in: $0) } ?? DataStack(model: Self.model(), at: url)
            let count = try await stack.count("User")
            #expect(count == 2)
            try stack.close()
        }
        try other.close()
    }

    @Test func syncWithoutWriteLockFailsAsStoreBusy() async throws {
        let stack = try DataStack(at: url)
        try await whileWriting {
            let code = await code { try await Sync.changes(payload, inEntity: "User", stack: stack) }
            #expect(code == .databaseBusy)
        }
        try stack.close()
    }

    @Test func planAndSyncFailAfterTheModelChanged() async throws {
        let stack = try DataStack(at: url)
        let other = try SyncModel(entities: [
            SyncModel.Entity(
                "User",
                attributes: [
                    SyncModel.Attribute("id", .integer), SyncModel.Attribute("title", .string, renamedFrom: "name"),
                ])
        ])
        try DataStack(model: other, at: url).close()
        func timeout() async throws -> Int? {
            try await stack.write { db in try Int.fetchOne(db, sql: "PRAGMA busy_timeout") }
        }
        let before = try await timeout()
        let planned = await code { try await Sync.plan(payload, inEntity: "User", stack: stack) }
        #expect(planned == .modelMismatch)
        // A dry run does not wait for locks, but later calls do.
        #expect(try await timeout() == before)
        let synced = await code { try await Sync.changes(payload, inEntity: "User", stack: stack) }
        #expect(synced == .modelMismatch)
        try stack.close()
    }
}
