import Foundation
import HTTPTypes
package import SyncCore

extension RESTService {
    /// Returns one page of the list of an entity.
    package func pull(_ request: PullRequest) async throws -> PullPage {
        var place = try request.page.map { try RESTCursor($0) } ?? RESTCursor(options.paging)
        let response = try await exchange.send(.get, url(of: place, request))
        if options.sinceParameter != nil { try TimeCursor.check(Self.time(of: request), clock: response.time) }
        switch response.status {
        case 200..<300: break
        // Some frameworks return 404 after the last numbered page.
        case 404 where place.number != nil:
            place.seen.record([], hasRows: false, clock: response.time)
            return try await end([], [], place, request, response)
        case 410 where request.cursor != nil: throw ServiceError.cursorInvalid
        default: throw response.refusal
        }
        let json = try response.json()
        guard case .array(let records)? = json.value(at: Self.path(options.recordsKeyPath)) else {
            throw ServiceError.invalidResponse(Self.noList(at: options.recordsKeyPath, json, response))
        }
        let (rows, invalidRecords) = PullPage.parse(records) { row($0, of: request.entity) }
        if !records.isEmpty, rows.isEmpty {
            throw ServiceError.invalidResponse(
                "no record has an ID at '\(idNames(of: request.entity))'")
        }
        place.seen.record(rows.map(\.modifiedAt), hasRows: !rows.isEmpty, clock: response.time)
        var next = try next(after: place, json, count: records.count, response)
        next?.seen = place.seen
        next?.passes = place.passes
        guard let next else { return try await end(rows, invalidRecords, place, request, response, total: total(json)) }
        return PullPage(
            records: rows, nextPage: next.text, isFullListing: isListing(request), serverTime: response.time,
            total: total(json),
            invalidRecords: invalidRecords)
    }

    private static func noList(at path: String, _ json: JSONValue, _ response: ServiceHTTPClient.Response) -> String {
        var text = path.isEmpty ? "the response is not a list" : "no list at '\(path)'"
        if case .object(let members) = json {
            let lists = members.filter { if case .array = $0.value { true } else { false } }.map { "'\($0.key)'" }
            if !lists.isEmpty { text += "; a list is at \(lists.joined(separator: ", "))" }
        }
        return text + " (\(response.endpoint))"
    }

    private func end(
        _ rows: [RemoteRecord], _ invalidRecords: [Int], _ place: RESTCursor, _ request: PullRequest,
        _ response: ServiceHTTPClient.Response,
        total: Int? = nil
    ) async throws -> PullPage {
        if try await isShifted(place, request) {
            var anew = RESTCursor(options.paging)
            anew.passes = place.passes + 1
            return PullPage(
                records: rows, nextPage: anew.text, isFullListing: isListing(request), serverTime: response.time,
                total: total,
                invalidRecords: invalidRecords)
        }
        var cursor: String?
        if options.sinceParameter != nil {
            let known = Self.time(of: request)
            let next = place.seen.next(after: known, overlap: options.overlap)
            // Keep the exact text of an unchanged cursor.
            cursor = next == known ? request.cursor : next?.wholeSecond.isoText
        }
        return PullPage(
            records: rows, cursor: cursor, isFullListing: isListing(request), serverTime: response.time, total: total,
            invalidRecords: invalidRecords)
    }

    private static func time(of request: PullRequest) -> Date? { request.cursor.flatMap { Date(isoText: $0) } }

    /// Returns whether records changed while the pages were read. Such a change may move other records to pages that
    /// were already read, so that the pull misses those records. The pull then reads all pages again, at most twice.
    private func isShifted(_ place: RESTCursor, _ request: PullRequest) async throws -> Bool {
        guard let since = options.sinceParameter, let began = place.seen.began, !place.isFirst, place.passes < 2 else {
            return false
        }
        // A service that compares times as text sorts `40.4Z` before `40Z`.
        let before = began.addingTimeInterval(-1)
        let first = parameters(of: RESTCursor(options.paging)) + [(since, before.isoText)]
        let response = try await exchange.send(.get, exchange.url(path(of: request.entity), first))
        guard (200..<300).contains(response.status),
            case .array(let records)? = try response.json().value(at: Self.path(options.recordsKeyPath))
        else { return false }
        return !records.isEmpty
    }

    /// Returns whether a pull lists all records.
    private func isListing(_ request: PullRequest) -> Bool { options.sinceParameter == nil || request.cursor == nil }

    static func path(_ text: String) -> [String] {
        text.isEmpty ? [] : text.split(separator: ".").map(String.init)
    }

    // MARK: URLs

    private func url(of place: RESTCursor, _ request: PullRequest) throws -> URL {
        if let address = place.address { return try exchange.url(following: address, from: exchange.base) }
        var query = parameters(of: place)
        if let since = options.sinceParameter, let cursor = request.cursor { query.append((since, cursor)) }
        return try exchange.url(path(of: request.entity), query)
    }

    private func parameters(of place: RESTCursor) -> [(String, String)] {
        var query: [(String, String)] = []
        switch options.paging {
        case .none: break
        case .page(let page, let size, let limit, _):
            query.append((page, "\(place.number ?? 1)"))
            if let size { query.append((size, "\(limit)")) }
        case .offset(let offset, let size, let limit, _):
            query.append((offset, "\(place.number ?? 0)"))
            if let size { query.append((size, "\(limit)")) }
        case .link(let size, let limit), .next(_, let size, let limit):
            if let size { query.append((size, "\(limit)")) }
        case .cursor(let cursor, _, let size, let limit):
            if let word = place.word { query.append((cursor, word)) }
            if let size { query.append((size, "\(limit)")) }
        }
        return query
    }

    // MARK: The next page

    private func next(
        after place: RESTCursor, _ json: JSONValue, count: Int, _ response: ServiceHTTPClient.Response
    ) throws -> RESTCursor? {
        switch options.paging {
        case .none: return nil
        // The service may use smaller pages than requested, so a page that is not full may not be the last page.
        // Without a total, only an empty page ends the list.
        case .page(_, _, _, let total):
            let number = place.number ?? 1
            let pages = total.flatMap { self.number(json, $0) }
            return count == 0 || pages.map { number >= $0 } ?? false ? nil : RESTCursor(number: number + 1)
        case .offset(_, _, _, let total):
            let passed = (place.number ?? 0) + count
            let rows = total.flatMap { self.number(json, $0) }
            return count == 0 || rows.map { passed >= $0 } ?? false ? nil : RESTCursor(number: passed)
        case .link:
            return try LinkHeader(HTTPField.Name("Link").map { response.headers[values: $0] } ?? []).next.map {
                try address($0, response)
            }
        case .next(let key, _, _):
            guard case .string(let address)? = json.value(at: Self.path(key)), !address.isEmpty else { return nil }
            return try self.address(address, response)
        case .cursor(_, let key, _, _):
            switch json.value(at: Self.path(key)) {
            case .string(let word)? where !word.isEmpty: return RESTCursor(word: word)
            case .number(let word)?: return RESTCursor(word: word)
            default: return nil
            }
        }
    }

    private func address(_ text: String, _ response: ServiceHTTPClient.Response) throws -> RESTCursor {
        RESTCursor(address: try exchange.url(following: text, from: response.url).absoluteString)
    }

    private func number(_ json: JSONValue, _ key: String) -> Int? {
        switch json.value(at: Self.path(key)) {
        case .number(let text)?: Double(text).flatMap { Int(exactly: $0) }
        case .string(let text)?: Int(text)
        default: nil
        }
    }

    /// Returns the number of records in all pages, rounded up to full pages if pages are numbered; nil if the response
    /// does not report it.
    private func total(_ json: JSONValue) -> Int? {
        switch options.paging {
        case .page(_, _, let limit, let total?):
            number(json, total).map { $0.multipliedReportingOverflow(by: limit).partialValue }
        case .offset(_, _, _, let total?): number(json, total)
        default: nil
        }
    }
}

/// The page of a list that a pull requests next. The engine stores it as a page token.
struct RESTCursor {
    /// The number of the page, or the number of records to skip; nil for the first page and for other kinds of paging.
    var number: Int?
    /// The URL of the page; nil for the first page and for other kinds of paging.
    var address: String?
    /// The token of the page; nil for the first page and for other kinds of paging.
    var word: String?
    /// The times found in the earlier pages of this pull.
    var seen = TimeCursor()
    /// The number of times that this pull has read all pages.
    var passes = 0

    init(_ paging: RESTOptions.Paging) {}
    init(number: Int) { self.number = number }
    init(address: String) { self.address = address }
    init(word: String) { self.word = word }

    /// Whether the page is the first one of the list.
    var isFirst: Bool { number == nil && address == nil && word == nil }

    init(_ text: String) throws {
        let json = try JSONValue(parsing: text)
        (number, passes) = (json["n"]?.int, json["p"]?.int ?? 0)
        (address, word) = (json["u"]?.string, json["w"]?.string)
        let (began, newest) = (json["t"]?.string, json["v"]?.string)
        seen = TimeCursor(
            began: began.flatMap { Date(isoText: $0) }, newest: newest.flatMap { Date(isoText: $0) },
            hasRows: json["r"] == true)
    }

    var text: String {
        var members: [JSONValue.Member] = []
        if let number { members.append(.init("n", JSONValue(number))) }
        if let address { members.append(.init("u", .string(address))) }
        if let word { members.append(.init("w", .string(word))) }
        if passes > 0 { members.append(.init("p", JSONValue(passes))) }
        if let began = seen.began { members.append(.init("t", .string(began.isoText))) }
        if let newest = seen.newest { members.append(.init("v", .string(newest.isoText))) }
        if seen.hasRows { members.append(.init("r", true)) }
        return String(decoding: CanonicalJSON.bytes(.object(members)), as: UTF8.self)
    }
}

/// The header `Link` (RFC 8288).
struct LinkHeader {
    /// The URL of the link with `rel="next"`; nil if there is none.
    let next: String?

    init(_ values: [String]) {
        var found: String?
        for value in values {
            for link in Self.links(value) where found == nil {
                let isNext = link.parameters.contains { parameter in
                    let parts = parameter.split(separator: "=", maxSplits: 1).map {
                        $0.trimmingCharacters(in: .whitespaces)
                    }
                    guard parts.count == 2, parts[0].lowercased() == "rel" else { return false }
                    let relations = parts[1].trimmingCharacters(in: CharacterSet(charactersIn: "\""))
                    return relations.lowercased().split(separator: " ").contains("next")
                }
                if isNext { found = link.address }
            }
        }
        next = found
    }

    /// Splits a header value into links. A URL in the value may contain commas and semicolons.
    private static func links(_ value: String) -> [(address: String, parameters: [String])] {
        var links: [(address: String, parameters: [String])] = []
        var rest = value[...]
        while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
            let address = String(rest[rest.index(after: open)..<close])
            rest = rest[rest.index(after: close)...]
            let end = rest.firstIndex(of: "<").map { rest[..<$0].lastIndex(of: ",") ?? $0 } ?? rest.endIndex
            let parameters = rest[..<end].split(separator: ";").map {
                $0.trimmingCharacters(in: CharacterSet(charactersIn: " \t,"))
            }
            links.append((address, parameters))
            rest = rest[end...]
        }
        return links
    }
}
