public import Foundation
public import HTTPTypes
import SyncCore

/// A [PocketBase](https://pocketbase.io) server: ids of the client's, times as versions, deletions by sweeps.
///
/// Known of it, and relied on: `perPage` is capped at 1000 without a word, and the answer says so; ids are 15 lower-case letters and
/// digits, unless a collection says otherwise; there are no nulls but in JSON fields, an empty text stands for one; there are no
/// tombstones and no preconditions; a batch is done whole or not at all. A row that the rules hide is answered as one that is not
/// there, and so is one that they do not let be changed. A token that ran out is no error: its bearer is somebody unknown, who sees
/// less; so it is asked whether the token counts before what is missing is taken for gone.
public struct PocketBaseService: SyncService {
    let exchange: HTTPExchange
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
        exchange = HTTPExchange(baseURL, headers: headers, transport, credentials)
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
    public func knowing(_ entities: [ServedEntity]) -> PocketBaseService {
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
    func row(_ record: JSONValue, of entity: String) -> RemoteRow? {
        guard case .object(let members) = record, case .string? = record["id"], let id = record["id"] else {
            return nil
        }
        // Of a member that may be null nobody knows whether a null or an empty text was sent.
        let texts = texts[entity] ?? []
        let kept = members.filter { !["collectionId", "collectionName", "expand"].contains($0.key) }.map { member in
            member.value == "" && !texts.contains(member.key) ? JSONValue.Member(member.key, .null) : member
        }
        guard let name = options.updated, case .string(let time)? = record[name] else {
            return RemoteRow(id: id, record: .object(kept))
        }
        // Two changes may have one time.
        return RemoteRow(
            id: id, record: .object(kept), version: time, time: Date(isoText: time), isWhole: false)
    }
}
