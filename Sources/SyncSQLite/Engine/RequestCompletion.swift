import GRDB
import SyncCore
import SyncStore

/// Completes one request by its outcome. Edits made after the request was built stay in the outbox. The caller merges
/// ``answer``, the service's version of the row.
struct RequestCompletion {
    /// The number of consecutive responses with another version after which a change is blocked until the next run.
    static let maximumRounds = 3
    /// The reason of a change that is blocked because the service no longer has the row. When a run confirms this, the
    /// row is deleted or created again.
    static let notFoundReason = "the service no longer has the row"
    /// The SQL condition that a change is blocked for ``notFoundReason``. It is never NULL.
    static let isNotFound = CascadeMarker.isBlocked(for: notFoundReason)

    let engine: SQLiteEngineStore
    let table: TrackedTable
    let reply: RequestOutcome
    private let serverTime: Int64?
    let db: Database
    /// The current key of the row; nil if the request was completed before.
    var key: DatabaseValue?
    /// Whether the row was not edited since the request was built. If it was, a rejection does not apply to its pending
    /// change.
    private let isUnchanged: Bool
    private(set) var outcome = AppliedChanges()
    /// The service's version of the row; nil if there is none to merge.
    var answer: Answer?

    struct Answer {
        let table: TrackedTable
        let row: PulledPage.Record
        /// Whether a locally created row with the key of the record is the same row.
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

    mutating func complete() throws {
        guard let key else { return }
        switch reply.outcome {
        case .unknown:
            try db.executeCached(
                sql: "UPDATE sync_request SET attempts = attempts + 1, frozen = ?, taken = NULL WHERE id = ?",
                arguments: [SQLiteEngineStore.now, reply.request.id])
        case .accepted(let isCertain):
            try db.executeCached(
                sql: """
                    UPDATE sync_request SET taken = coalesce(taken, (SELECT seq FROM sync_engine)), frozen = ?,
                      attempts = CASE WHEN ? THEN 0 ELSE attempts + 1 END WHERE id = ?
                    """, arguments: [SQLiteEngineStore.now, isCertain, reply.request.id])
        case .notListed(let reason):
            // With a marker, a later run finds the row when the service lists it. If the row was deleted locally, its
            // deletion is sent then.
            if try table.isStored(key, in: db) || engine.registration.markerField != nil {
                return try block(key, reason)
            }
            try removeRequest()
            try engine.deleteState(key, table, in: db)
        case .postponed: try removeRequest()
        case .inDoubt:
            let sent = try sentFields()
            try AttemptedValues.insert(reply.request.id, in: db)
            try removeRequest()
            // The service may have created a row that was deleted locally since, so the deletion is sent.
            if reply.request.kind == .create, try !table.isStored(key, in: db) {
                try deletedMeanwhile(nil, replaceKey(reply.request.remoteID, key), sent)
            }
        // The service did not reject the change. The next run sends it again, with the same idempotency key.
        case .failing(let reason):
            try AttemptedValues.insert(reply.request.id, in: db)
            try removeRequest()
            guard isUnchanged else { return }
            try block(key, reason)
            try db.executeCached(
                sql: "UPDATE sync_change SET rounds = ? WHERE e = ? AND k = ?",
                arguments: [Self.maximumRounds, table.number, key])
        case .rejected(let reason): try refuse(key, reason)
        case .rejectedAfterRetry(let reason): try leaveOpen(key, reason)
        case .createdThenDeleted:
            // The outcome is merged like a pulled deletion. With `attempts` > 0, the merge knows that the row was
            // created.
            try db.executeCached(
                sql: "UPDATE sync_request SET attempts = attempts + 1 WHERE id = ?", arguments: [reply.request.id])
            let id = try reply.request.remoteID ?? table.json(key, in: db)
            let row = PulledPage.Record(id: id, record: nil, version: nil, time: nil)
            answer = Answer(table: table, row: row, isSame: false)
        case .notFound where reply.request.kind == .create:
            try removeRequest()
            if try table.isStored(key, in: db), try givesOtherID(key) { return }
            try refuse(key, RequestOutcome.unacceptedRowReason)
        case .notFound:
            try removeRequest()
            guard isUnchanged else { return }
            try setAside(key, Self.notFoundReason)
            // The merge must accept any version that the service sends next.
            try db.executeCached(
                sql: "UPDATE sync_known SET whole = 0 WHERE e = ? AND k = ? AND whole = 1",
                arguments: [table.number, key])
            try PageWriter(engine, table, serverTime, db)
                .insertTombstone(reply.request.remoteID ?? table.json(key, in: db), isLimited: true)
        case .conflict(let row?) where reply.request.kind == .create: try mergeDuplicate(row, key)
        case .conflict(let row): try mergeConflict(row, key)
        case .applied(let row):
            if reply.request.kind == .delete {
                try finishDeletion(key)
            } else if let row, row.record != nil, try isInUse(row.id, key) || isRestored(key) {
                try mergeDuplicate(row, key)
            } else {
                try acknowledge(row, key)
            }
        }
    }

    // MARK: Applied

    private mutating func acknowledge(_ row: PulledPage.Record?, _ old: DatabaseValue) throws {
        let sent = try sentFields()
        try removeRequest()
        try AttemptedValues(table, db).delete(old)
        // If the response has no record, another device may have created the row again, so edited fields are sent once
        // more.
        let keepsEdits = try row?.record == nil && isRestored(old)
        let key = try replaceKey(row?.id ?? reply.request.remoteID, old)
        self.key = key
        guard let values = try table.fieldReader.values(of: key, in: db) else {
            return try deletedMeanwhile(row, key, sent)
        }
        try record(row, key)
        let misnamed = try UnrecognizedFields(table, engine.model, db).found(
            in: row?.record, of: key, sent: reply.request.body)
        // The service has not stored the values of these fields.
        let unkept = Set(misnamed.map(\.field))
        let preserved = sent.filter { !unkept.contains($0.field) }
        let unread = UnreadableValues(engine, table, db)
        for (field, value) in preserved {
            try unread.resolve(field, of: key)
            if let joinTable = joinTable(forField: field) {
                try resolveJoinRows(joinTable, key, try engine.sentKeys(value, joinTable, in: db))
            } else if try !(keepsEdits && hasBase(field, key)) {
                try setBase(field, key, to: value, now: values[field])
            }
        }
        if reply.request.kind == .create {
            let names = Set(preserved.map(\.field))
            for column in table.columns where !names.contains(column.name) {
                try setBase(column.name, key, to: .null, now: values[column.name])
            }
        }
        try completeChange(key)
        // Do not merge the response, which would overwrite these values.
        if let first = misnamed.first {
            if isUnchanged { try block(key, first.reason) }
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

    func sentFields() throws -> [(field: String, value: DatabaseValue)] {
        try Row.fetchAll(
            db.cachedStatement(sql: "SELECT domain, value FROM sync_sent WHERE request = ?"),
            arguments: [reply.request.id]
        ).map { (try $0.decode(atIndex: 0), $0[1]) }
    }

    func hasBase(_ field: String, _ key: DatabaseValue) throws -> Bool {
        try db.finds(
            sql: "SELECT 1 FROM sync_base WHERE e = ? AND k = ? AND domain = ?", arguments: [table.number, key, field])
    }

    /// Returns whether the request creates a row again that the service deleted. Another device may have created it
    /// again too.
    func isRestored(_ key: DatabaseValue) throws -> Bool {
        try reply.request.kind == .create && LocalEditTimes(of: key, table, db).isRestored
    }

    /// Stores the sent value as the base value if the row has another value by now, which is still to be sent.
    /// Otherwise deletes the base value.
    func setBase(
        _ field: String, _ key: DatabaseValue, to sent: DatabaseValue, now: DatabaseValue?
    ) throws {
        try table.setBase(now?.isExactly(sent) ?? true ? nil : sent, of: field, key, in: db)
    }

    func resolveJoinRows(
        _ joinTable: TrackedTable.JoinTable, _ key: DatabaseValue, _ sent: [DatabaseValue]
    ) throws {
        try db.executeCached(
            sql: "DELETE FROM sync_link WHERE link = ? AND owner = ?", arguments: [joinTable.name, key])
        let list = try LinkedRowList(joinTable).others(of: key, in: db)
        let (now, then) = (Set(list), Set(sent))
        for (others, op) in [(now.subtracting(then), 1), (then.subtracting(now), -1)] {
            for other in others {
                try db.executeCached(
                    sql: "INSERT INTO sync_link (link, owner, other, op, edited) VALUES (?, ?, ?, ?, ?)",
                    arguments: [joinTable.name, key, other, op, SQLiteEngineStore.now])
            }
        }
        try BaseListOrder(table, joinTable, db).set(
            joinTable.isOrdered && ListOrderMerge.isMoved(list, from: sent) ? sent : nil, of: key)
    }

    func joinTable(forField field: String) -> TrackedTable.JoinTable? { table.joinTables.first { $0.field == field } }

    private func completeChange(_ key: DatabaseValue) throws {
        let names = table.joinTables.map(\.name.literal).joined(separator: ", ")
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
        guard isBack else { return try engine.deleteState(key, table, in: db) }
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
            return try engine.deleteState(key, table, in: db)
        }
        guard isUnchanged else {
            // A new row is sent with another idempotency key, because the service may repeat its rejection for the old
            // key.
            return try db.executeCached(
                sql: "UPDATE sync_change SET attempts = attempts + 1 WHERE e = ? AND k = ? AND kind = 'create'",
                arguments: [table.number, key])
        }
        try block(key, reason)
        try db.executeCached(
            sql: """
                UPDATE sync_change SET attempts = attempts + 1, seq = (SELECT seq FROM sync_engine) WHERE e = ? AND k = ?
                """, arguments: [table.number, key])
    }

    /// Completes a request to which the service responded with another version. The version is merged, and remaining
    /// differences are sent again. After ``maximumRounds`` consecutive times the change is blocked.
    private mutating func mergeConflict(_ row: PulledPage.Record?, _ key: DatabaseValue) throws {
        // The other version may have the sent values: an attempt without a response may have been carried out.
        try AttemptedValues.insert(reply.request.id, in: db)
        try removeRequest()
        try db.executeCached(
            sql: "UPDATE sync_change SET rounds = rounds + 1 WHERE e = ? AND k = ?", arguments: [table.number, key])
        let rounds = try Int.fetchOne(
            db, sql: "SELECT rounds FROM sync_change WHERE e = ? AND k = ?", arguments: [table.number, key])
        if let rounds, rounds >= Self.maximumRounds, isUnchanged {
            try block(key, "contended: the service had a different version \(rounds) consecutive times")
        }
        // The merge would skip a version that is already known.
        try db.executeCached(
            sql: "UPDATE sync_known SET whole = 0 WHERE e = ? AND k = ? AND whole = 1", arguments: [table.number, key])
        if let row { answer = Answer(table: table, row: row, isSame: false) }
    }

    /// Keeps the request of a rejected create and blocks the change, since an earlier attempt may have created the row.
    /// The next attempt uses the same idempotency key.
    ///
    /// If the row was deleted in the meantime, the deletion waits for the outcome. If the row was edited, its current
    /// values are sent.
    private mutating func leaveOpen(_ key: DatabaseValue, _ reason: String) throws {
        try db.executeCached(
            sql: "UPDATE sync_request SET attempts = attempts + 1, taken = NULL WHERE id = ?",
            arguments: [reply.request.id])
        try db.executeCached(
            sql: """
                UPDATE sync_change SET state = 'parked', reason = \(CascadeMarker.blocked())
                WHERE e = ? AND k = ? AND kind <> 'delete'
                  AND seq <= (SELECT seq FROM sync_request WHERE id = ?)
                """, arguments: [reason, table.number, key, reply.request.id])
        outcome[table.entity.name].blocked += db.changesCount
    }

    private mutating func block(_ key: DatabaseValue, _ reason: String) throws {
        try setAside(key, reason)
        outcome[table.entity.name].blocked += 1
    }

    private func setAside(_ key: DatabaseValue, _ reason: String) throws {
        try db.executeCached(
            sql: "UPDATE sync_change SET state = 'parked', reason = \(CascadeMarker.blocked()) WHERE e = ? AND k = ?",
            arguments: [reason, table.number, key])
    }

    func removeRequest() throws {
        try db.executeCached(sql: "DELETE FROM sync_sent WHERE request = ?", arguments: [reply.request.id])
        try db.executeCached(sql: "DELETE FROM sync_request WHERE id = ?", arguments: [reply.request.id])
    }
}
