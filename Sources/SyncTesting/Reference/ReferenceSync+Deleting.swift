import SyncCore

extension ReferenceSync {
    /// Whether anything in the payload speaks of a row.
    func isMentioned(_ id: ReferenceRow.ID) -> Bool {
        if touched.contains(id) { return true }
        if let doubtfulTable, store.rows[id]?.entity.table == doubtfulTable { return true }
        guard let row = store.rows[id], let key = store.key(of: row) else { return false }
        return mentionedKeys.contains(.key(owner: row.entity.keyOwner, key))
    }

    /// Deletes what lists left out, then rows in scope until none is left that nothing mentions.
    ///
    /// - Parameter scope: The rows in scope, read anew each time.
    /// - Returns: How many rows fell to the scope.
    mutating func delete(scope: (ReferenceStore) throws -> [ReferenceRow.ID]) throws -> Int {
        var fallen = 0
        var first = true
        while true {
            let unmentioned = try scope(store).filter { !isMentioned($0) && !store.isLocal($0) }
            fallen += unmentioned.count
            guard first || !unmentioned.isEmpty else { return fallen }
            let left = first ? droppedRows : []
            first = false
            try remove(Set(unmentioned + left))
        }
    }

    /// Local rows stay with their owner, whatever a list says, and rows that another owner has by now with that one.
    private var droppedRows: [ReferenceRow.ID] {
        leftOut.filter { deletesLeftOut[$0.key] == true }.flatMap { side, rows in
            rows.filter {
                store.rows[$0] != nil && !isMentioned($0) && !store.isLocal($0)
                    && !store.isOwned($0, byOtherThan: side.row, side.link, side.end.other)
            }
        }
    }

    /// Deletes rows with all that goes with them.
    private mutating func remove(_ start: Set<ReferenceRow.ID>) throws {
        var going = start
        while true {
            let more = cascades(of: going).union(abandoned(without: going)).subtracting(going)
            if more.isEmpty { break }
            going.formUnion(more)
        }
        try checkDenials(going)
        for id in going { store.remove(id) }
    }

    private func cascades(of going: Set<ReferenceRow.ID>) -> Set<ReferenceRow.ID> {
        var more: Set<ReferenceRow.ID> = []
        for id in going {
            for relationship in store.rows[id]?.entity.relationships ?? []
            where relationship.relationship.deleteRule == .cascade {
                more.formUnion(store.targets(of: id, relationship).filter { !isMentioned($0) })
            }
            more.formUnion(dependent(on: id))
        }
        return more
    }

    /// The rows whose keys are made of that of a row, where it is not denied to delete it for them.
    private func dependent(on id: ReferenceRow.ID) -> [ReferenceRow.ID] {
        store.rows.filter { dependent, row in
            row.entity.relationships.contains { relationship in
                let link = model.compiled[relationship.link]
                return model.compiled.isKeyPart(relationship) && store.targets(of: dependent, relationship) == [id]
                    && link.second.relationship?.deleteRule != .deny
            }
        }.map(\.key)
    }

    private func checkDenials(_ going: Set<ReferenceRow.ID>) throws {
        for id in going {
            guard let row = store.rows[id] else { continue }
            for relationship in row.entity.relationships where relationship.relationship.deleteRule == .deny {
                guard store.targets(of: id, relationship).allSatisfy(going.contains) else {
                    throw SyncError(.deletionDenied, "\(relationship.name) denies it", entity: row.entity.name)
                }
            }
        }
    }

    // MARK: Keyless rows

    /// The keyless rows that lost a link, or are new without having one, and that no row with a key leads to.
    private func abandoned(without going: Set<ReferenceRow.ID>) -> Set<ReferenceRow.ID> {
        let keyless = store.rows.filter { !$0.value.entity.isKeyed }.keys
        guard !keyless.isEmpty else { return [] }
        var reached: Set<ReferenceRow.ID> = []
        var open = store.rows.keys.filter { store.rows[$0]?.entity.isKeyed == true && !going.contains($0) }
        while let id = open.popLast() {
            for relationship in store.rows[id]?.entity.relationships ?? [] {
                for target in store.targets(of: id, relationship)
                where store.rows[target]?.entity.isKeyed == false && !going.contains(target) {
                    if reached.insert(target).inserted { open.append(target) }
                }
            }
        }
        let unreached = Set(keyless).subtracting(reached).subtracting(going)
        var gone = unreached.filter { isNew($0) || hasLostLink($0, going) }
        // With them go those that only they led to.
        var last = gone
        while !last.isEmpty {
            let led = last.flatMap { id in
                (store.rows[id]?.entity.relationships ?? []).flatMap { store.targets(of: id, $0) }
            }
            last = Set(led).intersection(unreached).subtracting(gone)
            gone.formUnion(last)
        }
        return gone
    }

    private func hasLostLink(_ id: ReferenceRow.ID, _ going: Set<ReferenceRow.ID>) -> Bool {
        before.targets.contains { side, rows in
            side.row == id && !rows.allSatisfy { store.targets[side]?.contains($0) == true && !going.contains($0) }
        }
    }
}
