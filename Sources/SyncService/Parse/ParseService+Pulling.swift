import Foundation
import HTTPTypes
package import SyncCore

extension ParseService {
    /// Returns one page of changes since a time, oldest first. The next page begins after its last row.
    package func pull(_ request: PullRequest) async throws -> PullPage {
        let place = try request.page.map { try ParseCursor($0) } ?? request.cursor.map { ParseCursor(time: $0) }
        var query = ParseQuery(order: "updatedAt,objectId", limit: options.pageSize)
        if let place { query.conditions = place.conditions }
        query.counts = request.page == nil
        let answer = try await find(className(of: request.entity), query)
        let known = request.cursor ?? Self.beginning
        try TimeCursor.check(Date(isoText: known), clock: answer.time)
        var rows: [RemoteRecord] = []
        for record in answer.results { rows.append(try await row(record, of: request.entity)) }
        // The first page shows the page size: a server may return fewer rows than requested.
        let full = place?.full ?? answer.results.count
        let isLast = request.page == nil ? answer.isAll : answer.results.count < full
        let began = place?.began ?? answer.time
        let last = answer.results.last.flatMap { ParseCursor($0, full: full, began: began) } ?? place
        if let last, let id = last.id, let place, let before = place.id, !answer.results.isEmpty {
            try IDOrder.check((last.time, id), after: (place.time, before), in: className(of: request.entity))
        }
        guard !answer.results.isEmpty, !isLast, let next = last else {
            return PullPage(
                records: rows, cursor: try end(last, began, after: known), isFullListing: request.cursor == nil,
                serverTime: answer.time, total: answer.count)
        }
        return PullPage(
            records: rows, nextPage: next.text, isFullListing: request.cursor == nil, serverTime: answer.time,
            total: answer.count)
    }

    /// A time before any row.
    private static let beginning = "1970-01-01T00:00:00.000Z"

    /// Returns the cursor of the next pull. The newest row is the last one. Rows that changed before it may become
    /// visible later.
    private func end(_ last: ParseCursor?, _ began: Date?, after known: String) throws -> String {
        // A cursor without an ID is the time of the request: the pull returned no rows.
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
        let answer = try await find(className(of: entity), query)
        if let page, case .string(let last)? = answer.results.last?[ParseRecords.id] {
            try IDOrder.check((nil, last), after: (nil, page), in: className(of: entity))
        }
        let ids = answer.results.compactMap { $0[ParseRecords.id] }
        let versions = answer.results.compactMap { record -> (JSONValue, String)? in
            guard let id = record[ParseRecords.id], case .string(let time)? = record["updatedAt"] else { return nil }
            return (id, time)
        }
        var listing = ListPage(ids: ids, versions: Dictionary(versions) { _, last in last })
        if !answer.isAll, case .string(let last)? = ids.last { listing.nextPage = last }
        return listing
    }

    /// Fetches rows by ID, in one request. Rows that the user must not see count as absent.
    package func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome] {
        var found: [JSONValue: RemoteRecord] = [:]
        for record in try await raw(ids, of: entity) {
            let row = try await row(record, of: entity)
            found[row.id] = row
        }
        return ids.map { id in found[id].map { .found($0) } ?? .notFound }
    }

    /// Fetches records in the format of Parse.
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
            // Two changes may have the same time.
            modifiedAt: Date(isoText: version), isComplete: false)
    }

    /// Returns the IDs of a relation. A record has only the name of its class.
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
            let answer = try await find(records(of: entity).className(of: field), query)
            let page = answer.results.compactMap { $0[ParseRecords.id] }
            guard !page.isEmpty else { return ids }
            if let last = ids.last, let id = page.first(where: { !IDOrder.isAfter($0, last) }) {
                throw endless(field, of: row, "is not in order: \(id) comes after \(last)")
            }
            ids += page
            if answer.isAll { return ids }
            // The count is the number of rows that are left.
            if let count = answer.count {
                if let left, count >= left { stalls += 1 }
                left = count
            }
            guard stalls < 3 else { throw endless(field, of: row, "does not get shorter") }
            guard max(ids.count, left ?? 0) <= Self.mostRelated else {
                throw endless(field, of: row, "has more than \(Self.mostRelated) rows")
            }
        }
    }

    /// The most rows of a relation.
    private static let mostRelated = 1_000_000

    private func endless(_ field: ParseRecords.Field, of row: JSONValue, _ text: String) -> ServiceError {
        .invalidResponse("the relation '\(field.name)' of \(row) \(text)")
    }

    // MARK: Queries

    struct Found {
        let results: [JSONValue]
        /// The number of rows that match the conditions, if requested.
        let count: Int?
        let time: Date?
        var isAll: Bool { count.map { results.count >= $0 } ?? results.isEmpty }
    }

    func find(_ className: String, _ query: ParseQuery) async throws -> Found {
        let answer = try await exchange.send(.get, exchange.url(path(of: className), query.parameters))
        let json = try answered(answer)
        guard case .array(let results)? = json["results"] else {
            throw ServiceError.invalidResponse("no list at 'results' (\(answer.endpoint))")
        }
        var count: Int?
        if case .number(let text)? = json["count"] { count = Int(text) }
        return Found(results: results, count: count, time: answer.time)
    }

    /// Returns the response to a query.
    ///
    /// - Throws: ``ServiceError``.
    private func answered(_ answer: ServiceHTTPClient.Response) throws -> JSONValue {
        if (200..<300).contains(answer.status) { return try answer.json() }
        if let failure = ParseError(answer)?.failure { throw failure }
        throw answer.refusal
    }
}

/// A query for objects of a class.
struct ParseQuery {
    var conditions: [JSONValue.Member] = []
    let order: String
    let limit: Int
    /// The fields to return; nil for all.
    var keys: String?
    /// Whether to return the number of rows.
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

/// The position of a pull: after a row, or at a time.
struct ParseCursor {
    let time: String
    /// The ID of the row; nil for all rows of that time.
    let id: String?
    /// The number of rows of the first page, which is the size of a full page.
    let full: Int?
    /// The clock of the service at the first page.
    let began: Date?

    init(time: String) { (self.time, id, full, began) = (time, nil, nil, nil) }

    init?(_ record: JSONValue, full: Int, began: Date?) {
        guard case .string(let time)? = record["updatedAt"], case .string(let id)? = record[ParseRecords.id] else {
            return nil
        }
        (self.time, self.id, self.full, self.began) = (time, id, full, began)
    }

    /// Parses the text that the engine stores.
    init(_ text: String) throws {
        let json = try JSONValue(parsing: text)
        guard case .string(let time)? = json["t"], case .string(let id)? = json["i"],
            case .number(let full)? = json["n"]
        else { throw ServiceError.invalidResponse("'\(text)' is not a page") }
        (self.time, self.id, self.full) = (time, id, Int(full))
        if case .string(let text)? = json["b"] { began = Date(isoText: text) } else { began = nil }
    }

    var text: String {
        var json: JSONValue = ["t": .string(time), "i": .string(id ?? ""), "n": JSONValue(full ?? 0)]
        if let began { json = json.setting(.string(began.isoText), at: ["b"]) }
        return String(decoding: CanonicalJSON.bytes(json), as: UTF8.self)
    }

    /// The conditions for later rows: those with a later time, and those of the same time with a greater ID. So rows
    /// that share a time are not lost between pages.
    var conditions: [JSONValue.Member] {
        let time: JSONValue = ["__type": "Date", "iso": .string(time)]
        let since = JSONValue.Member("updatedAt", ["$gte": time])
        guard let id else { return [since] }
        return [since, .init("$or", [["updatedAt": ["$gt": time]], [ParseRecords.id: ["$gt": .string(id)]]])]
    }
}
