import Foundation
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// A row is edited or deleted locally during a request with an older change that the service rejects.
@Suite("Edits during a rejected request")
struct RefusedEditTests {
    private let service = InMemoryService()

    /// Rejects each request with the title `bad`.
    private func refuseBad(_ fault: InMemoryService.Fault = .refuse) async {
        await service.setFault { request, _ in
            guard case .push(let operations) = request else { return nil }
            return operations.contains { $0.record["title"] == "bad" } ? fault : nil
        }
    }

    /// Runs a statement on the device during a push. Only the first push has an effect, since the statement finds no
    /// rows later.
    private func meanwhile(_ device: Device, _ sql: String) async {
        await service.onRequest { request in
            guard case .push = request else { return }
            try? await device.write(sql)
        }
    }

    private func known() async throws -> Device {
        await service.set("Task", 1, ["title": "t", "points": 1])
        let device = try Device(service, entities: ["Task"])
        try await device.engine.sync()
        return device
    }

    @Test(
        "An edit during a rejected request is sent by the same run",
        arguments: ["title = 'good'", "title = 'good', points = 2"],
        [.refuse, .failsBeforeApply] as [InMemoryService.Fault])
    func editedDuringRejection(_ set: String, _ fault: InMemoryService.Fault) async throws {
        let device = try await known()
        try await device.write("UPDATE Task SET title = 'bad'")
        await refuseBad(fault)
        await meanwhile(device, "UPDATE Task SET \(set) WHERE title = 'bad'")
        #expect(try await device.engine.sync().total.blockedChanges == 0)
        #expect(await service.contents(of: "Task")[1]?["title"] == "good")
        #expect(try await device.leftovers() == [])
    }

    @Test("An edit of another column during a rejected request is blocked if it is rejected too")
    func otherColumn() async throws {
        let device = try await known()
        try await device.write("UPDATE Task SET title = 'bad'")
        await refuseBad()
        await meanwhile(device, "UPDATE Task SET points = 2 WHERE points = 1")
        try await device.engine.sync()
        #expect(try await device.engine.blockedChanges().map(\.reason) == ["refused"])
        #expect(await service.contents(of: "Task")[1]?["points"] == 1)
        try await device.write("UPDATE Task SET title = 'good'")
        try await device.engine.sync()
        #expect(await service.contents(of: "Task")[1]?["points"] == 2)
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "A deletion during a rejected request is sent",
        arguments: [.refuse, .failsBeforeApply] as [InMemoryService.Fault])
    func deletedDuringRejection(_ fault: InMemoryService.Fault) async throws {
        let device = try await known()
        try await device.write("UPDATE Task SET title = 'bad'")
        await refuseBad(fault)
        await meanwhile(device, "DELETE FROM Task WHERE title = 'bad'")
        #expect(try await device.engine.sync().total.blockedChanges == 0)
        #expect(await service.contents(of: "Task").isEmpty)
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "An edit during a rejected create is sent with another key, and a deletion cancels the create",
        arguments: [true, false])
    func newRow(_ isDeleted: Bool) async throws {
        let device = try await known()
        try await device.stack.insert("Task", values: ["title": "bad"])
        await refuseBad()
        await meanwhile(
            device, (isDeleted ? "DELETE FROM Task" : "UPDATE Task SET title = 'good'") + " WHERE title = 'bad'")
        #expect(try await device.engine.sync().total.blockedChanges == 0)
        let titles = await service.contents(of: "Task").values.compactMap { $0["title"] }
        #expect(Set(titles) == (isDeleted ? ["t"] : ["t", "good"]))
        let keys = await service.requests.compactMap { request -> [String]? in
            guard case .push(let operations) = request else { return nil }
            return operations.map(\.idempotencyKey)
        }.joined()
        #expect(Set(keys).count == keys.count)
        #expect(try await device.leftovers() == [])
    }

    @Test("An insert during a rejected deletion of the row is sent")
    func insertedAgain() async throws {
        let device = try await known()
        try await device.write("DELETE FROM Task")
        await service.setFault { request, _ in
            guard case .push(let operations) = request else { return nil }
            return operations.contains { $0.kind == .delete } ? .refuse : nil
        }
        await meanwhile(device, "INSERT OR IGNORE INTO Task (remoteID, title, points) VALUES (1, 'good', 1)")
        #expect(try await device.engine.sync().total.blockedChanges == 0)
        #expect(await service.contents(of: "Task")[1]?["title"] == "good")
        #expect(try await device.leftovers() == [])
    }

    @Test("A deletion during a push that finds the row deleted on the service leaves nothing over")
    func gone() async throws {
        let device = try await known()
        try await device.write("UPDATE Task SET title = 'mine'")
        let service = service
        await service.onRequest { request in
            guard case .push = request else { return }
            await service.remove("Task", 1)
            try? await device.write("DELETE FROM Task")
        }
        try await device.engine.push()
        #expect(try await device.leftovers() == [])
    }
}
