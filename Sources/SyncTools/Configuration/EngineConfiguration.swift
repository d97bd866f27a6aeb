public import Foundation
import HTTPTypes
import SyncCore
public import SyncService

/// A service and the entities that are kept in step with it, from a JSON file. `Docs/engine-configuration.schema.json` is its
/// form.
///
/// Secrets are in environment variables, whose names stand in the file as `${NAME}`.
public struct EngineConfiguration: Sendable {
    /// Which service.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// A REST service of no particular make.
        case rest
        /// Kinto.
        case kinto
        /// PocketBase.
        case pocketbase
        /// Parse.
        case parse
        /// A changes endpoint, as WatermelonDB's sync protocol has it.
        case changes
    }

    /// Which service.
    public let kind: Kind
    /// The entities, in the order of the file.
    public let entities: [SyncedEntity]
    /// How the engine goes about it.
    public var settings = EngineSettings()
    let url: URL
    let paths: [String: String]
    private let headers: [HTTPField.Name: String]
    /// How long to wait for an answer that does not come, and for the command that prints credentials.
    public let timeout: Duration
    private let rest: RESTOptions
    private let kinto: (bucket: String, collection: String)
    private let pocketBase: PocketBaseSection
    private let parse: ParseOptions?
    private let schemaVersion: Int
    /// The command that prints the value of the header that says who the user is, if there is one.
    public let credentialCommand: [String]?
    /// That header: `Authorization`, but of Parse the one with the session.
    public var credentialHeader: String { kind == .parse ? "X-Parse-Session-Token" : "Authorization" }
    /// Why no request can be made: a variable that is not set.
    private let unset: SyncError?

    /// - Parameters:
    ///   - environment: The values of `${NAME}`.
    ///   - makesRequests: Whether the service will be asked anything. Where it is not, as for ``SyncEngine/status()``,
    ///     ``SyncEngine/conflicts()`` and ``SyncEngine/resolve(_:key:domain:takingRemote:)``, variables that are not set are no
    ///     error: a request would end with one. Where one stands in what tells services and users apart (`url` or `identity`, `user`,
    ///     `pocketbase.login.identity`, `kinto.bucket`, `parse.applicationID`), nobody can tell whose the database is, and it is
    ///     not asked: there is no `otherService` then. Words that there is a choice of (`service`, `policy`, …) are needed always.
    /// - Throws: ``SyncError`` `unreadableFile`; `invalidConfiguration` with the path of what is wrong.
    public init(
        contentsOf url: URL, environment: [String: String] = ProcessInfo.processInfo.environment,
        makesRequests: Bool = true
    ) throws {
        let data: Data
        do {
            data = try FileContents.read(url.path)
        } catch {
            throw SyncError(
                .unreadableFile, "the configuration '\(url.path)' cannot be read",
                underlying: (error as? SyncError)?.underlying ?? error.localizedDescription, underlyingError: error)
        }
        try self.init(data, environment: environment, makesRequests: makesRequests)
    }

    /// - Parameters:
    ///   - environment: The values of `${NAME}`.
    ///   - makesRequests: See ``init(contentsOf:environment:makesRequests:)``.
    /// - Throws: ``SyncError`` `malformedJSON`; `invalidConfiguration` with the path of what is wrong.
    public init(
        _ json: Data, environment: [String: String] = ProcessInfo.processInfo.environment, makesRequests: Bool = true
    ) throws {
        let variables = ConfigurationVariables(environment, areNeeded: makesRequests)
        var reader = try ConfigurationReader(JSONValue(parsing: json), "", variables)
        _ = try reader.optional("$schema") { try $0.text() }
        kind = try reader.required("service") { try $0.choice(Kind.self) }
        url = try reader.required("url") { try $0.address() }
        settings.policy = try reader.optional("policy") { try $0.choice(ConflictPolicy.self) } ?? .clientWins
        settings.deleteConflicts =
            try reader.optional("deleteConflicts") { try $0.choice(DeleteConflictPolicy.self) } ?? .deleteWins
        settings.user = try reader.optional("user") { try $0.text() } ?? ""
        settings.identity = try reader.optional("identity") { try $0.identity() }
        settings.attempts = try reader.optional("attempts") { try $0.count() } ?? settings.attempts
        timeout = try reader.optional("timeout") { try $0.duration() } ?? .seconds(60)
        if let sweep = try reader.optional("sweep", { try $0.duration() }) { settings.sweepInterval = sweep }
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
        // Another login is another user.
        if settings.user.isEmpty { settings.user = pocketBase.login?.identity ?? "" }
        parse = try reader.optional("parse") { try $0.parse() }
        schemaVersion = try reader.optional("changes") { try $0.changes() } ?? 1
        try reader.end()
        unset = variables.unset.first
        let scope = settings.identity == nil ? Self.scope : Self.namedScope
        settings.isScopeKnown = !variables.unset.contains { scope.contains($0.path ?? "") }
        if kind != .rest, reader.has("rest") { throw reader.wrong("rest", "this is no REST service") }
        if kind != .kinto, reader.has("kinto") { throw reader.wrong("kinto", "this is no Kinto server") }
        if kind != .pocketbase, reader.has("pocketbase") {
            throw reader.wrong("pocketbase", "this is no PocketBase server")
        }
        if pocketBase.login != nil, reader.has("credentials") || headers[.authorization] != nil {
            throw reader.wrong(
                "pocketbase.login", "who signs in is said twice: leave out 'credentials' and the header Authorization")
        }
        if kind != .parse, reader.has("parse") { throw reader.wrong("parse", "this is no Parse server") }
        if kind != .changes, reader.has("changes") { throw reader.wrong("changes", "this is no changes endpoint") }
        if kind == .parse, parse == nil { throw reader.wrong("parse", "it is missing: name the applicationID") }
    }

    /// The members that tell services and users apart.
    private static let scope: Set<String> = [
        "url", "user", "pocketbase.login.identity", "kinto.bucket", "parse.applicationID",
    ]

    /// The same where the service has a name in the file.
    private static let namedScope: Set<String> = ["identity", "user", "pocketbase.login.identity"]

    /// The service.
    ///
    /// - Parameter credentials: What says who the user is, besides the headers of the file.
    public func service(
        credentials: ServiceCredentials = .none, transport: (any HTTPTransport)? = nil
    ) -> any SyncService {
        let transport = unset.map(UnsetTransport.init) ?? transport ?? DefaultTransport(timeout: timeout)
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
            ChangesService(
                url: url, tables: paths, schemaVersion: schemaVersion, headers: headers, credentials: credentials,
                transport: transport)
        }
    }
}
