package import Foundation
package import HTTPTypes
import SyncCore

/// A generic REST service. Each entity has a list with a URL, and each record has a URL below the URL of the list.
package struct RESTService: SyncService, HTTPService {
    let exchange: ServiceHTTPClient
    let paths: [String: String]
    let options: RESTOptions
    /// The key paths of the parts of the ID, by entity. An entity without an entry uses `id`.
    private var idKeys: [String: [[String]]]

    /// Creates a service for the lists below a base URL. See ``BuiltInService``.
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
            createIdempotency: idempotency,
            supportsPreconditions: options.preconditionHeader != nil && options.versionField != nil,
            providesModificationTimes: options.versionField != nil,
            maxConcurrentRequests: options.maxConcurrentRequests, returnsRecords: false, supportsCompositeIDs: true,
            hasOrderedVersions: options.versionField != nil)
    }

    /// Returns the path of the list, the parameter for changes, and the key path of the list in a response.
    package func filter(of entity: String) -> String {
        "\(path(of: entity).joined(separator: "/")) \(options.sinceParameter ?? "") \(options.recordsKeyPath)"
    }

    /// Returns the key paths of the version and of the deletion mark, if the options have these key paths.
    package func serverOwnedFields(of entity: String) -> [[String]] {
        [options.versionField, options.deletedField].compactMap(\.self).map(Self.path)
    }

    /// Returns a copy of the service. For an entity without a configured ID, the copy uses the primary key of the
    /// model.
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

    /// Returns the ID of a record, which is an array for a composite ID; nil if a part is missing or null.
    private func id(of record: JSONValue, _ entity: String) -> JSONValue? {
        let keys = idKeys(of: entity)
        let parts = keys.compactMap { record.value(at: $0) }.filter { $0 != .null }
        guard parts.count == keys.count else { return nil }
        return parts.count == 1 ? parts.first : .array(parts)
    }

    // MARK: Rows

    /// Converts a JSON object to a record; returns nil for an object without an ID.
    func row(_ record: JSONValue, of entity: String) -> RemoteRecord? {
        guard let id = id(of: record, entity) else { return nil }
        let version = options.versionField.flatMap { record.value(at: Self.path($0)) }
        let mark = options.deletedField.flatMap { record.value(at: Self.path($0)) }
        let isDeleted = mark?.marksDeletion ?? false
        let time = version.flatMap(Self.time)
        return RemoteRecord(
            id: id, record: isDeleted ? JSONValue?.none : record, version: version.flatMap(Self.text),
            modifiedAt: time,
            // Two changes may have the same time, so an equal time does not prove that a record is unchanged. An equal
            // version number does.
            isComplete: time == nil)
    }

    private static func text(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text), .number(let text): text
        case .bool(let flag): "\(flag)"
        default: nil
        }
    }

    /// Parses a date as text, or a number above 100,000,000 as seconds since 1970. A number above 100,000,000,000
    /// counts milliseconds. Returns nil for any other value.
    private static func time(_ value: JSONValue) -> Date? {
        switch value {
        case .string(let text): return Date(isoText: text)
        case .number(let text):
            // The upper limit is in the year 5138.
            guard let number = Double(text), number > 100_000_000, number < 100_000_000_000_000 else { return nil }
            return Date(timeIntervalSince1970: number > 100_000_000_000 ? number / 1000 : number)
        default: return nil
        }
    }
}

extension JSONValue {
    /// Whether the value marks a record as deleted. The value is the time of the deletion, or a flag as a Boolean,
    /// number or text.
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

/// Options of a generic REST service.
public struct RESTOptions: Sendable, Hashable {
    /// The way in which a service splits a list into pages. The associated value `size` is the query parameter for the
    /// page size; nil to request no page size. The associated value `limit` is the requested page size.
    public enum Paging: Sendable, Hashable {
        /// The response contains the whole list.
        case none
        /// Pages are numbered from 1. `page` is the query parameter for the page number. `total` is the key path of the
        /// number of pages. If `total` is nil, an empty page ends the list.
        case page(page: String = "page", size: String? = nil, limit: Int = 100, total: String? = nil)
        /// `offset` is the query parameter for the number of records to skip. `total` is the key path of the number of
        /// all records. If `total` is nil, an empty page ends the list.
        case offset(offset: String = "offset", size: String? = "limit", limit: Int = 100, total: String? = nil)
        /// The header `Link` has the URL of the next page, with `rel="next"` (RFC 8288).
        case link(size: String? = nil, limit: Int = 100)
        /// The response has the URL of the next page at this key path. The last page has no such URL.
        case next(String, size: String? = nil, limit: Int = 100)
        /// The response has the token of the next page at the key path `next`. The last page has no token. `cursor` is
        /// the query parameter for the token.
        case cursor(cursor: String, next: String, size: String? = nil, limit: Int = 100)
    }

    /// The HTTP method that updates a record.
    public enum Update: String, Sendable, Hashable, CaseIterable, Codable {
        /// `PATCH` with the changed fields.
        case patch
        /// `PUT` with all fields. An update first fetches the record. Fields that the model does not have keep their
        /// values.
        case put
    }

    /// The key path of the list in a response; empty if the response is an array.
    public var recordsKeyPath = ""
    /// The way in which the service splits a list into pages.
    public var paging = Paging.none
    /// The query parameter that requests the changes since a time; nil for a service that always lists all records. The
    /// value of the parameter is a time such as `2026-11-23T16:34:43Z`.
    public var sinceParameter: String?
    /// The length of time by which each pull overlaps the previous pull. The overlap covers clock differences and
    /// transactions that commit late.
    public var overlap = Duration.seconds(60)
    /// The key path of the version of a record; nil for a service without versions. The version is an increasing
    /// number, or the time of the last change.
    public var versionField: String?
    /// The key path of the field that makes a record a tombstone; nil for a service without tombstones. The value of
    /// the field is a flag, or the time of the deletion.
    public var deletedField: String?
    /// The HTTP method that updates a record.
    public var updateMethod = Update.patch
    /// The side that assigns the ID of a new row. With `.client`, the engine creates a record with a `PUT` request to
    /// the URL of the record.
    public var idAssignment = ServiceCapabilities.IDAssignment.server
    /// The header for the idempotency key of a new row; nil for a service without such a header.
    public var idempotencyHeader: String?
    /// The top-level field for the idempotency key of a new row; nil for a service without such a field. Set this
    /// option only if ``idempotencyHeader`` is nil.
    public var markerField: String?
    /// The header for the version that a change is based on, such as `If-Match`; nil for a service without
    /// preconditions. The option requires ``versionField``; otherwise the initializer of ``SyncEngine`` throws
    /// ``SyncError`` `invalidOption`. If the client assigns IDs, creates have the header `If-None-Match`, also without
    /// ``versionField``.
    public var preconditionHeader: String?
    /// The largest number of changes that are sent at the same time, at most 100. The changes are of one entity, and
    /// none of them references another one. The service may apply them in any order, so it may reject a change that
    /// takes over a unique value of another row. The engine sends such a change again after the other change.
    public var maxConcurrentRequests = 1

    /// Creates options for a service that returns all records in one array and updates records with `PATCH`.
    public init() {}

    /// Whether no request has a precondition although ``preconditionHeader`` is set. A create with an ID of the client
    /// needs no version for its precondition.
    package var isPreconditionUnused: Bool {
        preconditionHeader != nil && versionField == nil && idAssignment == .server
    }
}
