import SyncCore

// The rows that the payload speaks for, and that it leaves out.
extension SyncTransaction {
    /// Stored rows in scope that nothing in the payload mentions.
    mutating func scopeRows(isFirstRound: Bool) throws -> Set<StoredRow> {
        guard deletesMissing else { return [] }
        if let parent = plan.parent { return isFirstRound ? try parentScopeRows(parent) : [] }
        var rows: Set<StoredRow> = []
        for root in plan.roots where deletesMissing(root) && (isFirstRound || !isUnread(root)) {
            let found = try scopeRows(of: root, isFirstRound: isFirstRound)
            if isUnread(root) {
                skippedDeletions[root.entity, default: 0] += found.count
            } else {
                rows.formUnion(found)
            }
        }
        return rows
    }

    private func scopeRows(of root: ChangePlan.Root, isFirstRound: Bool) throws -> Set<StoredRow> {
        let entity = model.entities[root.entity]
        if isWholeEntityScope(root) {
            return isFirstRound ? try wholeEntityRows(of: entity) : []
        }
        if try !isFirstRound && !scopeFollowsLinks() { return [] }
        return try unmentionedRows(of: entity, where: scopeCondition(of: entity))
    }

    /// Whether a row can come into scope by losing links to rows that are deleted.
    private func scopeFollowsLinks() throws -> Bool {
        try predicate?.resolved(on: rootEntity, in: model).followsLinks ?? true
    }

    private func scopeCondition(of entity: CompiledEntity) -> RecordPredicate? {
        if let predicate { return predicate }
        return entity.rootScope.map { RecordPredicate(isNil: $0.name) }
    }

    /// A condition that follows links must not meet those through which lists left rows out.
    mutating func clearLinksOfLeftOutRows() throws {
        guard predicate != nil, try scopeFollowsLinks() else { return }
        let leftOut = leaving.leftOut
        try loadTargets(of: leftOut) { $0.leftOut.union($0.unlinked) }
        for row in leftOut {
            for link in leaving[row].leftOut.union(leaving[row].unlinked) where !model[link].isKeyPart {
                try bookRemovedTarget(model[link], of: row)
                try links.clearTarget(of: row.key, link)
            }
        }
    }

    /// The unmentioned rows of the whole entity, seen while matching.
    private func wholeEntityRows(of entity: CompiledEntity) throws -> Set<StoredRow> {
        let table = tables[entity.table]
        let rows = table.met.strays.rows.lazy
            .filter { !$0.isNode && model.entity($0.entity, isKindOf: entity.id) }
            .map { StoredRow(table: table.id, key: $0.key) }
        return Set(try missing(rows, of: table))
    }

    private func unmentionedRows(
        of entity: CompiledEntity, where condition: RecordPredicate?
    ) throws -> Set<StoredRow> {
        // A condition may follow links.
        try writeLinks()
        let table = entity.table
        let rows = try store.rows(of: entity, where: condition) { keys in
            defer { spilledMarks.removeAll() }
            return try missing(keys.map { StoredRow(table: table, key: $0) }, of: tables[table]).map(\.key)
        }
        return Set(rows.map { StoredRow(table: table, key: $0) })
    }

    /// Those of stored rows that nothing mentions, and that the service knows as they are.
    private func missing(_ rows: some Sequence<StoredRow>, of table: SyncTable) throws -> [StoredRow] {
        let rows = Array(rows)
        try loadMarks(of: rows)
        let unmentioned = try rows.filter { try !isMentioned($0) }
        if table.hasHiddenKey { try identities.load(unmentioned) }
        return try unmentioned.filter { try !identities.isUnsent($0) }
    }
}
