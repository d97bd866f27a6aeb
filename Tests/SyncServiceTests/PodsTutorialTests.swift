import Foundation
import HTTPTypes
import Sync
import Testing

@testable import SyncService

private let schema = """
    {"entities": {
      "Pod": {"primaryKey": ["name", "version"],
        "attributes": {
          "name": {"type": "string", "remoteKey": "spec.name"}, "version": {"type": "string", "remoteKey": "spec.version"},
          "summary": {"type": "string", "remoteKey": "spec.summary"}, "git": {"type": "url", "remoteKey": "spec.source.git"}},
        "relationships": {
          "authors": {"entity": "Author", "many": true, "inverse": "pods", "remoteKey": "spec.authors", "keyedBy": true}}},
      "Author": {"primaryKey": "name", "attributes": {"name": "string", "email": "string"},
        "relationships": {"pods": {"entity": "Pod", "many": true, "inverse": "authors"}}}}}
    """

/// Where the pods come from: three pages of them, the second of which does not come the first time, and the third only when it may.
actor PodIndex: HTTPTransport {
    private(set) var pages: [String] = []
    private var fails = true
    private var isSlow = true
    func goOn() { isSlow = false }

    func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
        let page = request.path?.split(separator: "=").last.map(String.init) ?? ""
        pages.append(page)
        if page == "2", fails {
            fails = false
            throw URLError(.timedOut)
        }
        while page == "3", isSlow { try await Task.sleep(for: .milliseconds(5)) }
        return (HTTPResponse(status: .ok), Data(Self.answer(page).utf8))
    }

    private static func answer(_ page: String) -> String {
        let pods = ["AFNetworking", "Alamofire", "Kingfisher"].map { name in
            """
            {"spec": {"name": "\(name)", "version": "\(page).0", "summary": "Of \(name)",
              "source": {"git": "https://git.example/\(name)"}, "authors": {"Mattt": {"email": "m@example.com"}}}}
            """
        }
        return "{\"number_of_pages\": 3, \"result\": [\(pods.joined(separator: ","))]}"
    }
}

@Suite("Pod specifications")
struct PodsTutorialTests {
    @Test("All pages are imported in the background, and a screen follows", .timeLimit(.minutes(60)))
    func importer() async throws {
        let index = PodIndex()
        // On a device: DataStack(model: model, at: file)
        let stack = try DataStack.inMemory(SyncModel(schemaData: Data(schema.utf8)))

        // The service
        var options = RESTOptions()
        options.recordsKeyPath = "result"
        options.paging = .page(total: "number_of_pages")
        let service = BuiltInService.rest(
            baseURL: try #require(URL(string: "https://pods.example/api")), paths: ["Pod": "pods"], options: options,
            transport: index)

        // A screen
        let (shown, show) = AsyncStream.makeStream(of: Int.self)
        let screen = Task {
            for try await pods in stack.observe("Pod", orderedBy: "name") { show.yield(pods.count) }
        }
        var counts = shown.makeAsyncIterator()
        #expect(await counts.next() == 0)

        // The import
        var configuration = SyncEngine.Configuration()
        configuration.maxAttempts = 1
        await #expect(throws: SyncError.self) {
            try await Sync.importPages(from: service, entity: "Pod", stack: stack, configuration: configuration)
        }
        #expect(try await stack.count("Pod") == 3)
        #expect(await counts.next() == 3)

        let background = Task {
            try await Sync.importPages(from: service, entity: "Pod", stack: stack) { rows, total in
                print("\(rows) of \(total ?? rows)")
            }
        }
        // The screen has the second page while the third is on its way.
        #expect(await counts.next() == 6)
        await index.goOn()
        let report = try await background.value
        #expect(await counts.next() == 9)
        #expect(report.entities["Pod"]?.pulledInserts == 6)
        #expect(await index.pages == ["1", "2", "2", "3"])

        // What there is
        let pod = try #require(try await stack.fetch("Pod", id: ["Alamofire", "2.0"]))
        #expect(pod["git"]?.url == URL(string: "https://git.example/Alamofire"))
        #expect(
            try await stack.fetch("Author", where: "pods.@count == 9").map { $0["email"]?.string } == ["m@example.com"])
        screen.cancel()
        let again = try await Sync.importPages(from: service, entity: "Pod", stack: stack)
        #expect(again.isEmpty)
    }
}
