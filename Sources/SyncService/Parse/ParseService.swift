public import Foundation
public import HTTPTypes
import SyncCore

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
    let exchange: HTTPExchange
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
        exchange = HTTPExchange(baseURL, headers: fields, transport, credentials) { answer in
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
    public func knowing(_ entities: [ServedEntity]) -> ParseService {
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
                ServedEntity(entity, keyPaths: [[ParseRecords.id]], members: []), className: className, files: files)
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
