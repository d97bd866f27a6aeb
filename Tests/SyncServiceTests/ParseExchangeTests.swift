import Foundation
import HTTPTypes
import Sync
import Testing

@testable import SyncService

/// Requests to Parse and the handling of its answers, by the exchanges of `Fixtures/Exchanges/parse`, which are written
/// from the documentation.
@Suite("Written exchanges with Parse")
struct ParseExchangeTests {
    private static let schema = """
        {"entities": {
          "Task": {"attributes": {"id": "string", "title": "string", "dueAt": "date", "data": "binary", "photo": "url",
              "latitude": {"type": "double", "remoteKey": "place.latitude"},
              "longitude": {"type": "double", "remoteKey": "place.longitude"}},
            "relationships": {"project": {"entity": "Project", "inverse": "tasks"},
              "tags": {"entity": "Tag", "many": true, "inverse": "tasks"}}},
          "Project": {"attributes": {"id": "string", "name": "string"},
            "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "project"}}},
          "Tag": {"attributes": {"id": "string"}, "relationships": {"tasks": {"entity": "Task", "many": true, "inverse": "tags"}}}
        }}
        """

    private func service(
        _ exchanges: RecordedExchanges, credentials: ServiceCredentials = .none
    ) throws -> ParseService {
        var options = ParseOptions(applicationID: "app", restKey: "key")
        options.pageSize = 2
        let url = try #require(URL(string: "https://api.example.com/parse"))
        let service = ParseService(
            baseURL: url, options: options, classes: ["Project": "Plan"], credentials: credentials, transport: exchanges
        )
        let model = try SyncModel(schemaData: Data(Self.schema.utf8))
        return service.configured(for: try ServiceEntity.all(["Task", "Project", "Tag"], of: model))
    }

    private func expectAll(_ exchanges: RecordedExchanges) async {
        #expect(await exchanges.mismatches == [])
        #expect(await exchanges.left == [])
    }

    private func operation(
        _ kind: PushOperation.Kind, _ id: JSONValue?, _ body: JSONValue, key: String = "key", paths: [[String]]? = nil
    ) -> PushOperation {
        PushOperation(
            entity: "Task", kind: kind, id: id, record: body, fieldPaths: paths, version: nil, idempotencyKey: key)
    }

    @Test("A pull reads pages by time and ID, and converts values for the model")
    func pull() async throws {
        let exchanges = try RecordedExchanges(
            "parse",
            ["01-pull-first-page", "02-related", "03-related-none", "04-pull-next-page", "05-related-none"])
        let service = try service(exchanges)
        let first = try await service.pull(PullRequest(entity: "Task", cursor: nil))
        #expect(first.records.map(\.id) == ["Ed1nuqPvcm", "Xy2nuqPvcm"])
        #expect(first.isFullListing && first.total == 3)
        let record = try #require(first.records.first?.record)
        #expect(record["id"] == "Ed1nuqPvcm" && record["objectId"] == nil)
        #expect(record["due_at"] == "2026-02-01T00:00:00.000Z" && record["data"] == "AQID")
        #expect(record["photo"] == "https://files.example.com/app/profile.png")
        #expect(
            record["place"]?["latitude"] == 40.5 && record["project_id"] == "P1" && record["tag_ids"] == ["G1", "G2"])
        let bare = try #require(first.records.last?.record)
        #expect(bare["due_at"] == .null && bare["project_id"] == .null && bare["tag_ids"] == [])
        let next = try #require(first.nextPage)
        let second = try await service.pull(PullRequest(entity: "Task", cursor: nil, page: next))
        #expect(second.nextPage == nil)
        #expect(second.cursor == "2026-01-02T03:03:05.678Z")
        await expectAll(exchanges)
    }

    @Test("A pull since a time requests changes from then on and is not a listing")
    func pullSince() async throws {
        let exchanges = try RecordedExchanges("parse", ["19-pull-since", "20-pull-since-none"])
        let service = try service(exchanges)
        let news = try await service.pull(PullRequest(entity: "Project", cursor: "2026-01-02T03:03:05.678Z"))
        #expect(news.records.map(\.id) == ["P1"] && news.records.first?.record?["name"] == "orchard")
        #expect(news.nextPage == nil && !news.isFullListing)
        // A minute before the last row, and never earlier than before.
        let cursor = try #require(news.cursor)
        #expect(cursor == "2026-01-06T00:00:00.000Z")
        let nothing = try await service.pull(PullRequest(entity: "Project", cursor: cursor))
        #expect(nothing.records.isEmpty && nothing.cursor == cursor && !nothing.isFullListing)
        await expectAll(exchanges)
    }

    @Test("An included object counts as a pointer, and an array of pointers as a list")
    func included() async throws {
        let exchanges = try RecordedExchanges("parse", ["21-fetch-included"])
        let fetched = try await service(exchanges).fetch(["Ed1nuqPvcm"], of: "Task")
        guard case .found(let row)? = fetched.first else { throw ServerFailure(text: "\(fetched)") }
        #expect(row.record?["project_id"] == "P1" && row.record?["tag_ids"] == ["G2", "G1"])
        #expect(row.record?["project"] == nil)
        await expectAll(exchanges)
    }

    @Test("A create has its own request ID, and a duplicate request is in doubt")
    func create() async throws {
        let exchanges = try RecordedExchanges("parse", ["06-create", "07-create-repeated", "16-duplicate"])
        let service = try service(exchanges)
        let outcomes = try await service.push([
            operation(
                .create, nil,
                [
                    "title": "prune", "due_at": "2026-02-01T00:00:00Z", "data": "AQID", "photo": nil,
                    "place": ["latitude": 1.5, "longitude": 2.5], "project_id": "P1", "tag_ids": ["G1"],
                ], key: "key-1"),
            operation(.create, nil, ["title": "again"], key: "key-2"),
            operation(.create, nil, ["title": "taken"], key: "key-3"),
        ])
        let time = Date(isoText: "2026-01-03T00:00:00.000Z")
        #expect(
            outcomes == [
                .applied(RemoteRecord(id: "New1", record: nil, version: "2026-01-03T00:00:00.000Z", modifiedAt: time)),
                .unknown("error 159: Duplicate request"),
                .rejected("error 137: A duplicate value for a field with unique values was provided"),
            ])
        await expectAll(exchanges)
    }

    @Test("An update sends only changed fields, and a single change is not sent as a batch")
    func update() async throws {
        let exchanges = try RecordedExchanges("parse", ["08-update", "10-delete", "11-delete-again"])
        let service = try service(exchanges)
        let update = try await service.push([operation(.update, "Ed1nuqPvcm", ["title": "mow twice", "due_at": nil])])
        let time = Date(isoText: "2026-01-04T00:00:00.000Z")
        #expect(
            update == [
                .applied(
                    RemoteRecord(id: "Ed1nuqPvcm", record: nil, version: "2026-01-04T00:00:00.000Z", modifiedAt: time))
            ])
        #expect(try await service.push([operation(.delete, "Ed1nuqPvcm", [:])]) == [.applied(nil)])
        #expect(try await service.push([operation(.delete, "Gone1", [:])]) == [.applied(nil)])
        await expectAll(exchanges)
    }

    @Test("A batch has one outcome for each row")
    func batch() async throws {
        let exchanges = try RecordedExchanges("parse", ["09-batch"])
        let outcomes = try await service(exchanges).push(
            (1...7).map { operation(.update, .string("T\($0)"), ["title": "x"]) })
        guard case .applied(let row?)? = outcomes.first else { throw ServerFailure(text: "\(outcomes)") }
        #expect(row.version == "2026-01-05T00:00:00.000Z")
        #expect(
            outcomes.dropFirst() == [
                .notFound, .rejected("error 111: schema mismatch"), .rejected("error 119: not allowed"),
                .rejected("error 142: validation failed"), .retry(after: nil), .unknown("error 1: internal"),
            ])
        await expectAll(exchanges)
    }

    @Test("A GeoPoint is sent completely, and a relation as additions and removals")
    func parts() async throws {
        let exchanges = try RecordedExchanges("parse", ["12-fetch", "02-related", "13-update-relation"])
        let body: JSONValue = ["place": ["latitude": 41.5], "tag_ids": ["G2", "G3"]]
        let outcomes = try await service(exchanges).push([
            operation(.update, "Ed1nuqPvcm", body, paths: [["place", "latitude"], ["tag_ids"]])
        ])
        guard case .applied? = outcomes.first else { throw ServerFailure(text: "\(outcomes)") }
        await expectAll(exchanges)
    }

    @Test("Error 209 requests new credentials")
    func session() async throws {
        let exchanges = try RecordedExchanges("parse", ["14-session", "15-session-again"])
        let name = try #require(HTTPField.Name("X-Parse-Session-Token"))
        let service = try service(exchanges, credentials: ServiceCredentials { [name: $0 ? "new" : "old"] })
        guard case .found(let row)? = try await service.fetch(["P1"], of: "Project").first else {
            throw ServerFailure(text: "not found")
        }
        #expect(row.record?["name"] == "garden")
        await expectAll(exchanges)
    }

    @Test("Transient errors are retried at once if nothing was done, and otherwise are in doubt")
    func transientErrors() async throws {
        let exchanges = try RecordedExchanges("parse", ["17-failed-1", "17-failed-124", "18-busy-2", "18-busy-100"])
        let service = try service(exchanges)
        var outcomes: [PushOutcome] = []
        for (word, code) in [("failed", 1), ("failed", 124), ("busy", 2), ("busy", 100)] {
            outcomes += try await service.push([
                operation(.create, nil, ["title": .string("\(word) \(code)")], key: "key-\(code)")
            ])
        }
        for outcome in outcomes.prefix(2) {
            guard case .unknown = outcome else { throw ServerFailure(text: "\(outcome)") }
        }
        #expect(outcomes.suffix(2) == [.retry(after: nil), .retry(after: nil)])
        await expectAll(exchanges)
    }
}
