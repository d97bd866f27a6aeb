import Foundation
import GRDB
import Sync
import Testing

/// A store to which another process is writing just now.
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

    private static func model(fingerprints: Bool = false) throws -> Model {
        try Model(entities: [
            Entity(
                "User", attributes: [Attribute("id", .integer), Attribute("name", .string)],
                keepsFingerprints: fingerprints)
        ])
    }

    /// Runs `body` while another connection is in the midst of a transaction.
    private func whileWriting(_ mode: String = "wal", _ body: () async throws -> Void) async throws {
        let writer = try DatabaseQueue(path: url.path)
        try await writer.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA journal_mode = \(mode)")
            try db.execute(sql: "BEGIN IMMEDIATE; UPDATE User SET name = 'half'")
        }
        try await body()
        try await writer.writeWithoutTransaction { db in try db.execute(sql: "ROLLBACK") }
        try writer.close()
    }

    private func isWhatIsPlanned(_ result: SyncResult) {
        #expect(result["User"].updated.map(\.key) == [1])
        #expect(result["User"].inserted == [2])
    }

    @Test(arguments: ["wal", "delete"])
    func aPlanIsMadeOfWhatWasCommitted(_ mode: String) async throws {
        try await whileWriting(mode) {
            let stack = try DataStack(reading: url)
            isWhatIsPlanned(try await Sync.plan(payload, inEntity: "User", stack: stack))
            let chunks = AsyncStream<Data> { stream in
                stream.yield(payload)
                stream.finish()
            }
            isWhatIsPlanned(
                try await Sync.plan(
                    chunks, inEntity: "User", stack: stack, options: SyncOptions(collectsKeys: true)))
            #expect(try await Sync.examine(payload, inEntity: "User", stack: stack).losesData == false)
            #expect(try stack.count("User") == 1)
            #expect(try stack.export("User").first?["name"] == "Bob")
            #expect(try DataStack.migration(to: Self.model(fingerprints: true), at: url).losses.isEmpty)
        }
        #expect(try DataStack(reading: url).count("User") == 1)
    }

    @Test func aPlanWithFingerprintsIsToo() async throws {
        let stack = try DataStack(model: Self.model(fingerprints: true), at: url)
        try await whileWriting {
            isWhatIsPlanned(try await Sync.plan(payload, inEntity: "User", stack: stack))
        }
        try stack.close()
    }

    @Test func aWriterThatCannotWaitLongerIsToldThatTheStoreIsBusy() async throws {
        let stack = try DataStack(at: url)
        try await whileWriting {
            let error = await #expect(throws: SyncError.self) {
                try await Sync.changes(self.payload, inEntity: "User", stack: stack)
            }
            #expect(error?.code == .storeBusy)
        }
        try stack.close()
    }

    @Test func aPlanOfAChangedModelIsRefused() async throws {
        let stack = try DataStack(at: url)
        let other = try Model(entities: [
            Entity("User", attributes: [Attribute("id", .integer), Attribute("title", .string, renamedFrom: "name")])
        ])
        try DataStack(model: other, at: url).close()
        for isDryRun in [true, false] {
            let error = await #expect(throws: SyncError.self) {
                _ =
                    isDryRun
                    ? try await Sync.plan(self.payload, inEntity: "User", stack: stack)
                    : try await Sync.changes(self.payload, inEntity: "User", stack: stack)
            }
            #expect(error?.code == .modelMismatch)
        }
        try stack.close()
    }
}
