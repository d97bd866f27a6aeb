import Foundation
import GRDB
import HTTPTypes
import Sync
import SyncCore
import SyncTesting
import Testing

@testable import SyncService

/// Rows with composite keys, whose tables have surrogate keys.
@Suite("Composite keys")
struct CompositeKeyTests {
    private static let schema = """
        {"entities": {
          "Owner": {"attributes": {"remoteID": {"type": "integer"}, "login": {"type": "string"}},
            "relationships": {"pods": {"entity": "Pod", "many": true, "inverse": "owner", "deleteRule": "cascade"}}},
          "Pod": {"primaryKey": ["owner", "name"], "attributes": {"name": {"type": "string"}, "summary": {"type": "string"}},
            "relationships": {"owner": {"entity": "Owner", "inverse": "pods"},
              "releases": {"entity": "Release", "many": true, "inverse": "pod", "deleteRule": "cascade"}}},
          "Release": {"primaryKey": ["pod", "version"],
            "attributes": {"version": {"type": "string"}, "note": {"type": "string"}, "size": {"type": "integer"}},
            "relationships": {"pod": {"entity": "Pod", "inverse": "releases"},
              "marks": {"entity": "Mark", "many": true, "inverse": "releases"}}},
          "Mark": {"primaryKey": ["area", "name"], "attributes": {"area": {"type": "integer"}, "name": {"type": "string"},
              "color": {"type": "string"}},
            "relationships": {"releases": {"entity": "Release", "many": true, "inverse": "marks"}}}
        }}
        """

    private static var entities: [SyncedEntity] { ["Owner", "Pod", "Release", "Mark"] }

    private func service(
        _ deletions: ServiceCapabilities.DeletionDetection = .tombstones,
        _ idempotency: ServiceCapabilities.CreateIdempotency = .idempotencyKey
    ) -> InMemoryService {
        InMemoryService(
            ServiceCapabilities(
                idAssignment: .server, deletionDetection: deletions, createIdempotency: idempotency,
                supportsPreconditions: true,
                providesModificationTimes: true, maxBatchSize: 10, supportsCompositeIDs: true))
    }

    private func device(_ service: InMemoryService) throws -> Device {
        var configuration = Device.configuration
        configuration.inDoubtTimeout = .zero
        configuration.deletionLimit = nil
        return try Device(service, schema: Self.schema, entities: Self.entities, configuration)
    }

    private func fill(_ service: InMemoryService) async {
        await service.set("Owner", 1, ["login": "ada"])
        await service.set("Pod", [1, "Net"], ["owner_id": 1, "name": "Net", "summary": "s"])
        for version in ["1.0", "1.1"] {
            await service.set(
                "Release", [[1, "Net"], .string(version)],
                ["pod_id": [1, "Net"], "version": .string(version), "note": "n", "size": 5, "mark_ids": [[7, "red"]]])
        }
        await service.set("Mark", [7, "red"], ["area": 7, "name": "red", "color": "f00"])
    }

    @Test(
        "Rows with composite keys are inserted, updated and deleted in both directions",
        arguments: [.tombstones, .listing] as [ServiceCapabilities.DeletionDetection])
    func bothWays(_ deletions: ServiceCapabilities.DeletionDetection) async throws {
        let service = service(deletions)
        await fill(service)
        let (one, two) = (try device(service), try device(service))
        for device in [one, two] { try await device.engine.sync() }
        #expect(
            try await two.rows("SELECT version, note, size FROM Release ORDER BY version") == ["1.0 n 5", "1.1 n 5"])
        #expect(try await two.rows("SELECT count(*) FROM Mark_releases") == ["2"])
        // The order of inserts differs, so that the surrogate keys differ.
        try await one.write(
            """
            UPDATE Release SET note = 'mine' WHERE version = '1.0';
            DELETE FROM Release WHERE version = '1.1';
            INSERT INTO Mark (area, name, color) VALUES (7, 'blue', '00f');
            INSERT INTO Pod (ownerID, name, summary) VALUES (1, 'Log', 'new');
            INSERT INTO Release (podID, version, note) SELECT sync_id, '0.1', 'first' FROM Pod WHERE name = 'Log';
            """)
        try await two.write("UPDATE Release SET size = 6 WHERE version = '1.0'")
        for device in [one, two, one, two] { try await device.engine.sync() }
        for device in [one, two] {
            #expect(
                try await device.rows(
                    """
                    SELECT o.login, p.name, r.version, r.note, r.size FROM Release r JOIN Pod p ON p.sync_id = r.podID
                    JOIN Owner o ON o.remoteID = p.ownerID ORDER BY 2, 3
                    """) == ["ada Log 0.1 first nil", "ada Net 1.0 mine 6"])
            #expect(try await device.rows("SELECT name, color FROM Mark ORDER BY 1") == ["blue 00f", "red f00"])
            #expect(try await device.leftovers() == [])
        }
        #expect(await service.contents(of: "Release")[[[1, "Log"], "0.1"]]?["pod_id"] == [1, "Log"])
        #expect(await service.contents(of: "Release").count == 2)
        #expect(await service.creations == 3)
    }

    @Test("A surrogate key that SQLite reuses is not matched with its former row")
    func reusedSurrogateKey() async throws {
        let service = service()
        await fill(service)
        let device = try device(service)
        try await device.engine.sync()
        // The last row is deleted, and another row gets its surrogate key.
        try await device.write(
            """
            DELETE FROM Mark;
            INSERT INTO Mark (area, name, color) VALUES (9, 'green', '0f0');
            """)
        #expect(try await device.rows("SELECT sync_id FROM Mark") == ["1"])
        try await device.engine.sync()
        #expect(await service.contents(of: "Mark").keys.sorted { "\($0)" < "\($1)" } == [[9, "green"]])
        #expect(await service.contents(of: "Mark")[[9, "green"]]?["color"] == "0f0")
        #expect(try await device.leftovers() == [])
        #expect(try await device.rows("SELECT name FROM sync_known WHERE e = 4") == ["[9,\"green\"]"])
    }

    @Test("A row that is deleted and inserted again, or replaced, sends only what differs")
    func insertedAgain() async throws {
        let service = service()
        await service.set("Mark", [7, "red"], ["area": 7, "name": "red", "color": "f00"])
        let device = try device(service)
        try await device.engine.sync()
        try await device.write(
            """
            DELETE FROM Mark;
            INSERT INTO Mark (sync_id, area, name, color) VALUES (40, 7, 'red', 'f00');
            """)
        let report = try await device.engine.sync()
        #expect(report.isEmpty, "\(report)")
        try await device.write("INSERT OR REPLACE INTO Mark (area, name, color) VALUES (7, 'red', 'e00')")
        await service.deleteRequests()
        try await device.engine.sync()
        #expect(await service.contents(of: "Mark") == [[7, "red"]: ["area": 7, "name": "red", "color": "e00"]])
        #expect(await service.creations == 0)
        #expect(try await device.leftovers() == [])
    }

    @Test("A row whose composite key changes is deleted on the service and created again with its dependent rows")
    func rekeyed() async throws {
        let service = service()
        await fill(service)
        let device = try device(service)
        try await device.engine.sync()
        try await device.write("UPDATE Pod SET name = 'Web', summary = 'w' WHERE name = 'Net'")
        for _ in 0..<3 { try await device.engine.sync() }
        #expect(await service.contents(of: "Pod").keys.map { $0 } == [[1, "Web"]])
        #expect(await service.contents(of: "Pod")[[1, "Web"]]?["summary"] == "w")
        #expect(try await device.rows("SELECT name FROM Pod") == ["Web"])
        let releases = await service.contents(of: "Release")
        #expect(Set(releases.keys) == [[[1, "Web"], "1.0"], [[1, "Web"], "1.1"]])
        #expect(releases[[[1, "Web"], "1.0"]]?["note"] == "n")
        #expect(try await device.leftovers() == [])
    }

    @Test("A row that takes the key of a deleted row because its parent's key changes is sent as an update")
    func rekeyedByParent() async throws {
        let service = service()
        await fill(service)
        let device = try device(service)
        try await device.engine.sync()
        try await device.write("UPDATE Pod SET name = 'Web' WHERE name = 'Net'")
        try await device.write("UPDATE Pod SET name = 'Net' WHERE name = 'Web'")
        let reverted = try await device.engine.sync()
        #expect(reverted.isEmpty, "\(reverted)")
        // A release of another pod, which then takes the key of the deleted pod.
        try await device.write(
            """
            INSERT INTO Pod (ownerID, name, summary) VALUES (1, 'New', 'new');
            INSERT INTO Release (podID, version, note) SELECT sync_id, '1.0', 'new' FROM Pod WHERE name = 'New';
            """)
        try await device.write("DELETE FROM Pod WHERE name = 'Net'")
        try await device.write("UPDATE Pod SET name = 'Net' WHERE name = 'New'")
        for _ in 0..<2 { try await device.engine.sync() }
        let releases = await service.contents(of: "Release")
        #expect(releases.keys.map { $0 } == [[[1, "Net"], "1.0"]])
        #expect(releases[[[1, "Net"], "1.0"]]?["note"] == "new")
        #expect(await service.contents(of: "Pod")[[1, "Net"]]?["summary"] == "new")
        #expect(try await device.leftovers() == [])
    }

    @Test("A row inserted again with the same key before its create is answered is the same row")
    func againWhileInDoubt() async throws {
        let service = service()
        let device = try device(service)
        try await device.engine.sync()
        try await device.write("INSERT INTO Mark (area, name, color) VALUES (1, 'x', 'first')")
        await service.setFault { request, _ in
            if case .push = request { .failsAfterApply } else { nil }
        }
        _ = try? await device.engine.push()
        await service.setFault(nil)
        try await device.write("INSERT OR REPLACE INTO Mark (area, name, color) VALUES (1, 'x', 'second')")
        for _ in 0..<2 { try await device.engine.sync() }
        #expect(await service.contents(of: "Mark") == [[1, "x"]: ["area": 1, "name": "x", "color": "second"]])
        #expect(try await device.leftovers() == [])
    }

    @Test("The parts of a key are sent in the spelling of the service")
    func spelling() async throws {
        let service = service()
        let schema = """
            {"entities": {"Stat": {"primaryKey": ["day", "number"],
              "attributes": {"day": "date", "number": "integer", "note": "string"}}}}
            """
        await service.set("Stat", ["2026-01-02", "007"], ["day": "2026-01-02", "number": "007", "note": "n"])
        let device = try Device(service, schema: schema, entities: ["Stat"], Device.configuration)
        try await device.engine.sync()
        try await device.write("UPDATE Stat SET note = 'mine'")
        try await device.engine.sync()
        #expect(await service.contents(of: "Stat")[["2026-01-02", "007"]]?["note"] == "mine")
        try await device.write("DELETE FROM Stat")
        try await device.engine.sync()
        #expect(await service.contents(of: "Stat").isEmpty)
        #expect(try await device.leftovers() == [])
    }

    @Test("A key part with a date format is read and sent in that format", arguments: [true, false])
    func dateFormat(_ hasParts: Bool) async throws {
        let service = service()
        let schema = """
            {"entities": {"Stat": {"primaryKey": \(hasParts ? "[\"day\", \"number\"]" : "\"day\""),
              "attributes": {"day": {"type": "date", "format": "dd.MM.yyyy"}, "number": "integer", "note": "string"}}}}
            """
        func id(_ day: String) -> JSONValue { hasParts ? [.string(day), 7] : .string(day) }
        await service.set("Stat", id("02.01.2026"), ["day": "02.01.2026", "number": 7, "note": "n"])
        let device = try Device(service, schema: schema, entities: ["Stat"], Device.configuration)
        try await device.engine.sync()
        try await device.write("UPDATE Stat SET note = 'mine'")
        try await device.engine.sync()
        #expect(await service.contents(of: "Stat")[id("02.01.2026")]?["note"] == "mine")
        #expect(try await device.leftovers() == [])
        guard hasParts else { return }
        try await device.write("INSERT INTO Stat (day, number, note) VALUES ('2026-02-03 00:00:00.000', 7, 'new')")
        try await device.engine.sync()
        #expect(await service.contents(of: "Stat")[id("03.02.2026")]?["day"] == "03.02.2026")
        #expect(try await device.leftovers() == [])
    }

    @Test("A row with an incomplete composite key is blocked until the key is complete")
    func incompleteKey() async throws {
        let service = service()
        let device = try Device(
            service,
            schema: """
                {"entities": {"Stat": {"primaryKey": ["owner", "number"],
                  "attributes": {"owner": "string", "number": "integer", "note": "string"}}}}
                """, entities: ["Stat"], Device.configuration)
        try await device.engine.sync()
        try await device.write("INSERT INTO Stat (owner, note) VALUES ('x', 'half')")
        try await device.engine.sync()
        #expect(await service.creations == 0)
        #expect(
            try await device.engine.blockedChanges().map(\.reason) == [
                "the composite key is incomplete: no value for owner, number"
            ])
        try await device.write("UPDATE Stat SET number = 3")
        try await device.engine.sync()
        #expect(await service.contents(of: "Stat").keys.map { $0 } == [["x", 3]])
        #expect(try await device.leftovers() == [])
    }

    @Test("Preexisting rows are matched by their composite keys")
    func preexisting() async throws {
        let service = service()
        await fill(service)
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(Self.schema.utf8)))
        try await Sync.changes([["id": 1, "login": "ada"]], inEntity: "Owner", stack: stack)
        try await Sync.changes([["owner_id": 1, "name": "Net", "summary": "old"]], inEntity: "Pod", stack: stack)
        var configuration = Device.configuration
        configuration.deletionLimit = nil
        let device = try Device(stack, service, entities: Self.entities, configuration)
        #expect(try await device.rows("SELECT name FROM sync_known WHERE e = 2") == ["[1,\"Net\"]"])
        try await device.write("UPDATE Pod SET summary = 'mine'")
        try await device.engine.sync()
        #expect(await service.contents(of: "Pod") == [[1, "Net"]: ["owner_id": 1, "name": "Net", "summary": "mine"]])
        #expect(try await device.rows("SELECT summary FROM Pod") == ["mine"])
        #expect(try await device.leftovers() == [])
    }

    @Test("Surrogate keys that changed while triggers were missing are matched again")
    func renumberedWithoutTriggers() async throws {
        let service = service()
        await fill(service)
        await service.set("Mark", [7, "blue"], ["area": 7, "name": "blue", "color": "00f"])
        let device = try device(service)
        try await device.engine.sync()
        try await device.removeTriggers()
        try await device.write(
            """
            PRAGMA defer_foreign_keys = ON;
            UPDATE Mark SET sync_id = sync_id + 10;
            UPDATE Mark SET sync_id = CASE name WHEN 'red' THEN 2 ELSE 1 END;
            """)
        try await device.write("DELETE FROM Release WHERE version = '1.1'")
        let again = try Device(device.stack, service, entities: Self.entities, Device.configuration)
        try await again.engine.sync()
        #expect(await service.contents(of: "Mark").count == 2)
        #expect(await service.contents(of: "Release").count == 1)
        #expect(await service.creations == 0)
        #expect(try await again.rows("SELECT count(*) FROM Mark") == ["2"])
        #expect(try await again.leftovers() == [])
    }

    @Test(
        "A lost answer does not duplicate a row with a composite key",
        arguments: [.idempotencyKey, .matchByContent] as [ServiceCapabilities.CreateIdempotency])
    func lostAnswer(_ idempotency: ServiceCapabilities.CreateIdempotency) async throws {
        let service = service(.tombstones, idempotency)
        let device = try device(service)
        try await device.engine.sync()
        try await device.write("INSERT INTO Mark (area, name, color) VALUES (1, 'x', 'c')")
        await service.setFault { request, _ in
            if case .push = request { .failsAfterApply } else { nil }
        }
        _ = try? await device.engine.push()
        await service.setFault(nil)
        try await device.engine.sync()
        #expect(await service.creations == 1)
        #expect(try await device.leftovers() == [])
    }

    /// Returns a service as a function, with paths such as `/marks/7/red`: the parts are the ID.
    private func served(_ memory: ServedMemory) -> Served {
        Served { request, body in
            let path = (request.path ?? "").split(separator: "/").map { $0.removingPercentEncoding ?? "" }
            guard path.first == "marks" else { return (200, [:], []) }
            let rows = await memory.rows
            func isNamed(_ row: JSONValue) -> Bool {
                row["area"].map { "\($0)" } == path[1] && row["name"] == .string(path[2])
            }
            let index = path.count == 3 ? rows.firstIndex(where: isNamed) : nil
            switch (request.method, path.count) {
            case (.get, 1): return (200, [:], .array(rows))
            case (.post, 1):
                if rows.contains(where: { $0["area"] == body?["area"] && $0["name"] == body?["name"] }) {
                    return (409, [:], ["message": "there is one"])
                }
                await memory.add(body ?? .null)
                return (201, [:], body ?? .null)
            case (.put, 3) where index == nil:
                await memory.add(body ?? .null)
                return (201, [:], body ?? .null)
            case (.get, 3): return index.map { (200, [:], rows[$0]) } ?? (404, [:], [:])
            case (.patch, 3):
                guard let index, case .object(let members)? = body else { return (404, [:], [:]) }
                let row = members.reduce(rows[index]) { $0.setting($1.value, at: [$1.key]) }
                await memory.set(rows.enumerated().map { $0.offset == index ? row : $0.element })
                return (200, [:], row)
            case (.delete, 3):
                await memory.set(rows.filter { !isNamed($0) })
                return (index == nil ? 404 : 204, [:], .null)
            default: return (405, [:], [:])
            }
        }
    }

    private func device(_ transport: any HTTPTransport, _ ids: ServiceCapabilities.IDAssignment) throws -> Device {
        var (options, configuration) = (RESTOptions(), Device.impatient)
        options.idAssignment = ids
        configuration.inDoubtTimeout = .zero
        configuration.deletionLimit = nil
        return try Device(
            RESTService(
                baseURL: try #require(URL(string: "https://a.example")), options: options, transport: transport),
            schema: Self.schema, entities: ["Mark"], configuration)
    }

    @Test(
        "A lost create or answer does not duplicate a row of a REST service with composite keys",
        arguments: [.server, .client] as [ServiceCapabilities.IDAssignment],
        [.lost, .unanswered] as [NotingNetwork.Fate])
    func lostAnswerOfREST(_ ids: ServiceCapabilities.IDAssignment, _ fate: NotingNetwork.Fate) async throws {
        let memory = ServedMemory()
        let network = NotingNetwork(over: served(memory))
        let device = try device(network, ids)
        try await device.write("INSERT INTO Mark (area, name, color) VALUES (7, 'a/b', 'f00')")
        await network.breakDown(fate)
        await #expect(throws: SyncError.self) { try await device.engine.sync() }
        await network.comeBack()
        #expect(await memory.rows.count == (fate == .lost ? 0 : 1))
        // After this edit the row differs from the sent record, but its key is the same.
        try await device.write("UPDATE Mark SET color = '0f0'")
        try await device.engine.sync()
        #expect(await memory.rows.count == 1)
        #expect(await memory.rows.first?["color"] == "0f0")
        #expect(await network.notes.contains { $0.path == "/marks/7/a/b" } || ids == .server && fate == .lost)
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
    }

    @Test(
        "On a REST service, rows with composite keys are deleted by listings and updated by field"
    )
    func editedOnREST() async throws {
        let memory = ServedMemory()
        await memory.set(["red", "blue"].map { ["area": 7, "name": .string($0), "color": "f00"] })
        let device = try device(served(memory), .server)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT name FROM Mark ORDER BY 1") == ["blue", "red"])
        try await device.write("UPDATE Mark SET color = 'ours' WHERE name = 'red'")
        await memory.set([["area": 7, "name": "red", "color": "theirs", "more": 1]])
        try await device.engine.push()
        #expect(await memory.rows == [["area": 7, "name": "red", "color": "ours", "more": 1]])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT name, color FROM Mark") == ["red ours"])
        #expect(try await device.leftovers() == [])
    }

    @Test("Rows with the same composite key from two devices are one row, and are merged")
    func createdTwice() async throws {
        let service = service()
        let (one, two) = (try device(service), try device(service))
        for device in [one, two] { try await device.engine.sync() }
        try await one.write("INSERT INTO Mark (area, name, color) VALUES (1, 'x', 'one')")
        try await two.write("INSERT INTO Mark (area, name, color) VALUES (1, 'x', 'two')")
        for device in [one, two, one] { try await device.engine.sync() }
        #expect(await service.contents(of: "Mark").count == 1)
        #expect(await service.creations == 1)
        for device in [one, two] {
            #expect(try await device.rows("SELECT color FROM Mark") == ["two"])
            #expect(try await device.leftovers() == [])
        }
        #expect(try await two.engine.conflicts().map(\.key.description) == ["[1,\"x\"]"])
    }

    @Test("An edited row with a composite key that the service deletes is logged and can be restored")
    func restored() async throws {
        let service = service()
        await service.set("Mark", [7, "red"], ["area": 7, "name": "red", "color": "f00"])
        let device = try device(service)
        try await device.engine.sync()
        try await device.write("UPDATE Mark SET color = 'mine'")
        await service.remove("Mark", [7, "red"])
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Mark") == ["0"])
        #expect(try await device.engine.conflicts().map(\.key.description) == ["[7,\"red\"]"])
        try await device.engine.restoreDeleted("Mark", key: [7, "red"])
        try await device.engine.sync()
        #expect(await service.contents(of: "Mark")[[7, "red"]]?["color"] == "mine")
        #expect(try await device.leftovers() == [])
    }

    @Test("Nested rows with composite keys are known and merged")
    func nested() async throws {
        let service = service()
        await service.set("Owner", 1, ["login": "ada", "pods": [["name": "Net", "summary": "s"]]])
        let device = try device(service)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT ownerID, name, summary FROM Pod") == ["1 Net s"])
        #expect(try await device.rows("SELECT name FROM sync_known WHERE e = 2") == ["[1,\"Net\"]"])
        try await device.write("DELETE FROM Pod")
        await service.set("Pod", [1, "Net"], ["owner_id": 1, "name": "Net", "summary": "s"])
        await service.set("Owner", 1, ["login": "ada l"])
        try await device.engine.sync()
        try await device.engine.sync()
        #expect(await service.contents(of: "Pod").isEmpty)
        #expect(try await device.rows("SELECT count(*) FROM Pod") == ["0"])
        #expect(try await device.leftovers() == [])
    }

    @Test("Registering composite keys with a service that requires IDs of one part is an error")
    func idsOfOnePart() throws {
        let service = InMemoryService(
            ServiceCapabilities(
                idAssignment: .client, deletionDetection: .tombstones, createIdempotency: .clientID,
                supportsPreconditions: true,
                providesModificationTimes: true))
        let error = #expect(throws: SyncError.self) {
            try Device(service, schema: Self.schema, entities: ["Mark"], Device.configuration)
        }
        #expect(
            error?.message
                == "the entity has the composite key area, name, and the service supports only IDs of one value")
    }

    @Test(
        "Recorded changes of links follow the keys of their rows, and none are left over",
        arguments: [
            // The service knows the links 1.0 – red and 1.1 – red. Added links are sent, and deleted links are not.
            "UPDATE Release SET sync_id = 50 WHERE version = '1.0'",
            "UPDATE Mark SET sync_id = 50",
            "INSERT INTO Mark (area, name) VALUES (7, 'blue'); \(link("1.0", "blue")); UPDATE Release SET sync_id = 50 WHERE version = '1.0'",
            "INSERT INTO Mark (area, name) VALUES (7, 'blue'); \(link("1.0", "blue")); UPDATE Mark SET sync_id = 50 WHERE name = 'blue'",
            "DELETE FROM Mark_releases; INSERT OR REPLACE INTO Release (podID, version) SELECT podID, version FROM Release",
            "DELETE FROM Mark_releases; INSERT OR REPLACE INTO Mark (area, name) VALUES (7, 'red')",
            "DELETE FROM Mark_releases; DELETE FROM Release WHERE version = '1.1'",
            "DELETE FROM Mark; INSERT INTO Mark (area, name) VALUES (7, 'blue'); \(link("1.0", "blue"))",
            "DELETE FROM Mark; INSERT INTO Mark (area, name) VALUES (7, 'red'); \(link("1.1", "red"))",
            "DELETE FROM Mark_releases; UPDATE Release SET version = '2.0' WHERE version = '1.1'",
        ])
    func pairs(_ edit: String) async throws {
        let service = service()
        await fill(service)
        let (device, other) = (try device(service), try device(service))
        try await device.engine.sync()
        try await device.write("PRAGMA defer_foreign_keys = ON; \(edit)")
        let before = try await device.rows(Self.pairs)
        try await device.engine.sync()
        #expect(try await device.rows(Self.pairs) == before)
        #expect(try await device.leftovers() == [])
        #expect(try await device.engine.sync().isEmpty)
        try await other.engine.sync()
        #expect(try await other.rows(Self.pairs) == before)
    }

    private static let pairs = """
        SELECT version, name FROM Mark_releases JOIN Release r ON r.sync_id = releaseID JOIN Mark m ON m.sync_id = markID
        ORDER BY version, name
        """

    private static func link(_ version: String, _ mark: String) -> String {
        """
        INSERT INTO Mark_releases (releaseID, markID) SELECT r.sync_id, m.sync_id FROM Release r, Mark m
        WHERE version = '\(version)' AND m.name = '\(mark)'
        """
    }
}
