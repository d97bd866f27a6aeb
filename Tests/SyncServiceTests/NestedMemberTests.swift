import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncCore
@testable import SyncService

/// Attributes inside nested objects, and attributes that are objects.
@Suite("Nested fields")
struct NestedMemberTests {
    private static let schema = """
        {"entities": {"Shop": {"attributes": {"id": {"type": "integer", "primaryKey": true},
          "street": {"type": "string", "remoteKey": "address.street"}, "zip": {"type": "string", "remoteKey": "address.zip"},
          "hours": "json"}}}}
        """

    /// Returns a device whose service replaces members as a whole, as most do.
    private func device(_ update: RESTOptions.Update, _ memory: ServedMemory) async throws -> Device {
        await memory.set([
            [
                "id": 1, "address": ["street": "High St", "zip": "111", "country": "DE"],
                "hours": ["mon": 1, "tue": 2],
                "owner": "Ann",
            ]
        ])
        var options = RESTOptions()
        options.updateMethod = update
        let service = RESTService(
            baseURL: try #require(URL(string: "https://service.example")), options: options,
            transport: Served { request, body in
                let record = await memory.rows[0]
                if request.method == .get { return (200, [:], request.path == "/shops" ? [record] : record) }
                guard case .object(let members)? = body else { return (400, [:], [:]) }
                let isWhole = request.method == .put
                let changed = members.reduce(isWhole ? .object([]) : record) { $0.setting($1.value, at: [$1.key]) }
                await memory.set([changed])
                return (200, [:], changed)
            })
        return try Device(service, schema: Self.schema, entities: ["Shop"])
    }

    @Test("A change of one nested field leaves the rest of its object", arguments: RESTOptions.Update.allCases)
    func part(_ update: RESTOptions.Update) async throws {
        let memory = ServedMemory()
        let device = try await device(update, memory)
        try await device.engine.sync()
        try await device.write("UPDATE Shop SET street = 'Low St', hours = '{\"mon\":9}'")
        #expect(try await device.engine.sync().total.pushedUpdates == 1)
        let record = await memory.rows[0]
        #expect(record["address"]?["street"] == "Low St")
        #expect(record["address"]?["zip"] == "111")
        #expect(record["address"]?["country"] == "DE")
        #expect(record["hours"] == ["mon": 9])
        #expect(record["owner"] == "Ann")
        #expect(try await device.engine.sync().isEmpty)
        #expect(try await device.rows("SELECT street, zip, hours FROM Shop") == ["Low St 111 {\"mon\":9}"])
    }

    @Test(
        "A cleared nested field is sent as null, and the rest of its object stays",
        arguments: RESTOptions.Update.allCases)
    func cleared(_ update: RESTOptions.Update) async throws {
        let memory = ServedMemory()
        let device = try await device(update, memory)
        try await device.engine.sync()
        try await device.write("UPDATE Shop SET zip = NULL")
        try await device.engine.sync()
        let address = try #require(await memory.rows[0]["address"])
        #expect(address == ["country": "DE", "street": "High St", "zip": .null])
        #expect(try await device.engine.sync().isEmpty)
    }
}
