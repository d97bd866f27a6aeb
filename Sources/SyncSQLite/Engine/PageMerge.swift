import Foundation
import GRDB
import SyncCore
import SyncStore

/// Merges pulled rows with local edits. It removes the edits, writes the rows like any sync, and reapplies the edits by
/// a three-way merge.
///
/// When the edits are reapplied, the rows have the service's values. So the merge does not depend on the format of
/// records.
struct PageMerge {
    typealias PulledRow = (row: RemoteRecord, standing: LocalRowState)

    let engine: SQLiteEngineStore
    let table: TrackedTable
    private let clock: Int64
    private let entries: PageEntries
    let db: Database
    var ledger: EngineLedger { EngineLedger(db) }
    /// Whether a locally created row with the key of a pulled row is that row.
    var isSame = false
    /// Whether the service lacks the rows without a record. If false, the service reported these rows as deleted.
    var isMissing = false
    /// Whether a row keeps its known version if its record has none. The service then rejects a change of the row if it
    /// has another version.
    var keepsVersions = false
    var outcome = SyncReport()
    /// The rows that could not be stored, with the reason.
    private(set) var refused: [(row: RemoteRecord, reason: String)] = []
    private var preexisting: PreexistingRows
    /// The edits of locally deleted rows that are restored.
    var lost: [(edits: [ConflictLog.DeletedEdit], resolution: ConflictOutcome)] = []

    init(_ engine: SQLiteEngineStore, _ table: TrackedTable, clock: Int64, _ entries: PageEntries, _ db: Database) {
        (self.engine, self.table, self.clock, self.entries, self.db) = (engine, table, clock, entries, db)
        preexisting = PreexistingRows(db)
    }

    mutating func apply(_ rows: [RemoteRecord]) throws {
        var written: [PulledRow] = []
        var editedRows: [PulledRow] = []
        var deleted: [PulledRow] = []
        let newRows = engine.newRows(of: table)
        let (hasCreationIDs, hasNaturalKeys) = try newRows.read(in: db)
        for row in rows {
            guard var key = try table.key.k(of: row.id, in: db) else {
                refused.append((row, "the ID of the record is not a valid key of \(table.entity.name)"))
                continue
            }
            let marked = hasCreationIDs ? try newRows.matchCreationID(of: row, key, engine, db) : nil
            if let matched = try marked ?? (hasNaturalKeys ? newRows.matchNaturalKey(of: row, key, engine, db) : nil) {
                // The matched row had another key, which a later record of the page may have.
                entries.discardAll()
                key = matched
            }
            let isOurs = isSame || marked != nil || engine.registration.clientAssignsIDs || table.key.hasParts
            let standing = try entries.state(of: key)
            if standing.state != .clean, standing.state != .absent { entries.discard(key) }
            if standing.isBlockedAsMissing, row.record != nil { try isThereAfterAll(row, key) }
            // The deletion shows that the row was created at the service.
            let wasMade = row.record == nil && standing.isTried && standing.state == .created
            switch DecisionTable.action(remote: try remote(row, standing), local: wasMade ? .updated : standing.state) {
            case .nothing where row.record == nil: try engine.deletePendingReferences(to: key, of: table, in: db)
            case .nothing, .send: break
            case .takeRemote, .insert:
                written.append((row, standing))
                try preexisting.insert(standing, of: table)
                if standing.state == .clean, standing.mayHaveUncapturedEdits { editedRows.append((row, standing)) }
            case .mergeDuplicate:
                if isOurs || hasNaturalKeys {
                    editedRows.append((row, standing))
                } else {
                    // The app chose this key for a new row, and the service assigned it to another row.
                    try KeyReplacement(engine, table, db).giveLocalKey(to: key)
                }
                written.append((row, standing))
            case .threeWay:
                editedRows.append((row, standing))
                written.append((row, standing))
            case .localDelete where !standing.isKnown && !isOurs:
                // The pulled row happens to have the key of another row, which was created and deleted locally.
                try deleteState(standing.key)
                written.append((row, standing))
            case .localDelete:
                if try stays(row, standing) { written.append((row, standing)) }
            case .remoteDelete where table.registration.deletions == .editWins:
                let reason: SyncConflict.Reason = isMissing ? .missingRemotely : .deletedRemotely
                try bringBack(row, standing, reason.rawValue)
            case .remoteDelete, .delete, .deleteWithinLimit: deleted.append((row, standing))
            case .clear:
                try deleteState(standing.key)
                try engine.deletePendingReferences(to: key, of: table, in: db)
            }
        }
        try delete(deleted)
        guard !written.isEmpty else { return }
        try write(written, editedRows)
        for (edits, resolution) in lost {
            outcome[table.entity.name].conflictingValues += try ConflictLog(db).add(edits, table, resolution)
        }
    }

    // MARK: Row states

    private func remote(_ row: RemoteRecord, _ standing: LocalRowState) throws -> RemoteState {
        if row.record == nil { return .deleted }
        guard standing.isKnown else { return .created }
        guard standing.isWhole, let version = row.version, version == standing.version else { return .updated }
        // An import does not capture deletions, so it writes a locally deleted row again.
        if engine.registration.isImport, try !table.isStored(standing.key, in: db) { return .updated }
        return .unchanged
    }

    private func isThereAfterAll(_ row: RemoteRecord, _ key: DatabaseValue) throws {
        try ledger.unblock(.storedRow(table, key))
        try ledger.deleteTombstone(row.id, of: table)
    }

    // MARK: Writing

    private mutating func write(_ rows: [PulledRow], _ editedRows: [PulledRow]) throws {
        let records = rows.compactMap(\.row.record)
        let options = SyncOptions(deletionLimit: nil, resultDetail: .counts)
        let builder = try PayloadGraphBuilder(
            inEntity: table.entity.name, of: engine.model, parent: nil,
            operations: .all.subtracting(.delete), options: options)
        // Registered entities are pulled separately. So a nested list only links and unlinks their rows, and deletes
        // none.
        let plan = try builder.map(.array(records)).plan.unlinking(engine.unlinkedTables)
        let nested = try NestedRecordMerge(plan, engine, db)
        var edits = EditRebase(engine, db, clock: clock)
        for (row, standing) in editedRows {
            try edits.revert(
                standing.key, of: table, changed: row.time, known: standing.time,
                isCurrent: row.version != nil && row.version == standing.version,
                mayHaveUncapturedEdits: standing.mayHaveUncapturedEdits)
        }
        try nested.revertEdits(&edits)
        try nested.insertPreexisting(in: &preexisting)
        let links = try NestedListLinks(plan, engine, db)
        try links.revertEdits(&edits)
        for (row, standing) in rows { try migrateKind(row, standing) }
        let result = try engine.stack.sync(MappedPayload(plan), options, in: db, isOwn: true)
        recordUnreadable(result.diagnostics)
        try record(rows, result, plan)
        try nested.record()
        outcome.add(try edits.reapply())
        try links.reapply()
        try preexisting.log(&outcome)
        outcome[table.entity.name].linksAdded += result.linksAdded
        outcome[table.entity.name].linksRemoved += result.linksRemoved
        for (entity, changes) in result.entities {
            outcome[entity].pulledInserts += changes.insertedCount
            outcome[entity].pulledUpdates += changes.updatedCount
        }
    }

    private mutating func recordUnreadable(_ diagnostics: [SyncDiagnostic]) {
        for diagnostic in diagnostics {
            switch diagnostic.kind {
            case .typeMismatch, .invalidRelationshipValue, .unknownDiscriminatorValue: break
            default: continue
            }
            guard let entity = diagnostic.entity else { continue }
            outcome[entity].unreadableValues += 1
            guard outcome[entity].firstUnreadableValue == nil else { continue }
            // The location in the page is of no use to users, so omit it.
            let member = diagnostic.path.drop { $0 != "]" }.dropFirst(2)
            outcome[entity].firstUnreadableValue =
                "\(entity) \(diagnostic.key ?? ""), \(member): \(diagnostic.message)"
        }
    }

    /// Changes the entity of a stored row if the record has another one. Clears the columns that the new entity lacks.
    private func migrateKind(_ row: RemoteRecord, _ standing: LocalRowState) throws {
        guard table.table.hasEntityColumn, let record = row.record,
            let kind = table.kind(of: record, engine.model.compiled), try table.isStored(standing.key, in: db),
            try table.kind(of: standing.key, engine.model.compiled, in: db).id != kind.id
        else { return }
        let columns =
            ["\(TableLayout.entityColumn.quoted) = ?"] + table.foreignColumns(to: kind).map { "\($0.quoted) = NULL" }
        try db.execute(
            sql: """
                UPDATE \(table.sql) SET \(columns.joined(separator: ", "))
                WHERE \(table.keySQL) = ?
                """, arguments: [kind.name, standing.key])
    }

    func recorded(_ row: RemoteRecord, _ standing: LocalRowState) -> (version: String?, time: Int64?) {
        guard keepsVersions, row.version == nil else { return (row.version, row.time) }
        return (standing.version, standing.time)
    }

    /// Records the rows as known that are stored now.
    private mutating func record(_ rows: [PulledRow], _ result: SyncResult, _ plan: PayloadGraph) throws {
        // A surrogate key exists once the row is stored.
        let keys = try rows.map { try table.key.k(of: $0.row.id, in: db) }
        let stored = try storedKeys(among: keys.compactMap(\.self), result, plan)
        let unreadable = UnreadableValues(engine, table, db)
        var pulled: [EngineLedger.PulledEntry] = []
        pulled.reserveCapacity(rows.count)
        for ((row, standing), key) in zip(rows, keys) {
            guard let key, stored.contains(key.exact) else {
                refused.append((row, result.diagnostics.first?.message ?? "the record was not stored"))
                continue
            }
            if entries.facts.hasQuarantinedRecords { try QuarantinedRecords(engine, table, db).remove(row.id) }
            let (version, time) = recorded(row, standing)
            pulled.append(
                EngineLedger.PulledEntry(
                    key: key, version: version, time: time, isWhole: row.isComplete,
                    spelled: try table.spelling(of: row.id, key, in: db)))
            try unreadable.record(row.record, of: key, isAny: !result.diagnostics.isEmpty)
        }
        try ledger.insertPulled(pulled, table)
    }

    /// Returns the keys of the rows that are stored. If the sync reports no problem, it has stored all records, unless a
    /// trigger of the app has ignored or deleted rows.
    private func storedKeys(
        among keys: [DatabaseValue], _ result: SyncResult, _ plan: PayloadGraph
    ) throws -> Set<BinaryComparedValue> {
        guard result.diagnostics.isEmpty, result.omittedDiagnosticCount == 0, !table.isPart, !table.key.isSurrogate,
            try !EngineSchema.hasOtherTriggers(in: db)
        else { return try ledger.storedKeys(among: keys, table) }
        return plan.withTexts { texts in
            let keys = plan[table.entity.table].nodes.lazy.filter { $0.isGiven && $0.isRoot }
                .compactMap { RowKey($0.key, texts) }
            // GRDB cuts a text at a NUL, so the entries of such a row would have the key of another row.
            return Set(keys.filter { !$0.hasNUL }.map(\.databaseValue.exact))
        }
    }

    mutating func log(
        _ key: DatabaseValue, field: String, local: DatabaseValue, remote: DatabaseValue, _ resolution: ConflictOutcome
    ) throws {
        try ConflictLog(db).add(table, key, field: field, base: .null, local: local, remote: remote, resolution)
        outcome[table.entity.name].conflicts += 1
        outcome[table.entity.name].conflictingValues += 1
    }
}
