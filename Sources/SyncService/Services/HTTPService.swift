public import Foundation
import HTTPTypes
public import SyncCore

/// A service whose requests go through one HTTP client.
protocol HTTPService: SyncService {
    var exchange: ServiceHTTPClient { get }
}

extension HTTPService {
    /// The remaining delay from the header `Backoff`, or from `Retry-After` in a successful response.
    package var backoff: Duration? { exchange.backoff }

    /// Masks the secrets of requests in a string.
    package func hidingSecrets(in text: String) -> String { exchange.secrets.hiding(text) }

    /// The base URL.
    package var identity: String { exchange.base.absoluteString }

    /// Fetches records by ID, with one request for each ID.
    ///
    /// - Parameters:
    ///   - list: The path of the list, which is followed by the ID.
    ///   - absent: The statuses of a record that the service does not have.
    ///   - outcome: A closure that reads the response with a record.
    func fetch(
        _ ids: [JSONValue], below list: [String], absent: [Int] = [404, 410],
        _ outcome: (JSONValue, ServiceHTTPClient.Response) throws -> FetchOutcome
    ) async throws -> [FetchOutcome] {
        var outcomes: [FetchOutcome] = []
        for id in ids {
            guard let address = try? RowAddress(id) else {
                outcomes.append(.forbidden)
                continue
            }
            let response = try await exchange.send(.get, exchange.url(list + address.parts))
            switch response.status {
            case 200..<300: outcomes.append(try outcome(id, response))
            case 403: outcomes.append(.forbidden)
            case let status where absent.contains(status): outcomes.append(.notFound)
            default: throw response.refusal
            }
        }
        return outcomes
    }

    /// Completes a partial update with the rest of each member, for a service that replaces members as a whole.
    func completed(_ operation: PushOperation) async throws -> PushOperation {
        guard operation.isPartialUpdate, let id = operation.id,
            case .found(let row)? = try await fetch([id], of: operation.entity).first, row.id == id,
            let record = row.record
        else { return operation }
        var operation = operation.merged(over: record)
        operation.version = operation.version ?? row.version
        return operation
    }
}

/// The request for one change, sent alone or in a batch.
struct ChangeRequest {
    let method: HTTPRequest.Method
    let path: [String]
    /// The header fields in a batch; nil for a service whose batches have none.
    var headers: [String: String]?
    let body: JSONValue?

    /// Returns the body of a batch.
    ///
    /// - Parameters:
    ///   - name: The name of the member with the path of a request.
    ///   - base: The base URL of the service; nil if paths in a batch begin below it.
    static func batch(_ requests: [ChangeRequest], path name: String = "path", below base: URL? = nil) -> JSONValue {
        var prefix = base?.path ?? ""
        if prefix.hasSuffix("/") { prefix.removeLast() }
        return [
            "requests": .array(
                requests.map { request in
                    let path = request.path.map(\.escapedForURL).joined(separator: "/")
                    var members: [JSONValue.Member] = [
                        .init("method", .string(request.method.rawValue)), .init(name, .string("\(prefix)/\(path)")),
                    ]
                    if let headers = request.headers {
                        members.append(.init("headers", .object(headers.map { .init($0.key, .string($0.value)) })))
                    }
                    if let body = request.body { members.append(.init("body", body)) }
                    return .object(members)
                })
        ]
    }
}

extension PushOutcome {
    /// Returns the outcome of a change, also if the change cannot be sent or its outcome is unknown.
    static func of(_ change: () async throws -> PushOutcome) async throws -> PushOutcome {
        do {
            return try await change()
        } catch let refusal as RowAddress.Refusal {
            return .rejected(refusal.description)
        } catch ServiceError.unreachable(let text, _) {
            // The service may have applied the change.
            return .unknown(text)
        } catch ServiceError.invalidResponse(let text) {
            // A proxy may have sent the response.
            return .unknown(text)
        }
    }
}

// MARK: - Addresses of rows

/// The part of a URL that identifies a record. The built-in services convert IDs to paths with this type.
///
/// For some IDs, the URL would not identify the record. An empty ID gives the URL of the list, and `..` gives the path
/// above the list. An ID with a slash may give the path of another record. A request to such a URL could change or
/// delete other records, so the initializer throws an error for these IDs:
///
/// ```swift
/// do {
///     let url = try client.url(["tasks"] + RowAddress(id).parts)
/// } catch let refusal as RowAddress.Refusal {
///     return .rejected(refusal.description)
/// }
/// ```
public struct RowAddress: Sendable, Hashable {
    /// The unescaped components of the path: one for each part of a composite ID, or one for any other ID.
    public let parts: [String]

    /// The reason why an ID cannot be part of a URL.
    public struct Refusal: LocalizedError, Sendable, Hashable, CustomStringConvertible {
        /// A message with the first 100 characters of the ID, and the reason.
        public let description: String
        /// The value of ``description``, for use as `localizedDescription`.
        public var errorDescription: String? { description }

        fileprivate init(_ id: JSONValue, _ reason: String) {
            description = "the ID \(id.description.prefix(100)) cannot be used in a URL: \(reason)"
        }
    }

    /// Creates the address of the record with the given ID.
    ///
    /// - Throws: ``Refusal`` for an ID that is empty, blank, null, `.` or `..`. Also ``Refusal`` for an ID with a
    ///   slash, a backslash, a control character or an escape such as `%2F`. The same rules apply to each part of a
    ///   composite ID, with one exception. A part may contain slashes or backslashes, as in `a/b`, if no segment is
    ///   empty, blank, `.` or `..`.
    public init(_ id: JSONValue) throws {
        parts = try Self.parts(of: id, in: id)
        guard case .array = id else {
            guard !parts[0].utf8.contains(where: Self.isSlash) else { throw Refusal(id, "it has a slash") }
            return
        }
    }

    private static func parts(of element: JSONValue, in id: JSONValue) throws -> [String] {
        guard case .array(let elements) = element else { return [try part(element, of: id)] }
        guard !elements.isEmpty else { throw Refusal(id, "it is empty") }
        return try elements.flatMap { try parts(of: $0, in: id) }
    }

    private static func part(_ element: JSONValue, of id: JSONValue) throws -> String {
        let text = text(of: element)
        guard element != .null, !text.allSatisfy(\.isWhitespace) else { throw Refusal(id, "it is empty") }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            throw Refusal(id, "it has a control character")
        }
        guard !hasEscape(Array(text.utf8)) else { throw Refusal(id, "it has an escape such as '%2F'") }
        for segment in text.utf8.split(omittingEmptySubsequences: false, whereSeparator: isSlash) {
            let name = String(decoding: segment, as: UTF8.self).trimmingCharacters(in: .whitespaces)
            guard !name.isEmpty else {
                throw Refusal(id, "it begins or ends with a slash, or has two slashes in a row")
            }
            guard name != ".", name != ".." else { throw Refusal(id, "'\(name)' leads to another path") }
        }
        return text
    }

    private static func isSlash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }

    /// Returns whether a text has an escape such as `%2F`. A service that decodes escapes twice would read another ID.
    private static func hasEscape(_ bytes: [UInt8]) -> Bool {
        bytes.indices.contains { place in
            bytes[place] == UInt8(ascii: "%") && place + 2 < bytes.count
                && bytes[(place + 1)...(place + 2)].allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
        }
    }

    /// Returns the text of a string or number, or the JSON of any other ID.
    static func text(of id: JSONValue) -> String {
        switch id {
        case .string(let text), .number(let text): text
        default: String(decoding: CanonicalJSON.bytes(id), as: UTF8.self)
        }
    }
}

// MARK: - Cursors

/// The state of a pull from which the next cursor is computed, for a service that returns the changes since a time.
///
/// The next cursor is the earlier of two times:
/// - the time of the first response by the clock of the service, minus an overlap
/// - the newest modification time in the pages, minus a margin
///
/// The clock of the service alone is not reliable, because a proxy may have written the `Date` header. A pull without
/// records does not move the cursor, because a stale replica may have responded.
struct TimeCursor {
    /// The default margin. It is needed because services that compare times as text sort `40.4Z` before `40Z`.
    static let margin = Duration.seconds(1)

    /// The time of the first response by the clock of the service.
    private(set) var began: Date?
    /// The newest modification time in the pages so far.
    private(set) var newest: Date?
    /// Whether any page so far has records.
    private(set) var hasRows = false

    init() {}

    /// Creates a cursor that continues after earlier pages of the same pull.
    init(began: Date?, newest: Date?, hasRows: Bool) {
        (self.began, self.newest, self.hasRows) = (began, newest, hasRows)
    }

    /// Adds a page, with the modification times of its records and the time of its response.
    mutating func record(_ times: [Date?], hasRows: Bool, clock: Date?) {
        began = began ?? clock
        newest = (times + [newest]).compactMap(\.self).max()
        self.hasRows = self.hasRows || hasRows
    }

    /// Returns the time since which the next pull requests changes; nil to pull all records. Returns nil also if the
    /// pull has records, but no response has a time.
    ///
    /// - Parameter known: The cursor of this pull. The result is never earlier.
    func next(after known: Date?, overlap: Duration, margin: Duration = Self.margin) -> Date? {
        guard hasRows else { return known }
        guard let began else { return nil }
        let bounds = [began.addingTimeInterval(-overlap.seconds), newest?.addingTimeInterval(-margin.seconds)]
        return [bounds.compactMap(\.self).min(), known].compactMap(\.self).max()
    }

    /// Checks that the clock of the service is not earlier than the cursor. If the clock was set back, new changes may
    /// have times before the cursor.
    ///
    /// - Throws: ``ServiceError`` `cursorInvalid`. The engine then pulls all records.
    static func check(_ cursor: Date?, clock: Date?) throws {
        if let cursor, let clock, cursor > clock { throw ServiceError.cursorInvalid }
    }
}

extension Date {
    /// The date without the fraction of its second.
    var wholeSecond: Date { Date(timeIntervalSince1970: timeIntervalSince1970.rounded(.down)) }
}

/// The order of IDs in a list that is paged by ID. Each page of such a list begins after the last ID of the previous
/// page.
enum IDOrder {
    /// Returns whether an ID comes after another one, either by bytes or in a collation that ignores case and
    /// punctuation. Databases use one of these orders. The function returns true for IDs that are not ASCII text,
    /// because their order is unknown.
    static func isAfter(_ id: JSONValue, _ other: JSONValue) -> Bool {
        guard case (.string(let id), .string(let other)) = (id, other) else { return true }
        return isAfter(id, other)
    }

    static func isAfter(_ id: String, _ other: String) -> Bool {
        guard id.utf8.allSatisfy({ $0 < 0x80 }), other.utf8.allSatisfy({ $0 < 0x80 }) else { return true }
        if other.utf8.lexicographicallyPrecedes(id.utf8) { return true }
        let (word, otherWord) = (word(id), word(other))
        return otherWord < word || word == otherWord && id != other
    }

    private static func word(_ id: String) -> String {
        id.lowercased().filter { $0.isLetter || $0.isNumber }
    }

    /// Checks that a row comes after the last row of the previous page: by time, and by ID if the times are equal.
    ///
    /// - Throws: ``ServiceError`` `invalidResponse` if the row does not.
    static func check(_ row: (time: String?, id: String), after last: (time: String?, id: String), in list: String)
        throws
    {
        let isAfter = row.time == last.time ? isAfter(row.id, last.id) : (row.time ?? "") > (last.time ?? "")
        guard isAfter else {
            throw ServiceError.invalidResponse(
                "its list of \(list) is not in order: '\(row.id)' comes after '\(last.id)'")
        }
    }
}
