import Foundation
import HTTPTypes
import Sync
import SyncStore
import SyncTesting
import Testing

@testable import SyncService
@testable import SyncTools

/// The effect of each member of a configuration on the options of the service and on its requests.
@Suite("Configuration members")
struct ConfigurationMemberTests {
    private static func configuration(
        _ members: String, service: String = "rest", entities: String = #"{"Task": {}}"#
    ) throws -> ServiceConfigurationFile {
        let text = """
            {"service": "\(service)", "url": "https://service.example/v1", "entities": \(entities), \(members)}
            """
        return try ServiceConfigurationFile(Data(text.utf8), environment: [:])
    }

    /// The requests to a service with these members.
    private actor Log {
        private(set) var lines: [String] = []
        private(set) var headers: [HTTPFields] = []
        private(set) var bodies: [JSONValue?] = []

        func note(_ request: HTTPRequest, _ body: JSONValue?) {
            lines.append("\(request.method) \(request.path ?? "")")
            headers.append(request.headerFields)
            bodies.append(body)
        }
    }

    // MARK: Paging

    /// A style of paging: its JSON, the expected option and the addresses of its pages.
    struct Style: Sendable, CustomTestStringConvertible {
        let json: String
        let paging: RESTOptions.Paging
        let addresses: [String]
        var testDescription: String { json }

        init(_ json: String, _ paging: RESTOptions.Paging, _ addresses: [String]) {
            (self.json, self.paging, self.addresses) = (json, paging, addresses)
        }
    }

    static let styles = [
        Style(
            #"{"style": "offset", "offset": "skip", "size": "take", "limit": 2, "total": "meta.count"}"#,
            .offset(offset: "skip", size: "take", limit: 2, total: "meta.count"),
            ["?skip=0&take=2", "?skip=2&take=2"]),
        Style(
            #"{"style": "offset"}"#, .offset(offset: "offset", size: "limit", limit: 100, total: nil),
            ["?offset=0&limit=100", "?offset=2&limit=100", "?offset=3&limit=100"]),
        Style(
            #"{"style": "link", "size": "per", "limit": 2}"#, .link(size: "per", limit: 2), ["?per=2", "?after=2"]),
        Style(#"{"style": "link"}"#, .link(size: nil, limit: 100), ["", "?after=2"]),
        Style(
            #"{"style": "next", "next": "meta.more", "size": "per", "limit": 2}"#,
            .next("meta.more", size: "per", limit: 2), ["?per=2", "?from=2"]),
        Style(
            #"{"style": "cursor", "cursor": "c", "next": "meta.word", "size": "per", "limit": 2}"#,
            .cursor(cursor: "c", next: "meta.word", size: "per", limit: 2), ["?per=2", "?c=two&per=2"]),
        Style(
            #"{"style": "cursor", "next": "meta.word"}"#,
            .cursor(cursor: "cursor", next: "meta.word", size: nil, limit: 100), ["", "?cursor=two"]),
        Style(
            #"{"style": "page", "page": "p", "size": "per", "limit": 2, "total": "meta.pages"}"#,
            .page(page: "p", size: "per", limit: 2, total: "meta.pages"), ["?p=1&per=2", "?p=2&per=2"]),
        Style(#"{"style": "none"}"#, .none, [""]),
    ]

    @Test("The member 'paging' sets the addresses of pages", arguments: styles)
    func pagingStyles(_ style: Style) async throws {
        let configuration = try Self.configuration(#""rest": {"records": "data", "paging": \#(style.json)}"#)
        let log = Log()
        let transport = Served { request, body in
            await log.note(request, body)
            let page = await log.lines.count
            let rows: JSONValue = page == 1 ? [["id": 1], ["id": 2]] : page == 2 ? [["id": 3]] : []
            guard page == 1 else { return (200, [:], ["data": rows, "meta": ["count": 3, "pages": 2]]) }
            let meta: JSONValue = ["count": 3, "pages": 2, "more": "/v1/tasks?from=2", "word": "two"]
            return (200, ["Link": "</v1/tasks?after=2>; rel=\"next\""], ["data": rows, "meta": meta])
        }
        let service = try #require(configuration.service(transport: transport) as? RESTService)
        #expect(service.options.paging == style.paging)
        var next: String?
        var ids: [JSONValue] = []
        repeat {
            let page = try await service.pull(PullRequest(entity: "Task", cursor: nil, page: next))
            ids += page.records.map(\.id)
            next = page.nextPage
        } while next != nil
        #expect(await log.lines == style.addresses.map { "GET /v1/tasks\($0)" })
        #expect(ids == (style.paging == .none ? [1, 2] : [1, 2, 3]))
    }

    @Test("An empty member 'records' reads lists that are bare arrays")
    func bareArray() async throws {
        let configuration = try Self.configuration(#""rest": {"records": ""}"#)
        let service = configuration.service(transport: Served { _, _ in (200, [:], [["id": 7, "title": "t"]]) })
        #expect(try await service.pull(PullRequest(entity: "Task", cursor: nil)).records.map(\.id) == [7])
        let wrapped = configuration.service(transport: Served { _, _ in (200, [:], ["data": [["id": 7]]]) })
        await #expect(throws: ServiceError.self) {
            try await wrapped.pull(PullRequest(entity: "Task", cursor: nil))
        }
    }

    // MARK: Times

    @Test(
        "The member 'overlap' moves the cursor back from the clock of the service",
        arguments: [("", "16%3A33%3A43"), (#", "overlap": 5"#, "16%3A34%3A38"), (#", "overlap": 0"#, "16%3A34%3A43")])
    func overlap(_ member: String, _ time: String) async throws {
        let configuration = try Self.configuration(#""rest": {"since": "after"\#(member)}"#)
        let log = Log()
        let service = configuration.service(
            transport: Served { request, body in
                await log.note(request, body)
                return (200, ["Date": "Mon, 23 Nov 2026 16:34:43 GMT"], [["id": 1]])
            })
        let first = try await service.pull(PullRequest(entity: "Task", cursor: nil))
        #expect(first.isFullListing)
        _ = try await service.pull(PullRequest(entity: "Task", cursor: first.cursor))
        let lines = await log.lines
        #expect(lines.first == "GET /v1/tasks")
        #expect(lines.last?.hasPrefix("GET /v1/tasks?after=2026-11-23T\(time)") == true, "\(lines)")
    }

    // MARK: What is sent

    private func operation(_ kind: PushOperation.Kind, id: JSONValue? = nil, version: String? = nil) -> PushOperation {
        PushOperation(
            entity: "Task", kind: kind, id: id, record: kind == .delete ? [:] : ["title": "t"], version: version,
            idempotencyKey: "key-1")
    }

    /// Returns the requests that an operation sends.
    private func sent(_ members: String, _ operation: PushOperation) async throws -> Log {
        let log = Log()
        let service = try Self.configuration(#""rest": {\#(members)}"#).service(
            transport: Served { request, body in
                await log.note(request, body)
                return (200, [:], ["id": 1, "title": "u", "rev": "3", "note": "kept"])
            })
        _ = try await service.push([operation])
        return log
    }

    @Test("The member 'marker' names the field of a new record that holds its idempotency key")
    func marker() async throws {
        let log = try await sent(#""marker": "client_ref""#, operation(.create))
        #expect(await log.lines == ["POST /v1/tasks"])
        #expect(await log.bodies == [["client_ref": "key-1", "title": "t"]])
        let options = try Self.configuration(#""rest": {"marker": "client_ref"}"#)
        #expect(options.service().capabilities.createIdempotency == .markerField("client_ref"))
    }

    @Test("The member 'idempotency' names the header of creates that holds their idempotency key")
    func idempotencyHeader() async throws {
        let name = try #require(HTTPField.Name("X-Once"))
        let log = try await sent(#""idempotency": "X-Once""#, operation(.create))
        #expect(await log.headers.map { $0[name] } == ["key-1"])
        #expect(await log.bodies == [["title": "t"]])
        let update = try await sent(#""idempotency": "X-Once""#, operation(.update, id: 1))
        #expect(await update.headers.map { $0[name] } == [nil])
        let options = try Self.configuration(#""rest": {"idempotency": "X-Once"}"#)
        #expect(options.service().capabilities.createIdempotency == .idempotencyKey)
    }

    @Test("The member 'preconditions' names the header with the version, quoted if it is an entity tag")
    func preconditions() async throws {
        for (header, expected) in [("If-Match", "\"3\""), ("X-Version", "3")] {
            let name = try #require(HTTPField.Name(header))
            let members = #""version": "rev", "preconditions": "\#(header)""#
            for kind in [PushOperation.Kind.update, .delete] {
                let log = try await sent(members, operation(kind, id: 1, version: "3"))
                #expect(await log.headers.first?[name] == expected)
            }
            #expect(try Self.configuration(#""rest": {\#(members)}"#).service().capabilities.supportsPreconditions)
        }
        let log = try await sent(#""version": "rev""#, operation(.update, id: 1, version: "3"))
        #expect(await log.headers.first?[.ifMatch] == nil)
    }

    @Test("The member 'preconditions' requires 'version', unless the client assigns IDs")
    func preconditionsWithoutVersion() async throws {
        let error = #expect(throws: SyncError.self) {
            try Self.configuration(#""rest": {"preconditions": "If-Match"}"#)
        }
        #expect(error?.code == .invalidConfiguration && error?.path == "rest.preconditions")
        #expect(error?.message.contains("set 'version' to its field, or remove the member") == true)
        let log = try await sent(#""ids": "client", "preconditions": "If-Match""#, operation(.create, id: "a"))
        #expect(await log.headers.map { $0[.ifNoneMatch] } == ["*"])
        let client = try Self.configuration(#""rest": {"ids": "client", "preconditions": "If-Match"}"#)
        #expect(!client.service().capabilities.supportsPreconditions)
    }

    @Test("The member 'update' selects PATCH with the changed fields or PUT with the whole record")
    func updateMethod() async throws {
        for members in ["", #""update": "patch""#] {
            let log = try await sent(members, operation(.update, id: 1))
            #expect(await log.lines == ["PATCH /v1/tasks/1"])
            #expect(await log.bodies == [["title": "t"]])
        }
        let log = try await sent(#""update": "put""#, operation(.update, id: 1))
        #expect(await log.lines == ["GET /v1/tasks/1", "PUT /v1/tasks/1"])
        #expect(await log.bodies.last??["note"] == "kept")
        #expect(await log.bodies.last??["title"] == "t")
    }

    @Test("The member 'ids' selects PUT at the ID of the client or POST for new records")
    func idSource() async throws {
        let own = try await sent(#""ids": "client""#, operation(.create, id: "a"))
        #expect(await own.lines == ["PUT /v1/tasks/a"])
        for members in ["", #""ids": "server""#] {
            let log = try await sent(members, operation(.create))
            #expect(await log.lines == ["POST /v1/tasks"])
        }
        let capabilities = try Self.configuration(#""rest": {"ids": "client"}"#).service().capabilities
        #expect(capabilities.idAssignment == .client && capabilities.createIdempotency == .clientID)
    }

    @Test(
        "The members 'bucket' and 'collection' set the addresses and the identity of a Kinto service"
    )
    func kintoMembers() async throws {
        let log = Log()
        let configuration = try Self.configuration(
            #""kinto": {"bucket": "team", "collection": "app-{path}"}"#, service: "kinto",
            entities: #"{"Task": {"path": "things"}}"#)
        let service = configuration.service(
            transport: Served { request, body in
                await log.note(request, body)
                return (200, [:], request.method == .get ? ["data": []] : ["responses": [["status": 204]]])
            })
        _ = try await service.pull(PullRequest(entity: "Task", cursor: nil))
        _ = try await service.push([operation(.delete, id: "a")])
        let path = "/v1/buckets/team/collections/app-things/records"
        #expect(await log.lines.first?.hasPrefix("GET \(path)?") == true)
        #expect(await log.bodies.last??.value(at: ["requests"]) != nil)
        if case .array(let requests)? = await log.bodies.last??["requests"] {
            #expect(requests.map { $0["path"] } == [.string("\(path)/a")])
        }
        #expect(service.identity == "https://service.example/v1 team")
        let usual = try Self.configuration(#""kinto": {}"#, service: "kinto").service(
            transport: Served { request, body in
                await log.note(request, body)
                return (200, [:], ["data": []])
            })
        _ = try await usual.pull(PullRequest(entity: "Task", cursor: nil))
        #expect(
            await log.lines.last?.hasPrefix("GET /v1/buckets/default/collections/tasks/records?") == true)
    }

    // MARK: The engine

    @Test("The members on conflicts apply to all entities, and members of an entity override them")
    func conflictMembers() throws {
        let configuration = try Self.configuration(
            #""deleteConflicts": "editWins", "policy": "manual""#,
            entities: """
                {"Project": {"deleteConflicts": "deleteWins", "cascades": "server"},
                 "Task": {"policy": "serverWins", "naturalKey": ["title", "points"], "cascades": "client"}, "Tag": {}}
                """)
        #expect(configuration.engineConfiguration.deleteConflictPolicy == .editWins)
        let entities = configuration.entities
        #expect(entities.map(\.deleteConflictPolicy) == [.deleteWins, nil, nil])
        #expect(entities.map(\.naturalKey) == [[], ["title", "points"], []])
        #expect(entities.map(\.cascades) == [.server, .client, nil])
        let registration = try EngineRegistration(entities, configuration.service(), configuration.engineConfiguration)
        #expect(registration.entities.map(\.deletions) == [.deleteWins, .editWins, .editWins])
        #expect(registration.entities.map(\.policy) == [.manual, .serverWins, .manual])
        #expect(registration.entities.map(\.sendsCascades) == [false, true, false])
        #expect(try Self.configuration(#""policy": "manual""#).engineConfiguration.deleteConflictPolicy == .deleteWins)
    }

    @Test(
        "The member 'cascades' decides whether the client deletes dependent rows on the service",
        arguments: ["server", "client"])
    func cascades(_ side: String) async throws {
        let service = InMemoryService()
        await service.set("Project", 1, ["name": "p"])
        await service.set("Task", 1, ["title": "t", "project_id": 1])
        let entities = try Self.configuration(
            #""attempts": 1"#, entities: #"{"Project": {}, "Task": {"cascades": "\#(side)"}, "Tag": {}}"#
        ).entities
        let device = try Device(service, entities: entities)
        try await device.engine.sync()
        await service.remove("Project", 1)
        try await device.engine.sync()
        #expect(try await device.rows("SELECT count(*) FROM Task") == ["0"])
        #expect(await service.contents(of: "Task").isEmpty == (side == "client"))
    }

    @Test("The member 'naturalKey' finds the record of a create whose answer was lost", arguments: [true, false])
    func naturalKey(_ isNamed: Bool) async throws {
        let memory = ServedMemory()
        let member = isNamed ? #""naturalKey": ["title"]"# : ""
        let configuration = try Self.configuration(#""attempts": 5"#, entities: "{\"Task\": {\(member)}}")
        let service = configuration.service(
            transport: Served { request, body in
                await memory.note(request)
                guard request.method == .post, let body else { return (200, [:], .array(await memory.rows)) }
                // The service stores other points than it was sent.
                let id = JSONValue(await memory.rows.count + 1)
                let row: JSONValue = ["id": id, "title": body["title"] ?? .null, "points": 99]
                await memory.add(row)
                return id == 1 ? (500, [:], ["message": "lost"]) : (201, [:], row)
            })
        var engineConfiguration = Device.configuration
        engineConfiguration.inDoubtTimeout = .zero
        let device = try Device(service, entities: configuration.entities, engineConfiguration)
        try await device.stack.insert("Task", values: ["title": "mine", "points": 5])
        try await device.engine.sync()
        #expect(await memory.requests.filter { $0.hasPrefix("POST") }.count == (isNamed ? 1 : 2))
    }

    @Test("The member 'attempts' sets how often a request is tried")
    func attempts() async throws {
        for (members, count) in [(#""attempts": 2"#, 2), (#""attempts": 1"#, 1), (#""sweep": 0"#, 4)] {
            let log = Log()
            let configuration = try Self.configuration(members)
            let service = configuration.service(
                transport: Served { request, body in
                    await log.note(request, body)
                    return (503, [:], .null)
                })
            var engineConfiguration = configuration.engineConfiguration
            engineConfiguration.clock = Device.configuration.clock
            let device = try Device(service, entities: configuration.entities, engineConfiguration)
            let error = await #expect(throws: SyncError.self) { try await device.engine.sync() }
            #expect(error?.code == .serviceUnavailable)
            #expect(await log.lines.count == count)
        }
    }

    @Test("The member 'timeout' ends a request without an answer")
    func timeout() async throws {
        let port = try QuietPort(isRefusing: false)
        let text = """
            {"service": "rest", "url": "\(port.url)", "entities": {"Task": {}}, "timeout": 1, "attempts": 1}
            """
        let configuration = try ServiceConfigurationFile(Data(text.utf8), environment: [:])
        #expect(configuration.timeout == .seconds(1))
        let failure = await #expect(throws: ServiceError.self) {
            try await configuration.service().pull(PullRequest(entity: "Task", cursor: nil))
        }
        #if os(Linux) && canImport(Glibc)
            // The message of libcurl.
            #expect(failure?.description.contains("the last 1 seconds") == true, "\(failure?.description ?? "")")
        #endif
        #expect(try Self.configuration(#""attempts": 1"#).timeout == .seconds(60))
    }

    // MARK: What is wrong

    @Test(
        "A misspelt or malformed member is rejected with its path",
        arguments: [
            ("rest", #""rest": {"recrods": "data"}"#, "rest.recrods"),
            ("rest", #""rest": {"overlp": 5}"#, "rest.overlp"),
            ("rest", #""rest": {"paging": {"style": "offset", "ofset": "skip"}}"#, "rest.paging.ofset"),
            ("rest", #""rest": {"paging": {"style": "link", "next": "more"}}"#, "rest.paging.next"),
            ("rest", #""rest": {"paging": {"style": "next", "nxt": "more"}}"#, "rest.paging.nxt"),
            ("rest", #""rest": {"paging": {"style": "next"}}"#, "rest.paging.next"),
            ("rest", #""rest": {"paging": {"style": "cursor"}}"#, "rest.paging.next"),
            ("rest", #""rest": {"paging": {"style": "none", "limit": 5}}"#, "rest.paging.limit"),
            ("rest", #""rest": {"paging": {"stile": "none"}}"#, "rest.paging.stile"),
            ("rest", #""rest": {"paging": {}}"#, "rest.paging.style"),
            ("rest", #""rest": {"paging": "page"}"#, "rest.paging"),
            ("rest", #""rest": {"overlap": "60"}"#, "rest.overlap"),
            ("rest", #""rest": {"overlap": -1}"#, "rest.overlap"),
            ("rest", #""rest": {"update": "post"}"#, "rest.update"),
            ("rest", #""rest": {"ids": "both"}"#, "rest.ids"),
            ("rest", #""rest": {"idempotency": "Idempotency Key"}"#, "rest.idempotency"),
            ("rest", #""rest": {"preconditions": "If Match"}"#, "rest.preconditions"),
            ("rest", #""rest": {"marker": 1}"#, "rest.marker"),
            ("rest", #""rest": {"preconditions": "If-Match", "verson": "rev"}"#, "rest.verson"),
            ("rest", #""rest": {"version": ""}"#, "rest.version"),
            ("rest", #""rest": {"deleted": ""}"#, "rest.deleted"),
            ("rest", #""rest": []"#, "rest"),
            ("rest", #""attempts": 0"#, "attempts"), ("rest", #""attempts": 1.5"#, "attempts"),
            ("rest", #""attemps": 2"#, "attemps"), ("rest", #""timeout": "1 s""#, "timeout"),
            ("rest", #""deleteConflicts": "clientWins""#, "deleteConflicts"),
            ("rest", #""deleteConflict": "editWins""#, "deleteConflict"),
            ("rest", #""credentials": {"comand": ["pass"]}"#, "credentials.comand"),
            ("rest", #""credentials": {"command": ["pass"], "timeout": 1}"#, "credentials.timeout"),
            ("rest", #""credentials": {"command": []}"#, "credentials"),
            ("rest", #""credentials": {"command": "pass"}"#, "credentials.command"),
            ("kinto", #""kinto": {"bucet": "team"}"#, "kinto.bucet"),
            ("kinto", #""kinto": {"collections": "x"}"#, "kinto.collections"),
            ("pocketbase", #""pocketbase": {"bach": 1}"#, "pocketbase.bach"),
            (
                "pocketbase", #""pocketbase": {"login": {"identity": "a", "password": "b", "colection": "c"}}"#,
                "pocketbase.login.colection"
            ),
            ("parse", #""parse": {"applicationId": "a"}"#, "parse.applicationId"),
            ("parse", #""parse": {"applicationID": "a", "restkey": "b"}"#, "parse.restkey"),
            ("changes", #""changes": {"schemaversion": 1}"#, "changes.schemaversion"),
        ])
    func invalidMembers(_ service: String, _ members: String, _ path: String) throws {
        let error = #expect(throws: SyncError.self) { try Self.configuration(members, service: service) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.path == path, "\(error?.description ?? "")")
    }

    @Test(
        "A misspelt or malformed member of an entity is rejected with its path",
        arguments: [
            (#"{"Task": {"naturalkey": ["title"]}}"#, "entities.Task.naturalkey"),
            (#"{"Task": {"naturalKey": "title"}}"#, "entities.Task.naturalKey"),
            (#"{"Task": {"naturalKey": ["title", 1]}}"#, "entities.Task.naturalKey[1]"),
            (#"{"Task": {"cascades": "both"}}"#, "entities.Task.cascades"),
            (#"{"Task": {"cascade": "client"}}"#, "entities.Task.cascade"),
            (#"{"Task": {"deleteConflicts": "never"}}"#, "entities.Task.deleteConflicts"),
            (#"{"Tag": {}, "Task": []}"#, "entities.Task"), ("{}", "entities"),
        ])
    func invalidEntityMembers(_ entities: String, _ path: String) throws {
        let error = #expect(throws: SyncError.self) {
            try Self.configuration(#""attempts": 1"#, entities: entities)
        }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.path == path, "\(error?.description ?? "")")
    }

    @Test("A URL or path may end with slashes", arguments: ["rest", "kinto"])
    func trailingSlashes(_ kind: String) async throws {
        let text = """
            {"service": "\(kind)", "url": "https://api.example.com/v1//", "entities": {"Task": {"path": "/tasks/"}}}
            """
        let memory = ServedMemory()
        let transport = Served { request, _ in
            await memory.note(request)
            return (200, [:], kind == "rest" ? [] : ["data": [], "responses": [["status": 204]]])
        }
        let service = try ServiceConfigurationFile(Data(text.utf8)).service(transport: transport)
        #expect(service.identity.hasPrefix("https://api.example.com/v1"))
        #expect(!service.identity.contains("v1/"))
        _ = try await service.pull(PullRequest(entity: "Task", cursor: nil))
        _ = try await service.push([
            PushOperation(entity: "Task", kind: .delete, id: "a", record: [:], version: nil, idempotencyKey: "k")
        ])
        let requests = await memory.requests
        #expect(requests.count >= 2)
        #expect(requests.allSatisfy { $0.contains(" /v1/") && !$0.contains("//") }, "\(requests)")
    }
}
