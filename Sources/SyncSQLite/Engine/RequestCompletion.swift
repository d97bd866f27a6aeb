import GRDB
import SyncCore
import SyncStore

/// Completes one request by its outcome. Edits made after the request was built stay in the outbox. The caller merges
/// ``answer``, the service's version of the row.
struct RequestCompletion {
    /// The number of consecutive responses with another version after which a change is blocked until the next run.
    static let maximumContentions = 3
    /// The reason, for users, of a change that is blocked because the service no longer has the row.
    static let notFoundReason = "the service no longer has the row"

    let engine: SQLiteEngineStore
    let table: TrackedTable
    let reply: RequestOutcome
    private let serverTime: Int64?
    let db: Database
    var ledger: EngineLedger { EngineLedger(db) }
    var requestID: Int64 { reply.request.id }
    var operation: PushOperation { reply.request.operation }
    var isCreate: Bool { operation.kind == .create }
    /// The current key of the row; nil if the request was completed before.
    var key: DatabaseValue?
    /// Whether the row was not edited since the request was built. If it was, a rejection does not apply to its pending
    /// change.
    private let isUnchanged: Bool
    private(set) var outcome = SyncReport()
    /// The service's version of the row; nil if there is none to merge.
    var answer: Answer?

    struct Answer {
        let table: TrackedTable
        let row: RemoteRecord
        /// Whether a locally created row with the key of the record is the same row.
        var isSame = false
    }

    init(_ engine: SQLiteEngineStore, _ reply: RequestOutcome, _ serverTime: Int64?, _ db: Database) throws {
        (self.engine, self.reply, self.serverTime, self.db) = (engine, reply, serverTime, db)
        table = try engine.table(reply.request.operation.entity)
        let row = try EngineLedger(db).sentRows(ofRequests: [reply.request.id])[reply.request.id]
        key = row?.key
        isUnchanged = row?.isUnchanged ?? false
    }

    mutating func complete() throws {
        guard let key else { return }
        switch reply.outcome {
        case .unknown: try ledger.addUnknownAttempt(ofRequest: requestID, at: db.now())
        case .accepted(let isCertain):
            try ledger.setAccepted(request: requestID, isCertain: isCertain, at: db.now())
        case .notListed(let reason):
            // With a marker, a later run finds the row when the service lists it. If the row was deleted locally, its
            // deletion is sent then. If a cascade deleted the row, there is no change to block.
            if try table.isStored(key, in: db) || engine.registration.markerField != nil && !isDeletedByCascade(key) {
                return try block(key, .uncertain, reason)
            }
            try ledger.deleteRequest(requestID)
            try ledger.deleteEntries(of: key, table)
        case .postponed: try ledger.deleteRequest(requestID)
        case .inDoubt:
            let sent = try ledger.sentFields(ofRequest: requestID)
            try ledger.deleteRequest(requestID, keepsValues: true)
            // The service may have created a row that was deleted locally since, so the deletion is sent.
            if isCreate, try !table.isStored(key, in: db) {
                try deletedMeanwhile(nil, replaceKey(operation.id, key), sent)
            }
        // The service did not reject the change. The next run sends it again, with the same idempotency key.
        case .failing(let reason):
            try ledger.deleteRequest(requestID, keepsValues: true)
            guard isUnchanged else { return }
            try block(key, .failing, reason)
        case .rejected(let reason): try refuse(key, reason)
        case .rejectedAfterRetry(let reason): try leaveOpen(key, reason)
        case .createdThenDeleted:
            // The outcome is merged like a pulled deletion. With `attempts` > 0, the merge knows that the row was
            // created.
            try ledger.addCreatingAttempt(ofRequest: requestID)
            let id = try operation.id ?? table.json(key, in: db)
            answer = Answer(table: table, row: RemoteRecord(id: id, record: nil))
        case .notFound where isCreate:
            try ledger.deleteRequest(requestID)
            if try table.isStored(key, in: db), try givesOtherID(key) { return }
            try refuse(key, RequestOutcome.unacceptedRowReason)
        case .notFound:
            try ledger.deleteRequest(requestID)
            guard isUnchanged else { return }
            try ledger.block(key, table, .missing, Self.notFoundReason)
            // The merge must accept any version that the service sends next.
            try ledger.recheck(key, table)
            try PageWriter(engine, table, serverTime, db)
                .insertTombstone(operation.id ?? table.json(key, in: db), .missing)
        case .conflict(let row?) where isCreate: try mergeDuplicate(row, key)
        case .conflict(let row): try mergeConflict(row, key)
        case .applied(let row):
            if operation.kind == .delete {
                try finishDeletion(key)
            } else if let row, row.record != nil, try isInUse(row.id, key) || isRestored(key) {
                try mergeDuplicate(row, key)
            } else {
                try acknowledge(row, key)
            }
        }
    }

    // MARK: Applied

    private mutating func acknowledge(_ row: RemoteRecord?, _ old: DatabaseValue) throws {
        let sent = try ledger.sentFields(ofRequest: requestID)
        try ledger.deleteRequest(requestID)
        try ledger.deleteAttemptedValues(of: old, table)
        // If the response has no record, another device may have created the row again, so edited fields are sent once
        // more.
        let keepsEdits = try row?.record == nil && isRestored(old)
        let key = try replaceKey(row?.id ?? operation.id, old)
        self.key = key
        guard let values = try table.fieldReader.values(of: key, in: db) else {
            return try deletedMeanwhile(row, key, sent)
        }
        try record(row, key)
        let misnamed = try UnrecognizedFields(table, engine.model, db).found(
            in: row?.record, of: key, sent: operation.record)
        // The service has not stored the values of these fields.
        let unkept = Set(misnamed.map(\.field))
        let preserved = sent.filter { !unkept.contains($0.name) }
        let unread = UnreadableValues(engine, table, db)
        for field in preserved {
            try unread.resolve(field.name, of: key)
            if let joinTable = joinTable(forField: field.name) {
                try resolveJoinRows(joinTable, key, try engine.sentKeys(field.value, joinTable, in: db))
            } else if try !(keepsEdits && ledger.hasBase(field.name, key, table)) {
                try setBase(field.name, key, to: field.value, now: values[field.name])
            }
        }
        if isCreate {
            let names = Set(preserved.map(\.name))
            for column in table.columns where !names.contains(column.name) {
                try setBase(column.name, key, to: .null, now: values[column.name])
            }
        }
        try ledger.finishSent(key, table)
        // Do not merge the response, which would overwrite these values.
        if let first = misnamed.first {
            if isUnchanged { try block(key, .misnamed, first.reason) }
            return
        }
        if let row, row.record != nil { answer = Answer(table: table, row: row) }
    }

    func record(_ row: RemoteRecord?, _ key: DatabaseValue) throws {
        let entry = try EngineLedger.KnownEntry(key, reply.request, row, table, in: db)
        try ledger.insertKnown([entry], table, .sent(isCreated: isCreate))
    }

    /// Returns whether the request creates a row again that the service deleted. Another device may have created it
    /// again too.
    func isRestored(_ key: DatabaseValue) throws -> Bool {
        try isCreate && LocalEditTimes(of: key, table, db).isRestored
    }

    /// Stores the sent value as the base value if the row has another value by now, which is still to be sent.
    /// Otherwise deletes the base value.
    func setBase(_ field: String, _ key: DatabaseValue, to sent: DatabaseValue, now: DatabaseValue?) throws {
        try ledger.setBase(now?.isExactly(sent) ?? true ? nil : sent, of: field, key, table)
    }

    func resolveJoinRows(_ joinTable: TrackedTable.JoinTable, _ key: DatabaseValue, _ sent: [DatabaseValue]) throws {
        try ledger.deleteJoinEdits(of: key, joinTable)
        let list = try engine.list(joinTable, of: key, table, in: db)
        let (now, then) = (Set(list), Set(sent))
        for (others, isAdded) in [(now.subtracting(then), true), (then.subtracting(now), false)] {
            for other in others { try ledger.insertJoinEdit(other, of: key, joinTable, isAdded: isAdded) }
        }
        try ledger.setBaseOrder(
            joinTable.isOrdered && ListOrderMerge.isMoved(list, from: sent) ? sent : nil, of: joinTable, key, table)
    }

    func joinTable(forField field: String) -> TrackedTable.JoinTable? { table.joinTables.first { $0.field == field } }

    private func finishDeletion(_ key: DatabaseValue) throws {
        try ledger.deleteRequest(requestID)
        guard let change = try ledger.change(of: key, table), change.kind != .delete else {
            return try ledger.deleteEntries(of: key, table)
        }
        try ledger.deleteKnown(key, table)
        try ledger.deleteBases(of: key, table)
        try ledger.setCreate(of: key, table)
        try engine.insertNew(key, table, in: db)
    }

    // MARK: Not applied

    /// Completes a request that the service will never accept. Blocks the change, unless the row was edited since.
    private mutating func refuse(_ key: DatabaseValue, _ reason: String) throws {
        try ledger.deleteRequest(requestID)
        // Neither side has the row.
        if isCreate, try !table.isStored(key, in: db) { return try ledger.deleteEntries(of: key, table) }
        guard isUnchanged else { return try ledger.addRejectionOfEarlierCreate(key, table) }
        try block(key, .rejected, reason)
        try ledger.addRejection(of: key, table)
    }

    /// Completes a request to which the service responded with another version. The version is merged, and remaining
    /// differences are sent again. After ``maximumContentions`` consecutive times the change is blocked.
    private mutating func mergeConflict(_ row: RemoteRecord?, _ key: DatabaseValue) throws {
        // The other version may have the sent values: an attempt without a response may have been carried out.
        try ledger.deleteRequest(requestID, keepsValues: true)
        if let count = try ledger.addContention(of: key, table), count >= Self.maximumContentions, isUnchanged {
            try block(key, .contended, "contended: the service had a different version \(count) consecutive times")
        }
        // The merge would skip a version that is already known.
        try ledger.recheck(key, table)
        if let row { answer = Answer(table: table, row: row) }
    }

    /// Keeps the request of a rejected create and blocks the change, since an earlier attempt may have created the row.
    /// The next attempt uses the same idempotency key.
    ///
    /// If the row was deleted in the meantime, the deletion waits for the outcome. If the row was edited, its current
    /// values are sent.
    ///
    /// If a cascade deleted the row, the request is not needed any more. If an earlier attempt created the row, a pull
    /// returns it.
    private mutating func leaveOpen(_ key: DatabaseValue, _ reason: String) throws {
        if try isDeletedByCascade(key) { return try ledger.deleteRequest(requestID) }
        try ledger.addRejectedAttempt(ofRequest: requestID)
        if try ledger.blockUncertain(key, table, reason, request: requestID) {
            outcome[table.entity.name].blockedChanges += 1
        }
    }

    private mutating func block(_ key: DatabaseValue, _ reason: PendingChange.BlockReason, _ message: String) throws {
        try ledger.block(key, table, reason, message)
        outcome[table.entity.name].blockedChanges += 1
    }
}
