import Foundation
import HTTPTypes
import Sync
import SyncTesting
import Testing

@testable import SyncService

/// Lists that are asked for by id, each page behind the last row of the one before it, and that do not go forward.
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

    private static let field = ServiceEntity.Field("tags", path: ["tags"], content: .references(to: "Tag"))

    @Test(
        "of a relation without end end the run: their ids do not go forward, or their number does not go down",
        arguments: [
            ("does not go forward", 100, -1), ("does not go forward", 100, 0), ("does not get shorter", 100, 1),
            ("has more than 1000000 rows", 1_000_000_000, 1),
        ] as [(String, Int, Int)])
    func relation(_ reason: String, _ count: Int, _ step: Int) async throws {
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
        }.knowing([ServiceEntity("Task", keyPaths: [["id"]], members: [Self.field])])
        let error = await #expect(throws: ServiceError.self) {
            try await service.pull(PullRequest(entity: "Task", cursor: nil))
        }
        #expect(
            error?.description.contains("the relation 'tags' of \"t\" \(reason)") == true, "\(error?.description ?? "")"
        )
        #expect(await memory.requests.count < 8)
    }

    @Test("of a relation that has an end are read to it, however its ids are sorted", arguments: [true, false])
    func relationOfWords(_ isByBytes: Bool) async throws {
        let ids = isByBytes ? ["A1", "Z2", "a0", "b3", "b9"] : ["a0", "A1", "b3", "B9", "Z2"]
        let service = try parse { request, _ in
            let text = Self.item(request, "where") ?? ""
            let last = ids.lastIndex { text.contains("\"$gt\":\"\($0)\"") }
            let rest = ids.dropFirst(last.map { $0 + 1 } ?? 0)
            return [
                "results": .array(rest.prefix(2).map { ["objectId": .string($0)] }), "count": JSONValue(rest.count),
            ]
        }.knowing([ServiceEntity("Task", keyPaths: [["id"]], members: [Self.field])])
        let field = try #require(service.records(of: "Task").lists.first)
        #expect(try await service.related(to: "t", field, of: "Task") == ids.map { .string($0) })
    }

    @Test(
        "of a list by id that goes back end the run", arguments: ["parse", "parse ids", "pocketBase", "pocketBase ids"])
    func backward(_ how: String) async throws {
        let isParse = how.hasPrefix("parse")
        let transport = Served { request, _ in
            // A service that does not know the condition.
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
                let first = try await service.ids(SweepRequest(entity: "Task"))
                _ = try await service.ids(SweepRequest(entity: "Task", page: first.next))
            } else {
                let first = try await service.pull(PullRequest(entity: "Task", cursor: nil))
                _ = try await service.pull(PullRequest(entity: "Task", cursor: nil, page: first.next))
            }
        }
        #expect(error?.description.contains("does not go forward: 'b' comes behind 'b'") == true)
    }

    @Test(
        "Ids are in order by bytes or as words",
        arguments: [
            ("b", "a", true), ("a", "b", false), ("a", "a", false), ("a", "B", true), ("B", "a", true),
            ("a10", "a9", false),
            ("aB", "ab", true), ("ab", "aB", true), ("ä", "b", true),
        ])
    func order(_ id: String, _ other: String, _ isAfter: Bool) {
        #expect(IDOrder.isAfter(id, other) == isAfter)
    }
}
