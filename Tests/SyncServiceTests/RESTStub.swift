import Foundation
import HTTPTypes
import Sync

@testable import SyncService

/// A REST service in memory with its own clock and the faults of a history's members.
actor RESTStub: HTTPTransport {
    static let paths = ["Project": "projects", "Task": "tasks", "Tag": "tags"]
    private static let entities = ["projects": "Project", "tasks": "Task", "tags": "Tag"]

    private struct Lost: LocalizedError {
        let errorDescription: String? = "the connection was lost"
    }
    private struct Reply {
        var status: Int
        var body: JSONValue?
    }
    private struct Row {
        var record: JSONValue
        var updated: Int64
        var version: Int
        var isDeleted = false
        /// The number of requests until the row is created; no list has it before.
        var lag = 0
    }

    private let make: RESTMake
    private let troubles: HistoryTroubles
    private let ledger: HistoryLedger
    private let members: Set<HistoryMember>
    private var rows: [String: [JSONValue: Row]] = [:]
    private var keys: [String: JSONValue] = [:]
    private var version = 0
    private var lastID = 0
    private var others = 0
    /// The row of the last create that was answered without a body.
    private var hidden: (entity: String, id: JSONValue)?
    /// Milliseconds since 1970.
    private var now = RESTStub.start
    private static let start: Int64 = 1_800_000_000_000
    /// The number of times that the clock was set back.
    private var setBacks: Int64 = 0
    /// The offset of response dates from the clock.
    private var ahead: Int64 = 0
    /// The bodies of all creates and updates that were carried out.
    private(set) var accepted: [JSONValue] = []

    init(_ make: RESTMake, _ troubles: HistoryTroubles, _ ledger: HistoryLedger, _ members: Set<HistoryMember>) {
        (self.make, self.troubles, self.ledger, self.members) = (make, troubles, ledger, members)
    }

    // MARK: Calls of a history

    /// Returns the rows that are not deleted.
    func contents(of entity: String) -> [JSONValue: JSONValue] {
        (rows[entity] ?? [:]).filter { !$0.value.isDeleted }.mapValues(\.record)
    }

    /// Advances the clock, or sets it if the history has that member.
    func pass(_ step: SeededNumbers) {
        var step = step
        now += [100, 5_000, 100_000, 400_000][Int(step.next() % 4)]
        ahead = 0
        guard members.contains(.clocks) else { return }
        switch step.next() % 8 {
        case 0:
            // Set the clock to before all earlier times, since a clock that reaches a cursor again cannot be noticed.
            setBacks += 1
            now = Self.start - setBacks * 86_400_000
        case 1: ahead = 400 * 86_400_000
        default: break
        }
    }

    /// Lists a hidden row at once. A device without an answer to its create sends it again if no list has the row.
    func listHiddenRow() {
        guard let (entity, id) = hidden else { return }
        rows[entity]?[id]?.lag = 0
    }

    /// Creates the accepted rows at once that no list has.
    func listHiddenRows() {
        for (entity, rows) in rows.sorted(by: { $0.key < $1.key }) {
            for (id, row) in rows.sorted(by: { $0.key.plain < $1.key.plain }) where row.lag > 0 {
                write(entity, id, row.record)
            }
        }
    }

    // MARK: The server

    func send(_ request: HTTPRequest, body: Data?) async throws -> (HTTPResponse, Data) {
        now += 7
        hidden = nil
        let address = URLComponents(string: request.path ?? "/")
        let path = (address?.path ?? "").split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
        guard let first = path.first, let entity = Self.entities[first] else {
            return await response(Reply(status: 404))
        }
        let body = try body.map { try JSONValue(parsing: $0) }
        var query: [String: String] = [:]
        for item in address?.queryItems ?? [] { query[item.name] = item.value }
        if request.method == .get {
            await countDown()
            return await response(
                path.count == 1 ? await list(entity, query) : await one(entity, id(path[1])))
        }
        let id = path.count > 1 ? id(path[1]) : JSONValue?.none
        return await response(try await change(request, entity, id, body ?? [:]))
    }

    private func id(_ text: String) -> JSONValue {
        make.options.idAssignment == .client ? .string(text) : .number(text)
    }

    private func response(_ reply: Reply) async -> (HTTPResponse, Data) {
        var response = HTTPResponse(status: .init(code: reply.status))
        response.headerFields[.date] = Self.date(now + (await troubles.isActive ? ahead : 0))
        return (response, reply.body.map { Data(CanonicalJSON.bytes($0)) } ?? Data())
    }

    private func countDown() async {
        let isActive = await troubles.isActive
        for (entity, rows) in rows.sorted(by: { $0.key < $1.key }) {
            for (id, row) in rows.sorted(by: { $0.key.plain < $1.key.plain }) where row.lag > 0 {
                self.rows[entity]?[id]?.lag -= 1
                // The row is created now and gets the current time, so no cursor is past it.
                if row.lag == 1 || !isActive { write(entity, id, row.record) }
            }
        }
    }

    // MARK: Lists

    private func list(_ entity: String, _ query: [String: String]) async -> Reply {
        let since = make.options.sinceParameter.flatMap { query[$0] }.flatMap { Date(isoText: $0) }?.milliseconds
        let place =
            query["offset"].flatMap { Int($0) } ?? ((query["page"].flatMap { Int($0) } ?? 1) - 1) * make.pageSize
        var all = (rows[entity] ?? [:]).values.filter {
            $0.lag == 0 && (since == nil ? !$0.isDeleted : (!$0.isDeleted || make.options.deletedField != nil))
        }
        if let since { all.removeAll { $0.updated < since } }
        // If versions are not times, only the clock shows the progress of a pull, and an empty later page is not
        // noticed.
        if since != nil, place == 0 || make.hasTimes, await troubles.isLate { all = [] }
        all.sort { ($0.updated, $0.record["id"]?.plain ?? "") < ($1.updated, $1.record["id"]?.plain ?? "") }
        var page = all.dropFirst(place).prefix(make.pageSize).map(\.record)
        if !page.isEmpty, make.options.idAssignment == .server, await troubles.hasGhost {
            page.append(["id": "ghost", "title": "ghost"])
        }
        if place == 0, all.count > make.pageSize, await troubles.isShifted,
            let first = all.first(where: { !$0.isDeleted }), let id = first.record["id"]
        {
            // Another client writes the first row of the list, except values by which a device matches its own new
            // rows.
            others += 1
            let field: JSONValue =
                entity == "Task" && !members.contains(.bodiless)
                ? ["points": JSONValue(900_000 + others)] : ["other": JSONValue(others)]
            write(entity, id, merged(first.record, field))
            await ledger.markWritten(first.record)
        }
        return Reply(
            status: 200,
            body: [
                "data": .array(page), "total": JSONValue(all.count),
                "total_pages": JSONValue((all.count + make.pageSize - 1) / make.pageSize),
            ])
    }

    private func one(_ entity: String, _ id: JSONValue) async -> Reply {
        if let other = await other(than: id, entity, .update) { return Reply(status: 200, body: other) }
        guard let row = rows[entity]?[id], !row.isDeleted else { return Reply(status: 404) }
        return Reply(status: 200, body: row.record)
    }

    /// Returns a row that was not requested.
    private func other(than id: JSONValue?, _ entity: String, _ kind: PushOperation.Kind) async -> JSONValue? {
        let records = contents(of: entity)
        return await troubles.wrongID(for: id, of: entity, kind, among: records.keys).flatMap { records[$0] }
    }

    // MARK: Changes

    private func change(
        _ request: HTTPRequest, _ entity: String, _ id: JSONValue?, _ body: JSONValue
    ) async throws -> Reply {
        let isCreation = request.method == .post || request.headerFields[.ifNoneMatch] != nil
        let change = HistoryChange(
            entity: entity, kind: request.method == .delete ? .delete : isCreation ? .create : .update, id: id,
            body: body)
        try await troubles.meet(change)
        if isBelowDeleted(change) { return Reply(status: 422, body: ["message": "the project was deleted"]) }
        if await troubles.refusal(of: change) != nil {
            return Reply(
                status: [422, 400, 422, change.kind == .delete ? 403 : 404][Int(now % 4)], body: ["message": "refused"])
        }
        if change.kind == .update, let other = await other(than: id, entity, .update) {
            return Reply(status: 200, body: other)
        }
        var reply = await carryOut(request, entity, id, body, change.kind)
        if await troubles.isLost(change) { throw Lost() }
        guard (200..<300).contains(reply.status), let record = reply.body, let id = record["id"] else { return reply }
        if change.kind == .create, let other = await other(than: id, entity, .create) {
            return Reply(status: 201, body: other)
        }
        // Without an ID or a marker a device matches a new row by its values, which another device could change
        // meanwhile.
        guard change.kind != .create || make.options.idAssignment == .client || make.options.markerField != nil,
            await troubles.isBodiless
        else { return reply }
        if change.kind == .create {
            rows[entity]?[id]?.lag = await troubles.lag
            hidden = (entity, id)
        }
        reply = Reply(status: change.kind == .create ? 202 : 204)
        return reply
    }

    /// Returns whether the project of a row is deleted. A service without times has no such rows, like a database with
    /// foreign keys. A device could not know whether the row or the deletion is later.
    private func isBelowDeleted(_ change: HistoryChange) -> Bool {
        guard !make.hasTimes, change.entity == "Task", let project = change.body["project_id"] else { return false }
        let isThere = change.kind == .create || change.id.flatMap { rows["Task"]?[$0] }?.isDeleted == false
        return isThere && change.kind != .delete && rows["Project"]?[project]?.isDeleted == true
    }

    private func carryOut(
        _ request: HTTPRequest, _ entity: String, _ id: JSONValue?, _ body: JSONValue, _ kind: PushOperation.Kind
    ) async -> Reply {
        switch kind {
        case .create: return create(request, entity, id, body)
        case .update:
            guard let id, let row = rows[entity]?[id], !row.isDeleted else { return Reply(status: 404) }
            if isStale(request, row) { return Reply(status: 412, body: row.record) }
            accepted.append(body)
            write(entity, id, request.method == .put ? merged(["id": id], body) : merged(row.record, body))
            return Reply(status: 200, body: rows[entity]?[id]?.record)
        case .delete:
            guard let id, let row = rows[entity]?[id], !row.isDeleted else { return Reply(status: 404) }
            if isStale(request, row) { return Reply(status: 412, body: row.record) }
            if request.headerFields[.ifMatch] != nil {
                let project = row.record["project_id"] ?? .null
                let isAlong = project != .null && rows["Project"]?[project].map { $0.isDeleted } ?? true
                await ledger.judge(deletionOf: row.record, entity, isAlong: isAlong, isSure: true)
            }
            write(entity, id, row.record, isDeleted: true)
            if entity == "Project" { deleteTasks(of: id) }
            return Reply(status: 204)
        }
    }

    /// Deletes the tasks of a project. Devices leave that to the service.
    private func deleteTasks(of project: JSONValue) {
        for (id, row) in (rows["Task"] ?? [:]).sorted(by: { $0.key.plain < $1.key.plain })
        where row.record["project_id"] == project && !row.isDeleted {
            write("Task", id, row.record, isDeleted: true)
        }
    }

    private func create(_ request: HTTPRequest, _ entity: String, _ id: JSONValue?, _ body: JSONValue) -> Reply {
        let key = make.options.idempotencyHeader.flatMap { HTTPField.Name($0) }.flatMap { request.headerFields[$0] }
        if let key, let made = keys[key], let row = rows[entity]?[made] { return Reply(status: 200, body: row.record) }
        var id = id
        if let own = id, let row = rows[entity]?[own] {
            guard row.isDeleted else { return Reply(status: 412, body: row.record) }
            if members.contains(.reserved), !own.isTwin {
                return Reply(status: 410, body: ["message": "it was deleted"])
            }
        }
        if id == JSONValue?.none {
            lastID += 1
            id = JSONValue(lastID)
        }
        guard let id else { return Reply(status: 400) }
        if let key { keys[key] = id }
        accepted.append(body)
        write(entity, id, merged(["id": id], body))
        return Reply(status: 201, body: rows[entity]?[id]?.record)
    }

    private func isStale(_ request: HTTPRequest, _ row: Row) -> Bool {
        guard let known = request.headerFields[.ifMatch], let version = make.options.versionField else { return false }
        return row.record[version].map { known != "\"\($0.plain)\"" } ?? false
    }

    private func write(_ entity: String, _ id: JSONValue, _ record: JSONValue, isDeleted: Bool = false) {
        version += 1
        now += 3
        let time = JSONValue.string(Self.text(now))
        var members: JSONValue = ["id": id, "version": JSONValue(version), "updated_at": time]
        if isDeleted { members = merged(members, ["deleted_at": time]) }
        rows[entity, default: [:]][id] = Row(
            record: merged(record, members), updated: now, version: version, isDeleted: isDeleted)
    }

    /// Returns a time such as `2027-01-15T08:00:00.123Z`.
    private static func text(_ time: Int64) -> String {
        let seconds = Date(timeIntervalSince1970: Double(time / 1000)).isoText
        return seconds.prefix(19) + "." + String(1000 + time % 1000).dropFirst() + "Z"
    }

    /// Returns a date such as `Fri, 15 Jan 2027 08:00:00 GMT`, with an arbitrary day of the week.
    private static func date(_ time: Int64) -> String {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let text = Self.text(time)
        let parts = text.prefix(10).split(separator: "-")
        let month = Int(parts[1]).map { months[$0 - 1] } ?? ""
        return "Fri, \(parts[2]) \(month) \(parts[0]) \(text.dropFirst(11).prefix(8)) GMT"
    }

    private func merged(_ old: JSONValue, _ new: JSONValue) -> JSONValue {
        guard case .object(let before) = old, case .object(let after) = new else { return new }
        return .object(before.filter { member in !after.contains { $0.key == member.key } } + after)
    }
}
