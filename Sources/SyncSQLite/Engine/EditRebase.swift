import GRDB
import SyncCore
import SyncStore

/// Rebases the edits of rows in a page. It removes the edits before the page is written, and reapplies them afterwards.
/// A three-way merge of base, local and remote values determines the result. See ``RowMerge``.
struct EditRebase {
    private let engine: SQLiteEngineStore
    private let db: Database
    /// The difference between the service's clock and the local clock, in milliseconds.
    private let clock: Int64
    private var rows: [RowMerge] = []
    private var revertedRows: Set<TrackedRow> = []
    /// The rows in conflict.
    private(set) var conflictingRows: Set<TrackedRow> = []
    private var syncedColumns: [Int: (names: Set<String>, formerPaths: [String: [[String]]])] = [:]

    init(_ engine: SQLiteEngineStore, _ db: Database, clock: Int64) {
        (self.engine, self.db, self.clock) = (engine, db, clock)
    }

    /// Removes the edits of a row. Does nothing if they were removed before, or if the row is not stored. `standing` is
    /// the state of the row; nil for a row that is only linked to rows of the page. `pulled` is its record; nil if the
    /// page has the row only inside another record.
    mutating func revert(
        _ key: DatabaseValue, of table: TrackedTable, _ standing: LocalRowState? = nil, pulled: RemoteRecord? = nil
    ) throws {
        guard revertedRows.insert(TrackedRow(table, key)).inserted,
            let local = try table.fieldReader.values(of: key, in: db)
        else { return }
        let columns = try syncedColumns(of: table)
        var row = try RowMerge(
            key, table, local, standing, pulled, syncedColumns: columns.names, formerPaths: columns.formerPaths,
            clock: clock, engine, db)
        try row.revert()
        rows.append(row)
    }

    private mutating func syncedColumns(
        of table: TrackedTable
    ) throws -> (names: Set<String>, formerPaths: [String: [[String]]]) {
        if let known = syncedColumns[table.number] { return known }
        let columns = SyncedColumns(table, db)
        let found = (names: try columns.names(), formerPaths: try columns.formerPaths())
        syncedColumns[table.number] = found
        return found
    }

    /// Merges the removed edits into the rows that the page wrote. Returns the number of rows and of values in
    /// conflict, by entity.
    mutating func reapply() throws -> SyncReport {
        var outcome = SyncReport()
        for var row in rows {
            try row.reapply()
            guard row.conflicts > 0 else { continue }
            conflictingRows.insert(TrackedRow(row.table, row.key))
            outcome[row.table.entity.name].conflicts += 1
            outcome[row.table.entity.name].conflictingValues += row.conflicts
        }
        return outcome
    }
}

/// The preexisting rows of a page. Their values may be edits, or older values of the service. The service's values
/// apply, and overwritten values are logged.
struct PreexistingRows {
    private struct Candidate {
        let table: TrackedTable
        let key: DatabaseValue
        let values: [String: DatabaseValue]
        /// The lists of the row, in the order of ``TrackedTable/joinTables``.
        let lists: [[DatabaseValue]]
        /// The fields that were edited since. ``EditRebase`` merges them.
        let edited: Set<String>
    }

    static let resolution = ConflictOutcome(winner: .remote, reason: .preexisting)

    private let engine: SQLiteEngineStore
    private let db: Database
    private var rows: [Candidate] = []
    private var recorded: Set<TrackedRow> = []
    /// The last log entry before the page; nil if the page has no preexisting rows.
    private var lastEntry: Int?

    init(_ engine: SQLiteEngineStore, _ db: Database) { (self.engine, self.db) = (engine, db) }

    /// Records the values of a preexisting row before the page is written. Ignores other rows.
    mutating func insert(_ standing: LocalRowState, of table: TrackedTable) throws {
        guard standing.isPreexisting, standing.state == .clean || standing.state == .updated,
            recorded.insert(TrackedRow(table, standing.key)).inserted,
            let values = try table.fieldReader.values(of: standing.key, in: db)
        else { return }
        if lastEntry == nil { lastEntry = try ConflictLog(db).lastEntry() }
        let lists = try table.joinTables.map { try engine.list($0, of: standing.key, table, in: db) }
        let ledger = EngineLedger(db)
        let joinTables = try table.joinTables.filter { try ledger.hasJoinEdits(of: standing.key, $0) }
        let edited = try Set(ledger.bases(of: standing.key, table).keys).union(joinTables.map(\.field))
        rows.append(Candidate(table: table, key: standing.key, values: values, lists: lists, edited: edited))
    }

    /// Logs the overwritten values. Call this method after the page is written. `counted` has the rows whose conflicts
    /// are counted already.
    func log(_ outcome: inout SyncReport, counted: Set<TrackedRow>) throws {
        for row in rows {
            guard let there = try row.table.fieldReader.values(of: row.key, in: db) else { continue }
            var lost = 0
            for column in row.table.columns where !row.edited.contains(column.name) {
                guard let here = row.values[column.name], !here.isNull, let value = there[column.name],
                    !here.isExactly(value),
                    // With field groups, the merge may have logged the value.
                    try !ConflictLog(db).has(column.name, row.key, row.table, since: lastEntry ?? 0)
                else { continue }
                lost += 1
                try ConflictLog(db).add(
                    row.table, row.key, field: column.name, base: .null, local: here, remote: value, Self.resolution)
            }
            for (joinTable, here) in zip(row.table.joinTables, row.lists) {
                if here.isEmpty || row.edited.contains(joinTable.field) { continue }
                let there = try engine.list(joinTable, of: row.key, row.table, in: db)
                guard Self.isLost(here, there, joinTable) else { continue }
                lost += 1
                try ConflictLog(db).add(
                    row.table, row.key, field: joinTable.field, base: .null, local: LinkedRowList.text(here),
                    remote: LinkedRowList.text(there), Self.resolution)
            }
            guard lost > 0 else { continue }
            if !counted.contains(TrackedRow(row.table, row.key)) { outcome[row.table.entity.name].conflicts += 1 }
            outcome[row.table.entity.name].conflictingValues += lost
        }
    }

    /// Returns whether a list lacks rows that it had, or has them in another order.
    private static func isLost(
        _ here: [DatabaseValue], _ there: [DatabaseValue], _ joinTable: TrackedTable.JoinTable
    ) -> Bool {
        !Set(here.map(\.exact)).isSubset(of: there.map(\.exact))
            || joinTable.isOrdered && ListOrderMerge.isMoved(there, from: here)
    }
}

// MARK: - One-to-one references

/// The local edits of one-to-one references to rows that a page links. The page would remove them, because a row has at
/// most one link in such an association.
///
/// The edits are removed before the page is written, and reapplied afterwards. If the page links the referenced row to
/// another row than before, both sides changed its link, and the app's resolver or the conflict policy decides.
struct OneToOneEdits {
    /// A row that a page links, and the edits that reference it.
    private struct Target {
        let table: TrackedTable
        let column: TrackedTable.Column
        let key: DatabaseValue
        let edits: [EngineLedger.ReferenceEdit]
        /// The rows that reference it while the edits are removed: before the page, and only after the page.
        var before: Set<BinaryComparedValue> = []
        var added: Set<BinaryComparedValue> = []
    }

    private let engine: SQLiteEngineStore
    private let db: Database
    private let clock: Int64
    private var targets: [Target] = []
    /// The rows whose edited references the page sets.
    private var editedRows: [(table: TrackedTable, key: DatabaseValue)] = []
    private var ledger: EngineLedger { EngineLedger(db) }

    /// Finds the edits. Call this initializer before any edits are removed.
    init(_ graph: PayloadGraph, _ engine: SQLiteEngineStore, clock: Int64, _ db: Database) throws {
        (self.engine, self.db, self.clock) = (engine, db, clock)
        for table in engine.tables {
            for column in table.columns {
                guard case .toOne(let id) = column.field else { continue }
                let (link, assertions) = (engine.model.compiled[id], graph[id].assertions)
                guard link.isOneToOne, !assertions.isEmpty, try ledger.hasChanges(of: table) else { continue }
                try find(column, of: table, link, assertions, graph)
            }
        }
    }

    private mutating func find(
        _ column: TrackedTable.Column, of table: TrackedTable, _ link: CompiledAssociation,
        _ assertions: LinkBatch.Assertions, _ graph: PayloadGraph
    ) throws {
        for key in try engine.keys(of: Set(assertions.map(\.first)), graph, link.first.table, in: db)
        where try ledger.isEdited(column, of: key, table) { editedRows.append((table, key)) }
        for key in try engine.keys(of: Set(assertions.map(\.second)), graph, link.second.table, in: db) {
            let edits = try ledger.edits(of: column, table, referencing: key)
            if !edits.isEmpty { targets.append(Target(table: table, column: column, key: key, edits: edits)) }
        }
    }

    /// Removes the edits. Call this method when all other edits of the page are removed.
    mutating func revert(_ rebase: inout EditRebase) throws {
        for (table, key) in editedRows { try rebase.revert(key, of: table) }
        for target in targets {
            for edit in target.edits where !edit.isNew { try rebase.revert(edit.key, of: target.table) }
            for edit in target.edits where edit.isNew {
                try target.table.table.set(target.column.name, to: nil, ofRow: edit.key, orIgnore: true, in: db)
            }
        }
        for index in targets.indices { targets[index].before = try holders(of: targets[index]) }
    }

    /// Finds the rows that the page linked. Call this method before edits are reapplied.
    mutating func findAddedLinks() throws {
        for index in targets.indices {
            targets[index].added = try holders(of: targets[index]).subtracting(targets[index].before)
        }
    }

    private func holders(of target: Target) throws -> Set<BinaryComparedValue> {
        let (table, column) = (target.table, target.column.sql)
        let keys = try db.values("SELECT \(table.keySQL) FROM \(table.sql) WHERE \(column) = ?", target.key)
        return Set(keys.map(\.exact))
    }

    /// Resolves the conflicts after the other edits are reapplied. `pulled` has the records of the page, whose rows are
    /// in `table`. Returns the number of rows and of values in conflict, by entity.
    func reapply(_ pulled: [PageMerge.PulledRow], _ table: TrackedTable) throws -> SyncReport {
        var outcome = SyncReport()
        for target in targets {
            for edit in target.edits {
                if edit.isNew { try relink(edit.key, to: target) }
                let rivals = target.added.subtracting([edit.key.exact])
                guard !rivals.isEmpty, let values = try target.table.fieldReader.values(of: edit.key, in: db),
                    values[target.column.name]?.isExactly(target.key) == true
                else { continue }
                let record =
                    target.table.number == table.number
                    ? pulled.first { rivals.contains($0.standing.key.exact) }?.row : nil
                var row = try RowMerge(
                    edit.key, target.table, values, nil, record, syncedColumns: [], clock: clock, engine, db)
                if try row.resolveRival(of: target.column.name) {
                    for rival in rivals { try unlink(rival.value, from: target) }
                }
                guard row.conflicts > 0 else { continue }
                outcome[target.table.entity.name].conflicts += 1
                outcome[target.table.entity.name].conflictingValues += row.conflicts
            }
        }
        return outcome
    }

    /// Sets the reference of a row again if the row is still new after the page.
    private func relink(_ key: DatabaseValue, to target: Target) throws {
        let (table, name) = (target.table, target.column.sql)
        guard try ledger.change(of: key, table)?.kind == .create else { return }
        try db.run(
            "UPDATE OR IGNORE \(table.sql) SET \(name) = ? WHERE \(table.keySQL) = ? AND \(name) IS NULL",
            target.key, key)
    }

    /// Clears the reference of a row that the page linked, as a local edit.
    private func unlink(_ key: DatabaseValue, from target: Target) throws {
        let (table, column, name) = (target.table, target.column.name, target.column.sql)
        try db.run(
            "UPDATE OR IGNORE \(table.sql) SET \(name) = NULL WHERE \(table.keySQL) = ? AND \(name) = ?", key,
            target.key)
        guard db.changesCount > 0, let owner = try engine.table(table.entity.table, holding: key, in: db) else {
            return
        }
        if try !ledger.hasBase(column, key, owner) { try ledger.setBase(target.key, of: column, key, owner) }
        try ledger.insertUpdate(of: key, owner)
    }
}
