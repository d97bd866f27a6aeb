import GRDB
import SyncCore
import SyncStore

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
    init(_ plan: PayloadGraph, _ engine: SQLiteEngineStore, clock: Int64, _ db: Database) throws {
        (self.engine, self.db, self.clock) = (engine, db, clock)
        for table in engine.tables {
            for column in table.columns {
                guard case .toOne(let id) = column.field else { continue }
                let (link, assertions) = (engine.model.compiled[id], plan[id].assertions)
                guard link.isOneToOne, !assertions.isEmpty, try ledger.hasChanges(of: table) else { continue }
                try find(column, of: table, link, assertions, plan)
            }
        }
    }

    private mutating func find(
        _ column: TrackedTable.Column, of table: TrackedTable, _ link: CompiledAssociation,
        _ assertions: LinkBatch.Assertions, _ plan: PayloadGraph
    ) throws {
        for key in try engine.keys(of: Set(assertions.map(\.first)), plan, link.first.table, in: db)
        where try ledger.isEdited(column, of: key, table) { editedRows.append((table, key)) }
        for key in try engine.keys(of: Set(assertions.map(\.second)), plan, link.second.table, in: db) {
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
