import Foundation
import HTTPTypes
import Sync
import Testing

@testable import SyncService

/// A service with client IDs that does not accept the ID of a deleted row again.
@Suite("Reserved IDs")
struct ReservedIDTests {
    /// A service of tasks at `/tasks`, with times as versions and with tombstones.
    private actor Service: HTTPTransport {
        private let refusal: Int
        private var rows: [String: [JSONValue.Member]] = [:]
        private var clock = 0
        private(set) var puts = 0
        private var acceptsRows = true
        private var losesNext = false
        private var isDown = false

        init(_ refusal: Int) { self.refusal = refusal }

        var titles: [JSONValue] {
            rows.values.compactMap { row in
                row.contains { $0.key == "deleted_at" } ? nil : row.first { $0.key == "title" }?.value
            }
        }

        private func time() -> String {
            clock += 1
            return Date(timeIntervalSince1970: 1_795_435_200 + Double(clock)).isoText
        }

        /// Carries out the next create, and answers no request from then on.
        func loseNext() { losesNext = true }

        /// Answers again, after deleting a row.
        func comeBack(without id: String) {
            isDown = false
            delete(id)
        }

        /// Accepts no new rows from now on.
        func close() { acceptsRows = false }

        /// Deletes all rows as another client.
        func deleteAll() {
            for (id, row) in rows where !row.contains(where: { $0.key == "deleted_at" }) { delete(id) }
        }

        private func delete(_ id: String) { rows[id]?.append(.init("deleted_at", .string(time()))) }

        func put(_ id: String, _ title: String) { write(id, ["title": .string(title)]) }

        private func write(_ id: String, _ body: JSONValue) {
            guard case .object(let members) = body else { return }
            let kept = (rows[id] ?? []).filter { old in
                !members.contains { $0.key == old.key } && old.key != "updated_at"
            }
            rows[id] =
                [.init("id", .string(id))] + (kept + members).filter { $0.key != "id" }
                + [.init("updated_at", .string(time()))]
        }

        func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
            if isDown { throw URLError(.networkConnectionLost) }
            let (status, json) = answer(request, try body.map { try JSONValue(parsing: $0) } ?? .null)
            if request.method == .put, losesNext {
                (losesNext, isDown) = (false, true)
                throw URLError(.networkConnectionLost)
            }
            // A date before all changes, so that each pull has all of them.
            let headers: HTTPFields = [.date: "Mon, 23 Nov 2026 12:00:00 GMT"]
            return (
                HTTPResponse(status: .init(code: status), headerFields: headers), Data(CanonicalJSON.bytes(json))
            )
        }

        private func answer(_ request: HTTPRequest, _ body: JSONValue) -> (Int, JSONValue) {
            let parts = (request.path ?? "").split(separator: "?")
            let id = parts.first?.split(separator: "/").dropFirst(2).first.map(String.init)
            guard let id else {
                let isWhole = parts.count < 2
                return (
                    200,
                    .array(
                        rows.values.filter { row in !isWhole || !row.contains { $0.key == "deleted_at" } }
                            .map { .object($0) })
                )
            }
            let isDeleted = rows[id]?.contains { $0.key == "deleted_at" } ?? false
            switch request.method {
            case .put:
                puts += 1
                if isDeleted || !acceptsRows { return (refusal, ["message": "that id was used"]) }
                write(id, body)
                return (201, .object(rows[id] ?? []))
            case _ where rows[id] == nil || isDeleted: return (refusal, ["message": "gone"])
            case .delete:
                delete(id)
                return (204, .null)
            case .patch: write(id, body)
            default: break
            }
            return (200, .object(rows[id] ?? []))
        }
    }

    private static let uuid = "E443DF78-9558-467F-9BA9-1FAF7A024204"

    private func device(
        _ service: Service, _ type: String, _ policy: DeleteConflictPolicy, hasTombstones: Bool = true
    ) throws -> Device {
        var options = RESTOptions()
        (options.idAssignment, options.versionField) = (.client, "updated_at")
        if hasTombstones { (options.sinceParameter, options.deletedField) = ("since", "deleted_at") }
        let schema = """
            {"entities": {"Task": {"attributes": {"id": "\(type)", "title": "string", "points": "integer"}}}}
            """
        let rest = RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")), options: options, transport: service)
        return try Device(rest, schema: schema, entities: [SyncedEntity("Task", deleteConflictPolicy: policy)])
    }

    @Test(
        "If its ID is reserved, a restored row gets another ID, the same on each device",
        arguments: [410, 404], [("uuid", uuid), ("string", "seven")])
    func anotherID(_ refusal: Int, _ key: (String, String)) async throws {
        let service = Service(refusal)
        await service.put(key.1, "t")
        let devices = try (0..<3).map { _ in try device(service, key.0, .editWins) }
        for device in devices { try await device.engine.sync() }
        try await devices[0].write("DELETE FROM Task")
        try await devices[1].write("UPDATE Task SET title = 'edited'")
        try await devices[2].write("UPDATE Task SET points = 5")
        for _ in 0..<2 {
            for device in devices { try await device.engine.sync() }
        }
        let titles = await service.titles
        #expect(titles.count == 1)
        for device in devices {
            #expect(try await device.rows("SELECT title FROM Task").map { .string($0) } == titles)
            #expect(try await device.engine.blockedChanges().map(\.reason) == [])
            #expect(try await device.leftovers() == [])
        }
    }

    @Test(
        "A row that was restored and deleted again gets further IDs, the same on each device",
        arguments: [("uuid", uuid), ("string", "seven")])
    func furtherIDs(_ key: (String, String)) async throws {
        let service = Service(410)
        await service.put(key.1, "t")
        let (one, two) = (try device(service, key.0, .editWins), try device(service, key.0, .editWins))
        for device in [one, two] { try await device.engine.sync() }
        for number in 1...3 {
            await service.deleteAll()
            try await one.write("UPDATE Task SET title = 'edited \(number)'")
            try await one.engine.sync()
        }
        try await two.write("UPDATE Task SET points = 5")
        for device in [two, one, two] { try await device.engine.sync() }
        #expect(await service.titles == ["edited 3"])
        for device in [one, two] {
            #expect(try await device.rows("SELECT title, points FROM Task") == ["edited 3 5"])
            #expect(try await device.engine.blockedChanges().map(\.reason) == [])
            #expect(try await device.leftovers() == [])
        }
    }

    @Test("A restored row is blocked after ten other IDs if the service accepts no new rows")
    func noNewRows() async throws {
        let service = Service(404)
        await service.put("seven", "t")
        let device = try device(service, "string", .editWins)
        try await device.engine.sync()
        await service.deleteAll()
        await service.close()
        try await device.write("UPDATE Task SET title = 'edited'")
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await service.puts == 11)
        #expect(try await device.engine.blockedChanges().count == 1)
        #expect(try await device.rows("SELECT title FROM Task") == ["edited"])
    }

    @Test(
        "If its ID is reserved, a row restored by the user gets another ID", arguments: [410, 404],
        [("uuid", uuid), ("string", "seven")])
    func restored(_ refusal: Int, _ key: (String, String)) async throws {
        let service = Service(refusal)
        await service.put(key.1, "t")
        let (one, two) = (try device(service, key.0, .deleteWins), try device(service, key.0, .deleteWins))
        for device in [one, two] { try await device.engine.sync() }
        try await one.write("DELETE FROM Task")
        try await two.write("UPDATE Task SET title = 'edited'")
        for device in [one, two] { try await device.engine.sync() }
        #expect(try await two.rows("SELECT count(*) FROM Task") == ["0"])
        try await two.engine.restoreDeleted("Task", key: .string(key.1))
        for device in [two, one] { try await device.engine.sync() }
        #expect(await service.titles == ["edited"])
        for device in [one, two] {
            #expect(try await device.rows("SELECT title FROM Task") == ["edited"])
            #expect(try await device.leftovers() == [])
        }
    }

    @Test(
        "A row whose create was not answered and that the service deleted is deleted or gets another ID",
        arguments: DeleteConflictPolicy.allCases, [false, true])
    func lost(_ policy: DeleteConflictPolicy, _ isDeletedHere: Bool) async throws {
        let service = Service(410)
        let device = try device(service, "string", policy, hasTombstones: false)
        try await device.write("INSERT INTO Task (id, title) VALUES ('7', 'mine')")
        await service.loseNext()
        await #expect(throws: SyncError.self) { try await device.engine.sync() }
        await service.comeBack(without: "7")
        if isDeletedHere { try await device.write("DELETE FROM Task") }
        for _ in 0..<2 { try await device.engine.sync() }
        let isBack = policy == .editWins && !isDeletedHere
        #expect(await service.titles == (isBack ? ["mine"] : []))
        #expect(try await device.rows("SELECT title FROM Task WHERE id <> '7'") == (isBack ? ["mine"] : []))
        #expect(try await device.rows("SELECT title FROM Task WHERE id = '7'") == [])
        #expect(try await device.engine.conflicts().isEmpty == isDeletedHere)
        #expect(try await device.engine.blockedChanges().map(\.reason) == [])
        #expect(try await device.leftovers() == [])
    }

    @Test("A new row with a reserved ID is blocked if no other ID can be made, and an edit sends it again")
    func blocked() async throws {
        let service = Service(410)
        await service.put("7", "t")
        let (one, two) = (try device(service, "string", .editWins), try device(service, "string", .editWins))
        for device in [one, two] { try await device.engine.sync() }
        try await one.write("DELETE FROM Task")
        try await one.engine.sync()
        try await two.engine.reset(.localData)
        try await two.engine.sync()
        try await two.write("INSERT INTO Task (id, title) VALUES ('7', 'mine')")
        for _ in 0..<2 { try await two.engine.sync() }
        #expect(
            try await two.engine.blockedChanges().map(\.reason) == [
                "the service does not accept new rows at the URL of this entity"
            ])
        #expect(await service.puts == 1)
        try await two.write("UPDATE Task SET title = 'edited'")
        for _ in 0..<2 { try await two.engine.sync() }
        #expect(await service.puts == 2)
    }
}
