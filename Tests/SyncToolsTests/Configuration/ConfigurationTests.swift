import Foundation
import Sync
import Testing

@testable import SyncService
@testable import SyncTools

@Suite("Configuration files")
struct ConfigurationTests {
    private static let whole = """
        { "$schema": "engine-configuration.schema.json", "service": "rest", "url": "https://api.example.com/v1",
          "entities": { "Project": { "path": "projects" }, "Task": { "path": "tasks", "policy": "serverWins" } },
          "policy": "lastWriterWins", "headers": { "Authorization": "Bearer ${API_TOKEN}" },
          "rest": { "records": "data",
            "paging": { "style": "page", "page": "page", "size": "per_page", "limit": 50, "total": "total_pages" },
            "since": "updated_since", "version": "updated_at", "deleted": "deleted_at",
            "update": "patch", "ids": "server", "idempotency": "Idempotency-Key" } }
        """

    @Test("A configuration gives the capabilities of its service")
    func readsConfiguration() throws {
        let configuration = try ServiceConfigurationFile(Data(Self.whole.utf8), environment: ["API_TOKEN": "secret"])
        #expect(configuration.entities.map(\.name) == ["Project", "Task"])
        #expect(configuration.entities[1].conflictPolicy == .serverWins)
        #expect(configuration.engineConfiguration.conflictPolicy == .lastWriterWins)
        let service = try #require(configuration.service() as? RESTService)
        #expect(
            service.capabilities
                == ServiceCapabilities(
                    idAssignment: .server, deletionDetection: .tombstones, createIdempotency: .idempotencyKey,
                    supportsPreconditions: false,
                    providesModificationTimes: true, returnsRecords: false, supportsCompositeIDs: true,
                    hasOrderedVersions: true))
        #expect(
            service.options.paging == .page(page: "page", size: "per_page", limit: 50, total: "total_pages"))
    }

    @Test(
        "An invalid configuration is rejected with its path",
        arguments: [
            ("\"service\": \"rest\"", "\"service\": \"soap\"", "service"),
            ("\"path\": \"tasks\"", "\"pth\": \"tasks\"", "entities.Task.pth"),
            ("\"style\": \"page\"", "\"style\": \"pages\"", "rest.paging.style"),
            ("\"limit\": 50", "\"limit\": 0", "rest.paging.limit"),
            ("${API_TOKEN}", "${NOBODY}", "headers.Authorization"),
            ("Bearer $", "Bearer\\n$", "headers.Authorization"),
            ("\"update\": \"patch\"", "\"update\": 1", "rest.update"),
            ("\"version\": \"updated_at\"", "\"preconditions\": \"If-Match\"", "rest.preconditions"),
            ("\"deleted_at\"", "\"\"", "rest.deleted"),
            ("\"rest\": {", "\"kinto\": {}, \"rest\": {", "kinto"),
            ("\"rest\": {", "\"pocketbase\": {}, \"rest\": {", "pocketbase"),
            ("\"rest\": {", "\"pocketbase\": {\"lgin\": {}}, \"rest\": {", "pocketbase.lgin"),
            (
                "\"rest\": {", "\"pocketbase\": {\"login\": {\"identity\": \"a\"}}, \"rest\": {",
                "pocketbase.login.password"
            ),
            ("\"entities\"", "\"entites\"", "entites"),
            ("\"rest\": {", "\"identity\": \"\", \"rest\": {", "identity"),
            ("https://api", "api", "url"),
            ("example.com/v1", "example.com/v1?key=${API_TOKEN}", "url"),
            ("example.com/v1", "example.com/v1#tasks", "url"),
            ("example.com/v1", "example.com/v1?", "url"),
            ("https://", "https://ann:${API_TOKEN}@", "url"),
            ("\"path\": \"tasks\"", "\"path\": \"tasks?open=1\"", "entities.Task.path"),
        ])
    func rejectsInvalidConfiguration(_ right: String, _ wrong: String, _ path: String) throws {
        let text = Self.whole.replacingOccurrences(of: right, with: wrong)
        let error = #expect(throws: SyncError.self) {
            try ServiceConfigurationFile(Data(text.utf8), environment: ["API_TOKEN": "secret"])
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.path == path)
        #expect(error?.description.contains("secret") == false)
    }

    @Test("An error suggests the intended member, or names the empty variable")
    func errorsHaveHints() throws {
        func message(_ text: String, _ token: String) -> String? {
            #expect(throws: SyncError.self) {
                try ServiceConfigurationFile(Data(text.utf8), environment: ["API_TOKEN": token])
            }?.message
        }
        let misspelt = message(Self.whole.replacingOccurrences(of: "\"entities\"", with: "\"entites\""), "secret")
        #expect(misspelt?.contains("did you mean 'entities'?") == true, "\(misspelt ?? "")")
        for text in [Self.whole, Self.whole.replacingOccurrences(of: "Bearer ", with: "")] {
            #expect(message(text, "") == "the environment variable 'API_TOKEN' is empty")
        }
    }

    @Test(
        "A configuration gives the options of PocketBase",
        arguments: [
            ("{}", "updated", 60, 50), (#"{"updated": "changed", "overlap": 5, "batch": 7}"#, "changed", 5, 7),
            (#"{"updated": "", "batch": 1}"#, nil, 60, 1),
        ] as [(String, String?, Int, Int)])
    func readsPocketBaseOptions(_ section: String, _ updated: String?, _ overlap: Int, _ batch: Int) throws {
        let text = """
            {"service": "pocketbase", "url": "https://pb.example.com", "entities": {"Task": {"path": "todos"}},
             "pocketbase": \(section)}
            """
        let configuration = try ServiceConfigurationFile(Data(text.utf8), environment: [:])
        let service = try #require(configuration.service() as? PocketBaseService)
        var options = PocketBaseOptions()
        (options.updatedField, options.overlap, options.batchSize) = (updated, .seconds(overlap), batch)
        #expect(service.options == options)
        #expect(
            service.capabilities.maxBatchSize == batch
                && service.capabilities.providesModificationTimes == (updated != nil))
        #expect(service.filter(of: "Task") == "todos \(updated ?? "")")
    }

    @Test("A configuration may set the identity of the service in the store")
    func readsIdentity() throws {
        let text = Self.whole.replacingOccurrences(of: "\"rest\": {", with: "\"identity\": \"old\", \"rest\": {")
        let configuration = try ServiceConfigurationFile(Data(text.utf8), environment: ["API_TOKEN": "secret"])
        #expect(configuration.engineConfiguration.serviceIdentity == "old")
        let unset = text.replacingOccurrences(of: "https://api.example.com", with: "${ADDRESS}")
        let known = try ServiceConfigurationFile(Data(unset.utf8), environment: [:], makesRequests: false)
        #expect(known.engineConfiguration.isScopeKnown)
    }
}
