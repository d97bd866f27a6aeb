import Foundation
import GRDB
import SyncCore
import SyncStore

/// Takes changes out of the outbox and keeps what exactly is sent of them: new and changed rows, those that others point to
/// first, then deletions, those that point to others first.
struct RequestFreezer {
    let engine: SQLiteEngine
    let db: Database
    private let bodies: OutgoingBodies
    let order: [EngineTable]
    /// What was edited later waits: a program that writes all the time would else keep a push for ever.
    private let lastEdit: Int64
    /// What of each table's rows is sent, by its number.
    let edits: [Int: EditedDomains]
    /// By table, the ids of rows that the server is known not to have, and that are not deleted yet.
    private let gone: [Int: Set<String>]
    private var requests: [FrozenRequest] = []

    private struct Change {
        let key: DatabaseValue
        let kind: String
        let birth: String?
        let seq: Int64
        let attempts: Int
    }

    /// - Parameters:
    ///   - order: The tables, those that others point to before them.
    ///   - lastEdit: The counter of the last edit that is sent.
    init(_ engine: SQLiteEngine, _ order: [EngineTable], upTo lastEdit: Int64, _ db: Database) throws {
        self.engine = engine
        self.lastEdit = lastEdit
        self.order = order
        self.db = db
        bodies = try OutgoingBodies(engine, db)
        edits = try Dictionary(
            order.map { table in
                (table.number, try EditedDomains(table, sendsWholeRows: engine.registration.sendsWholeRows, db))
            }
        ) { first, _ in first }
        let rows = try db.rowsCached(sql: "SELECT e, id FROM sync_gone").map {
            (try $0.decode(Int.self, atIndex: 0), [try $0.decode(String.self, atIndex: 1)])
        }
        gone = Dictionary(rows.map { ($0, Set($1)) }) { $0.union($1) }
    }

    mutating func freeze(_ limit: Int) throws -> [FrozenRequest] {
        for table in order {
            try freeze(table, "kind <> 'delete'", limit) { try $0.freezeRow($1, table, breaksCycle: false) }
        }
        if requests.isEmpty { try breakCycle(order) }
        if requests.isEmpty {
            for table in order.reversed() {
                try freeze(table, "kind = 'delete'", limit) { try $0.freezeDeletion($1, table, breaksCycle: false) }
            }
        }
        if requests.isEmpty {
            for table in order.reversed() where requests.isEmpty {
                try freeze(table, "kind = 'delete'", 1) { try $0.freezeDeletion($1, table, breaksCycle: true) }
            }
        }
        if requests.isEmpty { try parkCycles() }
        return requests
    }

    private mutating func freeze(
        _ table: EngineTable, _ condition: String, _ limit: Int,
        _ body: (inout RequestFreezer, Change) throws -> Void
    ) throws {
        // What is on its way is not sent again, unless it was refused, might have been done before, and was edited since.
        let statement = try db.cachedStatement(
            sql: """
                SELECT k, kind, birth, seq, attempts FROM sync_change AS c
                WHERE e = ? AND (? IS NULL OR k > ?) AND state = 'ready' AND seq <= ? AND \(condition)
                  AND NOT EXISTS (SELECT 1 FROM sync_request AS r WHERE r.e = c.e AND r.k = c.k
                    AND NOT (r.kind = 'create' AND c.kind = 'create' AND r.attempts > 0 AND r.seq < c.seq AND r.taken IS NULL))
                ORDER BY k LIMIT 1000
                """)
        var last = DatabaseValue.null
        while requests.count < limit {
            let changes = try Row.fetchAll(statement, arguments: [table.number, last, last, lastEdit]).map {
                try Change(
                    key: $0[0], kind: $0.decode(atIndex: 1), birth: $0.decode(atIndex: 2), seq: $0.decode(atIndex: 3),
                    attempts: $0.decode(atIndex: 4))
            }
            guard let end = changes.last else { return }
            for change in changes where requests.count < limit { try body(&self, change) }
            last = end.key
        }
    }

    /// New rows that point to each other: one is sent without saying so, and told the rest when both are there.
    private mutating func breakCycle(_ order: [EngineTable]) throws {
        for table in order where requests.isEmpty {
            try freeze(table, "kind = 'create'", 1) { try $0.freezeRow($1, table, breaksCycle: true) }
        }
    }

    /// Why rows are parked that need each other.
    static let cycle = "a cycle: "

    /// New rows that point to each other, of which none can be sent without saying so, would wait for ever.
    private mutating func parkCycles() throws {
        var stuck: [(change: Change, table: EngineTable, relationship: String)] = []
        for table in order where table.columns.contains(where: { $0.destination != nil && !$0.isOptional }) {
            try freeze(table, "kind = 'create'", 1) { freezer, change in
                guard let values = try table.domains.values(of: change.key, in: freezer.db) else { return }
                let domains = try freezer.edits[table.number]?.all(of: change.key, values) ?? []
                let waiting = try domains.filter { try freezer.isWaiting($0) }
                guard let first = waiting.first(where: { $0.column?.isOptional == false }),
                    try freezer.isInCycle(change.key, table, waiting)
                else { return }
                stuck.append((change, table, first.column?.relationship ?? first.name))
            }
        }
        for (change, table, relationship) in stuck {
            try park(
                change, table,
                "\(Self.cycle)it and what its '\(relationship)' leads to are new, and wait for each other")
        }
    }

    // MARK: Rows

    private mutating func freezeRow(_ change: Change, _ table: EngineTable, breaksCycle: Bool) throws {
        guard let edits = edits[table.number] else { return }
        guard let values = try table.domains.values(of: change.key, in: db) else {
            return try noteGone(change, table)
        }
        let isNew = change.kind == "create"
        let outgoing = isNew ? try edits.all(of: change.key, values) : try edits.dirty(of: change.key, values)
        guard var domains = outgoing else { return }
        if domains.isEmpty, !isNew { return try drop(change, table) }
        let waiting = try domains.filter { try isWaiting($0) }
        if !waiting.isEmpty {
            let isSendable = waiting.allSatisfy { $0.column?.isOptional ?? true }
            if isNew, !breaksCycle || !isSendable { return }
            // What a whole row does not say is gone there, and one domain is not sent by halves.
            if !isNew, engine.registration.sendsWholeRows || table.registration.isOneDomain { return }
            var held = Set(waiting.map(\.name))
            if !isNew { for group in table.groups where !held.isDisjoint(with: group) { held.formUnion(group) } }
            domains.removeAll { held.contains($0.name) }
            if domains.isEmpty, !isNew { return }
            if isNew, try !isInCycle(change.key, table, waiting) { return }
        }
        try send(change, table, domains)
    }

    // MARK: What has to wait

    /// Whether a domain names a row that the server does not know yet, or does not have any more.
    private func isWaiting(_ domain: OutgoingDomain) throws -> Bool { try !awaited([domain]).isEmpty }

    func isGone(_ key: DatabaseValue, _ table: EngineTable) throws -> Bool {
        guard let ids = gone[table.number] else { return false }
        return try ids.contains(bodies.remoteID(of: key, table).text)
    }

    // MARK: Requests

    private mutating func send(_ change: Change, _ table: EngineTable, _ domains: [OutgoingDomain]) throws {
        let isNew = change.kind == "create"
        let remoteID = try isNew ? newID(change, table) : bodies.remoteID(of: change.key, table)
        if isNew, engine.registration.makesIDs, remoteID == nil {
            return try park(change, table, "its key is a local one, and the service wants an id that is made here")
        }
        if isNew, remoteID == .null {
            let names = engine.model.compiled.keyNames(of: table.entity).joined(separator: ", ")
            return try park(change, table, "a part of its key is missing: \(names)")
        }
        do {
            let (body, natural) = try bodies.body(of: change.key, table, domains, newID: remoteID, isNew: isNew)
            try insert(change, table, remoteID, body, natural, domains)
        } catch let error as OutgoingBodies.Unsendable {
            try park(change, table, error.reason)
        }
    }

    /// The id that a new row has from here; nil where the server gives it.
    private func newID(_ change: Change, _ table: EngineTable) throws -> JSONValue? {
        guard engine.registration.makesIDs || table.key.hasParts else { return nil }
        guard try isLocal(change.key, table) else { return try table.json(change.key, in: db) }
        guard table.key.type == .single(.string), let birth = change.birth else { return nil }
        return .string(BirthID(birth).text(of: engine.registration.idLength))
    }

    private func isLocal(_ k: DatabaseValue, _ table: EngineTable) throws -> Bool {
        guard !table.key.hasParts, let key = try table.key.recordKey(k, in: db) else { return false }
        return RowKey(key, table.key.type).isLocal
    }

    private mutating func insert(
        _ change: Change, _ table: EngineTable, _ remoteID: JSONValue?, _ body: JSONValue, _ natural: JSONValue?,
        _ domains: [OutgoingDomain]
    ) throws {
        let version = try String.fetchOne(
            db.cachedStatement(sql: "SELECT version FROM sync_known WHERE e = ? AND k = ?"),
            arguments: [table.number, change.key])
        let birth = change.birth ?? "\(UUID().uuidString.lowercased())"
        let own = try table.json(change.key, in: db)
        let open = try takeOpen(change, table)
        let isRevival =
            try birth == BirthID(reviving: own.text, of: table.entity.name).text
            || change.kind == "create" && MadeTimes(of: change.key, table, db).isRevived
        // Another device brings the same row back with the same key.
        let idem = open?.key ?? (change.attempts == 0 || isRevival ? birth : "\(birth)-\(change.attempts)")
        let kind: FrozenRequest.Kind =
            switch change.kind {
            case "create": .create
            case "delete": .delete
            default: .update
            }
        let now = SQLiteEngine.now
        try db.executeCached(
            sql: """
                INSERT INTO sync_request (e, k, kind, idem, remote, version, body, natural, seq, frozen, attempts)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                table.number, change.key, kind.rawValue, idem, remoteID?.text, version, body.text, natural?.text,
                change.seq, now, open?.attempts ?? 0,
            ])
        let id = db.lastInsertedRowID
        for domain in domains {
            try db.cachedStatement(sql: "INSERT INTO sync_sent (request, domain, value) VALUES (?, ?, ?)").execute(
                arguments: [id, domain.name, domain.value])
        }
        requests.append(
            FrozenRequest(
                id: id, entity: table.entity.name, kind: kind, remoteID: remoteID, body: body, version: version,
                idempotencyKey: idem, frozen: now, attempts: open?.attempts ?? 0, naturalKey: natural,
                isRevival: isRevival))
    }

    /// A creation that may have been carried out, and was refused since: another try has its key.
    private func takeOpen(_ change: Change, _ table: EngineTable) throws -> (key: String, attempts: Int)? {
        let row = try Row.fetchOne(
            db.cachedStatement(sql: "SELECT id, idem, attempts FROM sync_request WHERE e = ? AND k = ?"),
            arguments: [table.number, change.key])
        guard let row else { return nil }
        try TriedValues.keep(row[0], in: db)
        try db.executeCached(sql: "DELETE FROM sync_sent WHERE request = ?", arguments: [row[0]])
        try db.executeCached(sql: "DELETE FROM sync_request WHERE id = ?", arguments: [row[0]])
        return try (row.decode(atIndex: 1), row.decode(atIndex: 2))
    }

    // MARK: Deletions

    private mutating func freezeDeletion(_ change: Change, _ table: EngineTable, breaksCycle: Bool) throws {
        let isKnown = try db.finds(
            sql: "SELECT 1 FROM sync_known WHERE e = ? AND k = ?", arguments: [table.number, change.key])
        guard isKnown else { return try drop(change, table) }
        guard try breaksCycle || !isPointedTo(change, table) else { return }
        let remoteID = try bodies.remoteID(of: change.key, table)
        try insert(change, table, remoteID, .object([]), nil, [])
    }

    /// Whether a row that is to be deleted too, of the same table, pointed to it: that goes first.
    private func isPointedTo(_ change: Change, _ table: EngineTable) throws -> Bool {
        for column in table.columns where column.destination == table.entity.table {
            let isPointedTo = try db.finds(
                sql: """
                    SELECT 1 FROM sync_change c JOIN sync_base b ON b.e = c.e AND b.k = c.k
                    WHERE c.e = ? AND c.kind = 'delete' AND c.state = 'ready' AND b.domain = ? AND b.value = ?
                      AND c.k IS NOT ?
                    """, arguments: [table.number, column.name, change.key, change.key])
            if isPointedTo { return true }
        }
        return false
    }

    // MARK: Changes that are none

    private func noteGone(_ change: Change, _ table: EngineTable) throws {
        if change.kind == "create" { return try drop(change, table) }
        try db.executeCached(
            sql: "UPDATE sync_change SET kind = 'delete' WHERE e = ? AND k = ?", arguments: [table.number, change.key])
    }

    private func drop(_ change: Change, _ table: EngineTable) throws {
        try engine.forget(change.key, table, isKnown: true, in: db)
    }

    private func park(_ change: Change, _ table: EngineTable, _ reason: String) throws {
        try db.executeCached(
            sql: "UPDATE sync_change SET state = 'parked', reason = \(CascadeMark.parked()) WHERE e = ? AND k = ?",
            arguments: [reason, table.number, change.key])
    }
}
