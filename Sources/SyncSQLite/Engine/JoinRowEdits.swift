import Foundation
import GRDB
import SyncCore
import SyncStore

/// The edits of one row's join rows: which were added and removed, and the order of its lists. They are removed and
/// reapplied with the other edits of the row (``EditRebase``).
///
/// Membership never conflicts: rows that were added here are in the merged list, rows that were removed here are not.
/// If one side moved rows, its order wins. If both did, the conflict policy decides.
struct JoinRowEdits {
    private struct Change {
        let pairs: TrackedTable.JoinTable
        let other: DatabaseValue
        /// 1 added, -1 removed.
        let op: Int
    }

    /// A list before the page was written.
    private struct List {
        let pairs: TrackedTable.JoinTable
        /// The base order; nil if the order was not edited.
        var base: [DatabaseValue]?
        let edited: Int64
        let local: [DatabaseValue]
    }

    /// A list that was sent without an answer. See ``TriedValues``.
    private struct Tried {
        let pairs: TrackedTable.JoinTable
        let lists: [[DatabaseValue]]
        let local: [DatabaseValue]
    }

    /// The result of reapplying the edits.
    struct Outcome {
        /// The number of orders in conflict.
        var conflicts = 0
        /// Whether one of the conflicts is open.
        var isOpen = false
    }

    private let row: ConflictResolver.Subject
    private let engine: SQLiteEngineStore
    private let db: Database
    private let isNew: Bool
    private let isAudited: Bool
    private let isCurrent: Bool
    private let inStep: Set<String>
    private var changes: [Change] = []
    private var lists: [List] = []
    private var tried: [Tried] = []

    /// - Parameters:
    ///   - base: The base values of the edited fields.
    ///   - tried: The values that were sent without an answer.
    ///   - inStep: See ``SyncedColumns``.
    init(
        _ row: ConflictResolver.Subject, isNew: Bool, isAudited: Bool, isCurrent: Bool, inStep: Set<String>,
        base: [String: (value: DatabaseValue, edited: Int64)], tried: [String: [DatabaseValue]],
        _ engine: SQLiteEngineStore, _ db: Database
    ) throws {
        self.row = row
        self.engine = engine
        self.db = db
        self.isNew = isNew
        self.isAudited = isAudited
        self.isCurrent = isCurrent
        self.inStep = inStep
        for pairs in row.table.pairs {
            let sql =
                isNew
                ? "SELECT \(pairs.table.other), 1 FROM \(pairs.table.table) WHERE \(pairs.table.mine) = ?"
                : "SELECT other, op FROM sync_link WHERE owner = ? AND link = \(pairs.name.literal) AND op <> 0"
            changes += try Row.fetchAll(db.cachedStatement(sql: sql), arguments: [row.key]).map {
                Change(pairs: pairs, other: $0[0], op: try $0.decode(atIndex: 1))
            }
            if let sent = tried[pairs.domain] {
                self.tried.append(
                    Tried(
                        pairs: pairs, lists: try sent.map { try engine.sentKeys($0, pairs, in: db) },
                        local: try LinkedRowList(pairs).others(of: row.key, in: db)))
            }
            guard pairs.isOrdered || isAudited else { continue }
            let known = base[pairs.domain]
            lists.append(
                List(
                    pairs: pairs, base: try known.map { try LinkedRowList.keys($0.value) },
                    edited: known?.edited ?? SQLiteEngineStore.now,
                    local: try LinkedRowList(pairs).others(of: row.key, in: db)))
        }
    }

    // MARK: Removing edits

    func takeOff() throws {
        for change in changes { try set(change.op < 0, change.pairs, change.other) }
        for list in lists { if let base = list.base { try LinkedRowList(list.pairs).order(base, of: row.key, in: db) } }
    }

    // MARK: Reapplying edits

    func putBack(_ rulings: ConflictResolver) throws -> Outcome {
        var outcome = Outcome()
        let remote = try lists.map { try LinkedRowList($0.pairs).others(of: row.key, in: db) }
        let answered = try tried.map { try LinkedRowList($0.pairs).others(of: row.key, in: db) }
        for change in changes { try putBack(change) }
        for (list, there) in zip(tried, answered) { try putBack(list, there) }
        for (list, there) in zip(lists, remote) {
            try judge(list, there, &outcome)
            if list.pairs.isOrdered { try order(agreed(list, there), there, rulings, &outcome) }
        }
        return outcome
    }

    private func putBack(_ change: Change) throws {
        let (pairs, other) = (change.pairs, change.other)
        if try isLinked(pairs, other) == (change.op > 0) {
            return try db.executeCached(
                sql: "DELETE FROM sync_link WHERE link = ? AND owner = ? AND other = ?",
                arguments: [pairs.name, row.key, other])
        }
        try set(change.op > 0, pairs, other)
        if isNew { try record(1, pairs, other) }
    }

    /// Reapplies differences in a list that was sent. Where the service has the sent state of a join row, the local
    /// state was edited since.
    private func putBack(_ list: Tried, _ there: [DatabaseValue]) throws {
        let (here, theirs, sent) = (Set(list.local), Set(there), list.lists.map(Set.init))
        for other in sent.reduce(here.union(theirs), { $0.union($1) }) {
            let isThere = theirs.contains(other)
            guard here.contains(other) != isThere, sent.contains(where: { $0.contains(other) == isThere }) else {
                continue
            }
            try set(!isThere, list.pairs, other)
            guard try isLinked(list.pairs, other) != isThere else { continue }
            try db.executeCached(
                sql: "DELETE FROM sync_link WHERE link = ? AND owner = ? AND other = ?",
                arguments: [list.pairs.name, row.key, other])
            try record(isThere ? -1 : 1, list.pairs, other)
        }
    }

    /// Returns the list with a sent order as its base, if the service has that order.
    private func agreed(_ list: List, _ there: [DatabaseValue]) -> List {
        let sent = tried.first { $0.pairs.domain == list.pairs.domain }?.lists ?? []
        guard let order = sent.first(where: { !ListOrderMerge.isMoved(there, from: $0) }) else { return list }
        var list = list
        list.base = order
        return list
    }

    private func record(_ op: Int, _ pairs: TrackedTable.JoinTable, _ other: DatabaseValue) throws {
        try db.executeCached(
            sql: "INSERT INTO sync_link (link, owner, other, op, edited) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            arguments: [pairs.name, row.key, other, op, SQLiteEngineStore.now])
    }

    /// Handles join rows that may have been edited while changes were not captured.
    ///
    /// At the known version, every difference is such an edit. At another version, the local list is logged.
    private func judge(_ list: List, _ there: [DatabaseValue], _ outcome: inout Outcome) throws {
        guard isAudited, !isNew, inStep.contains(list.pairs.name) else { return }
        let noted = Set(changes.filter { $0.pairs.name == list.pairs.name }.map(\.other))
        let added = Set(list.local).subtracting(there).subtracting(noted)
        let removed = Set(there).subtracting(list.local).subtracting(noted)
        let isMoved = list.pairs.isOrdered && list.base == nil && ListOrderMerge.isMoved(list.local, from: there)
        if added.isEmpty, removed.isEmpty, isCurrent || !isMoved { return }
        guard isCurrent else {
            outcome.conflicts += 1
            return try ConflictLog(db).add(
                row.table, row.key, domain: list.pairs.domain, base: .null, local: LinkedRowList.text(list.local),
                remote: LinkedRowList.text(there), .missedEdits)
        }
        for (others, op) in [(added, 1), (removed, -1)] {
            for other in others {
                try set(op > 0, list.pairs, other)
                if try isLinked(list.pairs, other) == (op > 0) { try record(op, list.pairs, other) }
            }
        }
        try row.table.touch(row.key, in: db)
    }

    // MARK: Order

    private func order(
        _ list: List, _ there: [DatabaseValue], _ rulings: ConflictResolver, _ outcome: inout Outcome
    ) throws {
        let (pairs, names) = (list.pairs, LinkedRowList(list.pairs))
        var leader = list.local
        var follower = there
        let isMissed = isAudited && isCurrent && list.base == nil && inStep.contains(pairs.name)
        switch ListOrderMerge.outcome(base: isMissed ? there : list.base, local: list.local, remote: there) {
        case .local: break
        case .remote: (leader, follower) = (there, list.local)
        case .conflict:
            let values = ConflictResolver.Case(
                domain: pairs.domain, base: try ids(list.base ?? [], pairs), here: try ids(list.local, pairs),
                there: try ids(there, pairs), edited: list.edited)
            let (ruling, made) = try rulings.ruling(values, of: row)
            if ruling.winner == .remote { (leader, follower) = (there, list.local) }
            if let own = try made.flatMap({ try keys($0, pairs) }) { leader = own }
            try log(list, there, ruling, rulings, &outcome)
        }
        let stored = try names.others(of: row.key, in: db)
        try names.order(ListOrderMerge.merged(leader: leader, follower: follower, of: stored), of: row.key, in: db)
        let merged = try names.others(of: row.key, in: db)
        try setBase(list, to: there, isEdited: ListOrderMerge.isMoved(merged, from: there))
        try rulings.close(pairs.domain, row, LinkedRowList.text(merged), LinkedRowList.text(there))
    }

    private func log(
        _ list: List, _ there: [DatabaseValue], _ ruling: ConflictOutcome, _ rulings: ConflictResolver,
        _ outcome: inout Outcome
    ) throws {
        if ruling.winner == .open {
            outcome.isOpen = true
            if try rulings.isOpen(list.pairs.domain, row, LinkedRowList.text(list.local), LinkedRowList.text(there)) {
                return
            }
        }
        outcome.conflicts += 1
        try ConflictLog(db).add(
            row.table, row.key, domain: list.pairs.domain, base: LinkedRowList.text(list.base ?? []),
            local: LinkedRowList.text(list.local), remote: LinkedRowList.text(there), ruling)
    }

    /// Makes the service's order the base, or deletes the base if the merged list has the same order.
    private func setBase(_ list: List, to there: [DatabaseValue], isEdited: Bool) throws {
        try BaseOrder(row.table, list.pairs, db).set(isEdited ? there : nil, of: row.key, edited: list.edited)
        if isEdited { try row.table.touch(row.key, in: db) }
    }

    // MARK: IDs

    private func ids(_ keys: [DatabaseValue], _ pairs: TrackedTable.JoinTable) throws -> JSONValue {
        .array(try keys.map { try engine.id($0, of: pairs.destination, in: db) })
    }

    /// Returns the keys of a list of IDs that the resolver returned. Ignores IDs of rows that are not in the list.
    private func keys(_ json: JSONValue, _ pairs: TrackedTable.JoinTable) throws -> [DatabaseValue]? {
        guard case .array(let wanted) = json else { return nil }
        let stored = try LinkedRowList(pairs).others(of: row.key, in: db)
        let known = Dictionary(try stored.map { (try engine.id($0, of: pairs.destination, in: db), $0) }) { first, _ in
            first
        }
        return wanted.compactMap { known[$0] }
    }

    // MARK: Join rows

    private func isLinked(_ pairs: TrackedTable.JoinTable, _ other: DatabaseValue) throws -> Bool {
        try db.finds(
            sql: "SELECT 1 FROM \(pairs.table.table) WHERE \(pairs.table.mine) = ? AND \(pairs.table.other) = ?",
            arguments: [row.key, other])
    }

    private func set(_ isLinked: Bool, _ pairs: TrackedTable.JoinTable, _ other: DatabaseValue) throws {
        let destination = engine.stack.layout[pairs.destination]
        let sql =
            isLinked
            ? """
            INSERT OR IGNORE INTO \(pairs.table.table) (\(pairs.table.mine), \(pairs.table.other)) SELECT ?, ?
            WHERE EXISTS (SELECT 1 FROM \(destination.name.quoted) WHERE \(destination.keyColumn.quoted) = ?)
            """
            : "DELETE FROM \(pairs.table.table) WHERE \(pairs.table.mine) = ? AND \(pairs.table.other) = ?"
        try db.executeCached(sql: sql, arguments: isLinked ? [row.key, other, other] : [row.key, other])
    }
}

extension ConflictOutcome {
    /// The outcome for values that differ at another version than the known one, where edits may have been missed.
    static let missedEdits = ConflictOutcome(
        winner: .remote, why: "edits may not have been captured, and the service has another version")
}
