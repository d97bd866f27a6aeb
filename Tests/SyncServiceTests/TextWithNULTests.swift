import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// GRDB itself binds and reads text only up to the first U+0000.
@Suite("Texts with U+0000 in the engine")
struct TextWithNULTests {
    private static let schema = """
        {"entities": {"Task": {"attributes": {"id": "integer", "title": "string", "points": "integer"}}}}
        """

    private let service = InMemoryService(
        ServiceCapabilities(
            idAssignment: .server, deletionDetection: .tombstones, createIdempotency: .idempotencyKey,
            supportsPreconditions: true, providesModificationTimes: true))

    private func device(_ policy: ConflictPolicy) async throws -> Device {
        await service.set("Task", 1, ["title": "a\u{0}b", "points": 1])
        let device = try Device(
            service, schema: Self.schema, entities: [SyncedEntity("Task", conflictPolicy: policy)])
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'x' || char(0) || 'y'")
        return device
    }

    @Test("An edited text does not conflict with an edit of another field at the service")
    func baseValue() async throws {
        let device = try await device(.serverWins)
        await service.set("Task", 1, ["points": 2])
        let report = try await device.engine.sync()
        #expect(report.total.conflicts == 0)
        #expect(await service.contents(of: "Task")[1]?["title"] == "x\u{0}y")
        #expect(await service.contents(of: "Task")[1]?["points"] == 2)
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
    }

    @Test("A sent text whose response was lost is no change by another device")
    func sentValue() async throws {
        let device = try await device(.serverWins)
        await service.setFault { request, _ in if case .push = request { .failsAfterApply } else { nil } }
        _ = try? await device.engine.push()
        await service.setFault(nil)
        try await device.write("UPDATE Task SET title = 'z'")
        let report = try await device.engine.sync()
        #expect(report.total.conflicts == 0)
        #expect(await service.contents(of: "Task")[1]?["title"] == "z")
    }

    @Test("The conflict log has the complete texts")
    func conflict() async throws {
        let device = try await device(.manual)
        await service.set("Task", 1, ["title": "p\u{0}q"])
        try await device.engine.sync()
        var conflict = try #require(try await device.engine.conflicts().first)
        #expect(conflict.base == "a\u{0}b" && conflict.local == "x\u{0}y" && conflict.remote == "p\u{0}q")

        try await device.write("UPDATE Task SET title = 'x' || char(0) || 'z'")
        try await device.engine.sync()
        conflict = try #require(try await device.engine.conflicts().first)
        #expect(conflict.isOpen && conflict.local == "x\u{0}z")
    }

    @Test("A migration keeps the complete base value of an edited text")
    func migration() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("nul-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("store.sqlite")
        func open(_ schema: String) throws -> Device {
            let stack = try DataStack(
                model: SyncModel(schemaData: Data(schema.utf8)), at: file, migration: .keepingData)
            return try Device(stack, service, entities: [SyncedEntity("Task", conflictPolicy: .serverWins)])
        }
        await service.set("Task", 1, ["title": "a\u{0}b", "points": 1])
        let device = try open(Self.schema)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'x' || char(0) || 'y'")

        let migrated = try open(
            Self.schema.replacingOccurrences(of: #""points": "integer""#, with: #""points": "double""#))
        let bases = try await migrated.stack.read { db in
            try String.fetchAll(db, sql: "SELECT hex(value) FROM sync_base WHERE field = 'title'")
        }
        #expect(bases == ["610062"])
        await service.set("Task", 1, ["points": 2])
        try await migrated.engine.sync()
        let fields = try await migrated.engine.conflicts().map(\.field)
        // Edits after the migration may not have been captured, so the engine logs the overwritten value.
        #expect(fields == ["points"])
        #expect(await service.contents(of: "Task")[1]?["title"] == "x\u{0}y")
    }

    @Test("Rows whose keys are equal up to U+0000 are pulled, edited and sent as different rows")
    func keys() async throws {
        let schema = #"{"entities": {"Note": {"attributes": {"id": "string", "text": "string"}}}}"#
        for id in ["a\u{0}b", "a\u{0}c"] { await service.set("Note", .string(id), ["text": "old"]) }
        let device = try Device(service, schema: schema, entities: ["Note"])
        try await device.engine.sync()
        try await device.write("UPDATE Note SET text = 'new' WHERE hex(id) = '610063'")
        try await device.engine.sync()
        let notes = await service.contents(of: "Note")
        #expect(notes[.string("a\u{0}b")]?["text"] == "old" && notes[.string("a\u{0}c")]?["text"] == "new")
        #expect(try await device.leftovers() == [])
    }
}
