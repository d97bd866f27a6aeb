package import Foundation
package import HTTPTypes
package import SyncCore

/// A [PocketBase](https://pocketbase.io) server: IDs that the client assigns, times as versions, reconciliation for
/// deletions.
///
/// The implementation relies on these properties:
///
/// - `perPage` is capped at 1000 silently; the response has the actual size.
/// - IDs are 15 lower-case letters and digits, unless a collection sets another format.
/// - Only JSON fields have nulls. In other fields, an empty text stands for null.
/// - There are no tombstones and no preconditions. A batch is atomic.
/// - A row that the rules hide is answered as missing. So is a row that the rules protect from changes.
/// - An expired token is no error: the request is answered as that of a guest, who sees less. So the service checks the
///   token before it reports rows as missing.
package struct PocketBaseService: SyncService {
    let exchange: ServiceHTTPClient
    let options: PocketBaseOptions
    let paths: [String: String]
    /// Whether the server rejected batches.
    let refusesBatches = Locked(false)
    /// The text fields that are never null, by entity.
    private var texts: [String: Set<String>] = [:]

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - baseURL: The URL of the server, without `/api`.
    ///   - paths: The collection of each entity; by default the plural of its name in snake_case.
    ///   - credentials: The token, as the value of `Authorization`;
    ///     ``login(at:collection:identity:password:transport:)`` returns one.
    package init(
        baseURL: URL, paths: [String: String] = [:], options: PocketBaseOptions = PocketBaseOptions(),
        headers: [HTTPField.Name: String] = [:], credentials: ServiceCredentials = .none,
        transport: any HTTPTransport = DefaultTransport()
    ) {
        exchange = ServiceHTTPClient(baseURL, headers: headers, transport, credentials)
        self.options = options
        self.paths = paths
    }

    /// IDs that the client assigns, reconciliation for deletions, and batches.
    package var capabilities: ServiceCapabilities {
        ServiceCapabilities(
            idAssignment: .client, deletionDetection: .listing, createIdempotency: .clientID,
            supportsPreconditions: false,
            providesModificationTimes: options.updatedField != nil, maxBatchSize: options.batchSize,
            generatedIDLength: 15,
            hasOrderedVersions: options.updatedField != nil)
    }

    /// The delay of `Retry-After` in a successful response.
    package var backoff: Duration? { exchange.backoff }

    /// Returns a text without the values of secret headers.
    package func hidingSecrets(in text: String) -> String { exchange.secrets.hiding(text) }

    /// The base URL.
    package var identity: String { exchange.base.absoluteString }

    /// Returns the collection and the field with the time of the last change.
    package func filter(of entity: String) -> String { "\(collection(of: entity)) \(options.updatedField ?? "")" }

    /// Returns the service with the text fields of the model that are never null.
    package func configured(for entities: [ServiceEntity]) -> PocketBaseService {
        var service = self
        for entity in entities {
            let texts = entity.fields.filter { $0.type == .value(.string) && !$0.isOptional && $0.keyPath.count == 1 }
            service.texts[entity.name] = Set(texts.compactMap(\.keyPath.first))
        }
        return service
    }

    func collection(of entity: String) -> String {
        paths[entity] ?? Inflection.plural(Inflection.snakeCase(entity))
    }

    /// Returns the parts of the path to the rows of an entity.
    func path(of entity: String) -> [String] { ["api", "collections", collection(of: entity), "records"] }

    // MARK: Rows

    /// Returns the row of a record; nil for a record without an ID.
    func row(_ record: JSONValue, of entity: String) -> RemoteRecord? {
        guard case .object(let members) = record, case .string? = record["id"], let id = record["id"] else {
            return nil
        }
        // An empty text in an optional field may have been sent as null.
        let texts = texts[entity] ?? []
        let kept = members.filter { !["collectionId", "collectionName", "expand"].contains($0.key) }.map { member in
            member.value == "" && !texts.contains(member.key) ? JSONValue.Member(member.key, .null) : member
        }
        guard let name = options.updatedField, case .string(let time)? = record[name] else {
            return RemoteRecord(id: id, record: .object(kept))
        }
        // Two changes may have the same time.
        return RemoteRecord(
            id: id, record: .object(kept), version: time, modifiedAt: Date(isoText: time), isComplete: false)
    }
}

/// The options of a PocketBase server.
package struct PocketBaseOptions: Sendable, Hashable {
    /// The field with the time of the last change (type `autodate`, on create and on update), which every collection
    /// has; nil if there is none, so that every pull lists all rows.
    package var updatedField: String? = "updated"
    /// How much of the time before the cursor is pulled again: a row gets its time before its transaction commits.
    package var overlap = Duration.seconds(60)
    /// The number of rows of a page, at most 1000.
    package var pageSize = 1000
    /// The most changes in one atomic batch; 1 for no batches. A server whose batches are disabled gets single
    /// requests.
    package var batchSize = 50

    /// Creates options with the defaults of PocketBase.
    package init() {}
}

// MARK: - Authentication

extension PocketBaseService {
    /// The most expired tokens during one call.
    private static let mostTokens = 3

    /// Sends requests, and repeats them if the token expired meanwhile: the server then answers as to a guest, without
    /// an error.
    ///
    /// - Parameter isDoubtful: Returns whether an expired token may be the reason for this answer.
    func retryingAsUser<T: Sendable>(
        if isDoubtful: (T) -> Bool = { _ in true }, _ body: () async throws -> T
    ) async throws -> T {
        for _ in 0..<Self.mostTokens {
            let (token, generation) = try await exchange.authorization()
            let answer = try await body()
            guard isDoubtful(answer), let token else { return answer }
            guard let account = Self.accounts(ofToken: token) else {
                throw ServiceError.unauthorized("'Authorization' is not a PocketBase token")
            }
            // After a 401, the client refreshes the token, and throws `unauthorized` if that fails.
            let url = try exchange.url(["api", "collections", account, "auth-refresh"])
            let known = try await exchange.send(.post, url)
            guard (200..<300).contains(known.status) else { throw ServiceError.unauthorized(known.message) }
            if try await exchange.authorization().generation == generation { return answer }
        }
        throw ServiceError.unauthorized("every new token is already expired")
    }

    /// Returns the collection of the user of a token; nil if the text is no token of PocketBase.
    static func accounts(ofToken token: String) -> String? {
        let parts = token.split(separator: " ").last?.split(separator: ".") ?? []
        guard parts.count == 3 else { return nil }
        var text = parts[1].replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        while text.count % 4 != 0 { text += "=" }
        guard let data = Data(base64Encoded: text),
            case .string(let name)? = try? JSONValue(parsing: data)["collectionId"]
        else { return nil }
        return name
    }

    /// Returns credentials of a user with a password. They log in with the first request, and again after the server
    /// rejects the token.
    ///
    /// - Parameters:
    ///   - url: The URL of the server, without `/api`.
    ///   - collection: The collection of the user; `_superusers` for an administrator.
    ///   - identity: The email address, or another identity field of the collection.
    package static func login(
        at url: URL, collection: String = "users", identity: String, password: String,
        transport: any HTTPTransport = DefaultTransport()
    ) -> ServiceCredentials {
        let exchange = ServiceHTTPClient(url, headers: [:], transport, .none)
        exchange.secrets.record(password)
        return ServiceCredentials { _ in
            let url = try exchange.url(["api", "collections", collection, "auth-with-password"])
            let answer = try await exchange.send(
                .post, url, ["identity": .string(identity), "password": .string(password)])
            guard (200..<300).contains(answer.status), case .string(let token)? = try answer.json()["token"] else {
                throw ServiceError.unauthorized(
                    "cannot sign in as '\(identity)' of '\(collection)': \(answer.message)")
            }
            return [.authorization: token]
        }
    }
}

// MARK: - Files

extension PocketBaseService: FileService {
    /// Returns the URL `/api/files/COLLECTION/ID/NAME`.
    package func reference(to name: String, of entity: String, id: JSONValue) throws -> URL {
        try exchange.url(
            ["api", "files", collection(of: entity)] + RowAddress(id).parts + RowAddress(.string(name)).parts)
    }

    /// Downloads a file. A protected file needs a file token of the user.
    package func download(_ reference: URL) async throws -> Data {
        guard reference.isSameOrigin(as: exchange.base) else {
            throw FileError.elsewhere(reference.absoluteString)
        }
        let answer = try await exchange.send(.get, reference, headers: [.accept: "*/*"])
        switch answer.status {
        case 200..<300: return answer.body
        case 403, 404:
            guard let token = try await fileToken() else { throw FileError.missing(reference.path) }
            let address = "\(reference.absoluteString)?token=\(token.escapedForURL)"
            let url = try exchange.url(following: address, from: exchange.base)
            let again = try await exchange.send(.get, url, headers: [.accept: "*/*"])
            switch again.status {
            case 200..<300: return again.body
            case 403, 404: throw FileError.missing(reference.path)
            default: throw again.refusal
            }
        default: throw answer.refusal
        }
    }

    private func fileToken() async throws -> String? {
        guard try await exchange.authorization().value != nil else { return nil }
        let answer = try await retryingAsUser(if: \.isRefused) {
            try await exchange.send(.post, exchange.url(["api", "files", "token"]))
        }
        guard (200..<300).contains(answer.status), case .string(let token)? = try answer.json()["token"] else {
            return nil
        }
        return token
    }

    /// Uploads a file as a form. The server deletes the former file of the field.
    package func upload(
        _ data: Data, named name: String, type: String, to entity: String, id: JSONValue, path: [String]
    ) async throws -> PushOutcome {
        try await upload(FileUpload(entity: entity, id: id, path: path, name: name, type: type, data: data))
    }

    private func upload(_ file: FileUpload) async throws -> PushOutcome {
        let form = MultipartForm(file.path.joined(separator: "."), file)
        do {
            let url = try exchange.url(path(of: file.entity) + RowAddress(file.id).parts)
            let answer = try await retryingAsUser(if: \.isRefused) {
                try await exchange.send(.patch, url, content: .init(data: form.data, type: form.type))
            }
            guard (200..<300).contains(answer.status) else {
                let operation = PushOperation(
                    entity: file.entity, kind: .update, id: file.id, record: [:], version: nil, idempotencyKey: "")
                return try await refused(answer, operation)
            }
            guard let row = row(try answer.json(), of: file.entity) else {
                return .unknown("the response is not a record")
            }
            return .applied(row)
        } catch let refusal as RowAddress.Refusal {
            return .rejected(refusal.description)
        } catch ServiceError.invalidResponse(let text) {
            return .unknown(text)
        }
    }
}
