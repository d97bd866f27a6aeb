package import Foundation
package import HTTPTypes
package import SyncCore

/// A [Parse](https://docs.parseplatform.org/rest/guide/) server: classes of objects, with its own value types.
///
/// The implementation relies on these properties:
///
/// - `POST` returns `objectId` and `createdAt` only, `PUT` returns `updatedAt` only.
/// - A record omits fields without a value.
/// - A batch has 50 requests at most, in no defined order.
/// - Deleted objects leave no tombstones, so a full listing detects them. There are no preconditions.
///
/// Lists are paged by `updatedAt` and `objectId`, never by offset: an offset has a limit and misses rows that change
/// meanwhile.
///
/// A file is uploaded before its row names it. After a lost response the server may have the file twice, and the row
/// names one of them.
///
/// The service converts the value types of Parse. An attribute `date` is a Date, `binary` is Bytes, and a to-one
/// relationship is a Pointer. A many-to-many relationship is a Relation, or an array of pointers if the record has one.
/// A File is its URL. An attribute `json` and members of objects (`place.latitude`) have the values unconverted. Fields
/// have the names of the attributes, unless the model sets a remote key.
package struct ParseService: SyncService {
    static let batchSize = 50
    let exchange: ServiceHTTPClient
    let options: ParseOptions
    private let classes: [String: String]
    /// The record format of each entity.
    private(set) var records: [String: ParseRecords] = [:]
    /// Whether a field that lists other rows is an array, by class and name, as far as this process has seen.
    let arrays = Locked<[[String]: Bool]>([:])

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - baseURL: The URL above `/classes`.
    ///   - classes: The class of each entity whose class has another name.
    ///   - credentials: Provides `X-Parse-Session-Token`. It is refreshed after error 209.
    package init(
        baseURL: URL, options: ParseOptions, classes: [String: String] = [:], headers: [HTTPField.Name: String] = [:],
        credentials: ServiceCredentials = .none, transport: any HTTPTransport = DefaultTransport()
    ) {
        self.options = options
        self.classes = classes
        let own: [(String, String?)] = [
            ("X-Parse-Application-Id", options.applicationID), ("X-Parse-REST-API-Key", options.restKey),
            ("X-Parse-Session-Token", options.sessionToken),
        ]
        var fields = headers
        for case (let name, let value?) in own {
            if let name = HTTPField.Name(name) { fields[name] = value }
        }
        exchange = ServiceHTTPClient(baseURL, headers: fields, transport, credentials) { answer in
            answer.status == 401 || ParseError(answer)?.code == ParseError.invalidSession
        }
    }

    /// Batches, without tombstones and preconditions.
    package var capabilities: ServiceCapabilities {
        let idempotency: ServiceCapabilities.CreateIdempotency =
            if options.idAssignment == .client {
                .clientID
            } else if let marker = options.markerField {
                .markerField(marker)
            } else {
                // A server recognises `X-Parse-Request-Id` only if it is configured to.
                .matchByContent
            }
        return ServiceCapabilities(
            idAssignment: options.idAssignment, deletionDetection: .listing, createIdempotency: idempotency,
            supportsPreconditions: false,
            providesModificationTimes: true, maxBatchSize: Self.batchSize, requiresClientCascades: true,
            returnsRecords: false,
            hasOrderedVersions: true)
    }

    /// The delay of `Retry-After` in a successful response.
    package var backoff: Duration? { exchange.backoff }

    /// Returns a text without the values of secret headers.
    package func hidingSecrets(in text: String) -> String { exchange.secrets.hiding(text) }

    /// The base URL and the application ID.
    package var identity: String { "\(exchange.base.absoluteString) \(options.applicationID)" }

    /// Returns the class.
    package func filter(of entity: String) -> String { className(of: entity) }

    /// Returns the service with the field types of the model.
    package func configured(for entities: [ServiceEntity]) -> ParseService {
        var service = self
        for entity in entities {
            service.records[entity.name] = ParseRecords(entity, className: className, files: files)
        }
        return service
    }

    /// Returns `createdAt` and `updatedAt`, if the model has them.
    package func serverOwnedFields(of entity: String) -> [[String]] {
        let records = records(of: entity)
        return records.fields.filter(records.isOwned).map(\.member.keyPath)
    }

    func className(of entity: String) -> String { classes[entity] ?? entity }

    func records(of entity: String) -> ParseRecords {
        records[entity]
            ?? ParseRecords(
                ServiceEntity(entity, keyPaths: [[ParseRecords.id]], fields: []), className: className, files: files)
    }

    /// The beginning of the URLs of the server's files.
    var files: String {
        let base = exchange.base.absoluteString
        return (base.hasSuffix("/") ? base : base + "/") + "files/"
    }

    /// Returns the path of a class. Some classes have a special path.
    func path(of className: String) -> [String] {
        switch className {
        case "_User": ["users"]
        case "_Role": ["roles"]
        case "_Installation": ["installations"]
        default: ["classes", className]
        }
    }
}

/// The application and options of a Parse server.
package struct ParseOptions: Sendable, Hashable {
    /// The ID of the application.
    package var applicationID: String
    /// The REST API key; nil if the server needs none.
    package var restKey: String?
    /// The session token of a user; nil for no user, or if the credentials provide `X-Parse-Session-Token`.
    package var sessionToken: String?
    /// The most rows of a page. A server may return fewer.
    package var pageSize = 1000
    /// How much of the time before the cursor is pulled again: a row may become visible after rows that changed later.
    package var overlap = Duration.seconds(60)
    /// Who assigns the ID of a new row. A server with `allowCustomObjectId` accepts IDs of clients.
    package var idAssignment = ServiceCapabilities.IDAssignment.server
    /// A field of all classes for the idempotency key of a new row. The engine finds a row by it after a lost response.
    package var markerField: String?

    /// Creates options for an application.
    package init(applicationID: String, restKey: String? = nil) {
        self.applicationID = applicationID
        self.restKey = restKey
    }
}

/// An error of Parse: a code and a text.
struct ParseError {
    static let invalidSession = 209
    static let wrongType = 111

    /// The meaning of an error code.
    enum Meaning {
        /// The request failed, and may have been applied.
        case failed
        /// The request was not applied, and may succeed later.
        case busy
        /// The object does not exist, or the user must not see it.
        case gone
        /// The object exists already.
        case duplicate
        /// The request was received before: it was applied, or is being applied.
        case repeated
        /// The user must log in again.
        case login
        /// The request is rejected permanently.
        case refused
    }

    let code: Int
    let text: String

    /// Returns nil for JSON that is no Parse error.
    init?(_ json: JSONValue) {
        guard case .number(let number)? = json["code"], let code = Int(number) else { return nil }
        self.code = code
        if case .string(let text)? = json["error"] { self.text = text } else { text = "" }
    }

    init?(_ answer: ServiceHTTPClient.Response) {
        guard answer.status >= 400, let json = try? answer.json() else { return nil }
        self.init(json)
    }

    var meaning: Meaning {
        switch code {
        // Internal error; timeout.
        case 1, 124: .failed
        // Service unavailable; connection failed; too many requests.
        case 2, 100, 155: .busy
        case 101: .gone
        case 137: .duplicate
        case 159: .repeated
        case Self.invalidSession: .login
        // 111 wrong type, 119 not allowed, 142 failed validation, and all others.
        default: .refused
        }
    }

    var reason: String { "error \(code): \(text)" }

    /// The error for a query; nil for errors about single objects.
    var failure: ServiceError? {
        switch meaning {
        case .failed: .unreachable(reason)
        case .busy: .retryLater(after: nil, reason)
        case .login: .unauthorized(reason)
        case .gone, .duplicate, .repeated, .refused: nil
        }
    }
}

// MARK: - Files

// A file is uploaded by itself, and gets a name and a URL. Then the row is updated. The field of the row has the URL.
extension ParseService: FileService {
    /// Returns the URL that the row has. If the row has a name only, returns the URL of the server's file with that
    /// name.
    package func reference(to name: String, of entity: String, id: JSONValue) throws -> URL {
        if let url = URL(string: name), url.scheme != nil { return url }
        return try exchange.url(["files", options.applicationID] + RowAddress(.string(name)).parts)
    }

    /// Downloads a file.
    package func download(_ reference: URL) async throws -> Data {
        guard reference.isSameOrigin(as: exchange.base) else {
            throw FileError.elsewhere(reference.absoluteString)
        }
        let answer = try await exchange.send(.get, reference, headers: [.accept: "*/*"])
        switch answer.status {
        case 200..<300: return answer.body
        case 403, 404: throw FileError.missing(reference.path)
        default: throw try refusal(answer)
        }
    }

    /// Removes the prefix of `PREFIX_NAME`: 32 digits that the server adds, unless it is configured to preserve names.
    package func sentName(of name: String) -> String {
        let name = name.lastPathPart ?? name
        guard let mark = name.firstIndex(of: "_"), name[..<mark].allSatisfy(\.isHexDigit) else { return name }
        return String(name[name.index(after: mark)...])
    }

    /// Uploads the bytes, then updates the field of the row. The former file stays on the server, which deletes files
    /// only with its master key.
    package func upload(
        _ data: Data, named name: String, type: String, to entity: String, id: JSONValue, path: [String]
    ) async throws -> PushOutcome {
        try await upload(FileUpload(entity: entity, id: id, path: path, name: name, type: type, data: data))
    }

    private func upload(_ file: FileUpload) async throws -> PushOutcome {
        guard let field = Self.field(at: file.path) else {
            return .rejected("'\(file.path.joined(separator: "."))' is a member of an object and cannot store a file")
        }
        do {
            let id = try RowAddress(file.id).parts
            let url = try exchange.url(["files", Self.plainName(file.name)])
            let stored = try await exchange.send(.post, url, content: .init(data: file.data, type: file.type))
            guard (200..<300).contains(stored.status) else { return try refused(stored) }
            guard case .string(let name)? = try stored.json()["name"] else {
                return .unknown("the response to an upload has no 'name'")
            }
            let reference: JSONValue = ["__type": "File", "name": .string(name)]
            let naming = Request(
                method: .put, path: path(of: className(of: file.entity)) + id,
                body: .object([.init(field, reference)]))
            let operation = PushOperation(
                entity: file.entity, kind: .update, id: file.id, record: [:], version: nil, idempotencyKey: "")
            let outcome = outcome(try await send(naming, nil), operation)
            guard case .applied = outcome else { return outcome }
            guard case .found(let row)? = try await fetch([file.id], of: file.entity).first else { return .notFound }
            return .applied(row)
        } catch let refusal as RowAddress.Refusal {
            return .rejected(refusal.description)
        } catch ServiceError.invalidResponse(let text) {
            return .unknown(text)
        }
    }

    private func refused(_ answer: ServiceHTTPClient.Response) throws -> PushOutcome {
        guard let error = ParseError(answer) else { throw try refusal(answer) }
        if let failure = error.failure { throw failure }
        return .rejected(error.reason)
    }

    /// Returns the field of a file. The path may lead to its URL or name (`photo.url`).
    private static func field(at path: [String]) -> String? {
        path.count == 1 || path.count == 2 && ["url", "name"].contains(path[1]) ? path[0] : nil
    }

    /// Returns a name that the server accepts: only certain characters, at most 128, with the extension.
    private static func plainName(_ name: String) -> String {
        let plain = String(
            name.map { character in
                character.isASCII && (character.isLetter || character.isNumber || "@. ~_-".contains(character))
                    ? character : "_"
            })
        guard plain.count > 128 else { return plain }
        let ending = plain.split(separator: ".").last.map { "." + $0 } ?? ""
        return ending.count < 64 ? plain.prefix(128 - ending.count) + ending : String(plain.prefix(128))
    }
}
