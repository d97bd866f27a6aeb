import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Backoff as requested by services, with a fixed clock.
@Suite("Requested backoff")
struct RetryTimeoutTests {
    private let memory = ServedMemory()
    private static let noon = Date(timeIntervalSince1970: 1_795_435_200)

    private func device(
        _ status: Int, _ headers: [String: String] = [:],
        _ configuration: SyncEngine.Configuration = Device.configuration,
        on stack: DataStack? = nil, now: Date = noon
    ) throws -> Device {
        var configuration = configuration
        configuration.clock.now = { now }
        let service = RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")),
            transport: Served { [memory] request, _ in
                await memory.note(request)
                return (status, headers, status == 200 ? [] : ["message": "closed for good"])
            })
        let stack = try stack ?? DataStack.inMemory(SyncModel(schemaData: Data(Device.schema.utf8)))
        return try Device(stack, service, entities: ["Task"], configuration)
    }

    private func failure(_ device: Device) async -> String? {
        await #expect(throws: SyncError.self) { try await device.engine.sync() }?.message
    }

    @Test(
        "A run reports the end of the requested backoff, and the next run waits for it, up to a day",
        arguments: [(3000, "12:50:00"), (7200, "14:00:00"), (86_400, "12:00:00"), (1_000_000, "12:00:00")])
    func kept(_ seconds: Int, _ time: String) async throws {
        let device = try device(503, ["Retry-After": "\(seconds)"])
        let message = await failure(device)
        let date = seconds < 86_400 ? "2026-11-23" : "2026-11-24"
        #expect(message?.contains("until \(date)T\(time)") == true, "\(message ?? "")")
        #expect(message?.contains("status 503") == true)
        #expect(await failure(device)?.contains("the engine must wait until \(date)T\(time)") == true)
        #expect(await memory.requests.count == 1)
        let later = try self.device(200, on: device.stack, now: Self.noon.addingTimeInterval(86_401))
        #expect(try await later.engine.sync().isEmpty)
    }

    @Test(
        "Settings decide whether a run respects an earlier backoff: all, only a requested one, or none",
        arguments: BackoffPolicy.allCases, [(503, ["Retry-After": "600"]), (500, [:]), (503, [:])])
    func earlier(_ waits: BackoffPolicy, _ answer: (Int, [String: String])) async throws {
        let isRequestedByService = !answer.1.isEmpty
        let failing = try device(answer.0, answer.1, Self.impatient)
        for _ in 0..<3 { _ = await failure(failing) }
        let noted = try await failing.rows("SELECT not_before IS NOT NULL, attempts > 0 FROM sync_engine")
        #expect(noted == ["1 \(isRequestedByService ? 0 : 1)"])
        var configuration = Self.impatient
        configuration.backoffPolicy = waits
        let later = try device(200, [:], configuration, on: failing.stack)
        guard waits == .all || waits == .requested && isRequestedByService else {
            #expect(try await later.engine.sync().isEmpty)
            #expect(try await later.rows("SELECT not_before, attempts FROM sync_engine") == ["nil 0"])
            return
        }
        let count = await memory.requests.count
        #expect(await failure(later)?.contains("the engine must wait until") == true)
        #expect(await memory.requests.count == count)
        // A run without requests leaves the backoff unchanged.
        #expect(try await failing.rows("SELECT not_before IS NOT NULL, attempts > 0 FROM sync_engine") == noted)
    }

    /// Settings with the longest delays and a run that allows none.
    private static var impatient: SyncEngine.Configuration {
        var configuration = Device.configuration
        configuration.clock.random = { 1 }
        configuration.retryTimeout = .zero
        return configuration
    }

    @Test("If the clock was set back, backoff ends after a day at most")
    func clockSetBack() async throws {
        let device = try device(503, ["Retry-After": "7200"])
        _ = await failure(device)
        let back = try self.device(200, on: device.stack, now: Self.noon.addingTimeInterval(-100_000))
        #expect(try await back.engine.sync().isEmpty)
    }

    @Test("Records that the app applies do not wait for a backoff, and keep it", arguments: [503, 500])
    func applied(_ status: Int) async throws {
        let device = try device(status, status == 503 ? ["Retry-After": "7200"] : [:], Self.impatient)
        for _ in 0..<3 { _ = await failure(device) }
        let noted = try await device.rows("SELECT not_before, attempts FROM sync_engine")
        #expect(noted != ["nil 0"])
        try await device.engine.apply(["id": 1, "title": "fetched"], inEntity: "Task")
        #expect(try await device.rows("SELECT title FROM Task") == ["fetched"])
        await #expect(throws: SyncError.self) { try await device.engine.apply([:], inEntity: "Task") }
        #expect(try await device.rows("SELECT not_before, attempts FROM sync_engine") == noted)
    }

    @Test("The error of a 410 response to a complete pull has the service's message")
    func gone() async throws {
        let message = await failure(try device(410))
        #expect(message?.contains("status 410: closed for good") == true, "\(message ?? "")")
        #expect(await memory.requests.count == 1)
    }
}
