import Sync
import SyncTesting
import Testing

/// Rows that triggers of the app keep out of the database, and keys that the engine cannot record.
@Suite("Pulled rows that are not stored")
struct AppTriggerTests {
    private static let schema = #"{"entities": {"Note": {"attributes": {"id": "integer", "text": "string"}}}}"#

    @Test(
        "A record that a trigger of the app keeps out is quarantined, and is stored once the trigger is dropped",
        arguments: [
            "BEFORE INSERT ON Note WHEN NEW.text = 'x' BEGIN SELECT RAISE(IGNORE); END",
            "AFTER INSERT ON Note WHEN NEW.text = 'x' BEGIN DELETE FROM Note WHERE id = NEW.id; END",
        ])
    func keptOut(trigger: String) async throws {
        let service = InMemoryService()
        let device = try Device(service, schema: Self.schema, entities: ["Note"])
        try await device.write("CREATE TRIGGER filter \(trigger)")
        for (id, text) in [(1, "a"), (2, "x"), (3, "b")] {
            await service.set("Note", JSONValue(id), ["text": .string(text)])
        }
        let report = try await device.engine.sync()
        #expect(report.total.blockedChanges == 1)
        #expect(try await device.rows("SELECT k FROM sync_known ORDER BY k") == ["1", "3"])

        try await device.write("DROP TRIGGER filter")
        try await device.engine.sync()
        #expect(try await device.rows("SELECT text FROM Note ORDER BY id") == ["a", "x", "b"])
        #expect(await service.contents(of: "Note").count == 3)
    }

    @Test("A new row whose key contains U+0000 does not keep a push running")
    func keyWithNUL() async throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .client, deletionDetection: .tombstones, createIdempotency: .clientID,
                supportsPreconditions: true, providesModificationTimes: true))
        let schema = #"{"entities": {"Note": {"attributes": {"id": "string", "text": "string"}}}}"#
        let device = try Device(service, schema: schema, entities: ["Note"])
        try await Sync.changes(
            [["id": "ab\u{0}c", "text": "a"], ["id": "b", "text": "b"]] as JSONValue, inEntity: "Note",
            stack: device.stack)
        try await device.engine.sync()
        #expect(await service.contents(of: "Note")["b"]?["text"] == "b")
    }
}
