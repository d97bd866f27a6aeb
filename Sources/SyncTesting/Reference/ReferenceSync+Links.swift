import SyncCore

extension ReferenceSync {
    /// Resolves pending references that the payload does not replace, then applies the link assertions in order.
    mutating func link(_ mentions: [ReferenceOccurrence]) {
        let statements = mentions.flatMap(\.allStatements)
        for (row, statement) in statements { deletePendingReferences(statement, of: row) }
        linkArrived()
        for (row, statement) in statements { apply(statement, of: row) }
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

    /// Returns the stored row that a reference identifies; nil if the row is not stored.
    func row(_ target: ReferenceTarget) -> ReferenceRow.ID? {
        store.row(model.compiled.entities[target.kind], key: target.key)
            .flatMap { store.isKind($0, of: target.kind) ? $0 : nil }
    }

    // MARK: Single assertions

    private mutating func apply(_ statement: ReferenceOccurrence.Statement, of row: ReferenceRow.ID) {
        let relationship = statement.relationship
        deletePendingReferences(statement, of: row)
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

    /// Records the linked rows that a list omits. The last list of an owner decides whether these rows are deleted.
    private mutating func drop(
        _ statement: ReferenceOccurrence.Statement, _ side: ReferenceSide, present: [ReferenceRow.ID],
        listed: [ReferenceRow.ID]
    ) {
        guard statement.relationship.isToMany else { return }
        let earlier = unlisted[side] ?? Set(before.targets[side] ?? [])
        unlisted[side] = earlier.union(present).subtracting(listed)
        deletesUnlisted[side] = statement.deletes
    }

    /// Returns the entries of a list in order, without duplicates. A keyless row has an entry even if its record may
    /// not be linked.
    private func ordered(_ statement: ReferenceOccurrence.Statement) -> [ReferenceListEntry] {
        let isKeyless = !model.compiled.entities[statement.relationship.destination].isKeyed
        return statement.targets.compactMap { target -> ReferenceListEntry? in
            switch target {
            case .row(let id, let links): links || isKeyless ? .row(id) : nil
            case .key(let key): row(key).map { .row($0) } ?? .pending(key)
            }
        }.uniqued()
    }

    // MARK: Replaced references

    /// Deletes the pending references that an assertion replaces. Also deletes their entries in ordered lists, unless
    /// the assertion links the owner of the list.
    private mutating func deletePendingReferences(_ statement: ReferenceOccurrence.Statement, of row: ReferenceRow.ID) {
        let overruled = store.pending.filter { overrules(statement, of: row, $0) }
        store.pending = store.pending.filter { !overrules(statement, of: row, $0) }
        for pending in overruled where !hasOwner(statement, pending) {
            store.listed[pending.side]?.removeAll { $0 == .pending(pending.target) }
        }
    }

    /// Returns whether an assertion at the other end of the association contains the owner of a pending reference.
    private func hasOwner(_ statement: ReferenceOccurrence.Statement, _ pending: ReferencePending) -> Bool {
        pending.side.end == store.farEnd(statement.relationship) && pending.side.link == statement.relationship.link
            && statement.targets.contains { target in
                switch target {
                case .row(let id, let links): links && id == pending.side.row
                case .key(let key): self.row(key) == pending.side.row
                }
            }
    }

    /// Returns whether an assertion replaces a pending reference.
    private func overrules(
        _ statement: ReferenceOccurrence.Statement, of row: ReferenceRow.ID, _ pending: ReferencePending
    ) -> Bool {
        let relationship = statement.relationship
        guard relationship.link == pending.side.link else { return false }
        var overrules = false
        if relationship.end == pending.side.end {
            overrules = replacesOwnSide(statement, of: row, pending)
        }
        if pending.side.end == store.farEnd(relationship) {
            overrules = overrules || replacesOtherSide(statement, of: row, pending)
        }
        return overrules
    }

    private func replacesOwnSide(
        _ statement: ReferenceOccurrence.Statement, of row: ReferenceRow.ID, _ pending: ReferencePending
    ) -> Bool {
        let hasTarget = statement.targets.contains { names($0, pending.target) }
        if row == pending.side.row { return !statement.relationship.isToMany || statement.removes || hasTarget }
        return hasTarget && store.hasOneOwner(statement.relationship)
    }

    private func replacesOtherSide(
        _ statement: ReferenceOccurrence.Statement, of row: ReferenceRow.ID, _ pending: ReferencePending
    ) -> Bool {
        let hasOwner = hasOwner(statement, pending)
        if row == self.row(pending.target) {
            return !statement.relationship.isToMany || statement.removes || hasOwner
        }
        return hasOwner && store.hasOneOwner(statement.relationship)
    }

    private func names(_ target: ReferenceOccurrence.Statement.Target, _ pending: ReferenceTarget) -> Bool {
        switch target {
        case .row(let id, links: true): id == row(pending)
        case .row: false
        case .key(let key): key == pending
        }
    }
}

extension [ReferenceListEntry] {
    /// Returns the list without duplicates; the first occurrence stays.
    func uniqued() -> [Element] {
        reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}

// MARK: - Deletion

extension ReferenceSync {
    /// Returns whether the payload contains a row, or may contain it because a record of its table has an unreadable
    /// key.
    func isInPayload(_ id: ReferenceRow.ID) -> Bool {
        if touched.contains(id) { return true }
        if let tableWithUnreadableKeys, store.rows[id]?.entity.table == tableWithUnreadableKeys { return true }
        guard let row = store.rows[id], let key = store.key(of: row) else { return false }
        return givenKeys.contains(.key(owner: row.entity.keyOwner, key))
    }

    /// Deletes the rows that replaced lists omit and the rows in scope that the payload omits. Then deletes rows that
    /// have come into scope because of these deletions, until there are no more.
    ///
    /// - Parameter scope: A function that returns the rows in scope. It is called again after each round of deletions.
    /// - Returns: The number of rows that were deleted because of the scope.
    mutating func delete(scope: (ReferenceStore) throws -> [ReferenceRow.ID]) throws -> Int {
        var fallen = 0
        var first = true
        while true {
            let outsidePayload = try scope(store).filter { !isInPayload($0) && !store.isLocal($0) }
            fallen += outsidePayload.count
            guard first || !outsidePayload.isEmpty else { return fallen }
            let left = first ? droppedRows : []
            first = false
            try remove(Set(outsidePayload + left))
        }
    }

    /// The rows to delete because replaced lists omit them. Rows with a temporary key, and rows that now have another
    /// owner, stay.
    private var droppedRows: [ReferenceRow.ID] {
        unlisted.filter { deletesUnlisted[$0.key] == true }.flatMap { side, rows in
            rows.filter {
                store.rows[$0] != nil && !isInPayload($0) && !store.isLocal($0)
                    && !store.isOwned($0, byOtherThan: side.row, side.link, side.end.other)
            }
        }
    }

    /// Deletes rows, the rows to which delete rules cascade, and orphans.
    private mutating func remove(_ start: Set<ReferenceRow.ID>) throws {
        var going = start
        while true {
            let more = cascades(of: going).union(abandoned(without: going)).subtracting(going)
            if more.isEmpty { break }
            going.formUnion(more)
        }
        try checkDenyRules(going)
        for id in going { store.remove(id) }
    }

    private func cascades(of going: Set<ReferenceRow.ID>) -> Set<ReferenceRow.ID> {
        var more: Set<ReferenceRow.ID> = []
        for id in going {
            for relationship in store.rows[id]?.entity.relationships ?? []
            where relationship.relationship.deleteRule == .cascade {
                more.formUnion(store.targets(of: id, relationship).filter { !isInPayload($0) })
            }
            more.formUnion(dependent(on: id))
        }
        return more
    }

    /// Returns the rows whose composite keys contain the key of a row, unless a delete rule `deny` protects the row.
    private func dependent(on id: ReferenceRow.ID) -> [ReferenceRow.ID] {
        store.rows.filter { dependent, row in
            row.entity.relationships.contains { relationship in
                let link = model.compiled[relationship.link]
                return model.compiled.isKeyPart(relationship) && store.targets(of: dependent, relationship) == [id]
                    && link.second.relationship?.deleteRule != .deny
            }
        }.map(\.key)
    }

    private func checkDenyRules(_ going: Set<ReferenceRow.ID>) throws {
        for id in going {
            guard let row = store.rows[id] else { continue }
            for relationship in row.entity.relationships where relationship.relationship.deleteRule == .deny {
                guard store.targets(of: id, relationship).allSatisfy(going.contains) else {
                    throw SyncError(
                        .deletionDenied, "cannot delete the row: denied by \(relationship.name)",
                        entity: row.entity.name)
                }
            }
        }
    }

    // MARK: Keyless rows

    /// Returns the orphans: keyless rows that are new or lost a link, and that no chain of links from a row with a key
    /// reaches.
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
        // Keyless rows to which only orphans have links are orphans too.
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

// MARK: - Keys

// Reads composite keys, which may contain keys of other rows.
extension ReferenceSync {
    /// Returns the key of a record; nil if a part is missing. A part that references the owner of the record is the
    /// owner's key.
    ///
    /// - Parameter supplied: The relationship from the owner to the record, and the owner's key; nil if there is no
    ///   owner, or if `context` has its row.
    func key(
        of reading: ReferenceReading, _ entity: CompiledEntity, _ context: Context?,
        supplied: (by: CompiledRelationship, key: StoredValue)? = nil
    ) -> StoredValue? {
        store.key(of: entity, reading.values) { relationship in
            if let supplied, relationship.link == supplied.by.link, relationship.end == store.farEnd(supplied.by) {
                return supplied.key
            }
            if let owner = owner(relationship, context) { return store.rows[owner].flatMap { store.key(of: $0) } }
            let said = reading.statements.first {
                $0.relationship.link == relationship.link && $0.relationship.end == relationship.end
            }
            guard let said else { return nil }
            switch said.statement {
            case .id(let id): return store.key(id, of: said.entity)
            case .object(let record):
                // If the entity of the record is unknown, read the key by the destination entity.
                let kind = store.entity(of: record, as: said.entity) ?? said.entity
                return key(of: ReferenceReading(record, as: kind, of: store), kind, nil)
            default: return nil
            }
        }
    }

    /// Checks that at least one record has a readable key, unless there are no records.
    ///
    /// - Parameter supplied: The relationship of the parent to the records, and the parent's key; nil without a parent.
    /// - Throws: ``SyncError`` `noRecords`.
    func requireRecords(
        _ records: [JSONValue], of entity: CompiledEntity, supplied: (by: CompiledRelationship, key: StoredValue)?
    ) throws {
        let isReadable = records.contains { record in
            guard let kind = store.entity(of: record, as: entity) else { return false }
            return key(of: ReferenceReading(record, as: kind, of: store), kind, nil, supplied: supplied) != nil
        }
        guard records.isEmpty || isReadable else {
            throw SyncError(.noRecords, "no record has a readable key", entity: entity.name)
        }
    }

    /// Returns whether a record has a readable key.
    func hasKey(
        _ record: JSONValue, of entity: CompiledEntity, supplied: (by: CompiledRelationship, key: StoredValue)?
    ) -> Bool {
        let kind = store.entity(of: record, as: entity) ?? entity
        return key(of: ReferenceReading(record, as: kind, of: store), kind, nil, supplied: supplied) != nil
    }

    /// Returns whether a record has an unreadable key, or only a part of a key.
    func isUnread(
        _ record: JSONValue, of entity: CompiledEntity, supplied: (by: CompiledRelationship, key: StoredValue)?
    ) -> Bool {
        let kind = store.entity(of: record, as: entity)
        let reading = ReferenceReading(record, as: kind ?? entity, of: store)
        guard key(of: reading, kind ?? entity, nil, supplied: supplied) == nil else { return false }
        return store.keyNames(of: entity).contains(where: reading.misfits.contains) || hasSomePart(reading, entity)
            || kind == nil && entity.compositeKey != nil
    }

    /// Returns whether a record has at least one part of its composite key.
    func hasSomePart(_ reading: ReferenceReading, _ entity: CompiledEntity) -> Bool {
        entity.compositeKey != nil && store.keyNames(of: entity).contains { reading.values[$0]?.isNull == false }
    }

    /// Returns an ID in a list as a key; nil if it is not a valid key.
    ///
    /// If the key contains the key of the list's owner, the ID may omit this part. It must not contain the key of
    /// another row instead.
    func key(
        _ id: JSONValue, _ relationship: CompiledRelationship, listedBy owner: ReferenceRow.ID?
    ) -> StoredValue? {
        key(id, relationship, listedBy: owner.flatMap { store.rows[$0] }.flatMap { store.key(of: $0) })
    }

    /// Returns an ID in a list as a key, from the key of the list's owner instead of its row.
    func key(_ id: JSONValue, _ relationship: CompiledRelationship, listedBy ownerKey: StoredValue?) -> StoredValue? {
        let destination = model.compiled.entities[relationship.destination]
        let back = destination.compositeKey?.parts.firstIndex { part in
            guard case .relationship(let index) = part else { return false }
            let way = destination.relationships[index]
            return way.link == relationship.link && way.end == relationship.end.other
        }
        guard let back, let ownerKey, let count = destination.compositeKey?.parts.count
        else { return store.key(id, of: destination) }
        var parts: [JSONValue]
        switch id {
        case .array(let elements): parts = elements
        case .object(let members):
            let name = model.compiled.keyNames(of: destination)[back]
            let isNamed = members.contains { $0.key == name }
            let whole = isNamed ? id : .object(members + [.init(name, ownerKey.jsonForm)])
            guard case .json(.array(let found))? = store.key(whole, of: destination) else { return nil }
            parts = found
        default: parts = [id]
        }
        if parts.count == count - 1 { parts.insert(ownerKey.jsonForm, at: back) }
        guard parts.count == count else { return nil }
        let named = store.key(.array(parts), of: destination)
        parts[back] = ownerKey.jsonForm
        return named == store.key(.array(parts), of: destination) ? named : nil
    }
}
