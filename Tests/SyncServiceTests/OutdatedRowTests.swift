import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Outdated rows: the pages lacked their change, or a replica of the service had not received it.
@Suite("Outdated rows")
struct OutdatedRowTests {
    private let memory = ServedMemory()
    private static let styles = ["page", "offset", "next", "link", "cursor"]

    private static func paging(_ style: String) -> RESTOptions.Paging {
        switch style {
        case "page": .page(size: "size", limit: 2)
        case "offset": .offset(limit: 2)
        case "next": .next("next", limit: 2)
        case "link": .link(limit: 2)
        default: .cursor(cursor: "at", next: "cursor", limit: 2)
        }
    }

    private static func item(_ request: HTTPRequest, _ name: String) -> String? {
        URLComponents(string: request.path ?? "")?.queryItems?.first { $0.name == name }?.value
    }

    /// Returns the time at which a row was changed.
    private static func at(_ row: JSONValue) -> String { if case .string(let text)? = row["at"] { text } else { "" } }

    private static func row(_ id: Int, _ title: String, _ day: Int, _ second: Int) -> JSONValue {
        ["id": JSONValue(id), "title": .string(title), "at": .string("2026-01-0\(day)T00:00:0\(second)Z")]
    }

    /// Returns a device whose service has a list by time, two rows a page. A row that leaves a page shifts the
    /// following rows up.
    ///
    /// - Parameter meanwhile: The changes of others before a page is served, given the index of its first row.
    private func device(
        _ style: String, deleted: String?, _ meanwhile: @escaping @Sendable (ServedMemory, Int, Bool) async -> Void
    ) throws -> Device {
        var options = RESTOptions()
        options.recordsKeyPath = "data"
        options.paging = Self.paging(style)
        (options.sinceParameter, options.versionField, options.deletedField) = ("since", "at", deleted)
        let service = RESTService(
            baseURL: try #require(URL(string: "https://service.example/v1")), options: options,
            transport: Served { [memory] request, _ in
                await memory.note(request)
                if let id = request.path?.split(separator: "/").last.flatMap({ Int($0) }) {
                    let row = await memory.rows.first { $0["id"] == JSONValue(id) }
                    return row.map { (200, [:], $0) } ?? (404, [:], [:])
                }
                let since = Self.item(request, "since")
                let skipped =
                    Self.item(request, "page").flatMap { Int($0) }.map { ($0 - 1) * 2 }
                    ?? (Self.item(request, "offset") ?? Self.item(request, "at")).flatMap { Int($0) } ?? 0
                await meanwhile(memory, skipped, since != nil)
                let rows = await memory.rows.filter { Self.at($0) >= since ?? "" }.sorted { Self.at($0) < Self.at($1) }
                let next = skipped + 2 < rows.count ? skipped + 2 : nil
                let address = next.map { "/v1/tasks?offset=\($0)" + (since.map { "&since=\($0)" } ?? "") }
                var headers = [
                    "Date": await memory.tag == 100 ? "Thu, 01 Jan 2026 00:00:59 GMT" : "Fri, 02 Jan 2026 00:00:59 GMT"
                ]
                if let address { headers["Link"] = "<\(address)>; rel=\"next\"" }
                return (
                    200, headers,
                    [
                        "data": .array(Array(rows.dropFirst(skipped).prefix(2))),
                        "next": address.map { .string($0) } ?? .null,
                        "cursor": next.map { JSONValue($0) } ?? .null,
                    ]
                )
            })
        return try Device(service, entities: ["Task"], Device.configuration)
    }

    private func titles(_ device: Device) async throws -> [String] {
        try await device.rows("SELECT remoteID, title FROM Task ORDER BY 1")
    }

    @Test("A row that moves while pages are read is not missed with any style of paging", arguments: styles)
    func moved(_ style: String) async throws {
        let device = try device(style, deleted: "gone") { memory, skipped, isDelta in
            guard isDelta, skipped == 2, await memory.rows.contains(Self.row(1, "new1", 2, 1)) else { return }
            await memory.set(memory.rows.dropFirst() + [Self.row(1, "touched", 3, 1)], tag: 200)
        }
        await memory.set((1...5).map { Self.row($0, "old\($0)", 1, $0) })
        try await device.engine.sync()
        await memory.set((1...5).map { Self.row($0, "new\($0)", 2, $0) }, tag: 200)
        try await device.engine.sync()
        #expect(try await titles(device) == ["1 touched", "2 new2", "3 new3", "4 new4", "5 new5"])
    }

    @Test("A row that a deletion shifts onto a page already read is found by the next listing", arguments: styles)
    func deletedBefore(_ style: String) async throws {
        let device = try device(style, deleted: nil) { memory, skipped, isDelta in
            guard isDelta, skipped == 2, await memory.rows.count == 5 else { return }
            await memory.set(Array(memory.rows.dropFirst()), tag: 200)
        }
        await memory.set((1...5).map { Self.row($0, "old\($0)", 1, $0) })
        try await device.engine.sync()
        await memory.set((1...5).map { Self.row($0, "new\($0)", 2, $0) }, tag: 200)
        try await device.engine.sync()
        #expect(try await titles(device) == ["2 new2", "3 new3", "4 new4", "5 new5"])
        // Only the deleted row was requested by its ID.
        #expect(await memory.requests.filter { $0.contains("/tasks/") } == ["GET /v1/tasks/1"])
    }

    @Test("An outdated replica reverts no row and deletes none", arguments: [false, true])
    func replica(_ isDeletion: Bool) async throws {
        let device = try device("offset", deleted: "gone") { _, _, _ in }
        await memory.set([Self.row(1, "v1", 2, 1), Self.row(2, "v1", 2, 2)])
        try await device.engine.sync()
        await memory.set([Self.row(1, "v2", 2, 3), Self.row(2, "v1", 2, 2)], tag: 200)
        try await device.engine.sync()
        let behind = Self.row(1, "v1", 2, 1)
        await memory.set([isDeletion ? behind.setting(true, at: ["gone"]) : behind, Self.row(2, "v1", 2, 2)], tag: 200)
        #expect(try await device.engine.sync().isEmpty)
        #expect(try await titles(device) == ["1 v2", "2 v1"])
        // It does not count as a change either.
        #expect(try await !device.engine.hasRemoteChanges())
        // After a relink the outdated state is accepted.
        try await device.engine.reset(.cursors)
        try await device.engine.sync()
        #expect(try await titles(device) == (isDeletion ? ["2 v1"] : ["1 v1", "2 v1"]))
    }
}
