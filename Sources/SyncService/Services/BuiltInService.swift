public import Foundation
public import HTTPTypes
import SyncCore

/// The services of this package. Each function returns a ``SyncService`` for an engine:
///
/// ```swift
/// let service = BuiltInService.rest(baseURL: url)
/// let engine = try SyncEngine(stack: stack, service: service, entities: ["Project", "Task"])
/// ```
///
/// The parameter `headers` contains header fields for every request. The service sends the requests with `transport`.
public enum BuiltInService {
    /// Returns a generic REST service. Each entity has a list with a URL, and each record has a URL below the URL of
    /// the list.
    ///
    /// - Parameters:
    ///   - paths: The path of each entity's list below the base URL; by default the plural of the entity's name in
    ///     snake_case.
    ///   - options: The ways in which the service splits lists into pages, reports changes and accepts changes.
    ///   - ids: The key path of the ID in the records of each entity, such as `meta.id`; by default the key path of the
    ///     entity's primary key.
    public static func rest(
        baseURL: URL, paths: [String: String] = [:], options: RESTOptions = RESTOptions(), ids: [String: String] = [:],
        headers: [HTTPField.Name: String] = [:], credentials: ServiceCredentials = .none,
        transport: any HTTPTransport = DefaultTransport()
    ) -> some SyncService {
        RESTService(
            baseURL: baseURL, paths: paths, options: options, ids: ids, headers: headers, credentials: credentials,
            transport: transport)
    }

    /// Returns a service for a [Kinto](https://docs.kinto-storage.org) server.
    ///
    /// - Parameters:
    ///   - baseURL: The URL of the server, including `/v1`.
    ///   - collection: The name of an entity's collection, in which `{path}` stands for the path of the entity.
    ///   - paths: The path of each entity; by default the plural of the entity's name in snake_case.
    ///   - pageSize: The largest number of records in a page.
    public static func kinto(
        baseURL: URL, bucket: String = "default", collection: String = "{path}", paths: [String: String] = [:],
        pageSize: Int = 1000, headers: [HTTPField.Name: String] = [:], credentials: ServiceCredentials = .none,
        transport: any HTTPTransport = DefaultTransport()
    ) -> some SyncService {
        KintoService(
            baseURL: baseURL, bucket: bucket, collection: collection, paths: paths, pageSize: pageSize,
            headers: headers, credentials: credentials, transport: transport)
    }

    /// Returns a service for a [Parse](https://docs.parseplatform.org/rest/guide/) server. The service supports files.
    ///
    /// - Parameters:
    ///   - baseURL: The URL above `/classes`.
    ///   - restKey: The REST API key; nil if the server does not require a key.
    ///   - sessionToken: The session token of a user; nil for no user, or if `credentials` provides
    ///     `X-Parse-Session-Token`. With `credentials`, the service refreshes the token after status 401 or error 209.
    ///   - classes: The class of each entity; by default the class with the entity's name.
    ///   - idAssignment: The side that assigns the ID of a new row. Use `.client` only with a server that has
    ///     `allowCustomObjectId` set.
    ///   - markerField: The name of the field, in all classes, for the idempotency key of a new row; nil for none.
    ///     After a lost response, the engine searches for a record with this key.
    ///   - pageSize: The largest number of records in a page. A server may return smaller pages.
    ///   - overlap: The length of time by which each pull overlaps the previous pull. A record may become visible only
    ///     after a pull has returned records with later changes. Without the overlap, the next pull would miss this
    ///     record.
    public static func parse(
        baseURL: URL, applicationID: String, restKey: String? = nil, sessionToken: String? = nil,
        classes: [String: String] = [:], idAssignment: ServiceCapabilities.IDAssignment = .server,
        markerField: String? = nil,
        pageSize: Int = 1000, overlap: Duration = .seconds(60), headers: [HTTPField.Name: String] = [:],
        credentials: ServiceCredentials = .none, transport: any HTTPTransport = DefaultTransport()
    ) -> some FileService {
        var options = ParseOptions(applicationID: applicationID, restKey: restKey)
        options.sessionToken = sessionToken
        options.idAssignment = idAssignment
        options.markerField = markerField
        options.pageSize = pageSize
        options.overlap = overlap
        return ParseService(
            baseURL: baseURL, options: options, classes: classes, headers: headers, credentials: credentials,
            transport: transport)
    }

    /// Returns a service for a [PocketBase](https://pocketbase.io) server. The service supports files.
    ///
    /// - Parameters:
    ///   - baseURL: The URL of the server, without `/api`.
    ///   - paths: The collection of each entity; by default the plural of the entity's name in snake_case.
    ///   - updatedField: The field with the time of the last change; nil to list all records in every pull. Every
    ///     collection must have the field. The field must have the type `autodate`, and the server must set the field
    ///     on create and on update.
    ///   - pageSize: The number of records in a page, at most 1000.
    ///   - batchSize: The largest number of changes in one atomic batch; 1 for no batches. If the server does not allow
    ///     batches, the service sends the changes one by one.
    ///   - overlap: The length of time by which each pull overlaps the previous pull. A record may become visible only
    ///     after a pull has returned records with later changes. Without the overlap, the next pull would miss this
    ///     record.
    ///   - credentials: Credentials with the user's token as the value of `Authorization`, such as the credentials from
    ///     ``ServiceCredentials/pocketBase(at:collection:identity:password:transport:)``.
    public static func pocketBase(
        baseURL: URL, paths: [String: String] = [:], updatedField: String? = "updated", pageSize: Int = 1000,
        batchSize: Int = 50, overlap: Duration = .seconds(60), headers: [HTTPField.Name: String] = [:],
        credentials: ServiceCredentials = .none, transport: any HTTPTransport = DefaultTransport()
    ) -> some FileService {
        var options = PocketBaseOptions()
        options.updatedField = updatedField
        options.pageSize = pageSize
        options.batchSize = batchSize
        options.overlap = overlap
        return PocketBaseService(
            baseURL: baseURL, paths: paths, options: options, headers: headers, credentials: credentials,
            transport: transport)
    }

    /// Returns a service for an endpoint that implements [WatermelonDB's sync
    /// protocol](https://watermelondb.dev/docs/Sync/Backend).
    ///
    /// - Parameters:
    ///   - url: The complete URL of the endpoint.
    ///   - tables: The table of each entity; by default the plural of the entity's name in snake_case.
    ///   - schemaVersion: The schema version that each pull request contains.
    public static func watermelon(
        url: URL, tables: [String: String] = [:], schemaVersion: Int = 1, headers: [HTTPField.Name: String] = [:],
        credentials: ServiceCredentials = .none, transport: any HTTPTransport = DefaultTransport()
    ) -> some SyncService {
        WatermelonService(
            url: url, tables: tables, schemaVersion: schemaVersion, headers: headers, credentials: credentials,
            transport: transport)
    }
}

extension ServiceCredentials {
    /// Returns credentials that log in a PocketBase user with a password. The service logs in before the first request,
    /// and again after the server rejects the token.
    ///
    /// - Parameters:
    ///   - url: The URL of the server, without `/api`.
    ///   - collection: The collection of the user; `_superusers` for an administrator.
    ///   - identity: The email address of the user, or the value of another identity field.
    public static func pocketBase(
        at url: URL, collection: String = "users", identity: String, password: String,
        transport: any HTTPTransport = DefaultTransport()
    ) -> ServiceCredentials {
        let exchange = ServiceHTTPClient(url, headers: [:], transport, .none)
        exchange.secrets.record(password)
        return ServiceCredentials { _ in
            let url = try exchange.url(["api", "collections", collection, "auth-with-password"])
            let response = try await exchange.send(
                .post, url, ["identity": .string(identity), "password": .string(password)])
            guard (200..<300).contains(response.status), case .string(let token)? = try response.json()["token"] else {
                throw ServiceError.unauthorized(
                    "cannot sign in as '\(identity)' of '\(collection)': \(response.message)")
            }
            return [.authorization: token]
        }
    }
}
