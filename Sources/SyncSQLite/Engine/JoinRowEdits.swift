import Foundation
import GRDB
import SyncCore
import SyncStore

/// The edits of one row's many-to-many lists: added and removed join rows, and changed orders. ``EditRebase`` removes
/// and reapplies them with the other edits of the row.
///
/// Captured additions and removals never conflict. The merged list includes the rows that were added locally, and
/// excludes the rows that were removed locally. If one side moved rows, its order wins. If both sides moved rows to
/// different orders, the app's resolver or the conflict policy decides.
struct JoinRowEdits {
    private struct Change {
        let joinTable: TrackedTable.JoinTable
        let other: DatabaseValue
        let isAdded: Bool
    }

    /// A list before the edits were removed.
    private struct List {
        let joinTable: TrackedTable.JoinTable
        /// The base order; nil if none is stored.
        var base: [DatabaseValue]?
        let editTime: Int64
        let local: [DatabaseValue]
    }

    /// A list that was sent and not confirmed. See ``EngineLedger/attemptedValues(of:_:)``.
    private struct Tried {
        let joinTable: TrackedTable.JoinTable
        let lists: [[DatabaseValue]]
        let local: [DatabaseValue]
    }

    struct Outcome {
        var conflicts = 0
        var isOpen = false
    }

    private let row: ConflictResolver.Subject
    private let engine: SQLiteEngineStore
    private let db: Database
    private var changes: [Change] = []
    private var lists: [List] = []
    private var tried: [Tried] = []
    private var ledger: EngineLedger { EngineLedger(db) }

    /// Reads the edits from the engine's tables. `base` has the base values of the edited fields.
    init(
        _ row: ConflictResolver.Subject, _ base: [String: EngineLedger.Base], _ engine: SQLiteEngineStore,
        _ db: Database
    ) throws {
        (self.row, self.engine, self.db) = (row, engine, db)
        for joinTable in row.table.joinTables {
            let edits =
                try row.isNew
                ? LinkedRowList(joinTable).others(of: row.key, in: db).map { (other: $0, isAdded: true) }
                : ledger.joinEdits(of: row.key, joinTable)
            changes += edits.map { Change(joinTable: joinTable, other: $0.other, isAdded: $0.isAdded) }
            if let sent = row.triedValues[joinTable.field] {
                tried.append(
                    Tried(
                        joinTable: joinTable, lists: try sent.map { try engine.sentKeys($0, joinTable, in: db) },
                        local: try LinkedRowList(joinTable).others(of: row.key, in: db)))
            }
            guard joinTable.isOrdered || row.mayHaveUncapturedEdits else { continue }
            let known = base[joinTable.field]
            lists.append(
                List(
                    joinTable: joinTable, base: try known.map { try LinkedRowList.keys($0.value) },
                    editTime: known?.editTime ?? SQLiteEngineStore.now,
                    local: try LinkedRowList(joinTable).others(of: row.key, in: db)))
        }
    }

    // MARK: Removing edits

    func revert() throws {
        for change in changes { try set(!change.isAdded, change.joinTable, change.other) }
        for list in lists {
            if let base = list.base { try LinkedRowList(list.joinTable).order(base, of: row.key, in: db) }
        }
    }

    // MARK: Reapplying edits

    func reapply(_ resolver: ConflictResolver) throws -> Outcome {
        var outcome = Outcome()
        let remote = try lists.map { try LinkedRowList($0.joinTable).others(of: row.key, in: db) }
        let answered = try tried.map { try LinkedRowList($0.joinTable).others(of: row.key, in: db) }
        for change in changes { try reapply(change) }
        for (list, there) in zip(tried, answered) { try reapply(list, there) }
        for (list, there) in zip(lists, remote) {
            try mergeMissedEdits(list, there, &outcome)
            if list.joinTable.isOrdered { try order(agreed(list, there), there, resolver, &outcome) }
        }
        return outcome
    }

    private func reapply(_ change: Change) throws {
        let (joinTable, other) = (change.joinTable, change.other)
        if try isLinked(joinTable, other) == change.isAdded {
            return try ledger.deleteJoinEdit(other, of: row.key, joinTable)
        }
        try set(change.isAdded, joinTable, other)
        if row.isNew { try ledger.insertJoinEdit(other, of: row.key, joinTable, isAdded: true) }
    }

    /// Reapplies the local differences from a list that was sent. If the service has the sent state of a join row, a
    /// different local state is a later edit.
    private func reapply(_ list: Tried, _ there: [DatabaseValue]) throws {
        let (here, theirs, sent) = (Set(list.local), Set(there), list.lists.map(Set.init))
        for other in sent.reduce(here.union(theirs), { $0.union($1) }) {
            let isThere = theirs.contains(other)
            guard here.contains(other) != isThere, sent.contains(where: { $0.contains(other) == isThere }) else {
                continue
            }
            try set(!isThere, list.joinTable, other)
            guard try isLinked(list.joinTable, other) != isThere else { continue }
            try ledger.deleteJoinEdit(other, of: row.key, list.joinTable)
            try ledger.insertJoinEdit(other, of: row.key, list.joinTable, isAdded: !isThere)
        }
    }

    /// Returns the list with a sent order as its base order, if the service has that order. Otherwise returns the list
    /// unchanged.
    private func agreed(_ list: List, _ there: [DatabaseValue]) -> List {
        let sent = tried.first { $0.joinTable.field == list.joinTable.field }?.lists ?? []
        guard let order = sent.first(where: { !ListOrderMerge.isMoved(there, from: $0) }) else { return list }
        var list = list
        list.base = order
        return list
    }

    /// Merges join rows that may have been edited while changes were not captured. At the known version, each
    /// difference is such an edit. At another version, the remote list applies, and the local list is logged.
    private func mergeMissedEdits(_ list: List, _ there: [DatabaseValue], _ outcome: inout Outcome) throws {
        guard row.mayHaveUncapturedEdits, !row.isNew, row.syncedColumns.contains(list.joinTable.name) else { return }
        let recorded = Set(changes.filter { $0.joinTable.name == list.joinTable.name }.map(\.other))
        let added = Set(list.local).subtracting(there).subtracting(recorded)
        let removed = Set(there).subtracting(list.local).subtracting(recorded)
        let isMoved = list.joinTable.isOrdered && list.base == nil && ListOrderMerge.isMoved(list.local, from: there)
        if added.isEmpty, removed.isEmpty, row.isCurrent || !isMoved { return }
        guard row.isCurrent else {
            outcome.conflicts += 1
            return try ConflictLog(db).add(
                row.table, row.key, field: list.joinTable.field, base: .null, local: LinkedRowList.text(list.local),
                remote: LinkedRowList.text(there), .missedEdits)
        }
        for (others, isAdded) in [(added, true), (removed, false)] {
            for other in others {
                try set(isAdded, list.joinTable, other)
                guard try isLinked(list.joinTable, other) == isAdded else { continue }
                try ledger.insertJoinEdit(other, of: row.key, list.joinTable, isAdded: isAdded)
            }
        }
        try ledger.insertUpdate(of: row.key, row.table)
    }

    // MARK: Order

    private func order(
        _ list: List, _ there: [DatabaseValue], _ resolver: ConflictResolver, _ outcome: inout Outcome
    ) throws {
        let (joinTable, names) = (list.joinTable, LinkedRowList(list.joinTable))
        var leader = list.local
        var follower = there
        let isMissed =
            row.mayHaveUncapturedEdits && row.isCurrent && list.base == nil
            && row.syncedColumns.contains(joinTable.name)
        switch ListOrderMerge.outcome(base: isMissed ? there : list.base, local: list.local, remote: there) {
        case .local: break
        case .remote: (leader, follower) = (there, list.local)
        case .conflict:
            let values = ConflictResolver.Case(
                field: joinTable.field, base: try ids(list.base ?? [], joinTable), here: try ids(list.local, joinTable),
                there: try ids(there, joinTable), editTime: list.editTime)
            let (resolution, made) = try resolver.resolve(values, of: row)
            if resolution.winner == .remote { (leader, follower) = (there, list.local) }
            if let own = try made.flatMap({ try keys($0, joinTable) }) { leader = own }
            try log(list, there, resolution, &outcome)
        }
        let stored = try names.others(of: row.key, in: db)
        try names.order(ListOrderMerge.merged(leader: leader, follower: follower, of: stored), of: row.key, in: db)
        let merged = try names.others(of: row.key, in: db)
        try setBase(list, to: there, isEdited: ListOrderMerge.isMoved(merged, from: there))
        try ConflictLog(db).closeReverted(
            joinTable.field, row.key, row.table, local: LinkedRowList.text(merged), remote: LinkedRowList.text(there))
    }

    private func log(
        _ list: List, _ there: [DatabaseValue], _ resolution: ConflictOutcome, _ outcome: inout Outcome
    ) throws {
        let (log, field) = (ConflictLog(db), list.joinTable.field)
        let (local, remote) = (LinkedRowList.text(list.local), LinkedRowList.text(there))
        if resolution.winner == .open {
            outcome.isOpen = true
            if try log.update(field, row.key, row.table, local: local, remote: remote) { return }
        }
        outcome.conflicts += 1
        try log.add(
            row.table, row.key, field: field, base: LinkedRowList.text(list.base ?? []), local: local, remote: remote,
            resolution)
    }

    /// Stores the service's order as the base order, or deletes the base order if the merged list has the same order.
    private func setBase(_ list: List, to there: [DatabaseValue], isEdited: Bool) throws {
        try ledger.setBaseOrder(isEdited ? there : nil, of: list.joinTable, row.key, row.table, editTime: list.editTime)
        if isEdited { try ledger.insertUpdate(of: row.key, row.table) }
    }

    // MARK: IDs

    private func ids(_ keys: [DatabaseValue], _ joinTable: TrackedTable.JoinTable) throws -> JSONValue {
        .array(try keys.map { try engine.id($0, of: joinTable.destination, in: db) })
    }

    /// Returns the keys of the IDs that the app's resolver returned; nil if it did not return an array. Ignores IDs of
    /// rows that are not in the stored list.
    private func keys(_ json: JSONValue, _ joinTable: TrackedTable.JoinTable) throws -> [DatabaseValue]? {
        guard case .array(let wanted) = json else { return nil }
        let stored = try LinkedRowList(joinTable).others(of: row.key, in: db)
        let ids = try stored.map { (try engine.id($0, of: joinTable.destination, in: db), $0) }
        let known = Dictionary(ids) { first, _ in first }
        return wanted.compactMap { known[$0] }
    }

    // MARK: Join rows

    private func isLinked(_ joinTable: TrackedTable.JoinTable, _ other: DatabaseValue) throws -> Bool {
        try db.finds(
            "SELECT 1 FROM \(joinTable.table.table) WHERE \(joinTable.table.mine) = ? AND \(joinTable.table.other) = ?",
            row.key, other)
    }

    private func set(_ isLinked: Bool, _ joinTable: TrackedTable.JoinTable, _ other: DatabaseValue) throws {
        let destination = engine.stack.layout[joinTable.destination]
        let sql =
            isLinked
            ? """
            INSERT OR IGNORE INTO \(joinTable.table.table) (\(joinTable.table.mine), \(joinTable.table.other)) SELECT ?, ?
            WHERE EXISTS (SELECT 1 FROM \(destination.sql) WHERE \(destination.keySQL) = ?)
            """
            : "DELETE FROM \(joinTable.table.table) WHERE \(joinTable.table.mine) = ? AND \(joinTable.table.other) = ?"
        try db.run(sql, isLinked ? [row.key, other, other] : [row.key, other])
    }
}

extension ConflictOutcome {
    /// The outcome for values that may have been edited while changes were not captured, at another version than the
    /// known one.
    static let missedEdits = ConflictOutcome(winner: .remote, reason: .editedWhileUncaptured)
}

/// Generates the SQL that replaces keys in `sync_link` when a row with a surrogate key is inserted or deleted, or its
/// surrogate key changes. SQLite may reuse surrogate keys.
struct JoinEditRekeying {
    private let table: TrackedTable
    /// The lists of registered tables that contain rows of this table.
    private let pointing: [(table: TrackedTable, joinTable: TrackedTable.JoinTable)]
    private let tables: [TrackedTable]

    init(_ table: TrackedTable, among tables: [TrackedTable]) {
        (self.table, self.tables) = (table, tables)
        pointing = tables.flatMap { other in
            other.joinTables.filter { $0.destination == table.entity.table }.map { (other, $0) }
        }
    }

    /// Returns statements that replace the key of the owner in join edits of this table's lists. See
    /// ``EntryMove/statements(from:to:if:)``.
    func owners(from old: String, to new: String, if condition: String = "true") -> [String] {
        move("owner", identifiedWith: "other", of: table.joinTables.map(\.name), old, new, condition)
    }

    /// Returns statements that replace the key of the linked row in join edits of lists that contain rows of this
    /// table. See ``EntryMove/statements(from:to:if:)``.
    func others(from old: String, to new: String, if condition: String = "true") -> [String] {
        move("other", identifiedWith: "owner", of: pointing.map(\.joinTable.name), old, new, condition)
    }

    /// Returns statements that delete the join edits whose linked row the engine deletes.
    func deletions(of key: String) -> [String] {
        guard table.key.isSurrogate else { return [] }
        return pointing.map {
            "DELETE FROM \"sync_link\" WHERE \"link\" = \($0.joinTable.name.literal) AND \"other\" = +\(key)"
        }
    }

    private func move(
        _ column: String, identifiedWith other: String, of links: [String], _ old: String, _ new: String,
        _ condition: String
    ) -> [String] {
        guard table.key.isSurrogate else { return [] }
        return links.flatMap { link in
            EntryMove(table: "sync_link", column: column, scope: "\"link\" = \(link.literal)", identity: [other])
                .statements(from: old, to: new, if: condition)
        }
    }

    /// Returns the SQL condition that an update of a join row is an edit, beginning with `AND`; empty without surrogate
    /// keys. An update that only follows a new surrogate key is not an edit.
    func isNoRenumbering(of joinTable: TrackedTable.JoinTable) -> String {
        let ends =
            [(joinTable.table.mine, table)]
            + tables.filter { $0.entity.table == joinTable.destination }.map { (joinTable.table.other, $0) }
        return ends.filter { $0.1.key.isSurrogate }.map { column, end in
            """
             AND (OLD.\(column) IS NEW.\(column) OR EXISTS (
              SELECT 1 FROM \(end.table.name.quoted) AS r WHERE r.\(end.table.keyColumn.quoted) = OLD.\(column)))
            """
        }.joined()
    }
}
