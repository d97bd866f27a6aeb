public import Foundation
public import HTTPTypes
import SyncCore

/// A REST service of no particular make: lists at a path for each entity, rows below it by their ids.
public struct RESTService: SyncService {
    let exchange: ServiceHTTPClient
    let paths: [String: String]
    let options: RESTOptions
    /// The members that are the ids of rows, by entity; `id` where nothing else is said.
    private var idKeys: [String: [[String]]]

    /// A service at an address.
    ///
    /// - Parameters:
    ///   - paths: The path of each entity's list below the address; its name in snake_case, in the plural, where none is given.
    ///   - ids: The member that is the id of a row, by entity, where it is not `id`.
    public init(
        baseURL: URL, paths: [String: String] = [:], options: RESTOptions = RESTOptions(), ids: [String: String] = [:],
        headers: [HTTPField.Name: String] = [:], credentials: ServiceCredentials = .none,
        transport: any HTTPTransport = DefaultTransport()
    ) {
        exchange = ServiceHTTPClient(baseURL, headers: headers, transport, credentials)
        self.paths = paths
        self.options = options
        idKeys = ids.mapValues { [Self.path($0)] }
    }

    /// What its options say.
    public var capabilities: ServiceCapabilities {
        let idempotency: ServiceCapabilities.CreateIdempotency =
            if options.ids == .client {
                .clientID
            } else if options.idempotency != nil {
                .key
            } else if let marker = options.marker {
                .marker(marker)
            } else {
                .probe
            }
        return ServiceCapabilities(
            ids: options.ids, deletions: options.since != nil && options.deleted != nil ? .tombstones : .sweep,
            createIdempotency: idempotency, hasPreconditions: options.preconditions != nil,
            givesTimes: options.version != nil, answersRecords: false, takesIDsOfParts: true,
            ordersVersions: options.version != nil)
    }

    /// By the header `Backoff`, or `Retry-After` of an answer that is no error.
    public var backoff: Duration? { exchange.backoff }

    /// Without the headers that say who asks.
    public func hidingSecrets(in text: String) -> String { exchange.secrets.hiding(text) }

    /// Its address.
    public var identity: String { exchange.base.absoluteString }

    /// The path and what is asked for.
    public func filter(of entity: String) -> String {
        "\(path(of: entity).joined(separator: "/")) \(options.since ?? "") \(options.records)"
    }

    /// What its versions and deletions are in.
    public func ownMembers(of entity: String) -> [[String]] {
        [options.version, options.deleted].compactMap(\.self).map(Self.path)
    }

    /// The same service, told the keys of the model.
    public func knowing(_ entities: [ServiceEntity]) -> RESTService {
        var service = self
        for entity in entities where idKeys[entity.name] == nil { service.idKeys[entity.name] = entity.keyPaths }
        return service
    }

    func path(of entity: String) -> [String] {
        (paths[entity] ?? Inflection.plural(Inflection.snakeCase(entity))).split(separator: "/").map(String.init)
    }

    func idKeys(of entity: String) -> [[String]] { idKeys[entity] ?? [["id"]] }

    func idNames(of entity: String) -> String {
        idKeys(of: entity).map { $0.joined(separator: ".") }.joined(separator: "' or '")
    }

    /// What a record calls its row: of several keys the list of what they lead to.
    private func id(of record: JSONValue, _ entity: String) -> JSONValue? {
        let keys = idKeys(of: entity)
        let parts = keys.compactMap { record.value(at: $0) }.filter { $0 != .null }
        guard parts.count == keys.count else { return nil }
        return parts.count == 1 ? parts.first : .array(parts)
    }

    // MARK: Rows

    /// What a record says of its row; nil for one without an id.
    func row(_ record: JSONValue, of entity: String) -> RemoteRecord? {
        guard let id = id(of: record, entity) else { return nil }
        let version = options.version.flatMap { record.value(at: Self.path($0)) }
        let mark = options.deleted.flatMap { record.value(at: Self.path($0)) }
        let isDeleted = mark?.isDeletionMark ?? false
        let time = version.flatMap(Self.time)
        return RemoteRecord(
            id: id, record: isDeleted ? JSONValue?.none : record, version: version.flatMap(Self.text),
            time: time,
            // Two changes may have one time: only a number of its own says that nothing changed.
            isWhole: time == nil)
    }

    private static func text(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text), .number(let text): text
        case .bool(let flag): "\(flag)"
        default: nil
        }
    }

    /// Dates as text; numbers are seconds since 1970, or milliseconds where those would be far off.
    private static func time(_ value: JSONValue) -> Date? {
        switch value {
        case .string(let text): return Date(isoText: text)
        case .number(let text):
            // To the year 5138.
            guard let number = Double(text), number > 100_000_000, number < 100_000_000_000_000 else { return nil }
            return Date(timeIntervalSince1970: number > 100_000_000_000 ? number / 1000 : number)
        default: return nil
        }
    }
}

extension JSONValue {
    /// Whether a member that marks deleted rows says that its row is one: the time of the deletion, or a flag, which services
    /// also write as a number or as text.
    fileprivate var isDeletionMark: Bool {
        switch self {
        case .null: false
        case .bool(let flag): flag
        case .number(let text): Double(text) != 0
        case .string(let text): !["", "0", "false", "f", "no", "n"].contains(text.lowercased())
        case .array(let elements): !elements.isEmpty
        case .object(let members): !members.isEmpty
        }
    }
}

/// How a REST service of no particular make is asked, and how it answers.
public struct RESTOptions: Sendable, Hashable {
    /// How it hands out lists page by page.
    public enum Paging: Sendable, Hashable {
        /// All at once.
        case none
        /// By number, from 1. `total` is the key path of the number of pages in an answer.
        case page(page: String = "page", size: String? = nil, limit: Int = 100, total: String? = nil)
        /// By how many rows to pass over. `total` is the key path of the number of rows.
        case offset(offset: String = "offset", size: String? = "limit", limit: Int = 100, total: String? = nil)
        /// By the header `Link` with `rel="next"` (RFC 8288).
        case link(size: String? = nil, limit: Int = 100)
        /// By an address in the answer, at this key path.
        case next(String, size: String? = nil, limit: Int = 100)
        /// By a word in the answer, at the key path `next`, that is given back as a parameter.
        case cursor(cursor: String, next: String, size: String? = nil, limit: Int = 100)
    }

    /// How a row is changed.
    public enum Update: String, Sendable, Hashable, CaseIterable, Codable {
        /// By the members that change.
        case patch
        /// By all members: they are fetched before, so that those that the model does not know stay.
        case put
    }

    /// The key path of the list in an answer; empty for a bare array.
    public var records = ""
    /// How it hands out lists page by page.
    public var paging = Paging.none
    /// The query parameter that asks for what changed since a time, which is in it; nil for a service that always lists all.
    public var since: String?
    /// How much of the time before is asked for again: clocks and transactions of a service do not keep to the second.
    public var overlap = Duration.seconds(60)
    /// The member that orders the versions of a row.
    public var version: String?
    /// The member that says a row was deleted; nil for a service that forgets deleted rows.
    public var deleted: String?
    /// How a row is changed.
    public var update = Update.patch
    /// Who gives a new row its id.
    public var ids = ServiceCapabilities.IDAssignment.server
    /// The header with the key of a new row.
    public var idempotency: String?
    /// The member that carries the key of a new row, where no header does.
    public var marker: String?
    /// The header with the version that a change was made on, such as `If-Match`.
    public var preconditions: String?

    /// A service that answers with all rows in an array, and changes rows by `PATCH`.
    public init() {}
}
