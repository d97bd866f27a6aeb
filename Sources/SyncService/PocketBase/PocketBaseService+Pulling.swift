import Foundation
import HTTPTypes
package import SyncCore

extension PocketBaseService {
    /// The largest number of records in a page that PocketBase returns.
    private static let mostRows = 1000

    // MARK: Lists

    /// Returns one page of changes, oldest first. If records have no time, returns a page of all records by ID. Each
    /// page begins after the time and ID of the last record of the previous page. Therefore the pull misses no record,
    /// even if records have the same time or change during the pull.
    package func pull(_ request: PullRequest) async throws -> PullPage {
        let place = try request.page.map { try PocketBaseCursor($0) } ?? PocketBaseCursor()
        var query = [("perPage", "\(options.pageSize)")]
        if let updated = options.updatedField {
            query.append(("sort", "\(updated),id"))
            if let (time, id) = place.last, let time {
                let (time, id) = (Self.quoted(time), Self.quoted(id))
                query.append(("filter", "\(updated) > \(time) || (\(updated) = \(time) && id > \(id))"))
            } else if let cursor = request.cursor {
                query.append(("filter", "\(updated) >= \(Self.quoted(cursor))"))
            }
        } else {
            query.append(("sort", "id"))
            if let (_, id) = place.last { query.append(("filter", "id > \(Self.quoted(id))")) }
        }
        if place.last != nil { query.append(("skipTotal", "1")) }
        let asked = query
        let list = try await retryingAsUser { try await listing(of: request.entity, asked) }
        let known = request.cursor.flatMap { Date(isoText: $0) }
        if options.updatedField != nil { try TimeCursor.check(known, clock: list.time) }
        let rows = try rows(list, of: request.entity)
        if let before = place.last, let last = rows.last, case .string(let id) = last.id {
            try IDOrder.check((last.version, id), after: before, in: collection(of: request.entity))
        }
        var seen = place.seen
        seen.record(rows.map(\.modifiedAt), hasRows: !rows.isEmpty, clock: list.time)
        let total = place.total ?? list.total
        let isListing = request.cursor == nil || options.updatedField == nil
        guard list.isFull, let last = rows.last, case .string(let id) = last.id else {
            var cursor: String?
            if options.updatedField != nil {
                let next = seen.next(after: known, overlap: options.overlap)
                // Keep the exact text of an unchanged cursor.
                cursor = next == known ? request.cursor : next.map(Self.text)
            }
            return PullPage(
                records: rows, cursor: cursor, isFullListing: isListing, serverTime: list.time, total: total)
        }
        let next = PocketBaseCursor(last: (last.version, id), began: seen.began, total: total)
        return PullPage(
            records: rows, nextPage: next.text, isFullListing: isListing, serverTime: list.time, total: total)
    }

    /// Returns one page of a full listing of IDs.
    package func list(of entity: String, page: String?) async throws -> ListPage {
        let fields = ["id", options.updatedField].compactMap(\.self).joined(separator: ",")
        var query = [("perPage", "\(options.pageSize)"), ("sort", "id"), ("fields", fields), ("skipTotal", "1")]
        if let page { query.append(("filter", "id > \(Self.quoted(page))")) }
        let asked = query
        let list = try await retryingAsUser { try await listing(of: entity, asked) }
        let ids = list.items.compactMap { $0["id"] }
        if let page, case .string(let last)? = ids.last {
            try IDOrder.check((nil, last), after: (nil, page), in: collection(of: entity))
        }
        let versions = list.items.compactMap { row($0, of: entity) }
            .compactMap { row in row.version.map { (row.id, $0) } }
        var found = ListPage(ids: ids, versions: Dictionary(versions) { _, last in last })
        if list.isFull, case .string(let last)? = ids.last { found.nextPage = last }
        return found
    }

    private struct List: Sendable {
        let items: [JSONValue]
        /// Whether there may be another page.
        let isFull: Bool
        let total: Int?
        let time: Date?
    }

    private func listing(of entity: String, _ query: [(String, String)]) async throws -> List {
        let response = try await exchange.send(.get, exchange.url(path(of: entity), query))
        guard (200..<300).contains(response.status) else {
            guard case .rejected(let status, let text) = response.refusal else { throw response.refusal }
            throw ServiceError.rejected(status: status, text + hint(status, entity))
        }
        let json = try response.json()
        guard case .array(let items)? = json["items"], case .number(let size)? = json["perPage"], let size = Int(size)
        else {
            throw ServiceError.invalidResponse("no list at 'items' or no number at 'perPage' (\(response.endpoint))")
        }
        var total: Int?
        if case .number(let text)? = json["totalItems"], let number = Int(text), number >= 0 { total = number }
        return List(
            items: items, isFull: !items.isEmpty && items.count >= min(size, Self.mostRows), total: total,
            time: response.time)
    }

    private func hint(_ status: Int, _ entity: String) -> String {
        let name = "'\(collection(of: entity))'"
        return switch status {
        case 400:
            options.updatedField.map { "; check that the collection \(name) has a field '\($0)' of type autodate" }
                ?? ""
        case 403: "; check the list rule of the collection \(name)"
        case 404: "; check that the collection \(name) exists"
        default: ""
        }
    }

    private func rows(_ list: List, of entity: String) throws -> [RemoteRecord] {
        let rows = list.items.compactMap { row($0, of: entity) }
        guard rows.count == list.items.count else {
            throw ServiceError.invalidResponse("a record of '\(collection(of: entity))' has no 'id'")
        }
        if let updated = options.updatedField, rows.contains(where: { $0.version == nil }) {
            throw ServiceError.invalidResponse(
                "a record of '\(collection(of: entity))' has no '\(updated)'; check that the field is not hidden")
        }
        return rows
    }

    /// Returns a time in the text format in which PocketBase compares times: `2026-11-21 02:03:39.000Z`.
    private static func text(_ time: Date) -> String {
        time.wholeSecond.isoText.prefix(19).replacingOccurrences(of: "T", with: " ") + ".000Z"
    }

    /// Returns a text as a string literal of a filter.
    private static func quoted(_ text: String) -> String {
        "\"\(text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\""))\""
    }

    // MARK: Single rows

    /// Fetches records by ID: first in one list, then each missing record alone. The rules of a collection may allow
    /// viewing a record that the list omits.
    package func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome] {
        guard !ids.isEmpty else { return [] }
        return try await retryingAsUser(if: { $0.contains(.notFound) }) {
            let known = try await listed(ids, of: entity)
            var rows: [FetchOutcome] = []
            for id in ids {
                if let row = known[id] { rows.append(.found(row)) } else { rows += try await single(id, of: entity) }
            }
            return rows
        }
    }

    /// Fetches records by ID in one list, and returns the listed ones by ID. Returns an empty dictionary for fewer than
    /// two IDs.
    func listed(_ ids: [JSONValue], of entity: String) async throws -> [JSONValue: RemoteRecord] {
        let texts = ids.compactMap { if case .string(let text) = $0 { text } else { nil } }
        guard texts.count > 1 else { return [:] }
        let filter = texts.map { "id = \(Self.quoted($0))" }.joined(separator: " || ")
        let query = [("perPage", "\(texts.count)"), ("skipTotal", "1"), ("filter", filter)]
        let rows = try await listing(of: entity, query).items.compactMap { row($0, of: entity) }
        return Dictionary(rows.map { ($0.id, $0) }) { first, _ in first }
    }

    private func single(_ id: JSONValue, of entity: String) async throws -> [FetchOutcome] {
        try await fetch([id], below: path(of: entity), absent: [404]) { _, response in
            guard let row = self.row(try response.json(), of: entity) else {
                throw ServiceError.invalidResponse("a record of \(entity) has no 'id'")
            }
            return .found(row)
        }
    }
}

/// The record after which a page of a pull begins. The engine stores it as a page token.
struct PocketBaseCursor {
    /// The time and ID of the last record of the previous page; nil for the first page. The time is nil if records have
    /// none.
    var last: (time: String?, id: String)?
    /// The time of the first response by the clock of the server.
    var began: Date?
    var total: Int?

    /// The times found in the earlier pages of this pull. The last record is the newest one.
    var seen: TimeCursor {
        TimeCursor(began: began, newest: last?.time.flatMap { Date(isoText: $0) }, hasRows: last != nil)
    }

    init(last: (time: String?, id: String)? = nil, began: Date? = nil, total: Int? = nil) {
        (self.last, self.began, self.total) = (last, began, total)
    }

    init(_ text: String) throws {
        let json = try JSONValue(parsing: text)
        last = json["i"]?.string.map { (time: json["u"]?.string, id: $0) }
        began = json["t"]?.string.flatMap { Date(isoText: $0) }
        total = json["n"]?.int
    }

    var text: String {
        var members: [JSONValue.Member] = []
        if let last {
            if let time = last.time { members.append(.init("u", .string(time))) }
            members.append(.init("i", .string(last.id)))
        }
        if let began { members.append(.init("t", .string(began.isoText))) }
        if let total { members.append(.init("n", JSONValue(total))) }
        return String(decoding: CanonicalJSON.bytes(.object(members)), as: UTF8.self)
    }
}
