import Foundation
import GRDB
import HTTPTypes
import Sync
import Testing

private let schema = """
    {"entities": {
      "Holiday": {"attributes": {"id": "string", "name": "string", "date": "date", "details": "string",
        "observedBy": "json", "wikipediaLink": "url"}},
      "Birthday": {"attributes": {"id": "string", "name": "string", "date": "date", "giftIdeas": "string"}}}}
    """

/// The app on one device.
struct CalendarApp {
    let stack: DataStack
    let engine: SyncEngine

    init(_ service: any SyncService, _ configuration: SyncEngine.Configuration = SyncEngine.Configuration()) throws {
        // On a device: DataStack(model: model, at: file)
        stack = try DataStack.inMemory(SyncModel(schemaData: Data(schema.utf8)))
        engine = try SyncEngine(
            stack: stack, service: service, entities: ["Holiday", "Birthday"], configuration: configuration)
    }

    /// What a screen shows.
    func list(_ entity: String) async throws -> [String] {
        try await stack.fetch(entity, orderedBy: "date").map { row in
            let day = row["date"]?.date.map { $0.formatted(.iso8601.year().month().day()) }
            return "\(day ?? "some day") \(row["name"]?.string ?? "")"
        }
    }
}

/// A network that comes and goes.
actor Network: HTTPTransport {
    enum State { case up, down, losesAnswers, busy }

    private(set) var state = State.up
    func become(_ state: State) { self.state = state }

    func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
        if state == .down { throw URLError(.notConnectedToInternet) }
        if state == .busy {
            // As what stands before a server answers while that is started anew.
            state = .up
            return (HTTPResponse(status: .serviceUnavailable, headerFields: [.retryAfter: "20"]), Data())
        }
        let answer = try await DefaultTransport().send(request, body: body)
        // Of the first change that gets through nobody hears; then it is gone for good.
        guard state == .losesAnswers, request.method != .get else { return answer }
        state = .down
        throw URLError(.networkConnectionLost)
    }
}

@Suite("Holidays and birthdays")
struct TutorialTests {
    func story(_ service: (Network) async throws -> any SyncService) async throws {
        let network = Network()
        var configuration = Device.configuration
        configuration.maxAttempts = 2
        let phone = try CalendarApp(try await service(network), configuration)
        let tablet = try CalendarApp(try await service(Network()), configuration)

        // The first sync
        try await tablet.stack.insert(
            "Holiday",
            values: [
                "name": "Christmas", "date": "2026-12-25T00:00:00Z", "observedBy": ["US", "UK"],
                "wikipediaLink": "https://en.wikipedia.org/wiki/Christmas",
            ])
        try await tablet.stack.insert("Holiday", values: ["name": "Halloween", "date": "2026-10-31T00:00:00Z"])
        try await tablet.engine.sync()

        #expect(try await phone.engine.isInitialSyncComplete == false)
        let first = try await phone.engine.sync()
        #expect(first.entities["Holiday"]?.pulledInserts == 2)
        #expect(try await phone.engine.isInitialSyncComplete)
        #expect(try await phone.list("Holiday") == ["2026-10-31 Halloween", "2026-12-25 Christmas"])

        // What changed since
        try await tablet.stack.insert("Holiday", values: ["name": "New Year", "date": "2027-01-01T00:00:00Z"])
        try await tablet.stack.write { db in
            try db.execute(sql: "UPDATE Holiday SET details = 'Costumes' WHERE name = 'Halloween'")
        }
        try await tablet.engine.sync()
        let second = try await phone.engine.sync()
        #expect(second.total.pulledInserts == 1 && second.total.pulledUpdates == 1)
        #expect(try await phone.engine.sync().isEmpty)

        // Made and deleted here
        try await phone.stack.insert(
            "Birthday", values: ["name": "Ada", "date": "1815-12-10T00:00:00Z", "giftIdeas": "An engine"])
        try await phone.stack.write { db in try db.execute(sql: "DELETE FROM Holiday WHERE name = 'Halloween'") }
        #expect(try await phone.engine.pendingChangeCount() == 2)
        let third = try await phone.engine.sync()
        #expect(third.entities["Birthday"]?.pushedInserts == 1 && third.entities["Holiday"]?.pushedDeletes == 1)
        try await tablet.engine.sync()
        #expect(try await tablet.list("Birthday") == ["1815-12-10 Ada"])
        #expect(try await tablet.list("Holiday") == ["2026-12-25 Christmas", "2027-01-01 New Year"])

        // Deleted there
        try await tablet.stack.write { db in try db.execute(sql: "DELETE FROM Holiday WHERE name = 'New Year'") }
        try await tablet.engine.sync()
        try await phone.engine.sync()
        #expect(try await phone.list("Holiday") == ["2026-12-25 Christmas"])

        // The network fails
        try await phone.stack.insert("Birthday", values: ["name": "Alan", "date": "1912-06-23T00:00:00Z"])
        await network.become(.down)
        await #expect(throws: SyncError.self) { try await phone.engine.sync() }
        await network.become(.losesAnswers)
        await #expect(throws: SyncError.self) { try await phone.engine.sync() }
        #expect(try await phone.engine.pendingChangeCount() == 1)

        await network.become(.up)
        try await phone.engine.sync()
        #expect(try await phone.engine.pendingChangeCount() == 0)
        try await tablet.engine.sync()
        #expect(try await tablet.list("Birthday") == ["1815-12-10 Ada", "1912-06-23 Alan"])

        // What a screen shows meanwhile
        try await tablet.stack.insert("Holiday", values: ["name": "May Day", "date": "2027-05-01T00:00:00Z"])
        try await tablet.engine.sync()
        let events = phone.engine.events
        let progress = Task {
            var lines: [String] = []
            for await event in events {
                switch event {
                case .phase(let phase): lines.append("\(phase)")
                case .pulled(let entity, let rows, _): lines.append("\(entity): \(rows)")
                case .pushed(let rows, let total): lines.append("sent: \(rows) of \(total)")
                case .waiting(let time, let reason): lines.append("\(time): \(reason)")
                case .finished: return lines
                case .failed(let error): return lines + ["\(error)"]
                }
            }
            return lines
        }
        await network.become(.busy)
        try await phone.engine.sync()
        let lines = await progress.value
        #expect(lines.contains("pulling") && lines.contains { $0.hasPrefix("Holiday: ") })
        #expect(lines.count { $0.hasPrefix("20.0 seconds: ") && $0.contains("503") } == 1, "\(lines)")
        #expect(try await phone.list("Holiday") == ["2026-12-25 Christmas", "2027-05-01 May Day"])
        #expect(await phone.engine.isSyncing == false)
        #expect(try await phone.engine.lastSyncDate != nil)

        // Dates
        let dates = try [phone, tablet].map { app in
            try app.stack.fetch("Holiday", where: "name == 'Christmas'").first?["date"]?.date
        }
        #expect(dates == [Date(timeIntervalSince1970: 1_798_156_800), Date(timeIntervalSince1970: 1_798_156_800)])
    }

    @Test("with Kinto", .enabled("Kinto comes from PyPI, which cannot be reached") { await KintoServer.isThere })
    func kinto() async throws {
        let user = "Basic " + Data("\(UUID().uuidString):secret".utf8).base64EncodedString()
        let url = try await KintoServer.shared.url()
        try await story { network in
            BuiltInService.kinto(baseURL: url, credentials: .authorization(user), transport: network)
        }
    }

    @Test(
        "with PocketBase",
        .enabled("PocketBase comes from PyPI, which cannot be reached") { await PocketBaseServer.isThere })
    func pocketBase() async throws {
        let space = try await PocketBaseServer.shared.space()
        let fields: [JSONValue] = [
            ["name": "name", "type": "text"], ["name": "date", "type": "date"], ["name": "details", "type": "text"],
            ["name": "observed_by", "type": "json"], ["name": "wikipedia_link", "type": "url"],
            ["name": "gift_ideas", "type": "text"],
        ]
        let suffix = UUID().uuidString.prefix(8).lowercased()
        let paths = ["Holiday": "holidays_\(suffix)", "Birthday": "birthdays_\(suffix)"]
        for path in paths.values { try await space.create(path, fields) }
        try await story { network in
            BuiltInService.pocketBase(
                baseURL: space.url, paths: paths, credentials: .authorization(space.token), transport: network)
        }
    }

    @Test("with Parse, a stub", .enabled(if: RESTServer.isThere, "make services builds the server"))
    func parse() async throws {
        let space = try await RESTServer.shared.space(["dialect": "parse", "applicationID": "app"])
        try await story { network in
            BuiltInService.parse(
                baseURL: space.url, applicationID: "app", restKey: "key", overlap: .zero, transport: network)
        }
    }
}
