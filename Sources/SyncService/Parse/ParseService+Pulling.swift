import Foundation
import HTTPTypes
package import SyncCore

extension ParseService {
    /// Returns one page of changes since a time, oldest first. The next page begins after the last object of this page.
    package func pull(_ request: PullRequest) async throws -> PullPage {
        let place = try request.page.map { try ParseCursor($0) } ?? request.cursor.map { ParseCursor(time: $0) }
        var query = ParseQuery(order: "updatedAt,objectId", limit: options.pageSize)
        if let place { query.conditions = place.conditions }
        query.counts = request.page == nil
        let response = try await find(className(of: request.entity), query)
        let known = request.cursor ?? Self.beginning
        try TimeCursor.check(Date(isoText: known), clock: response.time)
        var rows: [RemoteRecord] = []
        for record in response.results { rows.append(try await row(record, of: request.entity)) }
        // The first page shows the actual page size, because a server may return fewer objects than requested.
        let full = place?.full ?? response.results.count
        let isLast = request.page == nil ? response.isAll : response.results.count < full
        let began = place?.began ?? response.time
        let last = response.results.last.flatMap { ParseCursor($0, full: full, began: began) } ?? place
        if let last, let id = last.id, let place, let before = place.id, !response.results.isEmpty {
            try IDOrder.check((last.time, id), after: (place.time, before), in: className(of: request.entity))
        }
        guard !response.results.isEmpty, !isLast, let next = last else {
            return PullPage(
                records: rows, cursor: try end(last, began, after: known), isFullListing: request.cursor == nil,
                serverTime: response.time, total: response.count)
        }
        return PullPage(
            records: rows, nextPage: next.text, isFullListing: request.cursor == nil, serverTime: response.time,
            total: response.count)
    }

    /// A time before the times of all objects.
    private static let beginning = "1970-01-01T00:00:00.000Z"

    /// Returns the cursor for the next pull. The last object is the newest one. The overlap is subtracted, because an
    /// object may become visible after objects that changed later.
    private func end(_ last: ParseCursor?, _ began: Date?, after known: String) throws -> String {
        // If `last` has no ID, the pull returned no objects.
        guard let last, last.id != nil else { return known }
        guard let newest = Date(isoText: last.time) else {
            throw ServiceError.invalidResponse("'\(last.time)' is not a time")
        }
        let next = TimeCursor(began: began ?? newest, newest: newest, hasRows: true)
            .next(after: Date(isoText: known), overlap: options.overlap, margin: options.overlap)
        return next?.parseText ?? known
    }

    /// Returns one page of a full listing of IDs.
    package func list(of entity: String, page: String?) async throws -> ListPage {
        var query = ParseQuery(order: ParseRecords.id, limit: options.pageSize)
        query.keys = ParseRecords.id
        query.counts = true
        if let page { query.conditions = [.init(ParseRecords.id, ["$gt": .string(page)])] }
        let response = try await find(className(of: entity), query)
        if let page, case .string(let last)? = response.results.last?[ParseRecords.id] {
            try IDOrder.check((nil, last), after: (nil, page), in: className(of: entity))
        }
        let ids = response.results.compactMap { $0[ParseRecords.id] }
        let versions = response.results.compactMap { record -> (JSONValue, String)? in
            guard let id = record[ParseRecords.id], case .string(let time)? = record["updatedAt"] else { return nil }
            return (id, time)
        }
        var listing = ListPage(ids: ids, versions: Dictionary(versions) { _, last in last })
        if !response.isAll, case .string(let last)? = ids.last { listing.nextPage = last }
        return listing
    }

    /// Fetches records by ID in one request, and the relations of the records in further requests. A record that the
    /// server hides from the user counts as not found.
    package func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome] {
        var found: [JSONValue: RemoteRecord] = [:]
        for record in try await raw(ids, of: entity) {
            let row = try await row(record, of: entity)
            found[row.id] = row
        }
        return ids.map { id in found[id].map { .found($0) } ?? .notFound }
    }

    /// Fetches objects by ID in the format of Parse, without missing ones.
    func raw(_ ids: [JSONValue], of entity: String) async throws -> [JSONValue] {
        guard !ids.isEmpty else { return [] }
        var query = ParseQuery(order: ParseRecords.id, limit: ids.count)
        query.conditions = [.init(ParseRecords.id, ["$in": .array(ids)])]
        return try await find(className(of: entity), query).results
    }

    // MARK: Rows

    private func row(_ record: JSONValue, of entity: String) async throws -> RemoteRecord {
        guard case .string(let id)? = record[ParseRecords.id], case .string(let version)? = record["updatedAt"] else {
            throw ServiceError.invalidResponse(
                "a record of \(className(of: entity)) has no 'objectId' or no 'updatedAt'")
        }
        let records = records(of: entity)
        var lists: [String: [JSONValue]] = [:]
        for field in records.lists {
            recordKind(field, record, of: entity)
            if record[field.name]?["__type"] == "Relation" {
                lists[field.name] = try await related(to: .string(id), field, of: entity)
            }
        }
        return RemoteRecord(
            id: .string(id), record: records.plain(record, lists: lists), version: version,
            // Two changes may have the same time, so an equal time does not prove that a record is unchanged.
            modifiedAt: Date(isoText: version), isComplete: false)
    }

    /// Fetches the IDs in a relation, because the object of the relation has only the name of the class.
    func related(to row: JSONValue, _ field: ParseRecords.Field, of entity: String) async throws -> [JSONValue] {
        let object: JSONValue = [
            "__type": "Pointer", "className": .string(className(of: entity)), "objectId": row,
        ]
        var ids: [JSONValue] = []
        var (left, stalls): (Int?, Int) = (nil, 0)
        while true {
            var query = ParseQuery(order: ParseRecords.id, limit: options.pageSize)
            query.keys = ParseRecords.id
            query.counts = true
            query.conditions = [.init("$relatedTo", ["object": object, "key": .string(field.name)])]
            if let last = ids.last { query.conditions.append(.init(ParseRecords.id, ["$gt": last])) }
            let response = try await find(records(of: entity).className(of: field), query)
            let page = response.results.compactMap { $0[ParseRecords.id] }
            guard !page.isEmpty else { return ids }
            if let last = ids.last, let id = page.first(where: { !IDOrder.isAfter($0, last) }) {
                throw endless(field, of: row, "is not in order: \(id) comes after \(last)")
            }
            ids += page
            if response.isAll { return ids }
            // The count is the number of objects after the last ID.
            if let count = response.count {
                if let left, count >= left { stalls += 1 }
                left = count
            }
            guard stalls < 3 else {
                throw endless(field, of: row, "has pages that do not reduce the number of remaining rows")
            }
            guard max(ids.count, left ?? 0) <= Self.maximumRelationRows else {
                throw endless(field, of: row, "has more than \(Self.maximumRelationRows) rows")
            }
        }
    }

    /// The largest number of IDs in a relation.
    private static let maximumRelationRows = 1_000_000

    private func endless(_ field: ParseRecords.Field, of row: JSONValue, _ text: String) -> ServiceError {
        .invalidResponse("the relation '\(field.name)' of \(row) \(text)")
    }

    // MARK: Queries

    struct Found {
        let results: [JSONValue]
        /// The number of objects that match the conditions; nil if the response has no count.
        let count: Int?
        let time: Date?
        var isAll: Bool { count.map { results.count >= $0 } ?? results.isEmpty }
    }

    func find(_ className: String, _ query: ParseQuery) async throws -> Found {
        let response = try await exchange.send(.get, exchange.url(path(of: className), query.parameters))
        let json = try answered(response)
        guard case .array(let results)? = json["results"] else {
            throw ServiceError.invalidResponse("no list at 'results' (\(response.endpoint))")
        }
        var count: Int?
        if case .number(let text)? = json["count"] { count = Int(text) }
        return Found(results: results, count: count, time: response.time)
    }

    /// Returns the JSON of a successful response.
    ///
    /// - Throws: ``ServiceError`` for any other response.
    private func answered(_ response: ServiceHTTPClient.Response) throws -> JSONValue {
        if (200..<300).contains(response.status) { return try response.json() }
        if let failure = ParseError(response)?.failure { throw failure }
        throw response.refusal
    }
}

/// A query for objects of a class.
struct ParseQuery {
    var conditions: [JSONValue.Member] = []
    let order: String
    let limit: Int
    /// The fields to return; nil for all.
    var keys: String?
    /// Whether to return the number of matching objects.
    var counts = false

    init(order: String, limit: Int) {
        self.order = order
        self.limit = limit
    }

    var parameters: [(String, String)] {
        var parameters = [("order", order), ("limit", "\(limit)")]
        if !conditions.isEmpty {
            parameters.append(
                ("where", String(decoding: CanonicalJSON.bytes(.object(conditions)), as: UTF8.self)))
        }
        if let keys { parameters.append(("keys", keys)) }
        if counts { parameters.append(("count", "1")) }
        return parameters
    }
}

/// The object after which a page of a pull begins, or the time at which it begins.
struct ParseCursor {
    let time: String
    /// The ID of the last object of the previous page; nil to begin with all objects of the time.
    let id: String?
    /// The number of objects in the first page, which is the size of a full page.
    let full: Int?
    /// The time of the first response by the clock of the server.
    let began: Date?

    init(time: String) { (self.time, id, full, began) = (time, nil, nil, nil) }

    init?(_ record: JSONValue, full: Int, began: Date?) {
        guard case .string(let time)? = record["updatedAt"], case .string(let id)? = record[ParseRecords.id] else {
            return nil
        }
        (self.time, self.id, self.full, self.began) = (time, id, full, began)
    }

    /// Parses a page token.
    init(_ text: String) throws {
        let json = try JSONValue(parsing: text)
        guard let time = json["t"]?.string, let id = json["i"]?.string, let full = json["n"]?.int else {
            throw ServiceError.invalidResponse("'\(text)' is not a valid page token")
        }
        (self.time, self.id, self.full) = (time, id, full)
        began = json["b"]?.string.flatMap { Date(isoText: $0) }
    }

    var text: String {
        var json: JSONValue = ["t": .string(time), "i": .string(id ?? ""), "n": JSONValue(full ?? 0)]
        if let began { json = json.setting(.string(began.isoText), at: ["b"]) }
        return String(decoding: CanonicalJSON.bytes(json), as: UTF8.self)
    }

    /// The conditions for the objects of the page: a later time, or the same time and a greater ID. Therefore no object
    /// is lost between pages if several have the same time.
    var conditions: [JSONValue.Member] {
        let time: JSONValue = ["__type": "Date", "iso": .string(time)]
        let since = JSONValue.Member("updatedAt", ["$gte": time])
        guard let id else { return [since] }
        return [since, .init("$or", [["updatedAt": ["$gt": time]], [ParseRecords.id: ["$gt": .string(id)]]])]
    }
}
