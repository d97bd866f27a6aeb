import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// The cursors of services that return changes since a time.
@Suite("Cursors by time")
struct TimeCursorTests {
    enum Dialect: CaseIterable { case rest, pocketBase, parse }

    /// Rows with times, and a clock that may be wrong.
    private actor Place {
        private(set) var rows: [(id: String, title: String, at: Int, isDeleted: Bool)] = []
        /// The header `Date` of responses, in seconds; nil for no header.
        var clock: Int? = 0
        var isBehind = false
        private(set) var asked: [Int?] = []

        func set(clock: Int?, isBehind: Bool = false) { (self.clock, self.isBehind) = (clock, isBehind) }

        func put(_ id: String, _ title: String, at: Int, isDeleted: Bool = false) {
            rows.removeAll { $0.id == id }
            rows.append((id, title, at, isDeleted))
            rows.sort { ($0.at, $0.id) < ($1.at, $1.id) }
        }

        func answer(_ request: HTTPRequest, _ dialect: Dialect) -> (Int, [String: String], JSONValue) {
            let items = URLComponents(string: request.path ?? "")?.queryItems ?? []
            let name = dialect == .rest ? "since" : dialect == .parse ? "where" : "filter"
            let text = items.first { $0.name == name }?.value
            let since = text?.firstMatch(of: /20..-..-...[0-9:.]+Z/).map { TimeCursorTests.seconds(String($0.output)) }
            asked.append(since)
            let isNext = text?.contains("$gt\"") == true || text?.contains("||") == true
            let found = rows.filter { row in
                isBehind ? false : since == nil ? !row.isDeleted : isNext ? row.at > since ?? 0 : row.at >= since ?? 0
            }
            let records = found.map { row -> JSONValue in
                let (id, at) = (JSONValue.string(row.id), JSONValue.string(TimeCursorTests.time(row.at)))
                return [
                    dialect == .parse ? "objectId" : "id": id, "title": .string(row.title),
                    "gone": .bool(row.isDeleted),
                    dialect == .parse ? "updatedAt" : "updated": at,
                ]
            }
            let headers = clock.map { ["Date": TimeCursorTests.header($0)] } ?? [:]
            switch dialect {
            case .rest: return (200, headers, .array(records))
            case .pocketBase: return (200, headers, ["items": .array(records), "perPage": 1000])
            case .parse: return (200, headers, ["results": .array(records), "count": JSONValue(records.count)])
            }
        }
    }

    private static let start = Date(timeIntervalSince1970: 1_767_225_600)
    fileprivate static func time(_ seconds: Int) -> String {
        start.addingTimeInterval(Double(seconds)).isoText.replacing("Z", with: ".000Z")
    }
    fileprivate static func seconds(_ text: String) -> Int {
        Date(isoText: text).map { Int($0.timeIntervalSince(start)) } ?? -1
    }
    fileprivate static func header(_ seconds: Int) -> String {
        let format = DateFormatter()
        (format.locale, format.timeZone) = (Locale(identifier: "en_US_POSIX"), TimeZone(secondsFromGMT: 0))
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.string(from: start.addingTimeInterval(Double(seconds)))
    }

    private let place = Place()

    private func service(_ dialect: Dialect, hasVersions: Bool = true) throws -> any SyncService {
        let url = try #require(URL(string: "https://service.example/v1"))
        let transport = Served { [place] request, _ in await place.answer(request, dialect) }
        switch dialect {
        case .rest:
            var options = RESTOptions()
            (options.sinceParameter, options.deletedField) = ("since", "gone")
            if hasVersions { options.versionField = "updated" }
            return RESTService(baseURL: url, options: options, transport: transport)
        case .pocketBase: return PocketBaseService(baseURL: url, transport: transport)
        case .parse: return ParseService(baseURL: url, options: ParseOptions(applicationID: "a"), transport: transport)
        }
    }

    private func cursor(_ service: any SyncService, after cursor: String? = nil) async throws -> Int? {
        try await service.pull(PullRequest(entity: "Task", cursor: cursor)).cursor.map(Self.seconds)
    }

    private func word(_ seconds: Int) -> String { Self.time(seconds) }

    // MARK: The rule

    @Test(
        "A cursor is the earlier of the clock less the overlap and the newest version, and never goes back",
        arguments: [
            // began, newest, known, next
            (1000, 500, nil, 499), (1000, 990, nil, 940), (1000, 5000, nil, 940), (1000, nil, nil, 940),
            (1000, 500, 700, 700),
            (1000, 500, 100, 499), (nil, 500, 100, nil),
        ] as [(Int?, Int?, Int?, Int?)])
    func rule(_ began: Int?, _ newest: Int?, _ known: Int?, _ next: Int?) {
        func date(_ seconds: Int?) -> Date? { seconds.map { Self.start.addingTimeInterval(Double($0)) } }
        let seen = TimeCursor(began: date(began), newest: date(newest), hasRows: true)
        #expect(seen.next(after: date(known), overlap: .seconds(60)) == date(next))
        let nothing = TimeCursor(began: date(began), newest: date(newest), hasRows: false)
        #expect(nothing.next(after: date(known), overlap: .seconds(60)) == date(known))
    }

    @Test("A pull without rows keeps the cursor", arguments: Dialect.allCases, [true, false])
    func empty(_ dialect: Dialect, _ hasVersions: Bool) async throws {
        let service = try service(dialect, hasVersions: hasVersions)
        await place.put("a", "t", at: 100)
        await place.set(clock: 1000)
        let first = try #require(try await service.pull(PullRequest(entity: "Task", cursor: nil)).cursor)
        await place.set(clock: 5000, isBehind: true)
        let page = try await service.pull(PullRequest(entity: "Task", cursor: first))
        #expect(page.records.isEmpty && page.cursor == first)
        // A list that is empty from the start has no cursor either.
        let whole = try await service.pull(PullRequest(entity: "Task", cursor: nil))
        #expect(whole.cursor == nil || dialect == .parse && whole.cursor == "1970-01-01T00:00:00.000Z")
    }

    @Test("An empty list of Kinto keeps the cursor")
    func emptyKinto() async throws {
        let service = KintoService(
            baseURL: try #require(URL(string: "https://service.example/v1")),
            transport: Served { _, _ in (200, ["ETag": "\"5\""], ["data": []]) })
        #expect(try await service.pull(PullRequest(entity: "Task", cursor: nil)).cursor == nil)
        #expect(try await service.pull(PullRequest(entity: "Task", cursor: "5")).cursor == "5")
    }

    @Test("A cursor is never later than the newest version, whatever the clock", arguments: Dialect.allCases)
    func future(_ dialect: Dialect) async throws {
        let service = try service(dialect)
        await place.put("a", "t", at: 100)
        await place.put("b", "t", at: 200)
        for clock in [1000, 63_000_000] {
            await place.set(clock: clock)
            let cursor = try #require(try await cursor(service))
            #expect(cursor < 200 && cursor >= 140)
        }
    }

    @Test("A cursor is never later than the clock, whatever the versions", arguments: Dialect.allCases)
    func futureVersion(_ dialect: Dialect) async throws {
        let service = try service(dialect)
        await place.put("a", "t", at: 100)
        await place.put("b", "t", at: 9_000_000)
        await place.set(clock: 1000)
        #expect(try await cursor(service) == 940)
    }

    @Test("A cursor later than the date of the response is invalid", arguments: Dialect.allCases)
    func setBack(_ dialect: Dialect) async throws {
        let service = try service(dialect)
        await place.set(clock: 1000)
        for (seconds, isThere) in [(999, true), (1000, true), (1001, false), (90_000_000, false)] {
            if isThere {
                _ = try await cursor(service, after: word(seconds))
            } else {
                await #expect(throws: ServiceError.cursorInvalid) { try await cursor(service, after: word(seconds)) }
            }
        }
        // Without a clock this cannot be noticed.
        await place.set(clock: nil)
        _ = try await cursor(service, after: word(90_000_000))
    }

    @Test("The cursor of the last page includes the times of earlier pages", arguments: [500, 63_000_000])
    func pages(_ clock: Int) async throws {
        var options = RESTOptions()
        (options.sinceParameter, options.versionField, options.paging) = ("since", "updated", .page(limit: 2))
        let service = RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")), options: options,
            transport: Served { request, _ in
                let query = URLComponents(string: request.path ?? "")?.queryItems ?? []
                let page = query.first { $0.name == "page" }?.value.flatMap { Int($0) } ?? 1
                // Nothing changes while the pages are read.
                let isCheck = query.contains { $0.name == "since" }
                let rows = [[400, 100], [300], []][page - 1].map { at -> JSONValue in
                    ["id": JSONValue(at), "updated": .string(Self.time(at))]
                }
                return (200, ["Date": Self.header(clock + page * 1000)], .array(isCheck ? [] : rows))
            })
        var page: String?
        var cursor: String?
        repeat {
            let answer = try await service.pull(PullRequest(entity: "Task", cursor: nil, page: page))
            (page, cursor) = (answer.nextPage, answer.cursor)
        } while page != nil
        #expect(cursor.map(Self.seconds) == 399)
    }

    // MARK: With an engine

    private static let schema = """
        {"entities": {"Task": {"attributes": {"id": {"type": "string", "primaryKey": true}, "title": "string"}}}}
        """

    private func device(_ dialect: Dialect) throws -> Device {
        var configuration = Device.configuration
        configuration.reconciliationInterval = .seconds(1_000_000)
        return try Device(service(dialect), schema: Self.schema, entities: ["Task"], configuration)
    }

    private func titles(_ device: Device) async throws -> [String] {
        try await device.rows("SELECT id, title FROM Task ORDER BY 1")
    }

    @Test(
        "An empty response of an outdated replica does not keep changes from being pulled", arguments: Dialect.allCases)
    func replica(_ dialect: Dialect) async throws {
        let device = try device(dialect)
        await place.put("a", "old", at: 100)
        await place.set(clock: 1000)
        try await device.engine.sync()
        await place.put("a", "new", at: 1200)
        await place.set(clock: 1400, isBehind: true)
        try await device.engine.sync()
        await place.set(clock: 1600)
        try await device.engine.sync()
        #expect(try await titles(device) == ["a new"])
    }

    @Test(
        "A clock that is ahead once or always does not keep changes from being pulled", arguments: Dialect.allCases,
        [true, false])
    func ahead(_ dialect: Dialect, _ isAlways: Bool) async throws {
        let device = try device(dialect)
        for id in ["a", "b", "c"] { await place.put(id, "old", at: 990) }
        await place.set(clock: 63_000_000)
        try await device.engine.sync()
        if dialect == .rest { await place.put("a", "", at: 1010, isDeleted: true) }
        await place.put("b", "new", at: 1011)
        await place.put("d", "made", at: 1012)
        await place.set(clock: isAlways ? 63_000_020 : 1020)
        try await device.engine.sync()
        #expect(try await titles(device) == (dialect == .rest ? [] : ["a old"]) + ["b new", "c old", "d made"])
    }

    @Test("A clock that was set back starts a complete pull", arguments: Dialect.allCases)
    func back(_ dialect: Dialect) async throws {
        let device = try device(dialect)
        await place.put("a", "old", at: 900)
        await place.put("b", "ahead", at: 4500)
        await place.set(clock: 4600)
        try await device.engine.sync()
        await place.put("a", "new", at: 1000)
        await place.put("b", "back", at: 1001)
        await place.put("c", "made", at: 1002)
        await place.set(clock: 1300)
        #expect(try await device.engine.hasRemoteChanges())
        try await device.engine.sync()
        #expect(try await titles(device) == ["a new", "b back", "c made"])
        // From now on the cursor follows the clock again.
        await place.put("a", "newer", at: 1400)
        await place.set(clock: 1500)
        try await device.engine.sync()
        #expect(try await titles(device).first == "a newer")
        #expect(await place.asked.last != nil)
    }

    @Test(
        "A row edited after the clock was set back is pulled, though its previous version was later",
        arguments: Dialect.allCases)
    func editedAfterBack(_ dialect: Dialect) async throws {
        let device = try device(dialect)
        await place.put("a", "made", at: 4500)
        await place.set(clock: 4600)
        try await device.engine.sync()
        await place.set(clock: 1300)
        try await device.engine.sync()
        await place.put("a", "edited", at: 1350)
        await place.set(clock: 1400)
        try await device.engine.sync()
        #expect(try await titles(device) == ["a edited"])
    }

    @Test("A row whose version was once in the future is pulled again", arguments: Dialect.allCases)
    func futureVersionOnce(_ dialect: Dialect) async throws {
        let device = try device(dialect)
        await place.put("a", "wrong", at: 240_000_000_000)
        await place.set(clock: 1000)
        try await device.engine.sync()
        #expect(try await titles(device) == ["a wrong"])
        await place.put("a", "right", at: 1200)
        await place.set(clock: 1300)
        try await device.engine.sync()
        #expect(try await titles(device) == ["a right"])
        // An outdated replica is still ignored.
        await place.put("a", "old", at: 1100)
        await place.set(clock: 1310)
        try await device.engine.sync()
        #expect(try await titles(device) == ["a right"])
    }
}
