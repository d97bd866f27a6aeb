import Foundation
import GRDB
import SyncCore
import SyncStore

/// Rebases the edits of rows in a page. It removes the edits before the page is written, and reapplies them afterwards.
/// A three-way merge of base, local and remote values determines the result.
struct EditRebase {
    private struct Edit {
        let row: ConflictResolver.Subject
        /// The columns that could not be reset to their base value, because a constraint rejects that value.
        let unrevertedColumns: Set<String>
        /// The base value of each edited column, and when the column was edited.
        var base: [String: EngineLedger.Base]
        /// The columns whose base value is a sent value that the service has.
        var agreed: Set<String> = []
        /// The value of each column before the edits were removed.
        let local: [String: DatabaseValue]
        let joinRowEdits: JoinRowEdits

        var table: TrackedTable { row.table }
        var key: DatabaseValue { row.key }

        /// Returns whether a column without a base value counts as edited.
        func isEdited(_ name: String) -> Bool { row.isNew || row.creationTimes?.isSet(name) == true }

        /// Returns when a column was edited, or 0 if that is not known. Nil if the column has no base value and the row
        /// is not to be created at the service.
        func editTime(of name: String) -> Int64? {
            base[name]?.editTime ?? row.creationTimes?.editTime(of: name, holding: local[name] ?? .null)
        }

        /// Returns the edit with new base values. If the service has a sent value of a column, that value is the base
        /// value.
        func agreeing(with remote: [String: DatabaseValue]) -> Edit {
            var edit = self
            for (name, values) in row.triedValues
            where !unrevertedColumns.contains(name) && (base[name] != nil || row.kind == .create) {
                guard let there = remote[name], values.contains(where: there.isExactly) else { continue }
                edit.base[name] = EngineLedger.Base(value: there, editTime: editTime(of: name) ?? SQLiteEngineStore.now)
                edit.agreed.insert(name)
            }
            return edit
        }
    }

    private let engine: SQLiteEngineStore
    private let db: Database
    private let resolver: ConflictResolver
    private var edits: [Edit] = []
    private var revertedKeys: [Int: Set<BinaryComparedValue>] = [:]
    private var syncedColumns: [Int: Set<String>] = [:]

    init(_ engine: SQLiteEngineStore, _ db: Database, clock: Int64) {
        (self.engine, self.db) = (engine, db)
        resolver = ConflictResolver(engine, db, clock: clock)
    }

    // MARK: Removing edits

    /// Removes the edits of a row. Does nothing if they were removed before, or if the row is not stored. `changed`:
    /// when the service last changed the row, in milliseconds since 1970. `known`: when it changed the known version.
    /// `isCurrent`: whether it has the known version. `mayHaveUncapturedEdits`: whether the row may have local edits
    /// from a time without change capture. At the known version, each difference is such an edit. At another version,
    /// the remote value applies, and the local value is logged.
    mutating func revert(
        _ key: DatabaseValue, of table: TrackedTable, changed: Int64?, known: Int64?, isCurrent: Bool,
        mayHaveUncapturedEdits: Bool
    ) throws {
        guard revertedKeys[table.number, default: []].insert(key.exact).inserted, let local = try values(of: key, table)
        else { return }
        let ledger = EngineLedger(db)
        let kind = try ledger.change(of: key, table)?.kind
        var base = try ledger.bases(of: key, table)
        let row = ConflictResolver.Subject(
            table: table, key: key, changed: changed, known: known, isCurrent: isCurrent,
            mayHaveUncapturedEdits: mayHaveUncapturedEdits, kind: kind, syncedColumns: try syncedColumns(of: table),
            creationTimes: kind == .create ? try LocalEditTimes(of: key, table, db) : nil,
            triedValues: kind == nil ? [:] : try ledger.attemptedValues(of: key, table))
        let joinRowEdits = try JoinRowEdits(row, base, engine, db)
        base = base.filter { local[$0.key] != nil }
        let unreverted = try revert(base.mapValues(\.value), from: key, table)
        try joinRowEdits.revert()
        edits.append(
            Edit(row: row, unrevertedColumns: unreverted, base: base, local: local, joinRowEdits: joinRowEdits))
    }

    private mutating func syncedColumns(of table: TrackedTable) throws -> Set<String> {
        if let known = syncedColumns[table.number] { return known }
        let names = try SyncedColumns(table, db).names()
        syncedColumns[table.number] = names
        return names
    }

    /// Resets columns to their base values. A column keeps its value if a constraint rejects the base value. Returns
    /// the columns that kept their value.
    private func revert(
        _ values: [String: DatabaseValue], from key: DatabaseValue, _ table: TrackedTable
    ) throws -> Set<String> {
        if try write(values, to: key, table, orIgnore: true) { return [] }
        var unreverted: Set<String> = []
        for (name, value) in values.sorted(by: { $0.key < $1.key })
        where try !write([name: value], to: key, table, orIgnore: true) { unreverted.insert(name) }
        return unreverted
    }

    // MARK: Reapplying edits

    /// Merges the removed edits into the rows that the page wrote. Returns the number of rows and of values in
    /// conflict, by entity.
    func reapply() throws -> SyncReport {
        var outcome = SyncReport()
        for edit in edits {
            let values = try reapply(edit)
            guard values > 0 else { continue }
            outcome[edit.table.entity.name].conflicts += 1
            outcome[edit.table.entity.name].conflictingValues += values
        }
        return outcome
    }

    /// Merges the edits of one row. Returns the number of values in conflict.
    private func reapply(_ edit: Edit) throws -> Int {
        guard let remote = try values(of: edit.key, edit.table) else { return 0 }
        let edit = edit.agreeing(with: remote)
        var merged = Merged()
        for group in edit.table.groups { try mergeAsOne(group, edit, remote, &merged) }
        let grouped = Set(edit.table.groups.joined())
        for column in edit.table.columns where !grouped.contains(column.name) {
            try merge(column.name, edit, remote, &merged)
        }
        try write(merged.reapplied, to: edit.key, edit.table)
        try dropReferences(merged.reapplied, edit)
        let joinRows = try edit.joinRowEdits.reapply(resolver)
        merged.isOpen = merged.isOpen || joinRows.isOpen
        try record(merged, edit)
        if edit.row.kind == .create { try EngineLedger(db).deleteOpenCreate(of: edit.key, edit.table) }
        try EngineLedger(db).finishMerge(edit.key, edit.table)
        return merged.conflicts + joinRows.conflicts
    }

    /// The merged columns of a row.
    private struct Merged {
        /// The values to write to the row.
        var reapplied: [String: DatabaseValue] = [:]
        /// The new base values; nil for a column that has the service's value. Other columns keep their base values.
        var bases: [String: DatabaseValue?] = [:]
        var conflicts = 0
        var isOpen = false
    }

    private func merge(_ name: String, _ edit: Edit, _ remote: [String: DatabaseValue], _ merged: inout Merged) throws {
        guard let here = edit.local[name], var there = remote[name] else { return }
        // A constraint kept the column at its local value, and the page did not change it. So the service still has
        // the base value.
        if edit.unrevertedColumns.contains(name), there.isExactly(here), let base = edit.base[name] {
            there = base.value
        }
        guard let base = edit.base[name] else {
            // A column without a base value was not edited and takes the remote value, unless the row is new.
            if here.isExactly(there) { return }
            if edit.isEdited(name) {
                return try resolveConflict(name, edit, base: .null, here, there, edit.editTime(of: name) ?? 0, &merged)
            }
            return try mergeMissedEdit(name, edit, here, there, &merged)
        }
        switch ThreeWayMerge.outcome(base: base.value.exact, local: here.exact, remote: there.exact) {
        case .same, .remote: merged.bases[name] = .some(nil)
        case .local:
            merged.reapplied[name] = here
            if edit.agreed.contains(name) { merged.bases[name] = .some(base.value) }
        // The engine cleared the foreign key because it deleted the referenced row. See
        // `ChangeCaptureTriggers.unlinked`.
        case .conflict where base.cause == .cascade: merged.bases[name] = .some(nil)
        case .conflict: try resolveConflict(name, edit, base: base.value, here, there, base.editTime, &merged)
        }
        try ConflictLog(db).closeReverted(name, edit.key, edit.table, local: here, remote: there)
    }

    /// Merges a column without a base value that may have been edited while changes were not captured.
    private func mergeMissedEdit(
        _ name: String, _ edit: Edit, _ here: DatabaseValue, _ there: DatabaseValue, _ merged: inout Merged
    ) throws {
        guard edit.row.mayHaveUncapturedEdits, edit.row.syncedColumns.contains(name) else { return }
        if edit.row.isCurrent {
            merged.reapplied[name] = here
            merged.bases[name] = .some(there)
        } else {
            merged.conflicts += 1
            try ConflictLog(db).add(
                edit.table, edit.key, field: name, base: .null, local: here, remote: there, .missedEdits)
        }
    }

    /// Merges the columns of a group as one field. If both sides changed the group, each column that differs is in
    /// conflict.
    private func mergeAsOne(
        _ group: [String], _ edit: Edit, _ remote: [String: DatabaseValue], _ merged: inout Merged
    ) throws {
        func before(_ name: String) -> DatabaseValue? { edit.base[name]?.value ?? edit.local[name] }
        func areSame(_ left: DatabaseValue?, _ right: DatabaseValue?) -> Bool { left?.exact == right?.exact }
        // A new row has base values only where the service has a sent value.
        let isNew = group.contains { edit.isEdited($0) && edit.base[$0] == nil && !areSame(edit.local[$0], remote[$0]) }
        let names = group.filter {
            edit.row.creationTimes != nil || edit.base[$0] != nil || edit.row.syncedColumns.contains($0)
        }
        let isChangedThere = names.contains { !areSame(remote[$0], before($0)) } || isNew
        let isChangedHere =
            names.contains { !areSame(edit.local[$0], before($0)) && edit.base[$0]?.cause != .cascade } || isNew
        guard isChangedHere, isChangedThere, names.contains(where: { !areSame(edit.local[$0], remote[$0]) }) else {
            for name in names { try merge(name, edit, remote, &merged) }
            return
        }
        let editTime = names.compactMap(edit.editTime).max() ?? SQLiteEngineStore.now
        for name in names {
            guard let here = edit.local[name], let there = remote[name], !here.isExactly(there) else {
                merged.bases[name] = .some(nil)
                continue
            }
            try resolveConflict(name, edit, base: before(name) ?? .null, here, there, editTime, &merged)
        }
    }

    private func resolveConflict(
        _ name: String, _ edit: Edit, base: DatabaseValue, _ here: DatabaseValue, _ there: DatabaseValue,
        _ editTime: Int64, _ merged: inout Merged
    ) throws {
        let (resolution, own) = try resolver.resolve(
            ConflictResolver.Case(field: name, base: base.json, here: here.json, there: there.json, editTime: editTime),
            of: edit.row)
        if resolution.winner == .remote {
            merged.bases[name] = .some(nil)
        } else {
            merged.reapplied[name] = own?.columnValue ?? here
            merged.bases[name] = .some(there)
            if resolution.winner == .open { merged.isOpen = true }
        }
        let log = ConflictLog(db)
        if resolution.winner == .open, try log.update(name, edit.key, edit.table, local: here, remote: there) { return }
        merged.conflicts += 1
        try log.add(edit.table, edit.key, field: name, base: base, local: here, remote: there, resolution)
    }

    // MARK: Outbox

    private func record(_ merged: Merged, _ edit: Edit) throws {
        let ledger = EngineLedger(db)
        for (name, base) in merged.bases {
            let editTime = edit.editTime(of: name) ?? SQLiteEngineStore.now
            try ledger.setBase(base, of: name, edit.key, edit.table, editTime: editTime)
        }
        if edit.row.kind == nil, !merged.bases.isEmpty { try ledger.insertUpdate(of: edit.key, edit.table) }
        if merged.isOpen { try ledger.setConflicted(edit.key, edit.table) }
    }

    // MARK: Rows

    private func values(of key: DatabaseValue, _ table: TrackedTable) throws -> [String: DatabaseValue]? {
        try table.fieldReader.values(of: key, in: db)
    }

    /// Writes columns of a row. `orIgnore`: whether to keep the row unchanged if a constraint rejects the values.
    /// Returns whether the values were written.
    @discardableResult
    private func write(
        _ values: [String: DatabaseValue], to key: DatabaseValue, _ table: TrackedTable, orIgnore: Bool = false
    ) throws -> Bool {
        let values = values.sorted { $0.key < $1.key }
        guard !values.isEmpty else { return true }
        let set = values.map { "\($0.key.quoted) = ?" }.joined(separator: ", ")
        try db.run(
            "UPDATE \(orIgnore ? "OR IGNORE " : "")\(table.sql) SET \(set) WHERE \(table.keySQL) = ?",
            StatementArguments(values.map(\.value) + [key]))
        return db.changesCount > 0
    }

    /// Deletes the pending references of foreign keys whose values were reapplied.
    private func dropReferences(_ values: [String: DatabaseValue], _ edit: Edit) throws {
        for column in edit.table.columns where values[column.name] != nil {
            guard let relationship = column.relationship else { continue }
            try db.run(
                """
                DELETE FROM sync_pending
                WHERE owner_entity IN (\(edit.table.family)) AND owner_key = ? AND relationship = ?
                """, edit.key, relationship)
        }
    }
}

/// The preexisting rows of a page. Their values may be edits, or older values of the service. The service's values
/// apply, and overwritten values are logged.
struct PreexistingRows {
    private struct Candidate {
        let table: TrackedTable
        let key: DatabaseValue
        let values: [String: DatabaseValue]
    }

    static let resolution = ConflictOutcome(winner: .remote, reason: .preexisting)

    private let db: Database
    private var rows: [Candidate] = []
    private var recorded: [Int: Set<BinaryComparedValue>] = [:]

    init(_ db: Database) { self.db = db }

    /// Records the values of a preexisting row before the page is written. Ignores other rows, and edited rows, which
    /// ``EditRebase`` merges.
    mutating func insert(_ standing: LocalRowState, of table: TrackedTable) throws {
        guard standing.isPreexisting, standing.state == .clean,
            recorded[table.number, default: []].insert(standing.key.exact).inserted,
            let values = try table.fieldReader.values(of: standing.key, in: db)
        else { return }
        rows.append(Candidate(table: table, key: standing.key, values: values))
    }

    /// Logs the overwritten values. Call this method after the page is written.
    func log(_ outcome: inout SyncReport) throws {
        for row in rows {
            guard let there = try row.table.fieldReader.values(of: row.key, in: db) else { continue }
            var lost = 0
            for column in row.table.columns {
                guard let here = row.values[column.name], !here.isNull, let value = there[column.name],
                    !here.isExactly(value)
                else { continue }
                lost += 1
                try ConflictLog(db).add(
                    row.table, row.key, field: column.name, base: .null, local: here, remote: value, Self.resolution)
            }
            guard lost > 0 else { continue }
            outcome[row.table.entity.name].conflicts += 1
            outcome[row.table.entity.name].conflictingValues += lost
        }
    }
}
