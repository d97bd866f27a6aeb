import Foundation
import GRDB
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// A database that two processes sync at the same time.
@Suite("Two processes")
struct TwoProcessTests {
    private static let model = """
        {"entities": {"Task": {"attributes": {"remoteID": {"type": "integer"}, "title": {"type": "string"}}}}}
        """

    @Test("Two processes do not sync one database at once, and the lease of a dead process is ignored")
    func atOnce() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("two-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (model, config, database) = (
            folder.appendingPathComponent("model.json"), folder.appendingPathComponent("config.json"),
            folder.appendingPathComponent("store.sqlite")
        )
        let port = try QuietPort(isRefusing: false)
        try Data(Self.model.utf8).write(to: model)
        try Data(
            """
            {"service": "rest", "url": "\(port.url)", "identity": "shared", "timeout": 3600, "entities": {"Task": {}}}
            """.utf8
        ).write(to: config)

        // The other process waits for a service that does not answer.
        let process = Process()
        process.executableURL = try CrashingDevice.executable()
        process.arguments = [database.path, model.path, config.path, "1000000", "before"]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.terminationHandler = { _ in port.giveUp() }
        try process.run()
        defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
        await port.connection()

        let service = InMemoryService()
        await service.set("Task", 1, ["title": "there"])
        var configuration = Device.configuration
        configuration.serviceIdentity = "shared"
        let stack = try DataStack(model: SyncModel(schemaData: Data(Self.model.utf8)), at: database)
        let device = try Device(stack, service, entities: ["Task"], configuration)
        try await stack.insert("Task", values: ["title": "here"])
        let keeper = try LeaseKeeper(database)
        defer { keeper.stop() }
        let holder = try await device.rows("SELECT holder, token FROM sync_lease")
        #expect(holder.first?.contains(" \(process.processIdentifier) ") == true, "\(holder)")
        let actions: [@Sendable () async throws -> Void] = [
            { try await device.engine.sync() }, { try await device.engine.pull() }, { try await device.engine.push() },
            { try await device.engine.reset(.cursors) },
        ]
        for action in actions {
            let error = await #expect(throws: SyncError.self) { try await action() }
            #expect(error?.code == .engineBusy)
        }
        // There are no requests, and the lease is unchanged.
        #expect(await service.requests.isEmpty)
        #expect(try await device.rows("SELECT holder, token FROM sync_lease") == holder)
        #expect(try await device.engine.pendingChangeCount() == 1)
        #expect(process.isRunning)

        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        keeper.stop()
        let report = try await device.engine.sync()
        #expect(report.total.pulledInserts == 1 && report.total.pushedInserts == 1)
        #expect(Set(await service.contents(of: "Task").values.compactMap { $0["title"] }) == ["here", "there"])
        #expect(try await device.rows("SELECT holder, until FROM sync_lease") == [" 0"])
        #expect(try await device.leftovers() == [])
    }
}

/// The program of `Tests/CrashingDevice`, next to the tests.
private enum CrashingDevice {
    static func executable() throws -> URL {
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let url = folder.appendingPathComponent("CrashingDevice")
        guard FileManager.default.isExecutableFile(atPath: url.path) else {
            throw ServerFailure(text: "there is no \(url.path)")
        }
        return url
    }
}
