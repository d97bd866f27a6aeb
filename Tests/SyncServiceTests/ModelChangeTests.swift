import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Devices whose model gets other columns.
@Suite("Model changes")
struct ModelChangeTests {
    private let service = InMemoryService()

    /// Opens one store with several models in turn.
    private func withStore(_ body: (_ open: (String) throws -> Device) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("model-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body { schema in
            let model = try SyncModel(schemaData: Data(schema.utf8))
            return try Device(DataStack(model: model, at: folder.appendingPathComponent("store.sqlite")), service)
        }
    }

    private static func with(_ attributes: String, in schema: String = Device.schema) -> String {
        schema.replacingOccurrences(of: "\"title\": {", with: "\(attributes), \"title\": {")
    }

    private func putTasks() async {
        await service.set("Project", 7, ["name": "p"])
        for id in 1...4 {
            await service.set(
                "Task", JSONValue(id), ["title": .string("t\(id)"), "points": 0, "color": "blue", "project_id": 7])
        }
    }

    private func sent() async -> [String] {
        await service.requests.flatMap { request -> [String] in
            guard case .push(let operations) = request else { return [] }
            return operations.map { "\($0.kind) \($0.id ?? .null) \($0.record)" }
        }
    }

    @Test(
        "A new attribute is filled by the service, and pending changes and remote changes stay",
        arguments: ["{\"type\": \"string\"}", "{\"type\": \"string\", \"default\": \"red\"}"], [false, true])
    func attribute(_ definition: String, isPushedFirst: Bool) async throws {
        await putTasks()
        try await withStore { open in
            let first = try open(Device.schema)
            try await first.engine.sync()
            try await first.write("UPDATE Task SET points = 5 WHERE remoteID = 3")
            await service.set("Task", 2, ["title": "elsewhere"])
            await service.deleteRequests()
            let second = try open(Self.with("\"color\": \(definition)"))
            if isPushedFirst { try await second.engine.push() }
            try await second.engine.sync()
            #expect(await sent() == ["update 3 {\"points\":5}"])
            #expect(
                try await second.rows("SELECT remoteID, title, points, color FROM Task ORDER BY 1")
                    == ["1 t1 0 blue", "2 elsewhere 0 blue", "3 t3 5 blue", "4 t4 0 blue"])
            #expect(try await second.leftovers() == [])
            #expect(try await second.engine.sync().isEmpty)
            try await second.write("UPDATE Task SET color = 'green' WHERE remoteID = 1")
            try await second.engine.sync()
            #expect(await service.contents(of: "Task")[1]?["color"] == "green")
        }
    }

    @Test("Two attributes added in turn without a sync are both filled")
    func twoAttributes() async throws {
        await putTasks()
        try await withStore { open in
            try await open(Device.schema).engine.sync()
            let color = "\"color\": {\"type\": \"string\"}"
            _ = try open(Self.with(color))
            await service.deleteRequests()
            let last = try open(Self.with("\"size\": {\"type\": \"integer\"}, " + color))
            try await last.engine.sync()
            #expect(await sent() == [])
            #expect(try await last.rows("SELECT DISTINCT color FROM Task") == ["blue"])
        }
    }

    @Test(
        "A changed remote key pulls the attribute again, and its old value is not sent",
        arguments: [false, true])
    func remoteKey(_ sendsWholeRows: Bool) async throws {
        await putTasks()
        for id in 1...4 { await service.set("Task", JSONValue(id), ["hue": "warm"]) }
        try await withStore { open in
            let first = try open(Self.with("\"color\": {\"type\": \"string\", \"remoteKey\": \"hue\"}"))
            try await first.engine.sync()
            if !sendsWholeRows { try await first.write("UPDATE Task SET color = 'mine' WHERE remoteID = 2") }
            await service.deleteRequests()
            let corrected = try open(Self.with("\"color\": {\"type\": \"string\"}")).stack
            let second = try Device(
                corrected, service,
                entities: ["Project", sendsWholeRows ? .mergingWholeRow("Task") : "Task", "Tag"])
            try await second.write("UPDATE Task SET points = 5 WHERE remoteID = 3")
            try await second.engine.push()
            #expect(await sent().allSatisfy { !$0.contains("color") })
            try await second.engine.sync()
            #expect(try await second.rows("SELECT DISTINCT color FROM Task WHERE remoteID <> 2") == ["blue"])
            #expect(
                await service.contents(of: "Task").filter { $0.key != 2 }.values.allSatisfy { $0["color"] == "blue" })
            let edited = await service.contents(of: "Task")[2]?["color"]
            #expect(edited == (sendsWholeRows ? "blue" : "mine"))
            let log = try await second.engine.conflicts().map { "\($0.key) \($0.field) \($0.local) \($0.remote)" }
            #expect(log == (sendsWholeRows ? [] : ["2 color \"mine\" \"blue\""]))
            #expect(try await second.leftovers() == [])
            // The entity is pulled completely once.
            await service.deleteRequests()
            try await Device(corrected, service).engine.sync()
            #expect(await service.requests.filter { if case .pull = $0 { true } else { false } }.count == 3)
        }
    }

    @Test("A new to-one relationship is filled by the service")
    func toOne() async throws {
        await putTasks()
        let without = Device.schema
            .replacingOccurrences(of: "\"project\": {\"entity\": \"Project\", \"inverse\": \"tasks\"},", with: "")
            .replacingOccurrences(
                of:
                    "\"tasks\": {\"entity\": \"Task\", \"many\": true, \"inverse\": \"project\", \"deleteRule\": \"cascade\"}",
                with: "")
        try await withStore { open in
            try await open(without).engine.sync()
            await service.deleteRequests()
            let second = try open(Device.schema)
            try await second.engine.sync()
            #expect(await sent() == [])
            #expect(try await second.rows("SELECT DISTINCT projectID FROM Task") == ["7"])
            #expect(try await second.leftovers() == [])
        }
    }

    @Test("Renaming an attribute keeps pending changes and reverts nothing")
    func renamed() async throws {
        await putTasks()
        try await withStore { open in
            let first = try open(Device.schema)
            try await first.engine.sync()
            try await first.write("UPDATE Task SET points = 5 WHERE remoteID = 3")
            await service.set("Task", 2, ["title": "elsewhere", "points": 9])
            await service.deleteRequests()
            let renamed = Device.schema.replacingOccurrences(
                of: "\"points\": {\"type\": \"integer\"}",
                with: "\"score\": {\"type\": \"integer\", \"remoteKey\": \"points\", \"renamedFrom\": \"points\"}")
            let second = try open(renamed)
            try await second.engine.sync()
            #expect(await sent() == ["update 3 {\"points\":5}"])
            #expect(
                try await second.rows("SELECT remoteID, title, score FROM Task ORDER BY 1")
                    == ["1 t1 0", "2 elsewhere 9", "3 t3 5", "4 t4 0"])
            #expect(try await second.leftovers() == [])
        }
    }

    /// Edits two rows after `meanwhile`. The service changes one of them, and another row.
    private func editing(_ meanwhile: (Device) async throws -> Void) async throws -> Device {
        await putTasks()
        let device = try Device(service)
        try await device.engine.sync()
        try await meanwhile(device)
        try await device.write("UPDATE Task SET title = 'here' WHERE remoteID = 1")
        try await device.write("UPDATE Task SET points = 4 WHERE remoteID = 2")
        await service.set("Task", 2, ["title": "elsewhere"])
        await service.set("Task", 3, ["title": "elsewhere"])
        await service.deleteRequests()
        let again = try Device(device.stack, service)
        try await again.engine.sync()
        return again
    }

    @Test("Capture continues beside a paged import of another entity")
    func notRegistered() async throws {
        let device = try await editing { device in
            try await Sync.importPages(from: service, entity: "Project", stack: device.stack)
        }
        try await expectEditsSent(device)
    }

    private func expectEditsSent(_ device: Device) async throws {
        #expect(await sent().sorted() == ["update 1 {\"title\":\"here\"}", "update 2 {\"points\":4}"])
        #expect(
            try await device.rows("SELECT remoteID, title, points FROM Task ORDER BY 1")
                == ["1 here 0", "2 elsewhere 4", "3 elsewhere 0", "4 t4 0"])
        #expect(try await device.engine.conflicts().isEmpty)
        #expect(try await device.leftovers() == [])
    }

    @Test("Edits to an entity that was not registered for a while are sent, and nothing is reverted")
    func putBack() async throws {
        let device = try await editing { device in
            _ = try Device(device.stack, service, entities: ["Project"])
        }
        try await expectEditsSent(device)
    }

    @Test("Triggers that changed because of a new index need no search for edits")
    func otherTriggers() async throws {
        await putTasks()
        let device = try Device(service)
        try await device.engine.sync()
        try await device.write("CREATE UNIQUE INDEX mine ON Task (title)")
        let again = try Device(device.stack, service)
        #expect(try await again.rows("SELECT DISTINCT trust FROM sync_known WHERE e = 2") == ["current"])
        #expect(try await again.rows("SELECT count(*) FROM sync_cursor WHERE cursor IS NULL") == ["0"])
    }

    // MARK: Another service

    @Test("A store that never synced with a service can be moved to another one")
    func serviceMismatch() async throws {
        let device = try Device(InMemoryService(identity: "mistyped"))
        try await device.stack.insert("Task", values: ["title": "offline"])
        let moved = try Device(device.stack, service)
        try await moved.engine.sync()
        #expect(await service.contents(of: "Task").values.compactMap { $0["title"] } == ["offline"])
        #expect(throws: SyncError.self) { try Device(device.stack, InMemoryService(identity: "other")) }
    }

    @Test("The engine's tables cannot be removed during a run")
    func removedMeanwhile() async throws {
        await putTasks()
        let device = try Device(service)
        let found = Codes()
        await service.onRequest { [stack = device.stack] _ in
            do {
                try await stack.removeSyncState(deletingRows: false)
                await found.note(nil)
            } catch { await found.note((error as? SyncError)?.code) }
        }
        try await device.engine.sync()
        #expect(await found.codes.allSatisfy { $0 == .engineBusy })
        #expect(await !found.codes.isEmpty)
        try await device.stack.removeSyncState(deletingRows: false)
    }

    private actor Codes {
        private(set) var codes: [SyncError.Code?] = []
        func note(_ code: SyncError.Code?) { codes.append(code) }
    }
}
