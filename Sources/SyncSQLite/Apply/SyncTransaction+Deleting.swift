import GRDB
import SyncCore

// Deletions come last, on the final state, in rounds: what the scope, the lists and the delete rules doom; then what
// that frees into the scope or leaves without an owner.
extension SyncTransaction {
    mutating func deleteRows() throws {
        try clearLinksOfLeftOutRows()
        var doomed = leaving.leftOut
        leaving.noteOutOfScope(try scopeRows(isFirstRound: true).subtracting(doomed))
        doomed.formUnion(leaving.rows(where: \.isOutOfScope))
        doomed.formUnion(try ownerlessRows())
        while !doomed.isEmpty {
            let closure = try closure(of: doomed)
            try refuseDenied(closure)
            try detach(closure)
            try delete(closure)
            let scoped = try scopeRows(isFirstRound: false)
            leaving.noteOutOfScope(scoped)
            doomed = scoped.union(try ownerlessRows())
        }
        try checkForeignKeys()
    }

    // MARK: Scope

    /// Stored rows in scope that nothing in the payload mentions.
    private mutating func scopeRows(isFirstRound: Bool) throws -> Set<StoredRow> {
        guard deletesMissing else { return [] }
        let tree = model.entities[plan.entity].tree
        if let parent = plan.parent { return isFirstRound ? try parentScopeRows(parent, tree) : [] }
        if isWholeEntityScope {
            guard isFirstRound else { return [] }
            return leavesRecordsOut ? try rows(where: nil) : try wholeEntityRows(tree)
        }
        if try !isFirstRound && !scopeFollowsLinks() { return [] }
        return try rows(where: scopeCondition())
    }

    /// Whether a row can come into scope by losing links to rows that are deleted.
    private func scopeFollowsLinks() throws -> Bool {
        try predicate?.resolved(on: rootEntity, in: model).followsLinks ?? true
    }

    /// A condition that follows links must not meet those through which lists left rows out.
    private mutating func clearLinksOfLeftOutRows() throws {
        guard predicate != nil, try scopeFollowsLinks() else { return }
        for row in leaving.leftOut {
            try keepValues(of: row)
            for link in leaving[row].leftOut.union(leaving[row].unlinked) {
                try bookRemovedTarget(link, of: row)
                try storedLinks.clearTarget(of: row, link)
            }
        }
    }

    /// The unmentioned rows of the whole entity, seen while matching.
    private func wholeEntityRows(_ tree: Int) throws -> Set<StoredRow> {
        var found: Set<StoredRow> = []
        for stray in trees[tree].strays
        where !stray.isNode && model.entity(stray.entity, isKindOf: plan.entity) {
            let row = StoredRow(tree: tree, key: stray.key)
            if try isMentionedBefore(row) { continue }
            if try !isLocal(row) { found.insert(row) }
        }
        return found
    }

    var rootEntity: CompiledEntity { model.entities[plan.entity] }

    func scopeCondition() throws -> PredicateSQL? {
        if let predicate { return try PredicateSQL(predicate, on: rootEntity, layout: layout, alias: "scope") }
        guard let root = rootEntity.rootScope else { return nil }
        let isNil = try RecordPredicate(parsing: "\(root.name) == nil")
        return try PredicateSQL(isNil, on: rootEntity, layout: layout, alias: "scope")
    }

    private func rows(where condition: PredicateSQL?) throws -> Set<StoredRow> {
        try storedRows(where: condition) { try !isMentioned($0) && !isLocal($0) }
    }

    /// Stored rows of the root entity for which a condition holds.
    func storedRows(
        where condition: PredicateSQL?, _ isIncluded: (StoredRow) throws -> Bool = { _ in true }
    ) throws -> Set<StoredRow> {
        let tree = rootEntity.tree
        var conditions = [condition?.sql, PredicateSQL.familyCondition(rootEntity, layout: layout, alias: "scope")]
            .compactMap { $0 }
        if conditions.isEmpty { conditions = ["1"] }
        let statement = try RawStatement(
            db,
            "SELECT scope.\(columns[tree].keyColumn) FROM \(columns[tree].table) AS scope WHERE "
                + conditions.map { "(\($0))" }.joined(separator: " AND "),
            arguments: condition?.arguments ?? [])
        var found: Set<StoredRow> = []
        while try statement.step() {
            guard let key = statement.key(0) else { continue }
            let row = StoredRow(tree: tree, key: key)
            if try isIncluded(row) { found.insert(row) }
        }
        return found
    }

    /// Keyless rows that lost a link and have none left.
    private mutating func ownerlessRows() throws -> Set<StoredRow> {
        try leaving.takeOrphans().filter { row in
            guard let found = try identity(of: row), isKeyless(found.entity) else { return false }
            var seen: Set<StoredRow> = []
            return try !isOwned(row, &seen)
        }
    }

    /// Whether a row with a key leads to a keyless one: by its own relationships, directly or through other keyless rows.
    private func isOwned(_ row: StoredRow, _ seen: inout Set<StoredRow>) throws -> Bool {
        seen.insert(row)
        for (link, end) in ends(of: row.tree) where model.links[link].side(end.other).relationship != nil {
            let tree = model.links[link].side(end.other).tree
            for key in try storedLinks.targets(of: row, link, from: end) {
                let owner = StoredRow(tree: tree, key: key)
                guard columns[tree].hasHiddenKey, let found = try identity(of: owner), isKeyless(found.entity) else {
                    return true
                }
                if try !seen.contains(owner) && isOwned(owner, &seen) { return true }
            }
        }
        return false
    }

    /// The links a table's rows can have, and the end they are at.
    private func ends(of tree: Int) -> [(link: Int, end: Link.End)] {
        model.links.flatMap { link in
            [Link.End.first, .second].filter {
                link.side($0).tree == tree && !(link.isSymmetric && $0 == .second && link.storage == .joinTable)
            }
            .map { (link.id, $0) }
        }
    }

    /// Of each table, the links its rows can have and the ends they are at, if they are wanted.
    private func ends(where isWanted: (Int, Link.End) -> Bool) -> [[(link: Int, end: Link.End)]] {
        model.trees.map { ends(of: $0.id).filter(isWanted) }
    }

    // MARK: Delete rules

    /// The rows and everything their deletion cascades to, owners before what they own. A row that the payload mentions
    /// stays, and what it owns with it.
    private mutating func closure(of rows: Set<StoredRow>) throws -> [StoredRow] {
        var closure = rows.sorted { ($0.tree, $0.key.recordKey(nil)) < ($1.tree, $1.key.recordKey(nil)) }
        let cascades = ends { model.links[$0].side($1).relationship?.deleteRule == .cascade }
        var seen = rows
        var next = 0
        while next < closure.count {
            try advance()
            let row = closure[next]
            next += 1
            for (link, end) in cascades[row.tree] {
                let target = model.links[link].side(end.other).tree
                for key in try storedLinks.targets(of: row, link, from: end) {
                    let found = StoredRow(tree: target, key: key)
                    if try !isMentioned(found), seen.insert(found).inserted { closure.append(found) }
                }
            }
        }
        return closure
    }

    private func refuseDenied(_ closure: [StoredRow]) throws {
        let denials = ends { model.links[$0].side($1).relationship?.deleteRule == .deny }
        guard denials.contains(where: { !$0.isEmpty }) else { return }
        let going = Set(closure)
        for row in closure {
            for (link, end) in denials[row.tree] {
                if end == .first, isCut(link, of: row) { continue }
                let target = model.links[link].side(end.other).tree
                let staying = try storedLinks.targets(of: row, link, from: end).filter {
                    !going.contains(StoredRow(tree: target, key: $0))
                }
                guard !staying.isEmpty, let found = try identity(of: row) else { continue }
                let name =
                    "\(model.entities[found.entity].name).\(model.links[link].side(end).relationship?.name ?? "")"
                throw SyncError(
                    .deletionDenied,
                    "\(model.entities[found.entity].name) \(found.key) cannot be deleted: denied by \(name), which still has \(staying.count)",
                    entity: model.entities[found.entity].name)
            }
        }
    }

    /// Whether the payload took a foreign key from a row to be deleted, for which it is not written any more.
    private func isCut(_ link: Int, of row: StoredRow) -> Bool {
        leaving[row].leftOut.contains(link) || leaving[row].unlinked.contains(link)
    }

    /// Removes the links of rows that go to rows that stay.
    private mutating func detach(_ closure: [StoredRow]) throws {
        let going = Set(closure)
        let ends = ends { _, _ in true }
        for row in closure {
            try advance()
            for (link, end) in ends[row.tree] {
                let target = model.links[link].side(end.other).tree
                let keys = try storedLinks.targets(of: row, link, from: end)
                for key in keys {
                    let other = StoredRow(tree: target, key: key)
                    if columns[target].hasHiddenKey, !going.contains(other) { leaving.noteOrphan(other) }
                    if model.links[link].storage == .foreignKey, end == .second, !going.contains(other) {
                        try clearForeignKey(of: other, link)
                    }
                }
                // A foreign key between two rows that go is met from both ends, a row of a join table only once.
                let isCountedThere = end == .second && model.links[link].storage != .joinTable
                let counted = isCountedThere ? keys.filter { !going.contains(StoredRow(tree: target, key: $0)) } : keys
                for key in counted { try bookRemoved(link, of: row, at: end, to: key) }
                if model.links[link].storage == .joinTable, !keys.isEmpty {
                    try storedLinks.removePairs(of: row.key, link, at: end)
                }
            }
        }
    }

    /// Deletes rows, what they own before them. Notes all of them first: a foreign key may delete one along with another.
    private mutating func delete(_ closure: [StoredRow]) throws {
        for row in closure {
            guard let found = try identity(of: row) else { continue }
            try forgetReferences(of: row)
            try keepValues(of: row)
            report.deleted(found, isRoot: leaving[row].isOutOfScope)
        }
        for row in closure.reversed() {
            let statement = try statements.statement(
                "DELETE FROM \(columns[row.tree].table) WHERE \(columns[row.tree].keyColumn) = ?")
            statement.bind(row.key, at: 1)
            try statement.execute()
        }
    }

    // MARK: Rows by their key

    /// The entity and key of a stored row; nil if it is not stored.
    func identity(of row: StoredRow) throws -> ChangeReport.Identity? {
        guard let (entity, key) = try entityAndKey(of: row) else { return nil }
        return .init(entity: entity, key: (key ?? row.key).recordKey(report.keyType(entity)))
    }

    /// Whether a stored row has no key of the service's yet. A keyless row never has.
    func isLocal(_ row: StoredRow) throws -> Bool {
        guard columns[row.tree].hasHiddenKey else { return row.key.isLocal }
        guard let (entity, key) = try entityAndKey(of: row), !isKeyless(entity) else { return false }
        return key?.isLocal ?? true
    }

    /// The entity and the value of the key attribute of a stored row; nil if it is not stored.
    private func entityAndKey(of row: StoredRow) throws -> (entity: Int, key: RowKey?)? {
        let table = columns[row.tree]
        let keys = Set(model.trees[row.tree].entities.compactMap { model.entities[$0].keySlot }).sorted()
        let selected =
            ([table.entity == nil ? "NULL" : TableLayout.entityColumn.quoted]
            + keys.map { layout.tables[row.tree].columns[$0].quoted }).joined(separator: ", ")
        let statement = try statements.statement("SELECT \(selected) FROM \(table.table) WHERE \(table.keyColumn) = ?")
        statement.bind(row.key, at: 1)
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        let entity = try table.entity(statement, at: table.entity == nil ? nil : 0)
        let column = model.entities[entity].keySlot.flatMap { keys.firstIndex(of: $0) }
        return (entity, column.flatMap { statement.key($0 + 1) })
    }

    /// Reports a row that was written outside the plan's own updates.
    mutating func noteUpdate(_ found: ChangeReport.Identity, _ row: StoredRow, _ changed: [String]) {
        let node = node(of: row.key, row.tree).map(Int.init)
        report.updated(found, changed, inPlan: node.map { fate(of: $0, row.tree) } ?? .unmentioned)
    }

    private func fate(of node: Int, _ tree: Int) -> ChangeReport.Fate {
        switch trees[tree].presence[node] {
        case .missing: .unmentioned
        case .new: .written
        case .stored where trees[tree].isDirty(node): .written
        case .stored: trees[tree].values[node] >= 0 ? .unchanged : .unmentioned
        }
    }
}
