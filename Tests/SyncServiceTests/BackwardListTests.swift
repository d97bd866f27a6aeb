import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Lists that are requested by ID, each page after the last row of the previous page, and that do not advance.
@Suite("Lists by id")
struct BackwardListTests {
    private let memory = ServedMemory()

    private static func item(_ request: HTTPRequest, _ name: String) -> String? {
        URLComponents(string: request.path ?? "")?.queryItems?.first { $0.name == name }?.value
    }

    private func parse(_ answer: @escaping @Sendable (HTTPRequest, Int) async -> JSONValue) throws -> ParseService {
        var options = ParseOptions(applicationID: "a")
        options.pageSize = 2
        return ParseService(
            baseURL: try #require(URL(string: "https://service.example/parse")), options: options,
            transport: Served { [memory] request, _ in
                await memory.note(request)
                return (200, [:], await answer(request, memory.requests.count))
            })
    }

    private static let field = ServiceEntity.Field("tags", keyPath: ["tags"], type: .references(to: "Tag"))

    @Test(
        "A relation whose IDs do not advance, or whose count does not shrink, ends the run",
        arguments: [
            ("is not in order", 100, -1), ("is not in order", 100, 0),
            ("has pages that do not reduce the number of remaining rows", 100, 1),
            ("has more than 1000000 rows", 1_000_000_000, 1),
        ] as [(String, Int, Int)])
    func endlessRelation(_ reason: String, _ count: Int, _ step: Int) async throws {
        let service = try parse { request, number in
            guard request.path?.contains("relatedTo") == true else {
                return [
                    "results": [
                        [
                            "objectId": "t", "updatedAt": "2026-01-01T00:00:00.000Z",
                            "tags": ["__type": "Relation", "className": "Tag"],
                        ]
                    ], "count": 1,
                ]
            }
            return ["results": [["objectId": .string("a\(1000 + step * number)")]], "count": JSONValue(count)]
        }.configured(for: [ServiceEntity("Task", keyPaths: [["id"]], fields: [Self.field])])
        let error = await #expect(throws: ServiceError.self) {
            try await service.pull(PullRequest(entity: "Task", cursor: nil))
        }
        #expect(
            error?.description.contains("the relation 'tags' of \"t\" \(reason)") == true, "\(error?.description ?? "")"
        )
        #expect(await memory.requests.count < 8)
    }

    @Test("A relation with an end is read completely in each sort order of IDs", arguments: [true, false])
    func relationSortOrders(_ isByBytes: Bool) async throws {
        let ids = isByBytes ? ["A1", "Z2", "a0", "b3", "b9"] : ["a0", "A1", "b3", "B9", "Z2"]
        let service = try parse { request, _ in
            let text = Self.item(request, "where") ?? ""
            let last = ids.lastIndex { text.contains("\"$gt\":\"\($0)\"") }
            let rest = ids.dropFirst(last.map { $0 + 1 } ?? 0)
            return [
                "results": .array(rest.prefix(2).map { ["objectId": .string($0)] }), "count": JSONValue(rest.count),
            ]
        }.configured(for: [ServiceEntity("Task", keyPaths: [["id"]], fields: [Self.field])])
        let field = try #require(service.records(of: "Task").lists.first)
        #expect(try await service.related(to: "t", field, of: "Task") == ids.map { .string($0) })
    }

    @Test(
        "A list by ID that goes backward ends the run",
        arguments: ["parse", "parse ids", "pocketBase", "pocketBase ids"])
    func backwardList(_ how: String) async throws {
        let isParse = how.hasPrefix("parse")
        let transport = Served { request, _ in
            // The service ignores the condition.
            let row: JSONValue = [
                isParse ? "objectId" : "id": "b", isParse ? "updatedAt" : "updated": "2026-01-01T00:00:00.000Z",
            ]
            return (200, [:], isParse ? ["results": [row], "count": 5] : ["items": [row], "perPage": 1])
        }
        let url = try #require(URL(string: "https://service.example"))
        let service: any SyncService =
            isParse
            ? ParseService(baseURL: url, options: ParseOptions(applicationID: "a"), transport: transport)
            : PocketBaseService(baseURL: url, transport: transport)
        let error = await #expect(throws: ServiceError.self) {
            if how.hasSuffix("ids") {
                let first = try await service.list(of: "Task", page: nil)
                _ = try await service.list(of: "Task", page: first.nextPage)
            } else {
                let first = try await service.pull(PullRequest(entity: "Task", cursor: nil))
                _ = try await service.pull(PullRequest(entity: "Task", cursor: nil, page: first.nextPage))
            }
        }
        #expect(error?.description.contains("is not in order: 'b' comes after 'b'") == true)
    }

    @Test(
        "An ID follows another by bytes or as case-insensitive words, and any non-ASCII ID may follow",
        arguments: [
            ("b", "a", true), ("a", "b", false), ("a", "a", false), ("a", "B", true), ("B", "a", true),
            ("a10", "a9", false),
            ("aB", "ab", true), ("ab", "aB", true), ("ä", "b", true),
        ])
    func idOrder(_ id: String, _ other: String, _ isAfter: Bool) {
        #expect(IDOrder.isAfter(id, other) == isAfter)
    }
}
