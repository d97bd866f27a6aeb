import Foundation
import GRDB
import SyncCore
import SyncStore

/// Edits of the pairs of one row: which were added and removed, and in which order its lists are. Taken off and put back with
/// its other edits (``EditRebase``).
///
/// Which pairs there are never is in conflict: what was added here is there then, and what was removed is not. Their order is
/// that of whoever moved some; of two that did the policy says whose.
struct JoinRowEdits {
    private struct Change {
        let pairs: TrackedTable.JoinTable
        let other: DatabaseValue
        /// 1 added, -1 removed.
        let op: Int
    }

    /// A list as it was here.
    private struct List {
        let pairs: TrackedTable.JoinTable
        /// What both sides had, where its order was edited.
        var base: [DatabaseValue]?
        let edited: Int64
        let local: [DatabaseValue]
    }

    /// A list that was sent, and never answered. See ``TriedValues``.
    private struct Tried {
        let pairs: TrackedTable.JoinTable
        let lists: [[DatabaseValue]]
        let local: [DatabaseValue]
    }

    /// What became of it.
    struct Outcome {
        /// How many orders were in conflict.
        var conflicts = 0
        /// Whether one of them waits for a decision.
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
    ///   - base: What both sides had of the domains that were edited.
    ///   - tried: What was sent, and never answered.
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

    // MARK: Taking off

    func takeOff() throws {
        for change in changes { try set(change.op < 0, change.pairs, change.other) }
        for list in lists { if let base = list.base { try LinkedRowList(list.pairs).order(base, of: row.key, in: db) } }
    }

    // MARK: Putting back

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

    /// The pairs that the server has, or has not, as they were sent, are what both agree on: what is otherwise here was edited since.
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

    /// A list whose base is the order that was sent, where the server has that.
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

    /// Whether pairs were edited while nobody took notice: at the version that is known whatever differs was.
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

    /// What the server has is what both have then; nothing is kept of a list whose order is the same on both sides.
    private func setBase(_ list: List, to there: [DatabaseValue], isEdited: Bool) throws {
        try BaseOrder(row.table, list.pairs, db).set(isEdited ? there : nil, of: row.key, edited: list.edited)
        if isEdited { try row.table.touch(row.key, in: db) }
    }

    // MARK: Ids

    private func ids(_ keys: [DatabaseValue], _ pairs: TrackedTable.JoinTable) throws -> JSONValue {
        .array(try keys.map { try engine.id($0, of: pairs.destination, in: db) })
    }

    /// The keys of a list that the resolver made of those it was given.
    private func keys(_ json: JSONValue, _ pairs: TrackedTable.JoinTable) throws -> [DatabaseValue]? {
        guard case .array(let wanted) = json else { return nil }
        let stored = try LinkedRowList(pairs).others(of: row.key, in: db)
        let known = Dictionary(try stored.map { (try engine.id($0, of: pairs.destination, in: db), $0) }) { first, _ in
            first
        }
        return wanted.compactMap { known[$0] }
    }

    // MARK: Pairs

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
    /// Of what differs at another version than the known one, where nobody can tell who edited it.
    static let missedEdits = ConflictOutcome(
        winner: .remote, why: "edits may have been missed, and the service has another version")
}
