package import Foundation
package import HTTPTypes
import SyncCore

/// A generic REST service: a list for each entity, and rows below it by ID.
package struct RESTService: SyncService {
    let exchange: ServiceHTTPClient
    let paths: [String: String]
    let options: RESTOptions
    /// The key paths of the parts of the ID, by entity; by default `id`.
    private var idKeys: [String: [[String]]]

    /// Creates a service.
    ///
    /// - Parameters:
    ///   - paths: The path of each entity's list below the base URL; by default the plural of its name in snake_case.
    ///   - ids: The key path of the ID of a row, by entity, where it is not `id`.
    package init(
        baseURL: URL, paths: [String: String] = [:], options: RESTOptions = RESTOptions(), ids: [String: String] = [:],
        headers: [HTTPField.Name: String] = [:], credentials: ServiceCredentials = .none,
        transport: any HTTPTransport = DefaultTransport()
    ) {
        exchange = ServiceHTTPClient(baseURL, headers: headers, transport, credentials)
        self.paths = paths
        self.options = options
        idKeys = ids.mapValues { [Self.path($0)] }
    }

    /// The capabilities that the options imply.
    package var capabilities: ServiceCapabilities {
        let idempotency: ServiceCapabilities.CreateIdempotency =
            if options.idAssignment == .client {
                .clientID
            } else if options.idempotencyHeader != nil {
                .idempotencyKey
            } else if let marker = options.markerField {
                .markerField(marker)
            } else {
                .matchByContent
            }
        return ServiceCapabilities(
            idAssignment: options.idAssignment,
            deletionDetection: options.sinceParameter != nil && options.deletedField != nil ? .tombstones : .listing,
            createIdempotency: idempotency, supportsPreconditions: options.preconditionHeader != nil,
            providesModificationTimes: options.versionField != nil, returnsRecords: false, supportsCompositeIDs: true,
            hasOrderedVersions: options.versionField != nil)
    }

    /// The delay of the header `Backoff`, or of `Retry-After` in a successful response.
    package var backoff: Duration? { exchange.backoff }

    /// Returns a text without the values of secret headers.
    package func hidingSecrets(in text: String) -> String { exchange.secrets.hiding(text) }

    /// The base URL.
    package var identity: String { exchange.base.absoluteString }

    /// Returns the path, the parameter for changes and the key path of the list.
    package func filter(of entity: String) -> String {
        "\(path(of: entity).joined(separator: "/")) \(options.sinceParameter ?? "") \(options.recordsKeyPath)"
    }

    /// Returns the fields of the version and of the deletion mark.
    package func serverOwnedFields(of entity: String) -> [[String]] {
        [options.versionField, options.deletedField].compactMap(\.self).map(Self.path)
    }

    /// Returns the service with the IDs of the model, for entities without a configured ID.
    package func configured(for entities: [ServiceEntity]) -> RESTService {
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

    /// Returns the ID of a record; a list for a composite ID.
    private func id(of record: JSONValue, _ entity: String) -> JSONValue? {
        let keys = idKeys(of: entity)
        let parts = keys.compactMap { record.value(at: $0) }.filter { $0 != .null }
        guard parts.count == keys.count else { return nil }
        return parts.count == 1 ? parts.first : .array(parts)
    }

    // MARK: Rows

    /// Returns the row of a record; nil for a record without an ID.
    func row(_ record: JSONValue, of entity: String) -> RemoteRecord? {
        guard let id = id(of: record, entity) else { return nil }
        let version = options.versionField.flatMap { record.value(at: Self.path($0)) }
        let mark = options.deletedField.flatMap { record.value(at: Self.path($0)) }
        let isDeleted = mark?.marksDeletion ?? false
        let time = version.flatMap(Self.time)
        return RemoteRecord(
            id: id, record: isDeleted ? JSONValue?.none : record, version: version.flatMap(Self.text),
            modifiedAt: time,
            // Two changes may have the same time. Only a version number proves that nothing changed.
            isComplete: time == nil)
    }

    private static func text(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text), .number(let text): text
        case .bool(let flag): "\(flag)"
        default: nil
        }
    }

    /// Parses a date as text. A number is in seconds since 1970, or in milliseconds if seconds would be far in the
    /// future.
    private static func time(_ value: JSONValue) -> Date? {
        switch value {
        case .string(let text): return Date(isoText: text)
        case .number(let text):
            // The upper limit is the year 5138.
            guard let number = Double(text), number > 100_000_000, number < 100_000_000_000_000 else { return nil }
            return Date(timeIntervalSince1970: number > 100_000_000_000 ? number / 1000 : number)
        default: return nil
        }
    }
}

extension JSONValue {
    /// Whether the value marks its row as deleted: the time of the deletion, or a flag, which may also be a number or a
    /// text.
    fileprivate var marksDeletion: Bool {
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

/// The options of a generic REST service.
public struct RESTOptions: Sendable, Hashable {
    /// The paging of lists.
    public enum Paging: Sendable, Hashable {
        /// One page with all rows.
        case none
        /// By page number, from 1. `total` is the key path of the number of pages in a response.
        case page(page: String = "page", size: String? = nil, limit: Int = 100, total: String? = nil)
        /// By the number of rows to skip. `total` is the key path of the number of rows.
        case offset(offset: String = "offset", size: String? = "limit", limit: Int = 100, total: String? = nil)
        /// By the header `Link` with `rel="next"` (RFC 8288).
        case link(size: String? = nil, limit: Int = 100)
        /// By a URL in the response, at this key path.
        case next(String, size: String? = nil, limit: Int = 100)
        /// By a token in the response, at the key path `next`, which is sent back as a parameter.
        case cursor(cursor: String, next: String, size: String? = nil, limit: Int = 100)
    }

    /// The method that updates a row.
    public enum Update: String, Sendable, Hashable, CaseIterable, Codable {
        /// `PATCH` with the changed fields.
        case patch
        /// `PUT` with all fields. The record is fetched before, so that fields that the model does not know stay.
        case put
    }

    /// The key path of the list in a response; empty for an array without an envelope.
    public var recordsKeyPath = ""
    /// The paging of lists.
    public var paging = Paging.none
    /// The query parameter for the changes since a time; nil for a service that always lists all rows.
    public var sinceParameter: String?
    /// How much of the time before the cursor is pulled again, because clocks and transactions of a service are not
    /// exact.
    public var overlap = Duration.seconds(60)
    /// The key path of the version of a row.
    public var versionField: String?
    /// The key path of the deletion mark; nil for a service that keeps no tombstones.
    public var deletedField: String?
    /// The method that updates a row.
    public var updateMethod = Update.patch
    /// Who assigns the ID of a new row.
    public var idAssignment = ServiceCapabilities.IDAssignment.server
    /// The header for the idempotency key of a new row.
    public var idempotencyHeader: String?
    /// The field for the idempotency key of a new row, for a service without such a header.
    public var markerField: String?
    /// The header for the version that a change is based on, such as `If-Match`.
    public var preconditionHeader: String?

    /// Creates options for a service that returns all rows in one array and updates rows with `PATCH`.
    public init() {}
}
