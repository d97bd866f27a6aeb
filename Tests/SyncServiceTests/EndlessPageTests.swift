import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Lists whose rows move while they are read, and lists without an end.
@Suite("Pages")
struct EndlessPageTests {
    private let memory = ServedMemory()

    private static func item(_ request: HTTPRequest, _ name: String) -> String? {
        URLComponents(string: request.path ?? "")?.queryItems?.first { $0.name == name }?.value
    }

    private static func number(_ request: HTTPRequest, _ name: String) -> Int? {
        item(request, name).flatMap { Int($0) }
    }

    private func rest(
        _ options: RESTOptions, _ answer: @escaping @Sendable (HTTPRequest) async -> (Int, [String: String], JSONValue)
    ) throws -> Device {
        let service = RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")), options: options,
            transport: Served { [memory] request, _ in
                await memory.note(request)
                return await answer(request)
            })
        return try Device(service, entities: ["Task"], Device.configuration)
    }

    private static func paging(_ style: String, _ limit: Int) -> RESTOptions.Paging {
        style == "page" ? .page(size: "size", limit: limit) : .offset(limit: limit)
    }

    /// Returns the number of rows before a page.
    private static func passed(_ request: HTTPRequest, _ limit: Int) -> Int {
        number(request, "offset") ?? ((number(request, "page") ?? 1) - 1) * limit
    }

    private static func row(_ id: Int, _ second: Int) -> JSONValue {
        ["id": JSONValue(id), "at": .string("2026-01-01T00:00:\(second < 10 ? "0" : "")\(second)Z")]
    }

    private static func at(_ row: JSONValue) -> String { if case .string(let text)? = row["at"] { text } else { "" } }

    /// Returns a device whose service has a list by time. Others change its rows when a page is requested.
    private func shifting(
        _ style: String, _ limit: Int, _ meanwhile: @escaping @Sendable (ServedMemory, Int) async -> Void
    ) throws -> Device {
        var options = RESTOptions()
        options.paging = Self.paging(style, limit)
        (options.sinceParameter, options.versionField, options.deletedField) = ("since", "at", "gone")
        return try rest(options) { [memory] request in
            await meanwhile(memory, Self.passed(request, limit))
            let since = Self.item(request, "since") ?? ""
            let rows = await memory.rows.filter { Self.at($0) >= since }.sorted { Self.at($0) < Self.at($1) }
            return (
                200, ["Date": "Thu, 01 Jan 2026 00:00:30 GMT"],
                .array(Array(rows.dropFirst(Self.passed(request, limit)).prefix(limit)))
            )
        }
    }

    @Test(
        "If the first row of a page moves to the next page, the pull continues and misses no row",
        arguments: ["page", "offset"], [1, 2, 4])
    func shifted(_ style: String, _ limit: Int) async throws {
        for isDelta in [true, false] { try await EndlessPageTests().shift(style, limit, isDelta) }
    }

    private func shift(_ style: String, _ limit: Int, _ isDelta: Bool) async throws {
        let device = try shifting(style, limit) { memory, passed in
            guard passed == limit, await memory.rows.first == Self.row(1, 10) else { return }
            await memory.set(memory.rows.dropFirst() + [Self.row(1, 40)])
        }
        if isDelta {
            await memory.set([Self.row(100, 5)])
            try await device.engine.sync()
        }
        await memory.set((1...5).map { Self.row($0, 9 + $0) })
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Task WHERE remoteID < 100") == ["5"])
        #expect(try await device.leftovers() == [])
    }

    @Test("A stored next page that starts like the previous page is read on", arguments: ["page", "offset"])
    func storedByEarlierVersion(_ style: String) async throws {
        let device = try shifting(style, 4) { _, _ in }
        await memory.set((1...5).map { Self.row($0, 9 + $0) })
        try await device.engine.sync()
        let next = style == "page" ? 2 : 4
        try await device.write(
            """
            UPDATE sync_cursor SET cursor = NULL, next = '{"n":\(next),"f":"5","t":"2026-01-01T00:00:30Z"}'
            """)
        await memory.set((1...6).map { Self.row($0, 9 + $0) })
        try await device.engine.sync()
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["6"])
        #expect(try await device.leftovers() == [])
    }

    @Test("New rows that shift a list by whole pages are not taken for circular pages")
    func insertedPages() async throws {
        var options = RESTOptions()
        options.paging = .offset(limit: 2)
        let device = try rest(options) { [memory] request in
            let passed = Self.passed(request, 2)
            if passed == 2 || passed == 4 {
                await memory.set([100, 101].map { ["id": JSONValue($0 + passed)] } + memory.rows)
            }
            return (200, [:], .array(Array(await memory.rows.dropFirst(passed).prefix(2))))
        }
        await memory.set((1...6).map { ["id": JSONValue($0)] })
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Task WHERE remoteID < 100") == ["6"])
    }

    @Test(
        "Circular pages end the run early, and the next run starts with the first page",
        arguments: ["page", "offset", "cursor"], [1, 2, 3, 5])
    func circle(_ style: String, _ period: Int) async throws {
        var options = RESTOptions()
        options.recordsKeyPath = "data"
        options.paging = style == "cursor" ? .cursor(cursor: "at", next: "next", limit: 2) : Self.paging(style, 2)
        let device = try rest(options) { [memory] request in
            let place = Self.number(request, "at") ?? Self.passed(request, 2) / 2
            let page = await memory.tag == 200 ? place : place % period
            let isEnd = page >= period
            let rows: [JSONValue] = isEnd ? [] : [2 * page, 2 * page + 1].map { ["id": JSONValue($0)] }
            // The cursor of the next page is different each time.
            return (200, [:], ["data": .array(rows), "next": isEnd ? .null : JSONValue(place + 1)])
        }
        let error = await #expect(throws: SyncError.self) { try await device.engine.sync() }
        #expect(error?.message.contains("loop") == true, "\(error?.message ?? "")")
        #expect(await memory.requests.count <= 9 * period)
        #expect(try await device.rows("SELECT count(*) FROM sync_cursor WHERE next IS NOT NULL") == ["0"])
        await memory.set([], tag: 200)
        let count = await memory.requests.count
        try await device.engine.sync()
        #expect(
            await memory.requests[count].hasSuffix(
                ["page": "page=1&size=2", "offset": "offset=0&limit=2", "cursor": "/tasks"][style] ?? ""))
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["\(2 * period)"])
        #expect(try await device.leftovers() == [])
    }

    @Test(
        "If the next page of an interrupted pull cannot be read, the pull starts again with the first page",
        arguments: [404, 200])
    func resumed(_ status: Int) async throws {
        var options = RESTOptions()
        options.recordsKeyPath = "data"
        options.paging = .cursor(cursor: "at", next: "next")
        let device = try rest(options) { [memory] request in
            guard Self.item(request, "at") != nil else { return (200, [:], ["data": [["id": 1]], "next": "two"]) }
            return await memory.tag == 100 ? (status, [:], ["message": "no"]) : (200, [:], ["data": [["id": 2]]])
        }
        for _ in 0..<2 { await #expect(throws: SyncError.self) { try await device.engine.sync() } }
        // The second run requested the page, then the first page, and failed at the second page again.
        #expect(await memory.requests.count == 5)
        await memory.set([], tag: 200)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["2"])
    }
}
