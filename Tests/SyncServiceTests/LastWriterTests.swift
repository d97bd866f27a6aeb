import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// The policy `lastWriterWins` with different clocks of the service and the device.
@Suite("Last writer wins")
struct LastWriterTests {
    /// A list with one task, whose versions are times in milliseconds.
    private actor List {
        private var title = "t"
        private var changed: Int64
        /// The offset from the device's clock; nil for a service that sends no date.
        private let ahead: Int64?

        init(changed: Int64, ahead: Int64?) { (self.changed, self.ahead) = (changed, ahead) }

        func set(_ title: String, changed: Int64) { (self.title, self.changed) = (title, changed) }
        var current: String { title }

        private var row: JSONValue { ["id": 1, "title": .string(title), "updated_at": JSONValue(changed)] }

        func answer(_ request: HTTPRequest, _ body: JSONValue?) -> (Int, [String: String], JSONValue) {
            let headers = ahead.map { ["Date": LastWriterTests.header(LastWriterTests.now + $0)] } ?? [:]
            guard request.method == .patch, case .string(let title)? = body?["title"] else {
                return (200, headers, request.path?.hasSuffix("/1") == true ? row : [row])
            }
            self.title = title
            changed += 1
            return (200, headers, row)
        }
    }

    fileprivate static var now: Int64 { Date().clampedMilliseconds }

    /// Returns a date such as `Mon, 23 Nov 2026 16:34:43 GMT`.
    fileprivate static func header(_ milliseconds: Int64) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(secondsFromGMT: 0)
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.string(from: Date(timeIntervalSince1970: Double(milliseconds / 1000)))
    }

    @Test(
        "A modification time that is infinite or not a number counts as no time",
        arguments: [Double.nan, .infinity, -.infinity])
    func notFinite(_ seconds: Double) async throws {
        let service = InMemoryService()
        await service.set("Task", 1, ["title": "t"], time: Date(timeIntervalSince1970: seconds))
        let device = try Device(service)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT title FROM Task") == ["t"])
        #expect(try await device.rows("SELECT time FROM sync_known") == ["nil"])
        let strict = try Device(service, entities: [SyncedEntity("Task", conflictPolicy: .lastWriterWins)])
        let error = await #expect(throws: SyncError.self) { try await strict.engine.sync() }
        #expect(error?.code == .invalidOption)
    }

    private func device(_ list: List) throws -> Device {
        var options = RESTOptions()
        options.versionField = "updated_at"
        let service = RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")), options: options,
            transport: Served { await list.answer($0, $1) })
        return try Device(service, entities: [SyncedEntity("Task", conflictPolicy: .lastWriterWins)])
    }

    /// Returns the title that both sides end with.
    private func winner(_ device: Device, _ list: List) async throws -> String {
        let report = try await device.engine.sync()
        #expect(report.total.conflicts == 1)
        let entry = try #require(try await device.engine.conflicts().first)
        #expect(entry.base == "t" && entry.local == "here" && entry.remote == "there")
        let title = entry.winner == "local" ? "here" : "there"
        #expect(entry.why == "the \(entry.winner) edit is later")
        #expect(try await device.rows("SELECT title FROM Task") == [title])
        #expect(await list.current == title)
        #expect(try await device.leftovers() == [])
        return title
    }

    @Test(
        "The later edit by the service's clock wins, even if the device's clock is an hour off",
        arguments: [-3_600_000, 0, 3_600_000] as [Int64], [-600_000, 600_000] as [Int64])
    func corrected(_ ahead: Int64, _ later: Int64) async throws {
        let list = List(changed: Self.now + ahead - 7_200_000, ahead: ahead)
        let device = try device(list)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'here'")
        // The edit is half an hour old, so that the service may have changed the row afterwards.
        try await device.write("UPDATE sync_base SET edited = edited - 1800000")
        let edited = try #require(Int64(try await device.rows("SELECT edited FROM sync_base").first ?? ""))
        await list.set("there", changed: edited + ahead + later)
        #expect(try await winner(device, list) == (later > 0 ? "there" : "here"))
    }

    @Test("If both sides edited in the same millisecond, the service wins", arguments: [-1, 0, 1] as [Int64])
    func tie(_ later: Int64) async throws {
        let list = List(changed: Self.now - 7_200_000, ahead: nil)
        let device = try device(list)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'here'")
        // The offset of the clock from an earlier response.
        try await device.write("UPDATE sync_engine SET clock = 3600000")
        let edited = try #require(Int64(try await device.rows("SELECT edited FROM sync_base").first ?? ""))
        await list.set("there", changed: edited + 3_600_000 + later)
        #expect(try await winner(device, list) == (later < 0 ? "here" : "there"))
    }

    @Test("An edit dated in the future by a wrong clock does not win over a later remote change")
    func future() async throws {
        let list = List(changed: Self.now - 7_200_000, ahead: nil)
        let device = try device(list)
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'here'")
        try await device.write("UPDATE sync_base SET edited = edited + 86400000")
        // An hour from now: earlier than the recorded time of the edit, and later than its possible time.
        await list.set("there", changed: Self.now + 3_600_000)
        #expect(try await winner(device, list) == "there")
    }

    @Test("An edit wins over a remote change that is dated before the known version")
    func past() async throws {
        let service = InMemoryService()
        let known = Self.now - 7_200_000
        func date(_ milliseconds: Int64) -> Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }
        await service.set("Task", 1, ["title": "t"], time: date(known))
        let device = try Device(service, entities: [SyncedEntity("Task", conflictPolicy: .lastWriterWins)])
        try await device.engine.sync()
        try await device.write("UPDATE Task SET title = 'here'")
        try await device.write("UPDATE sync_base SET edited = 1")
        await service.set("Task", 1, ["title": "there"], time: date(known - 1000))
        try await device.engine.sync()
        #expect(try await device.engine.conflicts().map(\.winner) == ["local"])
        #expect(await service.contents(of: "Task")[1]?["title"] == "here")
    }
}
