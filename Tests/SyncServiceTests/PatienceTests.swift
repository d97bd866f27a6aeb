import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Services that want to be left alone, by a clock that stands still.
@Suite("Patience")
struct PatienceTests {
    private let memory = ServedMemory()
    private static let noon = Date(timeIntervalSince1970: 1_795_435_200)

    private func device(
        _ status: Int, _ headers: [String: String] = [:], on stack: DataStack? = nil, now: Date = noon
    ) throws -> Device {
        var settings = Device.settings
        settings.clock.now = { now }
        let service = RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")),
            transport: Served { [memory] request, _ in
                await memory.note(request)
                return (status, headers, status == 200 ? [] : ["message": "closed for good"])
            })
        let stack = try stack ?? DataStack.inMemory(SyncModel(schema: Data(Device.schema.utf8)))
        return try Device(stack, service, entities: ["Task"], settings)
    }

    private func failure(_ device: Device) async -> String? {
        await #expect(throws: SyncError.self) { try await device.engine.sync() }?.message
    }

    @Test(
        "A run says until when a service is to be left alone, and the next one keeps to it, up to a day",
        arguments: [(3000, "12:50:00"), (7200, "14:00:00"), (86_400, "12:00:00"), (1_000_000, "12:00:00")])
    func kept(_ seconds: Int, _ time: String) async throws {
        let device = try device(503, ["Retry-After": "\(seconds)"])
        let message = await failure(device)
        let date = seconds < 86_400 ? "2026-11-23" : "2026-11-24"
        #expect(message?.contains("until \(date)T\(time)") == true, "\(message ?? "")")
        #expect(message?.contains("status 503") == true)
        #expect(await failure(device)?.contains("is left alone until \(date)T\(time)") == true)
        #expect(await memory.requests.count == 1)
        let later = try self.device(200, on: device.stack, now: Self.noon.addingTimeInterval(86_401))
        #expect(try await later.engine.sync().isEmpty)
    }

    @Test("A clock that was set back keeps nobody waiting for more than a day")
    func clock() async throws {
        let device = try device(503, ["Retry-After": "7200"])
        _ = await failure(device)
        let back = try self.device(200, on: device.stack, now: Self.noon.addingTimeInterval(-100_000))
        #expect(try await back.engine.sync().isEmpty)
    }

    @Test("A 410 to a pull of all there is says what the service said")
    func gone() async throws {
        let message = await failure(try device(410))
        #expect(message?.contains("status 410: closed for good") == true, "\(message ?? "")")
        #expect(await memory.requests.count == 1)
    }
}
