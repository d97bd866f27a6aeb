import Foundation
import Sync
import SyncTesting

@testable import SyncService

/// A service in memory that rejects, confuses and hides rows, as the members of a history require.
actor TroubledService: SyncService {
    /// The projects that are only nested in tasks.
    static let inside: Set<JSONValue> = ["900", "901", "902", 900, 901, 902]

    nonisolated let memory: InMemoryService
    private let troubles: HistoryTroubles
    private let ledger: HistoryLedger
    private nonisolated let members: Set<HistoryMember>
    private struct HiddenRow {
        /// The number of requests during which the row is on no list.
        var left: Int
        /// The version at its creation: a cursor stays before it.
        let version: Int
    }

    private var hidden: [HistoryRow: HiddenRow] = [:]
    /// All rows that existed at some time.
    private var known: Set<HistoryRow> = []
    private var links = OneToOneLinks()
    private var isCorrecting = false

    init(_ memory: InMemoryService, _ troubles: HistoryTroubles, _ ledger: HistoryLedger, _ members: Set<HistoryMember>)
    {
        (self.memory, self.troubles, self.ledger, self.members) = (memory, troubles, ledger, members)
    }

    nonisolated var capabilities: ServiceCapabilities { memory.capabilities }
    nonisolated var identity: String { memory.identity }

    // MARK: Pulling

    /// Lists all hidden rows from now on.
    func listHiddenRows() { hidden = [:] }

    func pull(_ request: PullRequest) async throws -> PullPage {
        await lookAtLinks()
        var (request, limit) = Self.withoutLimit(request)
        var page = try await memory.pull(request)
        await countDown()
        await page.records = nested(page.records, request.entity).filter { !isInside($0.id, request.entity) }
        page.records.removeAll { isHidden($0.id, request.entity) }
        let oldest = hidden.filter { $0.key.entity == request.entity }.map(\.value.version).min()
        limit = [limit, oldest.map { $0 - 1 }].compactMap(\.self).min()
        if let limit {
            page.cursor = page.cursor.flatMap { Int($0) }.map { "\(min($0, limit))" }
            page.nextPage = page.nextPage.map { "\($0)\(Self.separator)\(limit)" }
        }
        if page.nextPage == nil, capabilities.idAssignment == .server, await troubles.hasGhost {
            page.records.append(RemoteRecord(id: "ghost", record: ["id": "ghost", "title": "ghost"], version: "1"))
        }
        return page
    }

    private static let separator: Character = "/"

    /// Returns the request of a page without the limit of the cursor. The name of a page has a limit if earlier pages
    /// omitted hidden rows: the cursor stays before these rows, even if they are listed meanwhile.
    private static func withoutLimit(_ request: PullRequest) -> (request: PullRequest, limit: Int?) {
        let parts = (request.page ?? "").split(separator: separator).map(String.init)
        var request = request
        request.page = parts.first
        return (request, parts.count > 1 ? Int(parts[1]) : nil)
    }

    func list(of entity: String, page: String?) async throws -> ListPage {
        var listing = try await memory.list(of: entity, page: page)
        await countDown()
        listing.ids.removeAll { isInside($0, entity) || isHidden($0, entity) }
        listing.versions = listing.versions.filter { listing.ids.contains($0.key) }
        return listing
    }

    func fetch(_ ids: [JSONValue], of entity: String) async throws -> [FetchOutcome] {
        let rows = try await memory.fetch(ids, of: entity)
        var answers: [FetchOutcome] = []
        for (id, row) in zip(ids, rows) {
            if case .found(let found) = row, !isInside(id, entity) {
                answers.append(.found(await nested([found], entity)[0]))
            } else {
                answers.append(.notFound)
            }
        }
        return answers
    }

    private func countDown() async {
        let isActive = await troubles.isActive
        for name in hidden.keys { hidden[name]?.left -= 1 }
        hidden = isActive ? hidden.filter { $0.value.left > 0 } : [:]
    }

    /// Whether a device finds its created row at any later time and after any change: by its marker or its ID.
    private nonisolated var isFoundLater: Bool {
        switch capabilities.createIdempotency {
        case .markerField, .clientID: true
        case .idempotencyKey, .matchByContent: false
        }
    }

    private func isHidden(_ id: JSONValue, _ entity: String) -> Bool {
        hidden[HistoryRow(entity: entity, key: id.plain)] != nil
    }

    private nonisolated func isInside(_ id: JSONValue, _ entity: String) -> Bool {
        members.contains(.nested) && entity == "Project" && Self.inside.contains(id)
    }

    /// Returns tasks with their project if no list has it.
    private func nested(_ rows: [RemoteRecord], _ entity: String) async -> [RemoteRecord] {
        guard members.contains(.nested), entity == "Task" else { return rows }
        let projects = await memory.contents(of: "Project")
        return rows.map { row in
            guard case .object(let parts)? = row.record, let id = row.record?["project_id"],
                Self.inside.contains(id), let project = projects[id]
            else { return row }
            var row = row
            row.record = .object(parts.filter { $0.key != "project_id" } + [.init("project", project)])
            return row
        }
    }

    // MARK: Pushing

    func push(_ operations: [PushOperation]) async throws -> [PushOutcome] {
        var outcomes: [PushOutcome?] = operations.map { _ in nil }
        var sent: [(place: Int, operation: PushOperation)] = []
        for (place, operation) in operations.enumerated() {
            let change = operation.change
            try await troubles.meet(change)
            if members.contains(.reserved), operation.kind == .create, let id = operation.id,
                await isReserved(id, operation.entity)
            {
                outcomes[place] = .notFound
            } else if let reason = await troubles.refusal(of: change) {
                outcomes[place] = .rejected(reason)
            } else if operation.kind == .update, let other = await other(than: operation.id, operation) {
                // A proxy answers with the record of an earlier request.
                outcomes[place] = .applied(other)
            } else {
                sent.append((place, operation))
            }
        }
        let before = await contents()
        if !sent.isEmpty {
            let answers = try await memory.push(sent.map(\.operation))
            for (answer, (place, _)) in zip(answers, sent) { outcomes[place] = answer }
        }
        try await look(since: before, sent.map(\.operation))
        for (place, operation) in sent { outcomes[place] = await answer(outcomes[place], operation) }
        return outcomes.map { $0 ?? .unknown("the service returned no outcome for the change") }
    }

    private func answer(_ outcome: PushOutcome?, _ operation: PushOperation) async -> PushOutcome? {
        if await troubles.isLost(operation.change) { return .unknown("the response was lost") }
        switch outcome {
        case .applied(let row?)?:
            if operation.kind == .create, let other = await other(than: row.id, operation) {
                return .applied(other)
            }
            // Without an ID or a marker a device matches a new row by its values, which another device could change
            // meanwhile.
            if operation.kind != .create || isFoundLater, await troubles.isBodiless {
                let lag = await troubles.lag
                if operation.kind == .create, lag > 0, let version = row.version.flatMap({ Int($0) }) {
                    hidden[HistoryRow(entity: operation.entity, key: row.id.plain)] = HiddenRow(
                        left: lag, version: version)
                }
                return .applied(nil)
            }
            return .applied(await nested([row], operation.entity)[0])
        case .conflict(let row?)?: return .conflict(await nested([row], operation.entity)[0])
        case .alreadyExists(let row?)?: return .alreadyExists(await nested([row], operation.entity)[0])
        default: return outcome
        }
    }

    /// Returns a row that was not requested.
    private func other(than id: JSONValue?, _ operation: PushOperation) async -> RemoteRecord? {
        let (entity, kind) = (operation.entity, operation.kind)
        let ids = await memory.contents(of: entity).keys
        guard let other = await troubles.wrongID(for: id, of: entity, kind, among: ids) else { return nil }
        guard case .found(let row)? = try? await memory.fetch([other], of: entity).first else { return nil }
        return row
    }

    // MARK: Outcomes

    private static let entities = ["Project", "Task", "Tag"]

    private static func sorted(
        _ rows: [JSONValue: JSONValue]?
    ) -> [(key: JSONValue, value: JSONValue)] {
        (rows ?? [:]).sorted { $0.key.plain < $1.key.plain }
    }

    private func contents() async -> [String: [JSONValue: JSONValue]] {
        var contents: [String: [JSONValue: JSONValue]] = [:]
        for entity in Self.entities { contents[entity] = await memory.contents(of: entity) }
        return contents
    }

    private func isReserved(_ id: JSONValue, _ entity: String) async -> Bool {
        let there = await memory.contents(of: entity)
        // An ID that several devices choose may be used again.
        return !id.isTwin && known.contains(HistoryRow(entity: entity, key: id.plain)) && there[id] == nil
    }

    /// Has the ledger record all references, and corrects one-to-one references.
    private func lookAtLinks() async {
        guard !members.isDisjoint(with: HistoryLinks.members) else { return }
        let there = await contents()
        await ledger.recordLinks(there)
        guard !members.isDisjoint(with: [.pairs, .mates]), !isCorrecting, let projects = there["Project"] else {
            return
        }
        isCorrecting = true
        defer { isCorrecting = false }
        let corrections = links.corrections(of: projects) { tag in
            there["Tag"]?[tag] == nil && known.contains(HistoryRow(entity: "Tag", key: tag.plain))
        }
        for correction in corrections {
            let project = correction.project
            await memory.set("Project", project, correction.members)
            await ledger.markWritten(projects[project] ?? .null)
            // Another request deleted the project meanwhile.
            if await memory.contents(of: "Project")[project]?["name"] == nil { await memory.remove("Project", project) }
        }
    }

    /// Has the ledger check deletions, and deletes dependent rows.
    private func look(since before: [String: [JSONValue: JSONValue]], _ operations: [PushOperation]) async throws {
        var after = await contents()
        let isSure =
            capabilities.supportsPreconditions && operations.allSatisfy { $0.kind != .delete || $0.version != nil }
        for entity in Self.entities {
            for (id, record) in Self.sorted(before[entity]) where after[entity]?[id] == nil {
                let project = record["project_id"] ?? .null
                await ledger.judge(
                    deletionOf: record, entity, isAlong: project != .null && after["Project"]?[project] == nil,
                    isSure: isSure)
                guard members.contains(.cascades), entity == "Project" else { continue }
                for (task, record) in Self.sorted(after["Task"]) where record["project_id"] == id {
                    await memory.remove("Task", task)
                }
            }
        }
        await lookAtLinks()
        after = await contents()
        for (entity, rows) in after { known.formUnion(rows.keys.map { HistoryRow(entity: entity, key: $0.plain) }) }
    }
}

extension PushOperation {
    var change: HistoryChange { HistoryChange(entity: entity, kind: kind, id: id, body: record) }
}
