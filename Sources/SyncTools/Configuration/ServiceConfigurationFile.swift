package import Foundation
import HTTPTypes
import SyncCore
package import SyncService

/// A service and the synced entities, read from a JSON file. `Docs/engine-configuration.schema.json` describes the
/// format of the file.
///
/// Secrets should be in environment variables. The file refers to a variable as `${NAME}`.
package struct ServiceConfigurationFile: Sendable {
    /// The protocol of a service, as the member `service` names it.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A REST service, configured by the member `rest`.
        case rest
        /// A Kinto server.
        case kinto
        /// A PocketBase server.
        case pocketbase
        /// A Parse server.
        case parse
        /// An endpoint with the sync protocol of WatermelonDB.
        case changes
    }

    /// The value of the member `service`.
    package let kind: Kind
    /// The synced entities, in the order of the file.
    package let entities: [SyncedEntity]
    /// The configuration of the engine.
    package var engineConfiguration = SyncEngine.Configuration()
    let url: URL
    let paths: [String: String]
    private let headers: [HTTPField.Name: String]
    /// The longest time without received data, and the time limit of the command that prints the credentials.
    package let timeout: Duration
    private let rest: RESTOptions
    private let kinto: (bucket: String, collection: String)
    private let pocketBase: PocketBaseSection
    private let parse: ParseOptions?
    private let schemaVersion: Int
    /// The command that prints the value of ``credentialHeader``; nil if there is none.
    package let credentialCommand: [String]?
    /// The header that identifies the user: `Authorization`, or for Parse the header with the session token.
    package var credentialHeader: String { kind == .parse ? "X-Parse-Session-Token" : "Authorization" }
    /// The error for the first variable that is not set; nil if all are set. Every request fails with this error.
    private let unset: SyncError?

    /// Reads a configuration file.
    ///
    /// - Parameters:
    ///   - environment: The values for `${NAME}`.
    ///   - makesRequests: Whether requests will be sent to the service. If false, the initializer accepts an unset
    ///     variable, and a request fails with the error. Pass false for methods that send no requests, such as
    ///     ``SyncEngine/status(only:)``, ``SyncEngine/conflicts(only:)`` and
    ///     ``SyncEngine/resolve(_:key:field:keeping:)``. If the unset variable is in a member that identifies the
    ///     service or the user, the engine does not compare them with the database. These members are `user`
    ///     and `pocketbase.login.identity`, and also `identity` if the file has it, otherwise `url`, `kinto.bucket` and
    ///     `parse.applicationID`. Some members, such as `service`, `policy` and `naturalKey`, always require their
    ///     variables.
    /// - Throws: ``SyncError`` `unreadableFile`; `malformedJSON`; `invalidConfiguration` with the path of the invalid
    ///   member.
    package init(
        contentsOf url: URL, environment: [String: String] = ProcessInfo.processInfo.environment,
        makesRequests: Bool = true
    ) throws {
        let data: Data
        do {
            data = try FileContents.read(url.path)
        } catch {
            throw SyncError(
                .unreadableFile, "cannot read the configuration '\(url.path)'",
                underlying: (error as? SyncError)?.underlying ?? error.localizedDescription, underlyingError: error)
        }
        try self.init(data, environment: environment, makesRequests: makesRequests)
    }

    /// Reads a configuration from JSON.
    ///
    /// - Parameters:
    ///   - environment: The values for `${NAME}`.
    ///   - makesRequests: See ``init(contentsOf:environment:makesRequests:)``.
    /// - Throws: ``SyncError`` `malformedJSON`; `invalidConfiguration` with the path of the invalid member.
    package init(
        _ json: Data, environment: [String: String] = ProcessInfo.processInfo.environment, makesRequests: Bool = true
    ) throws {
        let variables = ConfigurationVariables(environment, areNeeded: makesRequests)
        var reader = try ConfigurationReader(JSONValue(parsing: json), "", variables)
        _ = try reader.optional("$schema") { try $0.text() }
        kind = try reader.required("service") { try $0.choice(Kind.self) }
        url = try reader.required("url") { try $0.address() }
        engineConfiguration.conflictPolicy =
            try reader.optional("policy") { try $0.choice(ConflictPolicy.self) } ?? .clientWins
        engineConfiguration.deleteConflictPolicy =
            try reader.optional("deleteConflicts") { try $0.choice(DeleteConflictPolicy.self) } ?? .deleteWins
        engineConfiguration.userID = try reader.optional("user") { try $0.text() } ?? ""
        engineConfiguration.serviceIdentity = try reader.optional("identity") { try $0.nonEmptyText() }
        engineConfiguration.maxAttempts =
            try reader.optional("attempts") { try $0.count() } ?? engineConfiguration.maxAttempts
        timeout = try reader.optional("timeout") { try $0.duration() } ?? .seconds(60)
        if let sweep = try reader.optional("sweep", { try $0.duration() }) {
            engineConfiguration.reconciliationInterval = sweep
        }
        headers = try reader.optional("headers") { try $0.headers() } ?? [:]
        credentialCommand = try reader.optional("credentials") { try $0.command() }
        let listed = try reader.required("entities") { try $0.entities() }
        entities = listed.map(\.entity)
        paths = Dictionary(listed.compactMap { listed in listed.path.map { (listed.entity.name, $0) } }) { first, _ in
            first
        }
        rest = try reader.optional("rest") { try $0.rest() } ?? RESTOptions()
        kinto = try reader.optional("kinto") { try $0.kinto() } ?? ("default", "{path}")
        pocketBase = try reader.optional("pocketbase") { try $0.pocketBase() } ?? PocketBaseSection()
        // A login identifies the user. The engine then rejects a database that was synced with another login.
        if engineConfiguration.userID.isEmpty { engineConfiguration.userID = pocketBase.login?.identity ?? "" }
        parse = try reader.optional("parse") { try $0.parse() }
        schemaVersion = try reader.optional("changes") { try $0.changes() } ?? 1
        try reader.end()
        unset = variables.unset.first
        let scope = engineConfiguration.serviceIdentity == nil ? Self.scope : Self.namedScope
        engineConfiguration.isScopeKnown = !variables.unset.contains { scope.contains($0.path ?? "") }
        for other in Kind.allCases where other != kind && reader.has(other.rawValue) {
            throw reader.wrong(other.rawValue, "the service is not of type \(other.rawValue); remove the member")
        }
        if pocketBase.login != nil, reader.has("credentials") || headers[.authorization] != nil {
            throw reader.wrong(
                "pocketbase.login", "two sources of credentials; remove 'credentials' and the header Authorization")
        }
        if kind == .parse, parse == nil { throw reader.wrong("parse", "the member is missing; set 'applicationID'") }
    }

    /// The members that identify the service and the user.
    private static let scope: Set<String> = [
        "url", "user", "pocketbase.login.identity", "kinto.bucket", "parse.applicationID",
    ]

    /// The members that identify the service and the user if the file has the member `identity`.
    private static let namedScope: Set<String> = ["identity", "user", "pocketbase.login.identity"]

    /// Returns the service that the file describes.
    ///
    /// - Parameters:
    ///   - credentials: The credentials of the user, in addition to the headers of the file. The service ignores the
    ///     credentials if the file has the member `pocketbase.login`.
    ///   - transport: The transport for the requests; nil for the default transport with the timeout of the file. The
    ///     service does not use the transport if a variable is not set.
    package func service(
        credentials: ServiceCredentials = .none, transport: (any HTTPTransport)? = nil
    ) -> any SyncService {
        let transport = unset.map(UnconfiguredTransport.init) ?? transport ?? DefaultTransport(timeout: timeout)
        return switch kind {
        case .rest:
            RESTService(
                baseURL: url, paths: paths, options: rest, headers: headers, credentials: credentials,
                transport: transport)
        case .kinto:
            KintoService(
                baseURL: url, bucket: kinto.bucket, collection: kinto.collection, paths: paths, headers: headers,
                credentials: credentials, transport: transport)
        case .pocketbase:
            PocketBaseService(
                baseURL: url, paths: paths, options: pocketBase.options, headers: headers,
                credentials: pocketBase.credentials(at: url, transport) ?? credentials, transport: transport)
        case .parse:
            ParseService(
                baseURL: url, options: parse ?? ParseOptions(applicationID: ""), classes: paths, headers: headers,
                credentials: credentials, transport: transport)
        case .changes:
            WatermelonService(
                url: url, tables: paths, schemaVersion: schemaVersion, headers: headers, credentials: credentials,
                transport: transport)
        }
    }
}

/// The member `pocketbase` of a configuration.
struct PocketBaseSection: Sendable {
    var options = PocketBaseOptions()
    /// The account for login with a password; nil for no login.
    var login: (collection: String, identity: String, password: String)?

    /// Returns credentials that log in with the password; nil without a login.
    func credentials(at url: URL, _ transport: any HTTPTransport) -> ServiceCredentials? {
        login.map { login in
            ServiceCredentials.pocketBase(
                at: url, collection: login.collection, identity: login.identity, password: login.password,
                transport: transport)
        }
    }
}

extension ConfigurationValue {
    func pocketBase() throws -> PocketBaseSection {
        var reader = try object()
        var section = PocketBaseSection()
        if let updated = try reader.optional("updated", { try $0.text() }) {
            section.options.updatedField = updated.isEmpty ? nil : updated
        }
        section.options.overlap = try reader.optional("overlap") { try $0.duration() } ?? section.options.overlap
        section.options.batchSize = try reader.optional("batch") { try $0.count() } ?? section.options.batchSize
        section.login = try reader.optional("login") { try $0.login() }
        try reader.end()
        return section
    }

    private func login() throws -> (collection: String, identity: String, password: String) {
        var reader = try object()
        let collection = try reader.optional("collection") { try $0.text() } ?? "users"
        let identity = try reader.required("identity") { try $0.text() }
        let password = try reader.required("password") { try $0.text() }
        try reader.end()
        return (collection, identity, password)
    }
}

/// A transport that throws an error instead of sending, because a variable of the configuration is not set.
struct UnconfiguredTransport: HTTPTransport {
    let error: SyncError

    func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) { throw error }
}

// MARK: Sections

extension ConfigurationValue {
    func headers() throws -> [HTTPField.Name: String] {
        var headers: [HTTPField.Name: String] = [:]
        for (key, value) in try members() {
            guard let name = HTTPField.Name(key) else { throw value.wrong("'\(key)' is not a valid header name") }
            let text = try value.text()
            if text.isEmpty { throw value.wrong(value.emptyVariable ?? "the header is empty") }
            guard HTTPField.isValidValue(text) else {
                throw value.wrong(
                    value.emptyVariable ?? "a header must be one line of text without leading or trailing spaces")
            }
            headers[name] = text
        }
        return headers
    }

    func nonEmptyText() throws -> String {
        let text = try text()
        if text.isEmpty { throw wrong(emptyVariable ?? "the value is empty") }
        return text
    }

    func command() throws -> [String] {
        var reader = try object()
        let command = try reader.required("command") { try $0.elements().map { try $0.text() } }
        try reader.end()
        if command.isEmpty { throw wrong("the command is empty") }
        return command
    }

    func entities() throws -> [(entity: SyncedEntity, path: String?)] {
        let entities = try members().map { name, value -> (entity: SyncedEntity, path: String?) in
            var reader = try value.object()
            let path = try reader.optional("path") { try $0.pathBelow() }
            var entity = SyncedEntity(name)
            entity.conflictPolicy = try reader.optional("policy") { try $0.choice(ConflictPolicy.self) }
            entity.deleteConflictPolicy = try reader.optional("deleteConflicts") {
                try $0.choice(DeleteConflictPolicy.self)
            }
            entity.fieldGroups =
                try reader.optional("groups") {
                    try $0.elements().map { try $0.elements().map { try $0.neededText() } }
                } ?? []
            entity.naturalKey =
                try reader.optional("naturalKey") { try $0.elements().map { try $0.neededText() } } ?? []
            entity.cascades = try reader.optional("cascades") { try $0.choice(SyncedEntity.Cascades.self) }
            try reader.end()
            return (entity, path)
        }
        if entities.isEmpty { throw wrong("no entities are configured") }
        return entities
    }

    func kinto() throws -> (bucket: String, collection: String) {
        var reader = try object()
        let bucket = try reader.optional("bucket") { try $0.text() } ?? "default"
        let collection = try reader.optional("collection") { try $0.text() } ?? "{path}"
        try reader.end()
        return (bucket, collection)
    }

    func rest() throws -> RESTOptions {
        var reader = try object()
        var options = RESTOptions()
        options.recordsKeyPath = try reader.optional("records") { try $0.text() } ?? ""
        options.paging = try reader.optional("paging") { try $0.paging() } ?? .none
        options.sinceParameter = try reader.optional("since") { try $0.text() }
        options.overlap = try reader.optional("overlap") { try $0.duration() } ?? options.overlap
        options.versionField = try reader.optional("version") { try $0.nonEmptyText() }
        options.deletedField = try reader.optional("deleted") { try $0.nonEmptyText() }
        options.updateMethod = try reader.optional("update") { try $0.choice(RESTOptions.Update.self) } ?? .patch
        options.idAssignment =
            try reader.optional("ids") { try $0.choice(ServiceCapabilities.IDAssignment.self) } ?? .server
        options.idempotencyHeader = try reader.optional("idempotency") { try $0.headerName() }
        options.markerField = try reader.optional("marker") { try $0.text() }
        options.preconditionHeader = try reader.optional("preconditions") { try $0.headerName() }
        options.maxConcurrentRequests = try reader.optional("concurrentRequests") { try $0.count() } ?? 1
        try reader.end()
        if options.isPreconditionUnused {
            throw reader.wrong(
                "preconditions",
                "preconditions require the version of every record; set 'version' to its field, or remove the member")
        }
        return options
    }

    private func headerName() throws -> String {
        let text = try neededText()
        guard HTTPField.Name(text) != nil else { throw wrong("'\(text)' is not a valid header name") }
        return text
    }

    private enum Style: String, CaseIterable { case page, offset, link, next, cursor, none }

    private func paging() throws -> RESTOptions.Paging {
        var reader = try object()
        let style = try reader.required("style") { try $0.choice(Style.self) }
        func limit(_ reader: inout ConfigurationReader) throws -> Int {
            try reader.optional("limit") { try $0.count() } ?? 100
        }
        let paging: RESTOptions.Paging
        switch style {
        case .none: paging = .none
        case .page:
            paging = .page(
                page: try reader.optional("page") { try $0.text() } ?? "page",
                size: try reader.optional("size") { try $0.text() }, limit: try limit(&reader),
                total: try reader.optional("total") { try $0.text() })
        case .offset:
            paging = .offset(
                offset: try reader.optional("offset") { try $0.text() } ?? "offset",
                size: try reader.optional("size") { try $0.text() } ?? "limit", limit: try limit(&reader),
                total: try reader.optional("total") { try $0.text() })
        case .link: paging = .link(size: try reader.optional("size") { try $0.text() }, limit: try limit(&reader))
        case .next:
            paging = .next(
                try reader.required("next") { try $0.text() }, size: try reader.optional("size") { try $0.text() },
                limit: try limit(&reader))
        case .cursor:
            paging = .cursor(
                cursor: try reader.optional("cursor") { try $0.text() } ?? "cursor",
                next: try reader.required("next") { try $0.text() },
                size: try reader.optional("size") { try $0.text() }, limit: try limit(&reader))
        }
        try reader.end()
        return paging
    }
}

// MARK: Endpoints

extension ConfigurationValue {
    func parse() throws -> ParseOptions {
        var reader = try object()
        var options = ParseOptions(applicationID: try reader.required("applicationID") { try $0.secret() })
        options.restKey = try reader.optional("restKey") { try $0.secret() }
        options.sessionToken = try reader.optional("sessionToken") { try $0.secret() }
        options.pageSize = try reader.optional("pageSize") { try $0.count() } ?? options.pageSize
        options.overlap = try reader.optional("overlap") { try $0.duration() } ?? options.overlap
        options.idAssignment =
            try reader.optional("ids") { try $0.choice(ServiceCapabilities.IDAssignment.self) } ?? options.idAssignment
        options.markerField = try reader.optional("marker") { try $0.field() }
        try reader.end()
        return options
    }

    func changes() throws -> Int {
        var reader = try object()
        let version = try reader.optional("schemaVersion") { try $0.count() } ?? 1
        try reader.end()
        return version
    }

    /// Returns the text, which must be a valid value of a header.
    private func secret() throws -> String {
        let text = try text()
        if text.isEmpty { throw wrong(emptyVariable ?? "the value is empty") }
        guard HTTPField.isValidValue(text) else {
            throw wrong(emptyVariable ?? "the value must be one line of text without leading or trailing spaces")
        }
        return text
    }

    private func field() throws -> String {
        let text = try neededText()
        guard text.wholeMatch(of: /[A-Za-z][A-Za-z0-9_]*/) != nil else {
            throw wrong("'\(text)' is not a valid field name: use letters, digits and _")
        }
        return text
    }
}
