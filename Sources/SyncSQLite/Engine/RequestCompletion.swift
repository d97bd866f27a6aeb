import GRDB
import SyncCore
import SyncStore

/// Completes one request by its outcome. Edits that were made after it was sent stay in the outbox. The service's
/// version of the row is returned for a merge.
struct RequestCompletion {
    /// How many consecutive times the service may have another version before the change is blocked until the next run.
    static let patience = 3
    /// The reason of a change that is blocked because the service no longer has the row. Once a run confirms that, the
    /// row is deleted or created again.
    static let gone = "the service no longer has the row"
    /// The condition that a change is blocked for that reason. It is never NULL.
    static let isGone = CascadeMark.isBlocked(for: gone)

    let engine: SQLiteEngineStore
    let table: TrackedTable
    let reply: RequestOutcome
    private let serverTime: Int64?
    let db: Database
    /// The current key of the row; nil if the request was completed before.
    var key: DatabaseValue?
    /// Whether the row was not edited since the request was created. Otherwise a refusal does not apply to its pending
    /// change.
    private let isUnchanged: Bool
    private(set) var outcome = AppliedChanges()
    /// The service's version of the row.
    var answer: Answer?

    struct Answer {
        let table: TrackedTable
        let row: PulledPage.Record
        /// Whether a row that was created here and has its key is that row.
        let isSame: Bool
    }

    init(_ engine: SQLiteEngineStore, _ reply: RequestOutcome, _ serverTime: Int64?, _ db: Database) throws {
        self.engine = engine
        self.reply = reply
        self.serverTime = serverTime
        self.db = db
        table = try engine.table(reply.request.entity)
        let row = try db.rowCached(
            sql: """
                SELECT r.k, c.kind IS r.kind AND c.seq <= r.seq FROM sync_request AS r
                LEFT JOIN sync_change AS c ON c.e = r.e AND c.k = r.k WHERE r.id = ?
                """, arguments: [reply.request.id])
        key = row?[0]
        isUnchanged = try row?.decode(atIndex: 1) ?? false
    }

    mutating func settle() throws {
        guard let key else { return }
        switch reply.outcome {
        case .unknown:
            try db.executeCached(
                sql: "UPDATE sync_request SET attempts = attempts + 1, frozen = ?, taken = NULL WHERE id = ?",
                arguments: [SQLiteEngineStore.now, reply.request.id])
        case .taken(let isCertain):
            try db.executeCached(
                sql: """
                    UPDATE sync_request SET taken = coalesce(taken, (SELECT seq FROM sync_engine)), frozen = ?,
                      attempts = CASE WHEN ? THEN 0 ELSE attempts + 1 END WHERE id = ?
                    """, arguments: [SQLiteEngineStore.now, isCertain, reply.request.id])
        case .notListed(let reason):
            // With a marker, the row is found whenever the service lists it. If it was deleted here, its deletion is
            // sent then.
            if try table.isStored(key, in: db) || engine.registration.marker != nil { return try park(key, reason) }
            try removeRequest()
            try engine.forget(key, table, in: db)
        case .postponed: try removeRequest()
        case .unanswered:
            let sent = try sentFields()
            try TriedValues.keep(reply.request.id, in: db)
            try removeRequest()
            // The service may have created a row that was deleted here since, so the deletion is sent.
            if reply.request.kind == .create, try !table.isStored(key, in: db) {
                try deletedMeanwhile(nil, adopt(reply.request.remoteID, key), sent)
            }
        // The service did not refuse the change. The next run tries it again, with the same key.
        case .failing(let reason):
            try TriedValues.keep(reply.request.id, in: db)
            try removeRequest()
            guard isUnchanged else { return }
            try park(key, reason)
            try db.executeCached(
                sql: "UPDATE sync_change SET rounds = ? WHERE e = ? AND k = ?",
                arguments: [Self.patience, table.number, key])
        case .rejected(let reason): try refuse(key, reason)
        case .refusedAgain(let reason): try leaveOpen(key, reason)
        case .deletedSinceMade:
            // It is merged like a pulled deletion. The attempts of the request tell the merge that the row was created.
            try db.executeCached(
                sql: "UPDATE sync_request SET attempts = attempts + 1 WHERE id = ?", arguments: [reply.request.id])
            let id = try reply.request.remoteID ?? table.json(key, in: db)
            let row = PulledPage.Record(id: id, record: nil, version: nil, time: nil)
            answer = Answer(table: table, row: row, isSame: false)
        case .gone where reply.request.kind == .create:
            try removeRequest()
            if try table.isStored(key, in: db), try givesOtherID(key) { return }
            try refuse(key, "the service does not accept rows at this address")
        case .gone:
            try removeRequest()
            guard isUnchanged else { return }
            try setAside(key, Self.gone)
            // Any version that the service sends next is to be merged.
            try db.executeCached(
                sql: "UPDATE sync_known SET whole = 0 WHERE e = ? AND k = ? AND whole = 1",
                arguments: [table.number, key])
            try PageWriter(engine, table, serverTime, db)
                .insertTombstone(reply.request.remoteID ?? table.json(key, in: db), isGuarded: true)
        case .conflict(let row?) where reply.request.kind == .create: try unite(row, key)
        case .conflict(let row): try meet(row, key)
        case .applied(let row):
            if reply.request.kind == .delete {
                try finishDeletion(key)
            } else if let row, row.record != nil, try isTaken(row.id, key) || isRevived(key) {
                try unite(row, key)
            } else {
                try acknowledge(row, key)
            }
        }
    }

    // MARK: Applied

    private mutating func acknowledge(_ row: PulledPage.Record?, _ old: DatabaseValue) throws {
        let sent = try sentFields()
        try removeRequest()
        try TriedValues(table, db).forget(old)
        // Without a record it is unknown whether another device created the row again, so edited fields are sent once
        // more.
        let keepsEdits = try row?.record == nil && isRevived(old)
        let key = try adopt(row?.id ?? reply.request.remoteID, old)
        self.key = key
        guard let values = try table.domains.values(of: key, in: db) else {
            return try deletedMeanwhile(row, key, sent)
        }
        try record(row, key)
        let misnamed = try UnrecognizedFields(table, engine.model, db).found(
            in: row?.record, of: key, sent: reply.request.body)
        // The service has not stored the values of these fields.
        let unkept = Set(misnamed.map(\.domain))
        let kept = sent.filter { !unkept.contains($0.domain) }
        let unread = UnreadableValues(engine, table, db)
        for (domain, value) in kept {
            try unread.settle(domain, of: key)
            if let pairs = pairs(domain) {
                try resolveJoinRows(pairs, key, try engine.sentKeys(value, pairs, in: db))
            } else if try !(keepsEdits && hasBase(domain, key)) {
                try setBase(domain, key, to: value, now: values[domain])
            }
        }
        if reply.request.kind == .create {
            let names = Set(kept.map(\.domain))
            for column in table.columns where !names.contains(column.name) {
                try setBase(column.name, key, to: .null, now: values[column.name])
            }
        }
        try completeChange(key)
        // The answer would overwrite these values.
        if let first = misnamed.first {
            if isUnchanged { try park(key, first.reason) }
            return
        }
        if let row, row.record != nil { answer = Answer(table: table, row: row, isSame: false) }
    }

    func record(_ row: PulledPage.Record?, _ key: DatabaseValue) throws {
        let spelled = row?.id ?? reply.request.remoteID
        let heardOf = reply.request.kind == .create ? "excluded.seq" : "max(seq, 0)"
        try db.executeCached(
            sql: """
                INSERT INTO sync_known (e, k, version, time, whole, seq, remote)
                VALUES (?, ?, ?, ?, 0, (SELECT seq FROM sync_engine), ?)
                ON CONFLICT DO UPDATE SET version = coalesce(excluded.version, version), time = coalesce(excluded.time, time),
                  whole = 0, seq = \(heardOf), remote = coalesce(excluded.remote, remote)
                """,
            arguments: [
                table.number, key, row?.version, row?.time,
                try spelled.flatMap { try table.spelling(of: $0, key, in: db) },
            ])
        try table.key.insertName(key, table.number, in: db)
    }

    func sentFields() throws -> [(domain: String, value: DatabaseValue)] {
        try Row.fetchAll(
            db.cachedStatement(sql: "SELECT domain, value FROM sync_sent WHERE request = ?"),
            arguments: [reply.request.id]
        ).map { (try $0.decode(atIndex: 0), $0[1]) }
    }

    func hasBase(_ domain: String, _ key: DatabaseValue) throws -> Bool {
        try db.finds(
            sql: "SELECT 1 FROM sync_base WHERE e = ? AND k = ? AND domain = ?", arguments: [table.number, key, domain])
    }

    /// Returns whether the request creates a row that the service deleted. Another device may have created it again
    /// too.
    func isRevived(_ key: DatabaseValue) throws -> Bool {
        try reply.request.kind == .create && MadeTimes(of: key, table, db).isRevived
    }

    /// Makes the sent value the base if the row has another value by now, which is still to be sent. Otherwise deletes
    /// the base.
    func setBase(
        _ domain: String, _ key: DatabaseValue, to sent: DatabaseValue, now: DatabaseValue?
    ) throws {
        try table.setBase(now?.isExactly(sent) ?? true ? nil : sent, of: domain, key, in: db)
    }

    func resolveJoinRows(
        _ pairs: TrackedTable.JoinTable, _ key: DatabaseValue, _ sent: [DatabaseValue]
    ) throws {
        try db.executeCached(
            sql: "DELETE FROM sync_link WHERE link = ? AND owner = ?", arguments: [pairs.name, key])
        let list = try LinkedRowList(pairs).others(of: key, in: db)
        let (now, then) = (Set(list), Set(sent))
        for (others, op) in [(now.subtracting(then), 1), (then.subtracting(now), -1)] {
            for other in others {
                try db.executeCached(
                    sql: "INSERT INTO sync_link (link, owner, other, op, edited) VALUES (?, ?, ?, ?, ?)",
                    arguments: [pairs.name, key, other, op, SQLiteEngineStore.now])
            }
        }
        try BaseOrder(table, pairs, db).set(
            pairs.isOrdered && ListOrderMerge.isMoved(list, from: sent) ? sent : nil, of: key)
    }

    func pairs(_ domain: String) -> TrackedTable.JoinTable? { table.pairs.first { $0.domain == domain } }

    private func completeChange(_ key: DatabaseValue) throws {
        let names = table.pairs.map(\.name.literal).joined(separator: ", ")
        let isLeft = try db.finds(
            sql: """
                SELECT 1 FROM sync_base WHERE e = ? AND k = ?
                UNION ALL SELECT 1 FROM sync_link WHERE owner = ? AND link IN (\(names))
                """, arguments: [table.number, key, key])
        try db.executeCached(
            sql: isLeft
                ? """
                UPDATE sync_change SET kind = 'update', birth = NULL, attempts = 0, rounds = 0,
                  state = CASE state WHEN 'conflicted' THEN 'conflicted' ELSE 'ready' END WHERE e = ? AND k = ?
                """ : "DELETE FROM sync_change WHERE e = ? AND k = ?",
            arguments: [table.number, key])
    }

    private func finishDeletion(_ key: DatabaseValue) throws {
        try removeRequest()
        let isBack = try db.finds(
            sql: "SELECT 1 FROM sync_change WHERE e = ? AND k = ? AND kind <> 'delete'", arguments: [table.number, key])
        guard isBack else { return try engine.forget(key, table, in: db) }
        try db.executeCached(sql: "DELETE FROM sync_known WHERE e = ? AND k = ?", arguments: [table.number, key])
        try db.executeCached(sql: "DELETE FROM sync_base WHERE e = ? AND k = ?", arguments: [table.number, key])
        try db.executeCached(
            sql: """
                UPDATE sync_change SET kind = 'create', birth = lower(hex(randomblob(16))), attempts = 0, rounds = 0
                WHERE e = ? AND k = ?
                """,
            arguments: [table.number, key])
        try engine.insertNew(key, table, in: db)
    }

    // MARK: Not applied

    /// Completes a request that the service will never accept. Blocks the change, unless the row was edited since.
    private mutating func refuse(_ key: DatabaseValue, _ reason: String) throws {
        try removeRequest()
        // Neither side has the row.
        if reply.request.kind == .create, try !table.isStored(key, in: db) {
            return try engine.forget(key, table, in: db)
        }
        guard isUnchanged else {
            // A new row is sent with another idempotency key, because the service may remember the refusal of the old
            // one.
            return try db.executeCached(
                sql: "UPDATE sync_change SET attempts = attempts + 1 WHERE e = ? AND k = ? AND kind = 'create'",
                arguments: [table.number, key])
        }
        try park(key, reason)
        try db.executeCached(
            sql: """
                UPDATE sync_change SET attempts = attempts + 1, seq = (SELECT seq FROM sync_engine) WHERE e = ? AND k = ?
                """, arguments: [table.number, key])
    }

    /// Completes a request because the service has another version. It is merged, and remaining differences are sent
    /// again, at most ``patience`` consecutive times.
    private mutating func meet(_ row: PulledPage.Record?, _ key: DatabaseValue) throws {
        // The other version may have the sent values: the request may have been carried out without an answer.
        try TriedValues.keep(reply.request.id, in: db)
        try removeRequest()
        try db.executeCached(
            sql: "UPDATE sync_change SET rounds = rounds + 1 WHERE e = ? AND k = ?", arguments: [table.number, key])
        let rounds = try Int.fetchOne(
            db, sql: "SELECT rounds FROM sync_change WHERE e = ? AND k = ?", arguments: [table.number, key])
        if let rounds, rounds >= Self.patience, isUnchanged {
            try park(key, "contended: the service had another version \(rounds) times in a row")
        }
        // The merge would skip a version that is already known.
        try db.executeCached(
            sql: "UPDATE sync_known SET whole = 0 WHERE e = ? AND k = ? AND whole = 1", arguments: [table.number, key])
        if let row { answer = Answer(table: table, row: row, isSame: false) }
    }

    /// Keeps the request of a refused creation, since an earlier attempt may have created the row. The next attempt
    /// uses the same key.
    ///
    /// A row that was deleted meanwhile waits with its deletion. A row that was edited meanwhile is sent with its
    /// current values.
    private mutating func leaveOpen(_ key: DatabaseValue, _ reason: String) throws {
        try db.executeCached(
            sql: "UPDATE sync_request SET attempts = attempts + 1, taken = NULL WHERE id = ?",
            arguments: [reply.request.id])
        try db.executeCached(
            sql: """
                UPDATE sync_change SET state = 'parked', reason = \(CascadeMark.parked())
                WHERE e = ? AND k = ? AND kind <> 'delete'
                  AND seq <= (SELECT seq FROM sync_request WHERE id = ?)
                """, arguments: [reason, table.number, key, reply.request.id])
        outcome[table.entity.name].parked += db.changesCount
    }

    private mutating func park(_ key: DatabaseValue, _ reason: String) throws {
        try setAside(key, reason)
        outcome[table.entity.name].parked += 1
    }

    private func setAside(_ key: DatabaseValue, _ reason: String) throws {
        try db.executeCached(
            sql: "UPDATE sync_change SET state = 'parked', reason = \(CascadeMark.parked()) WHERE e = ? AND k = ?",
            arguments: [reason, table.number, key])
    }

    func removeRequest() throws {
        try db.executeCached(sql: "DELETE FROM sync_sent WHERE request = ?", arguments: [reply.request.id])
        try db.executeCached(sql: "DELETE FROM sync_request WHERE id = ?", arguments: [reply.request.id])
    }
}
