package import Foundation
package import HTTPTypes
package import SyncCore

/// The service of a [PocketBase](https://pocketbase.io) server. The client assigns IDs, versions are times, and
/// reconciliation detects deletions.
///
/// The implementation relies on these properties:
///
/// - The server silently limits `perPage` to 1000. The response has the actual page size.
/// - IDs are 15 lower-case letters and digits, unless a collection sets another format.
/// - Only JSON fields have nulls. In other fields, an empty string represents null.
/// - There are no tombstones and no preconditions. A batch is atomic.
/// - The server returns 404 for a record that the collection's rules hide, and for an update or deletion that the rules
///   do not allow.
/// - An expired token is not an error. The server treats the request as a guest's request, and returns fewer records.
///   Therefore the service checks the token before it reports records as missing.
package struct PocketBaseService: SyncService, HTTPService {
    let exchange: ServiceHTTPClient
    let options: PocketBaseOptions
    let paths: [String: String]
    /// Whether the server rejected batches.
    let refusesBatches = Locked(false)
    /// The text fields that cannot be null, by entity.
    private var texts: [String: Set<String>] = [:]

    /// Creates a service for the collections of a server. See ``BuiltInService``.
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

    /// Returns the name of the collection and the field with the time of the last change.
    package func filter(of entity: String) -> String { "\(collection(of: entity)) \(options.updatedField ?? "")" }

    /// Returns a copy of the service, configured with the required string attributes of the model.
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

    /// Returns the components of the path to the records of an entity.
    func path(of entity: String) -> [String] { ["api", "collections", collection(of: entity), "records"] }

    // MARK: Rows

    /// Converts a JSON object to a record; returns nil for an object without an ID.
    func row(_ record: JSONValue, of entity: String) -> RemoteRecord? {
        guard case .object(let members) = record, case .string? = record["id"], let id = record["id"] else {
            return nil
        }
        // PocketBase stores null as an empty text in an optional field.
        let texts = texts[entity] ?? []
        let kept = members.filter { !["collectionId", "collectionName", "expand"].contains($0.key) }.map { member in
            member.value == "" && !texts.contains(member.key) ? JSONValue.Member(member.key, .null) : member
        }
        guard let name = options.updatedField, case .string(let time)? = record[name] else {
            return RemoteRecord(id: id, record: .object(kept))
        }
        // Two changes may have the same time, so an equal time does not prove that a record is unchanged.
        return RemoteRecord(
            id: id, record: .object(kept), version: time, modifiedAt: Date(isoText: time), isComplete: false)
    }
}

/// Options of a PocketBase server. The parameters of the function of ``BuiltInService`` describe them.
package struct PocketBaseOptions: Sendable, Hashable {
    package var updatedField: String? = "updated"
    /// The server sets the time of a change before the transaction commits.
    package var overlap = Duration.seconds(60)
    package var pageSize = 1000
    package var batchSize = 50

    /// Creates options with default values.
    package init() {}
}

// MARK: - Authentication

extension PocketBaseService {
    /// The number of expired tokens in a row after which a call fails.
    private static let mostTokens = 3

    /// Sends requests, and repeats them if the token has expired. The server does not report an expired token: it
    /// treats the request as that of a guest.
    ///
    /// - Parameter mayBeGuestResponse: A closure that returns whether an expired token may be the reason for a
    ///   response.
    /// - Throws: ``ServiceError`` `unauthorized` if the client cannot get a valid token.
    func retryingAsUser<T: Sendable>(
        if mayBeGuestResponse: (T) -> Bool = { _ in true }, _ body: () async throws -> T
    ) async throws -> T {
        for _ in 0..<Self.mostTokens {
            let (token, generation) = try await exchange.authorization()
            let response = try await body()
            guard mayBeGuestResponse(response), let token else { return response }
            guard let account = Self.accounts(ofToken: token) else {
                throw ServiceError.unauthorized("the value of 'Authorization' is not a PocketBase token")
            }
            // After a 401, the client refreshes the token, and throws `unauthorized` if that fails.
            let url = try exchange.url(["api", "collections", account, "auth-refresh"])
            let known = try await exchange.send(.post, url)
            guard (200..<300).contains(known.status) else { throw ServiceError.unauthorized(known.message) }
            if try await exchange.authorization().generation == generation { return response }
        }
        throw ServiceError.unauthorized("every new token is already expired")
    }

    /// Returns the ID of the collection of a token's user; nil if the text is not a PocketBase token.
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
        let response = try await exchange.send(.get, reference, headers: [.accept: "*/*"])
        switch response.status {
        case 200..<300: return response.body
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
        default: throw response.refusal
        }
    }

    private func fileToken() async throws -> String? {
        guard try await exchange.authorization().value != nil else { return nil }
        let response = try await retryingAsUser(if: \.isRefused) {
            try await exchange.send(.post, exchange.url(["api", "files", "token"]))
        }
        guard (200..<300).contains(response.status), case .string(let token)? = try response.json()["token"] else {
            return nil
        }
        return token
    }

    /// Uploads a file as a form. The server deletes the former file of the field.
    package func upload(
        _ data: Data, named name: String, type: String, to entity: String, id: JSONValue, path: [String]
    ) async throws -> PushOutcome {
        let form = MultipartForm(path.joined(separator: "."), fileName: name, fileType: type, data)
        return try await PushOutcome.of {
            let url = try exchange.url(self.path(of: entity) + RowAddress(id).parts)
            let response = try await retryingAsUser(if: \.isRefused) {
                try await exchange.send(.patch, url, content: .init(data: form.data, type: form.type))
            }
            guard (200..<300).contains(response.status) else {
                let operation = PushOperation(
                    entity: entity, kind: .update, id: id, record: [:], version: nil, idempotencyKey: "")
                return try await refused(response, operation)
            }
            guard let row = self.row(try response.json(), of: entity) else {
                return .unknown("the response is not a record")
            }
            return .applied(row)
        }
    }
}
