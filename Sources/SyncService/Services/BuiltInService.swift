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
/// All take the headers of every request, the credentials, and the transport that sends the requests.
public enum BuiltInService {
    /// Returns a generic REST service: a list for each entity, and rows below it by ID.
    ///
    /// - Parameters:
    ///   - paths: The path of each entity's list below the base URL; by default the plural of its name in snake_case.
    ///   - ids: The key path of the ID of a row, by entity, where it is not `id`.
    public static func rest(
        baseURL: URL, paths: [String: String] = [:], options: RESTOptions = RESTOptions(), ids: [String: String] = [:],
        headers: [HTTPField.Name: String] = [:], credentials: ServiceCredentials = .none,
        transport: any HTTPTransport = DefaultTransport()
    ) -> some SyncService {
        RESTService(
            baseURL: baseURL, paths: paths, options: options, ids: ids, headers: headers, credentials: credentials,
            transport: transport)
    }

    /// Returns a [Kinto](https://docs.kinto-storage.org) server.
    ///
    /// - Parameters:
    ///   - baseURL: The URL of the server, up to `/v1`.
    ///   - collection: The name of an entity's collection; `{path}` is replaced by the path of the entity.
    ///   - paths: The path of each entity; by default the plural of its name in snake_case.
    ///   - pageSize: The most rows of a page.
    public static func kinto(
        baseURL: URL, bucket: String = "default", collection: String = "{path}", paths: [String: String] = [:],
        pageSize: Int = 1000, headers: [HTTPField.Name: String] = [:], credentials: ServiceCredentials = .none,
        transport: any HTTPTransport = DefaultTransport()
    ) -> some SyncService {
        KintoService(
            baseURL: baseURL, bucket: bucket, collection: collection, paths: paths, pageSize: pageSize,
            headers: headers, credentials: credentials, transport: transport)
    }

    /// Returns a [Parse](https://docs.parseplatform.org/rest/guide/) server. It has files.
    ///
    /// - Parameters:
    ///   - baseURL: The URL above `/classes`.
    ///   - restKey: The REST API key; nil if the server needs none.
    ///   - sessionToken: The session token of a user; nil for no user, or if the credentials provide
    ///     `X-Parse-Session-Token`, which they refresh after error 209.
    ///   - classes: The class of each entity whose class has another name.
    ///   - idAssignment: Who assigns the ID of a new row. A server with `allowCustomObjectId` accepts IDs of clients.
    ///   - markerField: A field of all classes for the idempotency key of a new row. The engine finds a row by it after a
    ///     lost response.
    ///   - pageSize: The most rows of a page. A server may return fewer.
    ///   - overlap: How much of the time before the cursor is pulled again: a row may become visible after rows that
    ///     changed later.
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

    /// Returns a [PocketBase](https://pocketbase.io) server. It has files.
    ///
    /// - Parameters:
    ///   - baseURL: The URL of the server, without `/api`.
    ///   - paths: The collection of each entity; by default the plural of its name in snake_case.
    ///   - updatedField: The field with the time of the last change (type `autodate`, on create and on update), which every
    ///     collection has; nil if there is none, so that every pull lists all rows.
    ///   - pageSize: The number of rows of a page, at most 1000.
    ///   - batchSize: The most changes in one atomic batch; 1 for no batches. A server whose batches are disabled gets
    ///     single requests.
    ///   - overlap: How much of the time before the cursor is pulled again: a row gets its time before its transaction
    ///     commits.
    ///   - credentials: The token, as the value of `Authorization`;
    ///     ``ServiceCredentials/pocketBase(at:collection:identity:password:transport:)`` returns one.
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

    /// Returns an endpoint for [WatermelonDB's sync protocol](https://watermelondb.dev/docs/Sync/Backend).
    ///
    /// - Parameters:
    ///   - url: The complete URL of the endpoint.
    ///   - tables: The table of each entity; by default the plural of its name in snake_case.
    ///   - schemaVersion: The schema version to request.
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
    /// Returns credentials of a PocketBase user with a password. They log in with the first request, and again after the
    /// server rejects the token.
    ///
    /// - Parameters:
    ///   - url: The URL of the server, without `/api`.
    ///   - collection: The collection of the user; `_superusers` for an administrator.
    ///   - identity: The email address, or another identity field of the collection.
    public static func pocketBase(
        at url: URL, collection: String = "users", identity: String, password: String,
        transport: any HTTPTransport = DefaultTransport()
    ) -> ServiceCredentials {
        PocketBaseService.login(
            at: url, collection: collection, identity: identity, password: password, transport: transport)
    }
}
