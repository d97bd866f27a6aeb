public import Foundation
public import HTTPTypes
public import SyncCore

/// A [PocketBase](https://pocketbase.io) server: ids of the client's, times as versions, deletions by sweeps.
///
/// Known of it, and relied on: `perPage` is capped at 1000 without a word, and the answer says so; ids are 15 lower-case letters and
/// digits, unless a collection says otherwise; there are no nulls but in JSON fields, an empty text stands for one; there are no
/// tombstones and no preconditions; a batch is done whole or not at all. A row that the rules hide is answered as one that is not
/// there, and so is one that they do not let be changed. A token that ran out is no error: its bearer is somebody unknown, who sees
/// less; so it is asked whether the token counts before what is missing is taken for gone.
public struct PocketBaseService: SyncService {
    let exchange: ServiceHTTPClient
    let options: PocketBaseOptions
    let paths: [String: String]
    /// Whether the server said that it takes no batches.
    let refusesBatches = Locked(false)
    /// By entity, the members that hold texts and no null.
    private var texts: [String: Set<String>] = [:]

    /// A server.
    ///
    /// - Parameters:
    ///   - baseURL: Its address, without `/api`.
    ///   - paths: The names of the entities' collections; an entity's own in snake_case, in the plural, where none is given.
    ///   - credentials: The token, as the value of `Authorization`; ``login(at:collection:identity:password:transport:)`` gets one.
    public init(
        baseURL: URL, paths: [String: String] = [:], options: PocketBaseOptions = PocketBaseOptions(),
        headers: [HTTPField.Name: String] = [:], credentials: ServiceCredentials = .none,
        transport: any HTTPTransport = DefaultTransport()
    ) {
        exchange = ServiceHTTPClient(baseURL, headers: headers, transport, credentials)
        self.options = options
        self.paths = paths
    }

    /// Ids of the client's, sweeps, batches.
    public var capabilities: ServiceCapabilities {
        ServiceCapabilities(
            ids: .client, deletions: .sweep, createIdempotency: .clientID, hasPreconditions: false,
            givesTimes: options.updated != nil, batchSize: options.batchSize, idLength: 15,
            ordersVersions: options.updated != nil)
    }

    /// By the header `Retry-After` of an answer that is no error.
    public var backoff: Duration? { exchange.backoff }

    /// Without the headers that say who asks.
    public func hidingSecrets(in text: String) -> String { exchange.secrets.hiding(text) }

    /// Its address.
    public var identity: String { exchange.base.absoluteString }

    /// The collection and the field with the time.
    public func filter(of entity: String) -> String { "\(collection(of: entity)) \(options.updated ?? "")" }

    /// The same service, told which members are never null.
    public func knowing(_ entities: [ServiceEntity]) -> PocketBaseService {
        var service = self
        for entity in entities {
            let texts = entity.members.filter { $0.content == .value(.string) && !$0.isOptional && $0.path.count == 1 }
            service.texts[entity.name] = Set(texts.compactMap(\.path.first))
        }
        return service
    }

    func collection(of entity: String) -> String {
        paths[entity] ?? Inflection.plural(Inflection.snakeCase(entity))
    }

    /// The parts of the path to the rows of an entity.
    func path(of entity: String) -> [String] { ["api", "collections", collection(of: entity), "records"] }

    // MARK: Rows

    /// What a record says of its row; nil for one without an id.
    func row(_ record: JSONValue, of entity: String) -> RemoteRecord? {
        guard case .object(let members) = record, case .string? = record["id"], let id = record["id"] else {
            return nil
        }
        // Of a member that may be null nobody knows whether a null or an empty text was sent.
        let texts = texts[entity] ?? []
        let kept = members.filter { !["collectionId", "collectionName", "expand"].contains($0.key) }.map { member in
            member.value == "" && !texts.contains(member.key) ? JSONValue.Member(member.key, .null) : member
        }
        guard let name = options.updated, case .string(let time)? = record[name] else {
            return RemoteRecord(id: id, record: .object(kept))
        }
        // Two changes may have one time.
        return RemoteRecord(
            id: id, record: .object(kept), version: time, time: Date(isoText: time), isWhole: false)
    }
}

/// How a PocketBase server is asked.
public struct PocketBaseOptions: Sendable, Hashable {
    /// The field of every collection with the time of the last change (type `autodate`, on create and on update); nil where there is
    /// none, so that every pull is a whole one.
    public var updated: String? = "updated"
    /// How much of the time before is asked for again: a row has its time before its transaction ends.
    public var overlap = Duration.seconds(60)
    /// How many rows a page has; the server gives 1000 at most.
    public var pageSize = 1000
    /// How many changes a request has at most, done whole or not at all; 1 for no batches. A server that has them turned off is sent
    /// single requests.
    public var batchSize = 50

    /// As PocketBase comes.
    public init() {}
}

// MARK: - Asking

extension PocketBaseService {
    /// So often a token may run out amid one question.
    private static let mostTokens = 3

    /// Asks, and once more if the token ran out meanwhile: the server gives no error then, but answers as to somebody unknown.
    ///
    /// - Parameter isDoubtful: Whether such an answer may be owed to that.
    func asKnown<T: Sendable>(
        if isDoubtful: (T) -> Bool = { _ in true }, _ body: () async throws -> T
    ) async throws -> T {
        for _ in 0..<Self.mostTokens {
            let (token, generation) = try await exchange.authorization()
            let answer = try await body()
            guard isDoubtful(answer), let token else { return answer }
            guard let account = Self.accounts(ofToken: token) else {
                throw ServiceError.unauthorized("what 'Authorization' holds is no token of PocketBase's")
            }
            // A 401 has the exchange get another token, and end with `unauthorized` if there is none.
            let url = try exchange.url(["api", "collections", account, "auth-refresh"])
            let known = try await exchange.send(.post, url)
            guard (200..<300).contains(known.status) else { throw ServiceError.unauthorized(known.message) }
            if try await exchange.authorization().generation == generation { return answer }
        }
        throw ServiceError.unauthorized("every token ran out at once")
    }

    /// The collection of the user that a token is of; nil for what is no token of PocketBase's.
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

    /// Credentials of a user with a password: signs in for the first request, and again when the token is not taken any more.
    ///
    /// - Parameters:
    ///   - url: The address of the server, without `/api`.
    ///   - collection: The collection of the user; `_superusers` for an administrator.
    ///   - identity: The mail address, or whatever the collection takes as a name.
    public static func login(
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
                    "signing in as '\(identity)' of '\(collection)' failed: \(answer.message)")
            }
            return [.authorization: token]
        }
    }
}

// MARK: - Files

extension PocketBaseService: FileService {
    /// `/api/files/COLLECTION/ID/NAME`.
    public func reference(to name: String, of entity: String, id: JSONValue) throws -> FileReference {
        FileReference(
            try exchange.url(
                ["api", "files", collection(of: entity)] + RowAddress(id).parts + RowAddress(.string(name)).parts))
    }

    /// The bytes of a file; of a protected one with a token for files, which PocketBase gives the user.
    public func download(_ reference: FileReference) async throws -> Data {
        guard reference.url.isSameOrigin(as: exchange.base) else {
            throw FileError.elsewhere(reference.url.absoluteString)
        }
        let answer = try await exchange.send(.get, reference.url, headers: [.accept: "*/*"])
        switch answer.status {
        case 200..<300: return answer.body
        case 403, 404:
            guard let token = try await fileToken() else { throw FileError.missing(reference.url.path) }
            let address = "\(reference.url.absoluteString)?token=\(token.escapedForURL)"
            let url = try exchange.url(following: address, from: exchange.base)
            let again = try await exchange.send(.get, url, headers: [.accept: "*/*"])
            switch again.status {
            case 200..<300: return again.body
            case 403, 404: throw FileError.missing(reference.url.path)
            default: throw again.refusal
            }
        default: throw answer.refusal
        }
    }

    private func fileToken() async throws -> String? {
        guard try await exchange.authorization().value != nil else { return nil }
        let answer = try await asKnown(if: \.isRefused) {
            try await exchange.send(.post, exchange.url(["api", "files", "token"]))
        }
        guard (200..<300).contains(answer.status), case .string(let token)? = try answer.json()["token"] else {
            return nil
        }
        return token
    }

    /// As a form: the file that the field held before goes.
    public func upload(_ file: FileUpload) async throws -> PushOutcome {
        let form = MultipartForm(file.path.joined(separator: "."), file)
        do {
            let url = try exchange.url(path(of: file.entity) + RowAddress(file.id).parts)
            let answer = try await asKnown(if: \.isRefused) {
                try await exchange.send(.patch, url, content: .init(data: form.data, type: form.type))
            }
            guard (200..<300).contains(answer.status) else {
                let operation = PushOperation(
                    entity: file.entity, kind: .update, id: file.id, body: [:], version: nil, idempotencyKey: "")
                return try await refused(answer, operation)
            }
            guard let row = row(try answer.json(), of: file.entity) else { return .unknown("the answer is no record") }
            return .applied(row)
        } catch let refusal as RowAddress.Refusal {
            return .rejected(refusal.description)
        } catch ServiceError.malformed(let text) {
            return .unknown(text)
        }
    }
}
