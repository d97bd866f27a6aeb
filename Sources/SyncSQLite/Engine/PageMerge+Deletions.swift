import GRDB
import SyncCore
import SyncStore

// Merges of rows that one side deleted.
extension PageMerge {
    /// Merges a pulled row that was deleted locally. If the service changed the row since, the conflict is logged.
    /// Returns whether the row is restored.
    mutating func stays(_ row: RemoteRecord, _ standing: LocalRowState) throws -> Bool {
        let changed = standing.version == nil ? try changedValues(row, standing) : [:]
        let isChanged =
            try !changed.isEmpty
            || standing.version != nil && standing.version != recorded(row, standing).version
                && !isAsSent(row, standing.key)
        let wentAlong = try ledger.change(of: standing.key, table)?.cause == .cascade
        let comesBack = isChanged && (wentAlong || table.registration.deletions == .editWins)
        if isChanged {
            let reason: SyncConflict.Reason = wentAlong ? .onlyCascaded : comesBack ? .editWins : .deleteWins
            let resolution = ConflictOutcome(winner: comesBack ? .remote : .local, reason: reason)
            try log(standing.key, field: "", local: .null, remote: (row.record ?? .null).text.databaseValue, resolution)
            if comesBack { lost.append((try ConflictLog(db).deletedEdits(of: standing.key, table), resolution)) }
        }
        if comesBack {
            deletedTogether += try cascadeLinks.deletedRows(with: standing.key, of: table)
            try deleteState(standing.key)
        } else {
            // The next pull finds the same values again, and logs no second conflict.
            for (field, value) in changed { try ledger.setBase(value, of: field, standing.key, table) }
            // A row that is not known was created by a request whose response was lost.
            if !standing.isKnown { try ledger.deleteOpenCreate(of: standing.key, table) }
            try ledger.insertKnown([known(row, standing, standing.key, isWhole: false)], table, .pulledDeleted)
            try ledger.setKnownDeletion(of: standing.key, table)
        }
        return comesBack
    }

    /// Restores the rows that were deleted locally with the restored rows. `areReferenced`: whether to restore the rows
    /// that the restored rows may reference, or the others.
    mutating func undoDeletions(areReferenced: Bool) throws {
        guard !deletedTogether.isEmpty else { return }
        let referenced = Set(engine.parentsFirst.map(\.number).prefix { $0 != table.number })
        let rows = deletedTogether.filter { referenced.contains($0.table) == areReferenced }
        try CaptureSuppression.clearAll(in: db)
        for row in rows { try engine.undoDeletion(of: row, in: db) }
        try CaptureSuppression.writing.set(in: db)
        for row in rows where row.table == table.number { entries.discard(row.key) }
    }

    /// Returns whether the pulled record of a locally deleted row has only base values and sent values.
    private func isAsSent(_ row: RemoteRecord, _ key: DatabaseValue) throws -> Bool {
        guard let record = row.record else { return false }
        let tried = try ledger.attemptedValues(of: key, table)
        let bases = try ledger.bases(of: key, table)
        return try withStored(record, key) { there in
            try table.columns.allSatisfy { column in
                guard let value = there[column.name] else { return true }
                let known = tried[column.name, default: []] + (bases[column.name].map { [$0.value] } ?? [])
                return known.contains(where: value.isExactly)
            } && table.joinTables.allSatisfy { try hasAsSent($0, tried[$0.field] ?? [], of: key) }
        } ?? false
    }

    /// Returns the values of a locally deleted row that differ from its base values and sent values, by column. The
    /// service gives neither the record nor the known row a version. Only members of the record are compared.
    ///
    /// Lists are not compared.
    private func changedValues(_ row: RemoteRecord, _ standing: LocalRowState) throws -> [String: DatabaseValue] {
        guard let record = row.record, row.version == nil, standing.isKnown else { return [:] }
        let bases = try ledger.bases(of: standing.key, table)
        let columns = table.columns.filter { column in
            bases[column.name] != nil && table.paths(of: column.field).contains { record.value(at: $0) != nil }
        }
        guard !columns.isEmpty else { return [:] }
        let tried = try ledger.attemptedValues(of: standing.key, table)
        return try withStored(record, standing.key) { there in
            columns.reduce(into: [:]) { changed, column in
                guard let value = there[column.name], let base = bases[column.name]?.value else { return }
                let known = tried[column.name, default: []] + [base]
                if !known.contains(where: value.isExactly) { changed[column.name] = value }
            }
        } ?? [:]
    }

    /// Calls a closure with the columns of a locally deleted row while a record of it is stored. Returns nil if the
    /// record cannot be stored.
    private func withStored<Result>(
        _ record: JSONValue, _ key: DatabaseValue, _ read: ([String: DatabaseValue]) throws -> Result
    ) throws -> Result? {
        var result: Result?
        do {
            try db.inSavepoint {
                let graph = try graph(of: [record])
                _ = try engine.stack.sync(MappedPayload(graph), Self.syncOptions, in: db, isOwn: false)
                result = try table.fieldReader.values(of: key, in: db).map(read)
                return .rollback
            }
        } catch let error where PageWriter.isRefusal(error) {
            return nil
        }
        return result
    }

    /// Returns whether the service has a list as it was sent, or with the rows that it had before the local edits and
    /// the deletion.
    private func hasAsSent(
        _ joinTable: TrackedTable.JoinTable, _ tried: [DatabaseValue], of key: DatabaseValue
    ) throws -> Bool {
        let there = try engine.list(joinTable, of: key, table, in: db)
        let sent = try tried.map { try engine.sentKeys($0, joinTable, in: db) }
        if sent.contains(where: { Set($0) == Set(there) && !ListOrderMerge.isMoved(there, from: $0) }) { return true }
        // The join rows that were deleted with the row.
        let before = try ledger.joinEdits(of: key, joinTable).filter { !$0.isAdded }.map(\.other)
        return try Set(before) == Set(LinkedRowList(joinTable).others(of: key, in: db))
    }

    /// Turns a row that the service deleted into a new row, so that it is created again with all values. `note` is for
    /// the conflict log.
    mutating func bringBack(_ row: RemoteRecord, _ standing: LocalRowState, _ note: String) throws {
        // The creation ID is made of the old ID. Two devices that create the row again therefore create only one row.
        try ledger.insertRestoration(of: standing.key, table, CreationID(reviving: row.id, of: table))
        try engine.insertNew(standing.key, table, in: db)
        // The base values stay. If another device also creates the row again, only fields that were edited locally are
        // merged as local edits.
        try LocalEditTimes.recordRestored(standing.key, table, in: db)
        try ledger.deleteAttemptedValues(of: standing.key, table)
        try ledger.deleteKnown(standing.key, table)
        try engine.unblockRows(referencing: standing.key, of: table, in: db)
        try KeyReplacement(engine, table, db).notifyReferencing(restored: standing.key)
        try ledger.deleteOpenCreate(of: standing.key, table)
        // The service has no values any more, and all local values are sent.
        let resolution = ConflictOutcome(winner: .local, reason: .editWins, note: note)
        try ConflictLog(db).closeAll(standing.key, table, resolution)
        try log(standing.key, field: "", local: .null, remote: .null, resolution)
    }

    /// The maximum number of rows that one savepoint deletes.
    private static let deletedTogether = 100

    /// Deletes rows by the delete rules of the model. Triggers log the edits of these rows and of rows that cascades
    /// delete. If an entity has `editWins`, a deletion may have to be undone, so each row is deleted separately.
    mutating func delete(_ rows: [PulledRow]) throws {
        let maySurvive = engine.tables.contains { $0.registration.deletions == .editWins }
        let size = maySurvive ? 1 : Self.deletedTogether
        guard !rows.isEmpty else { return }
        let (moved, owned) = (try LocallyMovedRows(engine, db), engine.owned(by: table))
        for start in stride(from: 0, to: rows.count, by: size) {
            try deletePart(rows[start..<min(start + size, rows.count)], moved, owned)
        }
    }

    private mutating func deletePart(
        _ rows: ArraySlice<PulledRow>, _ moved: LocallyMovedRows, _ owned: [(table: TrackedTable, names: LinkTable)]
    ) throws {
        let before = try ConflictLog(db).lastEntry()
        var keys: Set<StoredRow> = []
        var names: [DatabaseValue] = []
        let pulledAgain = try engine.tablesChangedLater(below: rows, owned, in: db)
        for (_, standing) in rows {
            guard let key = RowKey(standing.key), try table.isStored(standing.key, in: db) else { continue }
            keys.insert(StoredRow(table: table.entity.table, key: key))
            // The log identifies a deleted row with a surrogate key by its name.
            if let name = try ledger.loggedKey(of: standing.key, table) { names.append(name) }
            // The service may have rejected a change because it references this row.
            try engine.unblockRows(referencing: standing.key, of: table, in: db)
        }
        var result = SyncResult(entity: table.entity.name)
        var keepsEdits = false
        var taken: [LocallyMovedRows.Move] = []
        let restored = engine.tables.filter { $0.registration.deletions == .editWins }
        var isDone = keys.isEmpty
        while !isDone {
            var followed: [LocallyMovedRows.Move] = []
            try db.inSavepoint {
                result = try deleteByRules(keys)
                keepsEdits = try ConflictLog(db).hasEdits(of: restored, since: before)
                // Triggers log edited rows when they are deleted. Without new log entries, no moved row was deleted.
                if try !keepsEdits && ConflictLog(db).lastEntry() > before {
                    followed = try moved.cascaded(by: keys, excluding: taken)
                }
                return keepsEdits || !followed.isEmpty ? .rollback : .commit
            }
            try moved.revert(followed)
            taken += followed
            isDone = followed.isEmpty
        }
        try moved.reapply(taken, since: before)
        if keepsEdits, let (row, standing) = rows.first {
            return try bringBack(row, standing, "a row that it owns was edited")
        }
        for table in pulledAgain { try ledger.clearCursor(of: table) }
        for name in names { try ConflictLog(db).recordDeleted(name, table, since: before) }
        if options.isMissing { try ConflictLog(db).recordMissing(since: before) }
        // The entries of a deleted row with a surrogate key are under its name.
        for key in rows.map(\.standing.key) + (table.key.isSurrogate ? names : []) { try deleteState(key) }
        outcome.add(try ConflictLog(db).counts(since: before, engine.tables))
        for (entity, changes) in result.entities { outcome[entity].pulledDeletes += changes.deletedCount }
    }

    private func deleteByRules(_ rows: Set<StoredRow>) throws -> SyncResult {
        let sendsCascades =
            table.registration.sendsCascades || engine.tables.contains(where: \.registration.sendsCascades)
        if sendsCascades { try CaptureSuppression.cascading.set(in: db) }
        try CaptureSuppression.deleting.set(in: db)
        let visit = try engine.stack.watch.visit(db, isOwn: false)
        let result = try engine.stack.session(visit, SyncRequest()).delete(rows, of: table.entity)
        for checksum in [CaptureSuppression.cascading, .deleting] { try checksum.clear(in: db) }
        if sendsCascades { try insertCascadedRemovals() }
        try ledger.deleteRemovedJoinRows()
        return result
    }

    /// Records the deleted join rows as removed from the lists of rows that stay. Call this method if the service does
    /// not cascade.
    private func insertCascadedRemovals() throws {
        let owners = (engine.tables + engine.otherTables).filter {
            $0.registration.sendsCascades && !$0.joinTables.isEmpty
        }
        guard !owners.isEmpty, try ledger.hasRemovedJoinRows() else { return }
        for owner in owners {
            for joinTable in owner.joinTables {
                // SQLite may reuse the surrogate key of a deleted row.
                if engine.stack.layout[joinTable.destination].hasSurrogateKey { continue }
                try ledger.insertCascadedRemovals(from: joinTable, of: owner)
            }
        }
    }

    /// Deletes the open create request of a row, and the entries that ``EngineLedger/deleteEntries(of:_:isKnown:)``
    /// deletes.
    func deleteState(_ key: DatabaseValue) throws {
        try ledger.deleteOpenCreate(of: key, table)
        try ledger.deleteEntries(of: key, table)
    }
}

// Rows that belong to a deleted row and that the service changed after the deletion. The service still has such rows.
// The cascade deletes these rows locally. Therefore all rows of their entities must be pulled again.
extension SQLiteEngineStore {
    /// Returns the tables that have such rows, and the tables to which the deletion of these rows cascades. Call this
    /// method before the rows are deleted locally. `owned` has the tables to which their deletion cascades.
    func tablesChangedLater(
        below rows: ArraySlice<PageMerge.PulledRow>, _ owned: [(table: TrackedTable, names: LinkTable)], in db: Database
    ) throws -> [TrackedTable] {
        var found: Set<Int> = []
        func add(_ table: TrackedTable) {
            if found.insert(table.number).inserted { for (child, _) in self.owned(by: table) { add(child) } }
        }
        for (child, names) in owned {
            let isLater = try rows.contains { row, standing in
                try row.time.map { try EngineLedger(db).isChanged(child, names, of: standing.key, after: $0) } ?? false
            }
            if isLater { add(child) }
        }
        return tables.filter { found.contains($0.number) }
    }

    /// Returns the tables to which a deletion cascades, because their rows reference the deleted row.
    func owned(by table: TrackedTable) -> [(table: TrackedTable, names: LinkTable)] {
        references(to: table).filter { link, _ in
            link.storage == .foreignKey && link.second.relationship?.deleteRule == .cascade
        }.flatMap { link, names in tables.filter { $0.entity.table == link.first.table }.map { ($0, names) } }
    }
}

/// Rows with a pending edit of a foreign key, so that they reference another row than at the service.
///
/// When the service deletes a row, it also deletes the rows that belong to that row. A row that was moved to it only
/// locally still belongs to its former owner at the service.
struct LocallyMovedRows {
    struct Move {
        let table: TrackedTable
        let column: TrackedTable.Column
        let key: DatabaseValue
        /// The key of the row in the conflict log after its deletion.
        let name: DatabaseValue
        let base: DatabaseValue
        let target: DatabaseValue
        /// The value of the column while rows are deleted: the base value, or NULL if the row with that key is not
        /// stored.
        let former: DatabaseValue
        /// Whether a deletion of the referenced row cascades to this row. Otherwise a deletion of this row cascades to
        /// the referenced row.
        let isCascaded: Bool

        func isSame(as other: Move) -> Bool {
            table.number == other.table.number && column.name == other.column.name && key.isExactly(other.key)
        }
    }

    private let engine: SQLiteEngineStore
    private let db: Database
    private var all: [Move] = []

    /// Finds the moved rows. Skips entities with `editWins`, in which an edited row restores the row that it
    /// references.
    init(_ engine: SQLiteEngineStore, _ db: Database) throws {
        (self.engine, self.db) = (engine, db)
        for table in engine.tables where table.registration.deletions == .deleteWins {
            for column in table.columns { try find(column, of: table) }
        }
    }

    private mutating func find(_ column: TrackedTable.Column, of table: TrackedTable) throws {
        guard case .toOne(let id) = column.field else { return }
        let link = engine.model.compiled[id]
        let goesAlong = link.second.relationship?.deleteRule == .cascade
        guard goesAlong || link.first.relationship?.deleteRule == .cascade, !link.isKeyPart else { return }
        for row in try EngineLedger(db).movedRows(of: table, column, engine.stack.layout[link.second.table]) {
            let isFormerThere = try row.decode(Bool.self, atIndex: 4)
            guard isFormerThere || column.isOptional else { continue }
            all.append(
                Move(
                    table: table, column: column, key: row[0], name: row[1], base: row[2], target: row[3],
                    former: isFormerThere ? row[2] : .null, isCascaded: goesAlong))
        }
    }

    /// Returns the moves because of which a cascade deleted rows. Call this method after the deletion, before the
    /// rollback. `rows` has the rows that the service deleted. Moves in `taken` are not returned again.
    func cascaded(by rows: Set<StoredRow>, excluding taken: [Move]) throws -> [Move] {
        try all.filter { move in
            guard try !move.table.isStored(move.key, in: db), try !isThere(move),
                !taken.contains(where: { $0.isSame(as: move) })
            else { return false }
            let isDeletedItself = RowKey(move.key).map {
                rows.contains(StoredRow(table: move.table.entity.table, key: $0))
            }
            return !(isDeletedItself ?? false) || !move.isCascaded
        }
    }

    func revert(_ moves: [Move]) throws {
        for move in moves { try set(move.former, move) }
    }

    /// Sets the foreign keys of moved rows to their local values again, if the referenced rows are stored. Otherwise
    /// logs the edits as lost. If a moved row is deleted, stores its local value in the log entry. `line` is the ID of
    /// the last log entry before the deletion.
    func reapply(_ moves: [Move], since line: Int) throws {
        for move in moves {
            if try !move.table.isStored(move.key, in: db) {
                try ConflictLog(db).setLocal(
                    move.target, of: move.column.name, [move.key, move.name], move.table, since: line)
            } else if try isThere(move) {
                try set(move.target, move)
            } else {
                try discard(move)
            }
        }
    }

    private func discard(_ move: Move) throws {
        let table = move.table
        let ledger = EngineLedger(db)
        if move.former.isExactly(move.base) { try ledger.setBase(nil, of: move.column.name, move.key, table) }
        try ConflictLog(db).add(
            table, move.key, field: move.column.name, base: move.base, local: move.target, remote: move.base,
            .danglingReference)
        // The service may have rejected the change because of the row that it references.
        try ledger.unblock(.row(table, move.key))
    }

    private func isThere(_ move: Move) throws -> Bool { try engine.isThere(move.target, move.column, in: db) }

    private func set(_ value: DatabaseValue, _ move: Move) throws {
        try move.table.table.set(move.column.name, to: value, ofRow: move.key, orIgnore: true, in: db)
    }
}
