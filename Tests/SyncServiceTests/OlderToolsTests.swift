import Foundation
import GRDB
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Features of older tools, each with two services: a real Kinto server and a stub of Parse, for which most of these
/// tools were made. The table is in `Docs/OlderTools.md`.
@Suite(
    "Features of older tools",
    .enabled("Kinto comes from PyPI, which cannot be reached, or make services was not run") {
        await KintoServer.isThere && RESTServer.isThere
    })
struct OlderToolsTests {
    enum Place: String, CaseIterable, Sendable { case kinto, parse }

    private static let schema = """
        {"entities": {
          "Event": {"abstract": true, "attributes": {"id": "string", "name": "string", "date": "date", "image": "url",
              "points": "integer", "updatedAt": "date"},
            "relationships": {"person": {"entity": "Person", "inverse": "events"}}},
          "Holiday": {"parent": "Event", "attributes": {"country": "string"}},
          "Birthday": {"parent": "Event", "attributes": {"gift": "string"}},
          "Person": {"attributes": {"id": "string", "name": "string"},
            "relationships": {"events": {"entity": "Event", "many": true, "inverse": "person", "deleteRule": "cascade"},
              "friends": {"entity": "Person", "many": true, "inverse": "friends"}}}
        }}
        """

    /// Returns the rows of one user at a service.
    private func world(_ place: Place, pageSize: Int = 1000) async throws -> World {
        let network = NotingNetwork()
        switch place {
        case .kinto:
            let user = "Basic " + Data("\(UUID().uuidString):pw".utf8).base64EncodedString()
            let service = KintoService(
                baseURL: try await KintoServer.shared.url(), paths: ["Holiday": "public_holidays"], pageSize: pageSize,
                credentials: .authorization(user), transport: network)
            return World(service: service, network: network)
        case .parse:
            let space = try await RESTServer.shared.space(["dialect": "parse", "applicationID": "app"])
            var options = ParseOptions(applicationID: "app", restKey: "key")
            options.overlap = .zero
            options.pageSize = pageSize
            // The class names belong to the app: the service names its holidays differently.
            let service = ParseService(
                baseURL: space.url, options: options, classes: ["Holiday": "PublicHoliday"], transport: network)
            return World(service: service, network: network, space: space)
        }
    }

    private struct World: Sendable {
        let service: any SyncService
        let network: NotingNetwork
        var space: RESTSpace?

        func device(
            _ entities: [SyncedEntity] = ["Holiday", "Birthday", "Person"], listsIDs: Bool = true
        ) throws -> Device {
            var configuration = Device.impatient
            configuration.deletionLimit = nil
            if !listsIDs { configuration.reconciliationInterval = .seconds(3600) }
            return try Device(service, schema: OlderToolsTests.schema, entities: entities, configuration)
        }

        func devices(
            _ entities: [SyncedEntity] = ["Holiday", "Birthday", "Person"], listIDs: Bool = true
        ) throws -> (Device, Device) {
            (try device(entities, listsIDs: listIDs), try device(entities, listsIDs: listIDs))
        }
    }

    /// A second sync that is requested during a run.
    private actor Second {
        private var task: Task<SyncReport, any Error>?
        private(set) var sawTheFlag = false

        func ask(_ engine: SyncEngine) async {
            guard task == nil else { return }
            task = Task { try await engine.sync() }
            sawTheFlag = await engine.isSyncing
            // The second sync has been requested by now.
            for _ in 0..<100 { await Task.yield() }
        }

        var report: SyncReport? { get async throws { try await task?.value } }
    }

    @Test(
        "Classes are registered in any order, and an unknown or repeated class is an error",
        arguments: Place.allCases)
    func register(_ place: Place) async throws {
        let world = try await world(place)
        try await world.device(["Person", "Birthday", "Holiday"]).engine.sync()
        for (entities, message) in [
            (["Holliday"], "unknown entity 'Holliday'"), (["Person", "Person"], "registered twice"),
        ] {
            let error = #expect(throws: SyncError.self) { try world.device(entities.map { SyncedEntity($0) }) }
            #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        }
    }

    @Test(
        "A sync requested during another joins it and gets its report, and isSyncing is true meanwhile",
        arguments: Place.allCases)
    func startOnce(_ place: Place) async throws {
        let world = try await world(place)
        let (one, two) = try world.devices()
        try await one.stack.insert("Person", values: ["name": "Ada"])
        let second = Second()
        await world.network.setMeanwhile { [engine = one.engine] _ in await second.ask(engine) }
        let first = try await one.engine.sync()
        await world.network.setMeanwhile(nil)
        // A sync that had run by itself would have created nothing.
        #expect(first.total.pushedInserts == 1)
        #expect(try await second.report?.total.pushedInserts == 1)
        #expect(await second.sawTheFlag)
        #expect(await !one.engine.isSyncing)
        try await two.engine.sync()
        #expect(try await two.rows("SELECT name FROM Person") == ["Ada"])
    }

    @Test("A delta pull also gets changes older than the newest stored row", arguments: Place.allCases)
    func delta(_ place: Place) async throws {
        // All IDs are listed only once.
        let world = try await world(place)
        let (one, two) = try world.devices(listIDs: false)
        try await one.stack.insert("Person", values: ["name": "Ada"])
        for device in [one, two] { try await device.engine.sync() }
        // Device two has a newer row than the row that device one creates before the next pull of device two.
        try await one.stack.insert("Person", values: ["name": "Bob"])
        try await two.stack.insert("Person", values: ["name": "Cid"])
        try await one.engine.sync()
        try await two.engine.push()
        await world.network.forget()
        let report = try await two.engine.sync()
        let (path, parameter) = place == .kinto ? ("/people/records", "_since") : ("/classes/Person", "where")
        let asked = await world.network.asked(path)
        #expect(!asked.isEmpty && asked.allSatisfy { $0.query[parameter] != nil && $0.query["keys"] == nil })
        #expect(report.total.pulledInserts == 1)
        #expect(try await two.rows("SELECT name FROM Person ORDER BY 1") == ["Ada", "Bob", "Cid"])
        #expect(try await two.engine.sync().isEmpty)
    }

    @Test("Dates, URLs of files, numbers and null are unchanged by a round trip", arguments: Place.allCases)
    func values(_ place: Place) async throws {
        let (one, two) = try await world(place).devices()
        try await one.stack.insert(
            "Holiday",
            values: [
                "name": "Fête nationale 🎆", "date": "2026-07-14T22:30:00.125Z",
                "image": "https://img.example/a%20b.png?x=1&y=2",
            ])
        for device in [one, two] { try await device.engine.sync() }
        let sql = "SELECT name, date, image, points, country FROM Event"
        #expect(
            try await two.rows(sql)
                == ["Fête nationale 🎆 2026-07-14 22:30:00.125 https://img.example/a%20b.png?x=1&y=2 nil nil"])
        try await two.write("UPDATE Event SET date = NULL, image = NULL, points = 0")
        for device in [two, one] { try await device.engine.sync() }
        #expect(try await one.rows(sql) == ["Fête nationale 🎆 nil nil 0 nil"])
    }

    @Test(
        "A page is stored completely or not at all, and a pull resumes after it",
        arguments: Place.allCases)
    func staged(_ place: Place) async throws {
        let world = try await world(place, pageSize: 3)
        let one = try world.device()
        for number in 1...8 { try await one.stack.insert("Person", values: ["name": .string("p\(number)")]) }
        try await one.engine.sync()
        let two = try world.device(["Person"], listsIDs: false)
        // The last row of the second page rolls back the whole transaction.
        try await two.write(
            """
            CREATE TRIGGER refuse BEFORE INSERT ON Person WHEN (SELECT count(*) FROM Person) = 5
            BEGIN SELECT RAISE(ROLLBACK, 'the power fails'); END
            """)
        await world.network.forget()
        await #expect(throws: (any Error).self) { try await two.engine.sync() }
        #expect(try await two.rows("SELECT count(*) FROM Person") == ["3"])
        let path = place == .kinto ? "/people/records" : "/classes/Person"
        let pages = await world.network.asked(path).map(\.query)
        #expect(pages.count == 2)
        try await two.write("DROP TRIGGER refuse")
        await world.network.forget()
        try await two.engine.sync()
        #expect(try await two.rows("SELECT count(DISTINCT name) FROM Person") == ["8"])
        // The second page is requested again, and the first is not.
        #expect(await world.network.asked(path).first?.query == pages.last)
    }

    @Test("Events report phases, rows and the end of a run", arguments: Place.allCases)
    func progress(_ place: Place) async throws {
        let world = try await world(place)
        let device = try world.device()
        try await device.stack.insert("Person", values: ["name": "Ada"])
        let flags = Flags()
        await world.network.setMeanwhile { [engine = device.engine] _ in await flags.add(engine.isSyncing) }
        #expect(await !device.engine.isSyncing)
        let events = device.engine.events
        let heard = Task {
            var heard: [String] = []
            for await event in events {
                switch event {
                case .phase(let phase): heard.append(phase.rawValue)
                case .pushed(let rows, let total): heard.append("sent \(rows) of \(total)")
                case .finished(let report): return heard + ["\(report.total.pushedInserts) created"]
                case .failed, .pulled, .waiting: break
                }
            }
            return heard
        }
        try await device.engine.sync()
        let text = await heard.value
        #expect(text.first == "pulling" && text.last == "1 created" && text.contains("sent 1 of 1"), "\(text)")
        let seen = await flags.all
        #expect(seen.count > 1 && !seen.contains(false))
        #expect(await !device.engine.isSyncing)
    }

    /// The value of `isSyncing` at each request.
    private actor Flags {
        private(set) var all: [Bool] = []
        func add(_ flag: Bool) { all.append(flag) }
    }

    @Test(
        "Creates and deletes reach the other device in both directions",
        arguments: Place.allCases)
    func createAndDelete(_ place: Place) async throws {
        let (one, two) = try await world(place).devices()
        for name in ["Ada", "Bob"] { try await one.stack.insert("Person", values: ["name": .string(name)]) }
        for device in [one, two] { try await device.engine.sync() }
        #expect(try await two.rows("SELECT name FROM Person ORDER BY 1") == ["Ada", "Bob"])
        try await two.write("DELETE FROM Person WHERE name = 'Ada'")
        #expect(try await two.engine.sync().total.pushedDeletes == 1)
        #expect(try await one.engine.sync().total.pulledDeletes == 1)
        #expect(try await one.rows("SELECT name FROM Person") == ["Bob"])
    }

    @Test("To-one and to-many relationships between new rows are synced", arguments: Place.allCases)
    func relationships(_ place: Place) async throws {
        let (one, two) = try await world(place).devices()
        let ada = try await one.stack.insert("Person", values: ["name": "Ada"])
        let bob = try await one.stack.insert("Person", values: ["name": "Bob"], relationships: ["friends": [ada]])
        try await one.stack.insert("Birthday", values: ["name": "Bob's"], relationships: ["person": [bob]])
        for device in [one, two] { try await device.engine.sync() }
        let friends = try await two.stack.fetch("Person", where: "ANY friends.name == 'Ada'").map { $0["name"]?.string }
        #expect(friends == ["Bob"])
        #expect(try await two.rows("SELECT p.name FROM Event e JOIN Person p ON p.id = e.personID") == ["Bob"])
        try await two.write("UPDATE Event SET personID = (SELECT id FROM Person WHERE name = 'Ada')")
        for device in [two, one] { try await device.engine.sync() }
        #expect(try await one.rows("SELECT p.name FROM Event e JOIN Person p ON p.id = e.personID") == ["Ada"])
    }

    @Test("The last write wins by field, or by row as in the older tools", arguments: Place.allCases)
    func lastWrite(_ place: Place) async throws {
        let own = try await world(place)
        for isOneDomain in [false, true] {
            let (one, two) = try own.devices(
                isOneDomain
                    ? ["Birthday", "Person", .mergingWholeRow("Holiday")] : ["Birthday", "Person", "Holiday"])
            let name = "n\(isOneDomain)"
            try await one.engine.sync()
            try await one.stack.insert("Holiday", values: ["name": .string(name), "points": 1, "country": "FR"])
            for device in [one, two] { try await device.engine.sync() }
            try await one.write("UPDATE Event SET points = 2 WHERE name = '\(name)'")
            try await two.write("UPDATE Event SET country = 'DE' WHERE name = '\(name)'")
            for device in [one, two, one] { try await device.engine.sync() }
            for device in [one, two] {
                #expect(
                    try await device.rows("SELECT points, country FROM Event WHERE name = '\(name)'")
                        == [isOneDomain ? "1 DE" : "2 DE"])
            }
        }
    }

    @Test(
        "Each subentity is synced with its own class under the service's name",
        arguments: Place.allCases)
    func inheritance(_ place: Place) async throws {
        let world = try await world(place)
        let (one, two) = try world.devices()
        try await one.stack.insert("Holiday", values: ["name": "May Day", "country": "FR"])
        try await one.stack.insert("Birthday", values: ["name": "Ada's", "gift": "tea"])
        for device in [one, two] { try await device.engine.sync() }
        #expect(
            try await two.rows("SELECT sync_entity, name, country, gift FROM Event ORDER BY 1")
                == ["Birthday Ada's nil tea", "Holiday May Day FR nil"])
        let lists = Set(await world.network.notes.filter { $0.method == .get }.map(\.path))
        switch place {
        case .kinto:
            #expect(lists.contains { $0.hasSuffix("/public_holidays/records") })
            #expect(!lists.contains { $0.hasSuffix("/holidays/records") || $0.hasSuffix("/events/records") })
        case .parse:
            #expect(try await world.space?.rows("PublicHoliday").count == 1)
            #expect(!lists.contains { $0.hasSuffix("/Holiday") || $0.hasSuffix("/Event") })
        }
    }

    @Test(
        "The last sync date of each entity and of all is set only after a complete run",
        arguments: Place.allCases)
    func lastSync(_ place: Place) async throws {
        let world = try await world(place)
        let device = try world.device()
        func inStep() async throws -> Set<String> {
            Set(try await device.engine.status().filter { $0.lastSyncDate != nil }.map(\.entity))
        }
        #expect(try await device.engine.lastSyncDate == nil)
        #expect(try await !device.engine.isInitialSyncComplete)
        try await device.stack.insert("Person", values: ["name": "Ada"])
        await world.network.breakDown(.lost)
        await #expect(throws: SyncError.self) { try await device.engine.sync() }
        await world.network.comeBack()
        #expect(try await inStep() == [])
        try await device.engine.sync(only: ["Person"])
        #expect(try await inStep() == ["Person"])
        #expect(try await device.engine.lastSyncDate == nil)
        #expect(try await !device.engine.isInitialSyncComplete)
        try await device.engine.sync()
        #expect(try await inStep() == ["Holiday", "Birthday", "Person"])
        let first = try #require(try await device.engine.lastSyncDate)
        #expect(abs(first.timeIntervalSinceNow) < 60)
        #expect(try await device.engine.isInitialSyncComplete)
    }

    @Test("The engine can reset its metadata, the local rows, or an emptied service", arguments: Place.allCases)
    func reset(_ place: Place) async throws {
        let world = try await world(place)
        let device = try world.device()
        for name in ["Ada", "Bob"] { try await device.stack.insert("Person", values: ["name": .string(name)]) }
        try await device.engine.sync()
        try await device.engine.reset(.cursors)
        try await device.engine.sync()
        let sql = "SELECT name FROM Person ORDER BY 1"
        #expect(try await device.rows(sql) == ["Ada", "Bob"])
        try await device.engine.reset(.localData)
        #expect(try await device.rows("SELECT count(*) FROM Person") == ["0"])
        try await device.engine.sync()
        #expect(try await device.rows(sql) == ["Ada", "Bob"])
        // Another device empties the service while this device is offline.
        let other = try world.device()
        try await other.engine.sync()
        try await other.write("DELETE FROM Person")
        try await other.engine.sync()
        try await device.engine.reset(.remoteState)
        #expect(try await device.engine.sync().total.pushedInserts == 2)
        for device in [device, other] {
            try await device.engine.sync()
            #expect(try await device.rows(sql) == ["Ada", "Bob"])
            #expect(try await device.leftovers() == [])
        }
    }

    @Test("A sync of one entity leaves changes of other entities pending", arguments: Place.allCases)
    func single(_ place: Place) async throws {
        let (one, two) = try await world(place).devices()
        try await one.stack.insert("Person", values: ["name": "Ada"])
        try await one.stack.insert("Holiday", values: ["name": "May Day"])
        try await one.engine.sync(only: ["Holiday"])
        #expect(try await one.engine.pendingChangeCount() == 1)
        try await two.engine.sync()
        #expect(try await two.rows("SELECT name FROM Event") == ["May Day"])
        #expect(try await two.rows("SELECT count(*) FROM Person") == ["0"])
    }

    @Test("More than 1,000 rows are sent and pulled", arguments: Place.allCases)
    func many(_ place: Place) async throws {
        let (one, two) = try await world(place).devices(["Person"])
        try await one.stack.write { db in
            for number in 1...1_030 {
                try one.stack.insert("Person", values: ["name": .string("p\(number)")], in: db)
            }
        }
        #expect(try await one.engine.sync().total.pushedInserts == 1_030)
        #expect(try await two.engine.sync().total.pulledInserts == 1_030)
        #expect(try await two.rows("SELECT count(DISTINCT name) FROM Person") == ["1030"])
    }
}
