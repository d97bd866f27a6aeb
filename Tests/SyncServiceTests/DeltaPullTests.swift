import Foundation
import HTTPTypes
import Sync
import Testing

/// The delta pull of `Docs/AddingAService.md`.
private struct DeltaPull {
    let exchange: ServiceHTTPClient

    func pull(_ request: PullRequest) async throws -> PullPage {
        // "3 2026-11-24T09:00:00Z 2026-11-24T08:15:00Z": the number of the page, the service's clock at the first page
        // less a minute, and the time of the newest row less a second.
        let place = request.page?.split(separator: " ").map(String.init) ?? []
        let page = place.first.flatMap(Int.init) ?? 1
        var query = [("sort", "updated_at"), ("page", "\(page)")]
        if let cursor = request.cursor { query.append(("updated_since", cursor)) }
        let response = try await exchange.send(.get, exchange.url(["tasks"], query))
        guard (200..<300).contains(response.status) else { throw response.refusal }
        // The service's clock was set back: new changes would have times before the cursor.
        if let cursor = request.cursor, let time = response.time, cursor > time.formatted(.iso8601) {
            throw ServiceError.cursorInvalid
        }
        guard case .array(let records) = try response.json() else { throw ServiceError.invalidResponse("not a list") }
        let (rows, invalidRecords) = PullPage.parse(records) { record in
            let isDeleted = record["deleted_at"].map { $0 != .null } ?? false
            guard let id = record["id"], case .string(let time)? = record["updated_at"] else { return nil }
            return RemoteRecord(id: id, record: isDeleted ? JSONValue?.none : record, version: time)
        }
        // Without rows, or without a clock, the cursor stays.
        let cursor = place.count == 3 ? min(place[1], place[2]) : request.cursor
        if records.isEmpty { return PullPage(records: [], cursor: cursor, serverTime: response.time) }
        let clock = response.time.map { $0.addingTimeInterval(-60).formatted(.iso8601) }
        let start = request.page == nil ? clock : place.dropFirst().first
        let newest = rows.last?.version.flatMap { try? Date($0, strategy: .iso8601) }?.addingTimeInterval(-1)
        let seen = start.map { [$0, newest?.formatted(.iso8601) ?? $0] } ?? []
        let next = ([String(page + 1)] + seen).joined(separator: " ")
        return PullPage(records: rows, nextPage: next, serverTime: response.time, invalidRecords: invalidRecords)
    }
}

@Suite("A delta pull")
struct DeltaPullTests {
    @Test(
        "The last page's cursor is the earlier of the first page's clock and the newest row",
        arguments: [
            (true, "2026-11-24T09:30:00Z", "2026-11-24T09:00:00Z"),
            (true, "2026-11-24T08:15:00Z", "2026-11-24T08:14:59Z"),
            (false, "2026-11-24T08:15:00Z", "2026-11-23T10:00:00Z"),
        ])
    func pages(_ hasClock: Bool, _ newest: String, _ cursor: String) async throws {
        let memory = ServedMemory()
        let transport = Served { request, _ in
            await memory.note(request)
            let isFirst = (request.path ?? "").contains("page=1")
            let time = isFirst ? "Tue, 24 Nov 2026 09:01:00 GMT" : "Tue, 24 Nov 2026 09:30:00 GMT"
            let rows: JSONValue = [
                ["id": 1, "updated_at": "2026-11-24T08:00:00Z", "deleted_at": .null],
                ["id": 2, "updated_at": .string(newest), "deleted_at": "2026-11-24"],
            ]
            return (200, hasClock ? ["Date": time] : [:], isFirst ? rows : [])
        }
        let base = try #require(URL(string: "https://service.example/v1"))
        let service = DeltaPull(exchange: ServiceHTTPClient(baseURL: base, transport: transport))
        let first = try await service.pull(PullRequest(entity: "Task", cursor: "2026-11-23T10:00:00Z"))
        #expect(first.records.map(\.id) == [1, 2] && first.records.map { $0.record == nil } == [false, true])
        #expect(first.cursor == nil)
        let page = try #require(first.nextPage)
        let last = try await service.pull(PullRequest(entity: "Task", cursor: "2026-11-23T10:00:00Z", page: page))
        #expect(last.nextPage == nil && last.cursor == cursor)
        let asked = "GET /v1/tasks?sort=updated_at&page=2&updated_since=2026-11-23T10%3A00%3A00Z"
        #expect(await memory.requests.last == asked)
        if hasClock {
            await #expect(throws: ServiceError.cursorInvalid) {
                try await service.pull(PullRequest(entity: "Task", cursor: "2026-11-24T10:00:00Z"))
            }
        }
    }
}
