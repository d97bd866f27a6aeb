import Foundation
import GRDB
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// With a PocketBase server that really runs.
@Suite("PocketBase", .enabled("PocketBase comes from PyPI, which cannot be reached") { await PocketBaseServer.isThere })
struct PocketBaseTests {
    /// An id as PocketBase wants it.
    private static func id(_ number: Int) -> JSONValue {
        let digits = "\(number)"
        return .string(String(repeating: "a", count: 15 - digits.count) + digits)
    }

    @Test("passes the conformance suite", arguments: [1000, 3], [50, 1])
    func conformance(_ pageSize: Int, _ batchSize: Int) async throws {
        let space = try await PocketBaseServer.shared.space()
        let service = space.service(pageSize: pageSize, batchSize: batchSize)
        let failures = await ServiceConformance(
            service, entity: "Task", member: "title", other: "note", newID: Self.id
        ).run()
        #expect(failures == [])
    }

    @Test("passes the conformance suite without a field for the time of the last change")
    func timeless() async throws {
        let space = try await PocketBaseServer.shared.space()
        var options = PocketBaseOptions()
        options.updated = nil
        options.pageSize = 4
        let service = PocketBaseService(
            baseURL: space.url, paths: space.paths, options: options, credentials: .authorization(space.token))
        let failures = await ServiceConformance(
            service, entity: "Task", member: "title", other: "note", newID: Self.id
        ).run()
        #expect(failures == [])
    }

    @Test("two devices edit offline, and both have all of it")
    func twoDevices() async throws {
        let space = try await PocketBaseServer.shared.space()
        let (one, two) = (try space.device(pageSize: 2), try space.device(pageSize: 2))
        let project = try await one.stack.insert("Project", values: ["name": "p"])
        for number in 1...5 {
            try await one.stack.insert("Task", values: ["title": .string("t\(number)")], links: ["project": [project]])
        }
        try await one.engine.sync()
        try await two.engine.sync()
        #expect(try await two.rows("SELECT count(*), count(projectID) FROM Task") == ["5 5"])
        #expect(try await two.rows("SELECT DISTINCT length(remoteID) FROM Task") == ["15"])
        try await one.write("UPDATE Task SET title = 'one' WHERE title = 't1'")
        try await two.write("UPDATE Task SET points = 7, projectID = NULL WHERE title = 't1'")
        try await one.write("DELETE FROM Task WHERE title = 't2'")
        try await two.write("UPDATE Task SET title = 'lost' WHERE title = 't2'")
        try await one.engine.sync()
        try await two.engine.sync()
        try await one.engine.sync()
        for device in [one, two] {
            #expect(
                try await device.rows("SELECT title, points, projectID IS NULL FROM Task ORDER BY title")
                    == ["one 7 1", "t3 0 0", "t4 0 0", "t5 0 0"])
            #expect(try await device.leftovers() == [])
            #expect(try await device.engine.sync().isEmpty)
        }
        #expect(try await two.engine.conflicts().contains { $0.local == "lost" })
        try await two.write("DELETE FROM Project")
        try await two.engine.sync()
        try await one.engine.sync()
        #expect(try await one.rows("SELECT count(*) FROM Task") == ["1"])
    }
}
