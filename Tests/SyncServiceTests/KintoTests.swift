import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Tests with a real Kinto server.
@Suite("Kinto", .enabled("Kinto comes from PyPI, which cannot be reached") { await KintoServer.isThere })
struct KintoTests {
    private static let schema = Device.schema.replacingOccurrences(
        of: "\"remoteID\": {\"type\": \"integer\"}", with: "\"remoteID\": {\"type\": \"string\"}")

    private func authorization() -> String { "Basic " + Data("\(UUID().uuidString):pw".utf8).base64EncodedString() }

    @Test("A Kinto service passes the conformance suite", arguments: [1000, 3])
    func conformance(_ pageSize: Int) async throws {
        let service = try await KintoServer.shared.service(pageSize: pageSize)
        let failures = await ServiceConformance(service, entity: "Task", member: "title", other: "note").run()
        #expect(failures == [])
    }

    @Test("Offline edits of two devices with Kinto reach both")
    func twoDevices() async throws {
        let user = authorization()
        func device() async throws -> Device {
            try Device(try await KintoServer.shared.service(authorization: user, pageSize: 2), schema: Self.schema)
        }
        try await OfflineScript.play(try await device(), try await device())
    }

    @Test("With Kinto, a change of one nested field leaves the rest of its object")
    func part() async throws {
        let service = try await KintoServer.shared.service(authorization: authorization(), pageSize: 10)
        let schema = """
            {"entities": {"Shop": {"attributes": {"id": {"type": "string", "primaryKey": true},
              "street": {"type": "string", "remoteKey": "address.street"},
              "zip": {"type": "string", "remoteKey": "address.zip"}}}}}
            """
        let created = try await service.push([
            PushOperation(
                entity: "Shop", kind: .create, id: "s1",
                record: ["address": ["street": "High St", "zip": "111", "country": "DE"]], version: nil,
                idempotencyKey: "k")
        ])
        guard case .applied? = created.first else { throw ServiceError.invalidResponse("\(created)") }
        let device = try Device(service, schema: schema, entities: ["Shop"])
        try await device.engine.sync()
        try await device.write("UPDATE Shop SET street = 'Low St'")
        try await device.engine.sync()
        guard case .found(let row)? = try await service.fetch(["s1"], of: "Shop").first else {
            throw ServiceError.invalidResponse("no row")
        }
        let address = try #require(row.record?["address"])
        #expect(address["street"] == "Low St" && address["zip"] == "111" && address["country"] == "DE")
    }

    @Test("Deleting a Kinto collection with its tombstones is detected")
    func flushed() async throws {
        let user = authorization()
        let service = try await KintoServer.shared.service(authorization: user, pageSize: 2)
        let device = try Device(service, schema: Self.schema)
        for number in 1...5 { try await device.stack.insert("Task", values: ["title": .string("t\(number)")]) }
        try await device.engine.sync()
        // Without changes there is one request for each entity.
        #expect(try await device.engine.sync().isEmpty)
        let url = service.exchange.base.appendingPathComponent("buckets/default/collections/tasks")
        let answer = try await service.exchange.send(.delete, url)
        #expect(answer.status == 200)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["0"])
        try await device.stack.insert("Task", values: ["title": "new"])
        try await device.engine.sync()
        #expect(try await device.engine.sync().isEmpty)
        #expect(try await device.leftovers() == [])
    }
}
