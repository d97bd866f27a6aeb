import SyncCore

extension ReferenceSync {
    /// Links what arrived and is not overruled, then takes the statements one after the other.
    mutating func link(_ mentions: [ReferenceMention]) {
        let statements = mentions.flatMap(\.allStatements)
        for (row, statement) in statements { forgetReferences(statement, of: row) }
        linkArrived()
        for (row, statement) in statements { follow(statement, of: row) }
        for (row, statement) in statements
        where store.listed[store.side(row, statement.relationship)] != nil {
            store.order(row, statement.relationship, as: ordered(statement))
        }
    }

    private mutating func linkArrived() {
        let waiting = store.pending
        store.pending = []
        for pending in waiting {
            guard let target = self.row(pending.target) else {
                store.pending.append(pending)
                continue
            }
            store.link(pending.side.row, pending.relationship, target)
        }
    }

    /// The row that a reference means.
    func row(_ target: ReferenceTarget) -> ReferenceRow.ID? {
        store.row(model.compiled.entities[target.kind], key: target.key)
            .flatMap { store.isKind($0, of: target.kind) ? $0 : nil }
    }

    // MARK: One statement

    private mutating func follow(_ statement: ReferenceMention.Statement, of row: ReferenceRow.ID) {
        let relationship = statement.relationship
        forgetReferences(statement, of: row)
        var listed: [ReferenceRow.ID] = []
        var linked: [ReferenceRow.ID] = []
        var missing: [ReferenceTarget] = []
        for target in statement.targets {
            switch target {
            case .row(let id, let links):
                listed.append(id)
                if links { linked.append(id) }
            case .key(let key):
                if let id = self.row(key) {
                    listed.append(id)
                    linked.append(id)
                } else if !missing.contains(key) {
                    missing.append(key)
                }
            }
        }
        if statement.removes {
            let present = store.targets(of: row, relationship)
            drop(statement, store.side(row, relationship), present: present, listed: listed)
            for old in present where !listed.contains(old) {
                if relationship.isToMany, store.isLocal(old) { continue }
                if let removable = statement.removable, !removable.contains(old) { continue }
                store.unlink(row, relationship, old)
            }
        }
        for id in linked { store.link(row, relationship, id) }
        if relationship.isToMany { store.order(row, relationship, as: ordered(statement)) }
        let side = store.side(row, relationship)
        store.pending += missing.map { ReferencePending(side: side, relationship: relationship, target: $0) }
    }

    /// Notes the rows that go because a list of objects leaves them out; the last list decides.
    private mutating func drop(
        _ statement: ReferenceMention.Statement, _ side: ReferenceSide, present: [ReferenceRow.ID],
        listed: [ReferenceRow.ID]
    ) {
        guard statement.relationship.isToMany else { return }
        let earlier = leftOut[side] ?? Set(before.targets[side] ?? [])
        leftOut[side] = earlier.union(present).subtracting(listed)
        deletesLeftOut[side] = statement.deletes
    }

    /// The rows a list puts in order. Rows without a key have their places in it also if they may not be updated.
    private func ordered(_ statement: ReferenceMention.Statement) -> [ReferenceListed] {
        let isKeyless = !model.compiled.entities[statement.relationship.destination].isKeyed
        return statement.targets.compactMap { target -> ReferenceListed? in
            switch target {
            case .row(let id, let links): links || isKeyless ? .row(id) : nil
            case .key(let key): row(key).map { .row($0) } ?? .awaited(key)
            }
        }.uniqued()
    }

    // MARK: What is forgotten

    /// Forgets the references that a statement overrules. Their places in a list are kept only for rows that the
    /// statement links themselves.
    private mutating func forgetReferences(_ statement: ReferenceMention.Statement, of row: ReferenceRow.ID) {
        let overruled = store.pending.filter { overrules(statement, of: row, $0) }
        store.pending = store.pending.filter { !overrules(statement, of: row, $0) }
        for pending in overruled where !hasOwner(statement, pending) {
            store.listed[pending.side]?.removeAll { $0 == .awaited(pending.target) }
        }
    }

    /// Whether a statement of the other side names the row that waits.
    private func hasOwner(_ statement: ReferenceMention.Statement, _ pending: ReferencePending) -> Bool {
        pending.side.end == store.farEnd(statement.relationship) && pending.side.link == statement.relationship.link
            && statement.targets.contains { target in
                switch target {
                case .row(let id, let links): links && id == pending.side.row
                case .key(let key): self.row(key) == pending.side.row
                }
            }
    }

    /// Whether a statement speaks of a link that was remembered.
    private func overrules(
        _ statement: ReferenceMention.Statement, of row: ReferenceRow.ID, _ pending: ReferencePending
    ) -> Bool {
        let relationship = statement.relationship
        guard relationship.link == pending.side.link else { return false }
        var overrules = false
        if relationship.end == pending.side.end {
            overrules = saysOfOwnSide(statement, of: row, pending)
        }
        if pending.side.end == store.farEnd(relationship) {
            overrules = overrules || saysOfOtherSide(statement, of: row, pending)
        }
        return overrules
    }

    private func saysOfOwnSide(
        _ statement: ReferenceMention.Statement, of row: ReferenceRow.ID, _ pending: ReferencePending
    ) -> Bool {
        let hasTarget = statement.targets.contains { names($0, pending.target) }
        if row == pending.side.row { return !statement.relationship.isToMany || statement.removes || hasTarget }
        return hasTarget && store.hasOneOwner(statement.relationship)
    }

    private func saysOfOtherSide(
        _ statement: ReferenceMention.Statement, of row: ReferenceRow.ID, _ pending: ReferencePending
    ) -> Bool {
        let hasOwner = hasOwner(statement, pending)
        if row == self.row(pending.target) {
            return !statement.relationship.isToMany || statement.removes || hasOwner
        }
        return hasOwner && store.hasOneOwner(statement.relationship)
    }

    private func names(_ target: ReferenceMention.Statement.Target, _ awaited: ReferenceTarget) -> Bool {
        switch target {
        case .row(let id, links: true): id == row(awaited)
        case .row: false
        case .key(let key): key == awaited
        }
    }
}

extension [ReferenceListed] {
    /// Each element at its first place.
    func uniqued() -> [Element] {
        reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}
