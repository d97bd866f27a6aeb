package import Foundation
package import HTTPTypes
package import SyncCore

/// The service of a [Parse](https://docs.parseplatform.org/rest/guide/) server. Parse stores objects in classes and has
/// special value types.
///
/// The implementation relies on these properties:
///
/// - `POST` returns only `objectId` and `createdAt`. `PUT` returns only `updatedAt`.
/// - A record omits fields without a value.
/// - A batch has at most 50 requests. The order of the requests is undefined.
/// - There are no tombstones, so a full listing detects deletions. There are no preconditions.
///
/// The service pages lists by `updatedAt` and `objectId`, not by offset. An offset has a limit and misses objects that
/// change during the pull.
///
/// The service uploads a file before it sets the field of the row. After a lost response, the server may have an unused
/// second copy of the file.
///
/// The service converts values to and from Parse types:
/// - An attribute of type `date` is a Date, and an attribute of type `binary` is Bytes, unless the model converts the
///   values.
/// - A to-one relationship is a Pointer.
/// - A many-to-many relationship is a Relation or an array of pointers, as the class defines.
/// - A File becomes its URL.
/// - An attribute of type `json` or `transformable` is not converted.
///
/// Fields have the names of the attributes and relationships, unless the model sets a remote key or a key case.
package struct ParseService: SyncService, HTTPService {
    static let batchSize = 50
    let exchange: ServiceHTTPClient
    let options: ParseOptions
    private let classes: [String: String]
    /// The conversion of records, by entity.
    private(set) var records: [String: ParseRecords] = [:]
    /// The kinds of to-many fields that this process has seen: true for an array, false for a relation. The key is the
    /// class and the name of the field.
    let arrays = Locked<[[String]: Bool]>([:])

    /// Creates a service for the classes of an application. See ``BuiltInService``.
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
        exchange = ServiceHTTPClient(baseURL, headers: fields, transport, credentials) { response in
            response.status == 401 || ParseError(response)?.code == ParseError.invalidSession
        }
    }

    /// Batches, but no tombstones and no preconditions.
    package var capabilities: ServiceCapabilities {
        let idempotency: ServiceCapabilities.CreateIdempotency =
            if options.idAssignment == .client {
                .clientID
            } else if let marker = options.markerField {
                .markerField(marker)
            } else {
                // A server recognizes a repeated `X-Parse-Request-Id` only if a setting enables this.
                .matchByContent
            }
        return ServiceCapabilities(
            idAssignment: options.idAssignment, deletionDetection: .listing, createIdempotency: idempotency,
            supportsPreconditions: false,
            providesModificationTimes: true, maxBatchSize: Self.batchSize, requiresClientCascades: true,
            returnsRecords: false,
            hasOrderedVersions: true)
    }

    /// The base URL and the application ID.
    package var identity: String { "\(exchange.base.absoluteString) \(options.applicationID)" }

    /// Returns the name of the class.
    package func filter(of entity: String) -> String { className(of: entity) }

    /// Returns a copy of the service, configured with the field types of the model.
    package func configured(for entities: [ServiceEntity]) -> ParseService {
        var service = self
        for entity in entities {
            service.records[entity.name] = ParseRecords(entity, className: className, files: files)
        }
        return service
    }

    /// Returns the key paths of `createdAt`, `updatedAt` and `sessionToken`, if the model has these fields.
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

    /// The prefix of the URLs of the server's files.
    var files: String { exchange.base.absoluteString + "/files/" }

    /// Returns the components of the path of a class. Some classes have a special path.
    func path(of className: String) -> [String] {
        switch className {
        case "_User": ["users"]
        case "_Role": ["roles"]
        case "_Installation": ["installations"]
        default: ["classes", className]
        }
    }
}

/// Options of a Parse server. The parameters of the function of ``BuiltInService`` describe them.
package struct ParseOptions: Sendable, Hashable {
    package var applicationID: String
    package var restKey: String?
    package var sessionToken: String?
    package var pageSize = 1000
    package var overlap = Duration.seconds(60)
    package var idAssignment = ServiceCapabilities.IDAssignment.server
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
        /// The request failed, and the server may have applied it.
        case failed
        /// The server did not apply the request. The same request may succeed later.
        case busy
        /// The object does not exist, or the server hides it from the user.
        case gone
        /// The object exists already.
        case duplicate
        /// The server received the request before, and has applied it or is applying it.
        case repeated
        /// The user must log in again.
        case login
        /// The server rejects the request permanently.
        case refused
    }

    let code: Int
    let text: String

    /// Creates an error from JSON; nil if the JSON is not a Parse error.
    init?(_ json: JSONValue) {
        guard case .number(let number)? = json["code"], let code = Int(number) else { return nil }
        self.code = code
        if case .string(let text)? = json["error"] { self.text = text } else { text = "" }
    }

    init?(_ response: ServiceHTTPClient.Response) {
        guard response.status >= 400, let json = try? response.json() else { return nil }
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

    /// The error of the request as a whole; nil if the Parse error concerns a single object.
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

// The service first uploads a file, to which the server assigns a name and a URL. Then it sets the field of the row to
// the file.
extension ParseService: FileService {
    /// Returns the URL in the record. If the record has only a name, returns the URL of the server's file with that
    /// name.
    package func reference(to name: String, of entity: String, id: JSONValue) throws -> URL {
        if let url = URL(string: name), url.scheme != nil { return url }
        return try exchange.url(["files", options.applicationID] + RowAddress(.string(name)).parts)
    }

    /// Downloads a file of the server.
    package func download(_ reference: URL) async throws -> Data {
        guard reference.isSameOrigin(as: exchange.base) else {
            throw FileError.elsewhere(reference.absoluteString)
        }
        let response = try await exchange.send(.get, reference, headers: [.accept: "*/*"])
        switch response.status {
        case 200..<300: return response.body
        case 403, 404: throw FileError.missing(reference.path)
        default: throw try refusal(response)
        }
    }

    /// Extracts the name from a URL, and removes the prefix that the server adds: 32 digits and an underscore.
    package func sentName(of name: String) -> String {
        let name = name.lastPathPart ?? name
        guard let mark = name.firstIndex(of: "_"), name[..<mark].allSatisfy(\.isHexDigit) else { return name }
        return String(name[name.index(after: mark)...])
    }

    /// Uploads the file, then updates the field of the row. The former file stays on the server, because deleting files
    /// requires the master key.
    package func upload(
        _ data: Data, named name: String, type: String, to entity: String, id: JSONValue, path: [String]
    ) async throws -> PushOutcome {
        guard let field = Self.field(at: path) else {
            return .rejected("'\(path.joined(separator: "."))' is a member of an object and cannot store a file")
        }
        return try await PushOutcome.of {
            let address = try self.path(of: className(of: entity)) + RowAddress(id).parts
            let url = try exchange.url(["files", Self.plainName(name)])
            let stored = try await exchange.send(.post, url, content: .init(data: data, type: type))
            guard (200..<300).contains(stored.status) else { return try refused(stored) }
            guard case .string(let storedName)? = try stored.json()["name"] else {
                return .unknown("the response to an upload has no 'name'")
            }
            let reference: JSONValue = ["__type": "File", "name": .string(storedName)]
            let naming = ChangeRequest(method: .put, path: address, body: .object([.init(field, reference)]))
            let operation = PushOperation(
                entity: entity, kind: .update, id: id, record: [:], version: nil, idempotencyKey: "")
            let outcome = self.outcome(try await send(naming, nil), operation)
            guard case .applied = outcome else { return outcome }
            guard case .found(let row)? = try await fetch([id], of: entity).first else { return .notFound }
            return .applied(row)
        }
    }

    private func refused(_ response: ServiceHTTPClient.Response) throws -> PushOutcome {
        guard let error = ParseError(response) else { throw try refusal(response) }
        if let failure = error.failure { throw failure }
        return .rejected(error.reason)
    }

    /// Returns the name of the file field at a key path; nil if the path cannot be a file. The path may end with the
    /// URL or name of the file, as in `photo.url`.
    private static func field(at path: [String]) -> String? {
        path.count == 1 || path.count == 2 && ["url", "name"].contains(path[1]) ? path[0] : nil
    }

    /// Returns a file name that the server accepts: at most 128 characters, with `_` in place of characters that the
    /// server does not accept. The extension stays.
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
