import Foundation
import HTTPTypes
import Sync
import Synchronization

/// A transport that returns prepared responses, one after the other, and the last one again and again.
final class PreparedTransport: HTTPTransport {
    private let pages: [(body: Data, headers: HTTPFields)]
    private let next = Mutex(0)

    init(_ pages: [(body: Data, headers: HTTPFields)]) { self.pages = pages }

    func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
        let index = next.withLock { next in
            defer { next += 1 }
            return min(next, pages.count - 1)
        }
        return (HTTPResponse(status: .ok, headerFields: pages[index].headers), pages[index].body)
    }
}

/// Measures a first pull of each built-in service. The responses are prepared, so the figures contain the reading of
/// the responses, and no network.
struct BuiltInServices {
    let count: Int
    private static let pageSize = 1000
    private static let schema = """
        {"entities": {"Task": {"attributes": {"id": "string", "title": "string", "note": "string", "points": "integer",
          "done": "boolean", "due": "date", "price": "double"}}}}
        """

    /// Returns the records of a page, with an ID and a version as members.
    private func records(_ page: Int, _ members: (Int) -> String) -> String {
        (page * Self.pageSize..<min((page + 1) * Self.pageSize, count)).map { row in
            """
            {\(members(row)), "title": "task \(row)", "note": "something to do about it", "points": \(row % 13),
             "done": \(row % 2 == 0), "due": "2026-11-23T18:00:00Z", "price": \(row).5}
            """
        }.joined(separator: ",")
    }

    private func id(_ row: Int) -> String { String(format: "task%011d", row) }

    /// Returns a transport with all pages, and with an empty page after them.
    private func transport(
        _ members: (Int) -> String, headers: (_ page: Int, _ isLast: Bool) -> HTTPFields = { _, _ in [:] },
        _ body: (String) -> String
    ) -> PreparedTransport {
        let last = (count - 1) / Self.pageSize
        var pages = (0...last).map { page in
            (body: Data(body(records(page, members)).utf8), headers: headers(page, page == last))
        }
        pages.append((Data(body("").utf8), headers(last, true)))
        return PreparedTransport(pages)
    }

    private func measure(_ name: String, _ service: some SyncService) async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("engine-\(UUID().uuidString).sqlite")
        let stack = try DataStack(model: SyncModel(schemaData: Data(Self.schema.utf8)), at: file)
        let engine = try SyncEngine(stack: stack, service: service, entities: ["Task"])
        let start = ContinuousClock.now
        let timer = Stopwatch()
        let report = try await engine.pull()
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let rows = report.total.pulledInserts
        print("\(name): \(timer), \(rows) rows, \(Int(Double(rows) / seconds)) rows a second")
        try stack.close()
        try FileManager.default.removeItem(at: file)
    }

    func measureAll() async throws {
        guard let url = URL(string: "http://localhost") else { return }
        var options = RESTOptions()
        options.paging = .page(limit: Self.pageSize)
        options.versionField = "version"
        try await measure(
            "REST",
            BuiltInService.rest(
                baseURL: url, options: options,
                transport: transport({ "\"id\": \"\(id($0))\", \"version\": \($0 + 1)" }) { "[\($0)]" }))
        try await measure(
            "Kinto",
            BuiltInService.kinto(
                baseURL: url.appendingPathComponent("v1"),
                transport: transport(
                    { "\"id\": \"\(id($0))\", \"last_modified\": \($0 + 1)" },
                    headers: { page, isLast in
                        var headers: HTTPFields = [.eTag: "\"\(count)\""]
                        if !isLast, let name = HTTPField.Name("Next-Page") {
                            headers[name] = "http://localhost/v1/records?page=\(page + 1)"
                        }
                        return headers
                    }
                ) { "{\"data\": [\($0)]}" }))
        try await measure(
            "PocketBase",
            BuiltInService.pocketBase(
                baseURL: url,
                transport: transport({ "\"id\": \"\(id($0))\", \"updated\": \"2026-11-23 18:00:00.000Z\"" }) {
                    "{\"page\": 1, \"perPage\": \(Self.pageSize), \"totalItems\": \(count), \"items\": [\($0)]}"
                }))
        try await measure(
            "Parse",
            BuiltInService.parse(
                baseURL: url, applicationID: "app",
                transport: transport({
                    "\"objectId\": \"\(id($0))\", \"updatedAt\": \"2026-11-23T18:00:00.000Z\""
                }) { "{\"results\": [\($0)], \"count\": \(count)}" }))
        let pages = (0...(count - 1) / Self.pageSize).map { records($0) { "\"id\": \"\(id($0))\"" } }
        let changes = "{\"tasks\": {\"created\": [\(pages.joined(separator: ","))], \"updated\": [], \"deleted\": []}}"
        try await measure(
            "WatermelonDB",
            BuiltInService.watermelon(
                url: url,
                transport: PreparedTransport([(Data("{\"changes\": \(changes), \"timestamp\": 1}".utf8), [:])])))
    }
}
