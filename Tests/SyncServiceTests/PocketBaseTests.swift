import Foundation
import GRDB
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Tests with a real PocketBase server.
@Suite("PocketBase", .enabled("PocketBase comes from PyPI, which cannot be reached") { await PocketBaseServer.isThere })
struct PocketBaseTests {
    /// Returns an ID in the form that PocketBase requires.
    private static func id(_ number: Int) -> JSONValue {
        let digits = "\(number)"
        return .string(String(repeating: "a", count: 15 - digits.count) + digits)
    }

    @Test("A PocketBase service passes the conformance suite", arguments: [1000, 3], [50, 1])
    func conformance(_ pageSize: Int, _ batchSize: Int) async throws {
        let space = try await PocketBaseServer.shared.space()
        let service = space.service(pageSize: pageSize, batchSize: batchSize)
        let failures = await ServiceConformance(
            service, entity: "Task", member: "title", other: "note", newID: Self.id
        ).run()
        #expect(failures == [])
    }

    @Test("A PocketBase service without a field for the update time passes the conformance suite")
    func timeless() async throws {
        let space = try await PocketBaseServer.shared.space()
        var options = PocketBaseOptions()
        options.updatedField = nil
        options.pageSize = 4
        let service = PocketBaseService(
            baseURL: space.url, paths: space.paths, options: options, credentials: .authorization(space.token))
        let failures = await ServiceConformance(
            service, entity: "Task", member: "title", other: "note", newID: Self.id
        ).run()
        #expect(failures == [])
    }

    @Test("Offline edits of two devices with PocketBase reach both")
    func twoDevices() async throws {
        let space = try await PocketBaseServer.shared.space()
        let (one, two) = (try space.device(pageSize: 2), try space.device(pageSize: 2))
        try await OfflineScript.play(one, two, nothing: "0")
        #expect(try await two.rows("SELECT DISTINCT length(remoteID) FROM Task") == ["15"])
    }
}
