import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Rows that are deleted during the request that creates them.
@Suite("Rows deleted during their create")
struct DeletedWhileSentTests {
    /// A service that answers each create with 503.
    private actor Service {
        private var device: Device?
        private var rows: [JSONValue] = []
        private(set) var deletions = 0

        func meet(_ device: Device) { self.device = device }
        func add(_ row: JSONValue) { rows.append(row) }

        func answer(_ isPost: Bool, _ isDelete: Bool) async -> (Int, [String: String], JSONValue) {
            if isDelete { deletions += 1 }
            guard isPost else { return (isDelete ? 204 : 200, [:], .array(rows)) }
            try? await device?.write("DELETE FROM Task")
            return (503, [:], .null)
        }
    }

    @Test("A remote record with the key of a new row that was deleted during its create is pulled")
    func otherRow() async throws {
        let server = Service()
        let url = try #require(URL(string: "https://service.example/v1"))
        let transport = Served { request, _ in
            await server.answer(request.method == .post, request.method == .delete)
        }
        let device = try Device(
            RESTService(baseURL: url, transport: transport), entities: ["Task"], Device.impatient)
        await server.meet(device)
        try await device.write("INSERT INTO Task (remoteID, title) VALUES (3, 'mine')")
        await #expect(throws: SyncError.self) { try await device.engine.sync() }
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["0"])
        await server.add(["id": 3, "title": "theirs"])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT remoteID, title FROM Task") == ["3 theirs"])
        #expect(await server.deletions == 0)
        #expect(try await device.leftovers() == [])
    }
}
