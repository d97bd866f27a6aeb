public import Foundation
public import HTTPTypes
public import SyncCore

/// A [Parse](https://docs.parseplatform.org/rest/guide/) server: classes of objects, with values of its own kinds.
///
/// Known of it, and relied on: `POST` answers `objectId` and `createdAt` only, `PUT` `updatedAt` only; a field without a value
/// is left out of a record; a batch has 50 requests at most, whose order is nobody's; deleted objects leave no trace, so they
/// are found by what a listing lacks; nothing makes a change depend on a version. Lists are asked for by `updatedAt` and
/// `objectId`, and never by how many rows to pass over, which has a limit and loses rows that change meanwhile.
///
/// A file is sent first, and then named in its row, so that one whose answer was lost may be there twice, and is named once.
///
/// Dates, bytes, files, places, pointers and relations are turned into what the model reads and back: an attribute `date` is a
/// Date, `binary` Bytes, a to-one a Pointer, a many-to-many a Relation (or the array of pointers that a record has). A File is
/// the text of its address. An attribute `json`, and members of an object (`place.latitude`), have such values as they are.
/// Fields are called as the attributes unless the model says otherwise.
public struct ParseService: SyncService {
    static let batchSize = 50
    let exchange: ServiceHTTPClient
    let options: ParseOptions
    private let classes: [String: String]
    /// By entity.
    private(set) var records: [String: ParseRecords] = [:]
    /// By class and name, whether a field that lists other rows is an array, as far as this process has seen.
    let arrays = Locked<[[String]: Bool]>([:])

    /// An application of a server.
    ///
    /// - Parameters:
    ///   - baseURL: The address that `/classes` is below.
    ///   - classes: The class of an entity, where it is called otherwise.
    ///   - credentials: What gives `X-Parse-Session-Token`; asked for again after error 209.
    public init(
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

    /// No tombstones, no preconditions, batches.
    public var capabilities: ServiceCapabilities {
        let idempotency: ServiceCapabilities.CreateIdempotency =
            if options.ids == .client {
                .clientID
            } else if let marker = options.marker {
                .marker(marker)
            } else {
                // A server remembers `X-Parse-Request-Id` only if it was told to.
                .probe
            }
        return ServiceCapabilities(
            ids: options.ids, deletions: .sweep, createIdempotency: idempotency, hasPreconditions: false,
            givesTimes: true, batchSize: Self.batchSize, sendsCascades: true, answersRecords: false,
            ordersVersions: true)
    }

    /// By `Retry-After` of an answer that is no error.
    public var backoff: Duration? { exchange.backoff }

    /// Without the headers that say who asks.
    public func hidingSecrets(in text: String) -> String { exchange.secrets.hiding(text) }

    /// Its address and the application.
    public var identity: String { "\(exchange.base.absoluteString) \(options.applicationID)" }

    /// The class.
    public func filter(of entity: String) -> String { className(of: entity) }

    /// The same service, told which attributes are dates, which relationships are pointers, and so on.
    public func knowing(_ entities: [ServiceEntity]) -> ParseService {
        var service = self
        for entity in entities {
            service.records[entity.name] = ParseRecords(entity, className: className, files: files)
        }
        return service
    }

    /// `createdAt`, `updatedAt`.
    public func ownMembers(of entity: String) -> [[String]] {
        let records = records(of: entity)
        return records.fields.filter(records.isOwned).map(\.member.path)
    }

    func className(of entity: String) -> String { classes[entity] ?? entity }

    func records(of entity: String) -> ParseRecords {
        records[entity]
            ?? ParseRecords(
                ServiceEntity(entity, keyPaths: [[ParseRecords.id]], members: []), className: className, files: files)
    }

    /// How the addresses of its files begin.
    var files: String {
        let base = exchange.base.absoluteString
        return (base.hasSuffix("/") ? base : base + "/") + "files/"
    }

    /// The path of a class; some have one of their own.
    func path(of className: String) -> [String] {
        switch className {
        case "_User": ["users"]
        case "_Role": ["roles"]
        case "_Installation": ["installations"]
        default: ["classes", className]
        }
    }
}

/// Which application of a Parse server, and what is special about it.
public struct ParseOptions: Sendable, Hashable {
    /// The application's id.
    public var applicationID: String
    /// The key for REST clients; nil for a server that wants none.
    public var restKey: String?
    /// The session of a user; nil for nobody's, and where credentials give `X-Parse-Session-Token`.
    public var sessionToken: String?
    /// How many rows a page has at most; a server may give fewer.
    public var pageSize = 1000
    /// How much of the time before is asked for again: a row may be there later than others that were changed after it.
    public var overlap = Duration.seconds(60)
    /// Who gives a new row its id: a server with `allowCustomObjectId` takes those of clients.
    public var ids = ServiceCapabilities.IDAssignment.server
    /// A field of all classes that carries the key of a new row, so that one whose answer was lost is found by it.
    public var marker: String?

    /// An application.
    public init(applicationID: String, restKey: String? = nil) {
        self.applicationID = applicationID
        self.restKey = restKey
    }
}

/// What Parse says went wrong: a number and a text.
struct ParseError {
    static let invalidSession = 209
    static let wrongType = 111

    /// What to do about it.
    enum Meaning {
        /// It failed; whether it was done is not known.
        case failed
        /// It was not done, and may be later.
        case busy
        /// There is no such object, or the user may not see it.
        case gone
        /// There is one already.
        case duplicate
        /// The same request came before: something was done, or is being done.
        case repeated
        /// The user has to log in again.
        case login
        /// It will never be done.
        case refused
    }

    let code: Int
    let text: String

    /// Nil for JSON that is none of Parse's errors.
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
        // Internal error; time-out.
        case 1, 124: .failed
        // Service unavailable; connection failed; too many requests.
        case 2, 100, 155: .busy
        case 101: .gone
        case 137: .duplicate
        case 159: .repeated
        case Self.invalidSession: .login
        // 111 wrong type, 119 not allowed, 142 a validation of the app's, and all others.
        default: .refused
        }
    }

    var reason: String { "error \(code): \(text)" }

    /// Of a request that asks.
    var failure: ServiceError? {
        switch meaning {
        case .failed: .unreachable(reason)
        case .busy: .busy(after: nil, reason)
        case .login: .unauthorized(reason)
        case .gone, .duplicate, .repeated, .refused: nil
        }
    }
}

// MARK: - Files

// A file is sent by itself, and gets a name and an address; then the row is told. What a row holds of it is the address.
extension ParseService: FileService {
    /// The address that a row holds; of a mere name, where the server has files of that name.
    public func reference(to name: String, of entity: String, id: JSONValue) throws -> FileReference {
        if let url = URL(string: name), url.scheme != nil { return FileReference(url) }
        return FileReference(try exchange.url(["files", options.applicationID] + RowAddress(.string(name)).parts))
    }

    /// The bytes of a file.
    public func download(_ reference: FileReference) async throws -> Data {
        guard reference.url.isSameOrigin(as: exchange.base) else {
            throw FileError.elsewhere(reference.url.absoluteString)
        }
        let answer = try await exchange.send(.get, reference.url, headers: [.accept: "*/*"])
        switch answer.status {
        case 200..<300: return answer.body
        case 403, 404: throw FileError.missing(reference.url.path)
        default: throw try refusal(answer)
        }
    }

    /// `PREFIX_NAME`: the server puts 32 digits before the name that was sent, unless it was told to keep names.
    public func sentName(of name: String) -> String {
        let name = name.lastPathPart ?? name
        guard let mark = name.firstIndex(of: "_"), name[..<mark].allSatisfy(\.isHexDigit) else { return name }
        return String(name[name.index(after: mark)...])
    }

    /// The bytes, then the row's field: that is what says the file is there. The one that it held before stays on the server, which
    /// deletes files for its master key only.
    public func upload(_ file: FileUpload) async throws -> PushOutcome {
        guard let field = Self.field(at: file.path) else {
            return .rejected("'\(file.path.joined(separator: "."))' is a part of an object, which holds no file")
        }
        do {
            let id = try RowAddress(file.id).parts
            let url = try exchange.url(["files", Self.plainName(file.name)])
            let stored = try await exchange.send(.post, url, content: .init(data: file.data, type: file.type))
            guard (200..<300).contains(stored.status) else { return try refused(stored) }
            guard case .string(let name)? = try stored.json()["name"] else {
                return .unknown("the answer to a file has no name")
            }
            let reference: JSONValue = ["__type": "File", "name": .string(name)]
            let naming = Request(
                method: .put, path: path(of: className(of: file.entity)) + id,
                body: .object([.init(field, reference)]))
            let operation = PushOperation(
                entity: file.entity, kind: .update, id: file.id, body: [:], version: nil, idempotencyKey: "")
            let outcome = outcome(try await send(naming, nil), operation)
            guard case .applied = outcome else { return outcome }
            guard case .found(let row)? = try await fetch([file.id], of: file.entity).first else { return .gone }
            return .applied(row)
        } catch let refusal as RowAddress.Refusal {
            return .rejected(refusal.description)
        } catch ServiceError.malformed(let text) {
            return .unknown(text)
        }
    }

    private func refused(_ answer: ServiceHTTPClient.Response) throws -> PushOutcome {
        guard let error = ParseError(answer) else { throw try refusal(answer) }
        if let failure = error.failure { throw failure }
        return .rejected(error.reason)
    }

    /// The field that holds a file, whose address or name a member may be (`photo.url`).
    private static func field(at path: [String]) -> String? {
        path.count == 1 || path.count == 2 && ["url", "name"].contains(path[1]) ? path[0] : nil
    }

    /// A name as the server takes it: plain characters, no more than 128, with its ending.
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
