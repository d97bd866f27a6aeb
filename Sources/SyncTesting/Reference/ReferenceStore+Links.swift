package import SyncCore

extension ReferenceStore {
    func side(_ row: ReferenceRow.ID, _ relationship: CompiledRelationship) -> ReferenceSide {
        ReferenceSide(row: row, link: relationship.link, end: relationship.end)
    }

    /// Returns the rows of a relationship, in order.
    func targets(of row: ReferenceRow.ID, _ relationship: CompiledRelationship) -> [ReferenceRow.ID] {
        targets[side(row, relationship)] ?? []
    }

    func link(_ relationship: CompiledRelationship) -> CompiledAssociation { model.compiled[relationship.link] }

    /// Returns the end of the destination rows of a relationship. In a symmetric association, it is the relationship's
    /// own end.
    func farEnd(_ relationship: CompiledRelationship) -> CompiledAssociation.End {
        link(relationship).isSymmetric ? relationship.end : relationship.end.other
    }

    /// Returns whether a destination row of a relationship can have only one owner.
    func hasOneOwner(_ relationship: CompiledRelationship) -> Bool {
        let link = link(relationship)
        return !link.side(link.isSymmetric ? relationship.end : relationship.end.other).isToMany
    }

    /// Links two rows. A row that can have only one link at its end loses its previous link.
    mutating func link(_ owner: ReferenceRow.ID, _ relationship: CompiledRelationship, _ target: ReferenceRow.ID) {
        let here = side(owner, relationship)
        let there = ReferenceSide(row: target, link: relationship.link, end: farEnd(relationship))
        guard targets[here]?.contains(target) != true else { return }
        if !relationship.isToMany, let old = targets[here]?.first { unlink(owner, relationship, old) }
        if hasOneOwner(relationship), let old = targets[there]?.first { unlink(old, relationship, target) }
        // If an earlier list of `target` contained `owner`, this row loses its position in the list. A pending
        // reference keeps its position.
        listed[there]?.removeAll { $0 == .row(owner) }
        targets[here, default: []].append(target)
        if here != there { targets[there, default: []].append(owner) }
        fillPendingEntry(target, at: here)
        fillPendingEntry(owner, at: there)
    }

    /// Moves a row that has arrived to the position that its pending reference has in a list.
    private mutating func fillPendingEntry(_ id: ReferenceRow.ID, at side: ReferenceSide) {
        guard let row = rows[id], let key = key(of: row),
            let index = listed[side]?.firstIndex(where: { entry in
                guard case .pending(let target) = entry else { return false }
                return target.key == key && isKind(id, of: target.kind)
            })
        else { return }
        listed[side]?[index] = .row(id)
        sort(side)
    }

    /// Unlinks two rows, unless the link is part of a composite key.
    mutating func unlink(_ owner: ReferenceRow.ID, _ relationship: CompiledRelationship, _ target: ReferenceRow.ID) {
        if link(relationship).isKeyPart { return }
        targets[side(owner, relationship)]?.removeAll { $0 == target }
        targets[ReferenceSide(row: target, link: relationship.link, end: farEnd(relationship))]?
            .removeAll { $0 == owner }
    }

    /// Returns whether a row at an end of an association has a link to a row other than `owner`.
    func isOwned(
        _ row: ReferenceRow.ID, byOtherThan owner: ReferenceRow.ID, _ link: AssociationID,
        _ end: CompiledAssociation.End
    )
        -> Bool
    {
        targets[ReferenceSide(row: row, link: link, end: end)]?.contains { $0 != owner } ?? false
    }

    /// Returns the linked rows that the last list contains, in the order of the list.
    func orderedTargets(of row: ReferenceRow.ID, _ relationship: CompiledRelationship) -> [ReferenceRow.ID] {
        let present = targets(of: row, relationship)
        return listedRows(side(row, relationship)).filter(present.contains)
    }

    private func listedRows(_ side: ReferenceSide) -> [ReferenceRow.ID] {
        (listed[side] ?? []).compactMap {
            guard case .row(let id) = $0 else { return nil }
            return id
        }
    }

    /// Moves the linked rows that a list contains to the front, in the order of the list.
    mutating func order(_ owner: ReferenceRow.ID, _ relationship: CompiledRelationship, as list: [ReferenceListEntry]) {
        let side = side(owner, relationship)
        let earlier = listed[side]
        listed[side] = list
        sort(side)
        if !relationship.isOrdered { listed[side] = earlier }
    }

    private mutating func sort(_ side: ReferenceSide) {
        let present = targets[side] ?? []
        let first = listedRows(side).filter(present.contains)
        targets[side] = first + present.filter { !first.contains($0) }
    }

    /// Removes a row with its links, lists and pending references.
    mutating func remove(_ id: ReferenceRow.ID) {
        rows[id] = nil
        pending.removeAll { $0.side.row == id }
        listed = listed.filter { $0.key.row != id }
        targets = targets.filter { $0.key.row != id }.mapValues { $0.filter { $0 != id } }
    }
}

// MARK: - Result

extension ReferenceStore {
    /// Returns the change set since an earlier state, without links. ``ReferenceComparison`` compares links.
    func result(since before: ReferenceStore, _ entity: String) -> SyncResult {
        var result = SyncResult(entity: entity)
        for (id, row) in rows.sorted(by: { $0.key < $1.key }) {
            var changes = result[row.entity.name]
            if let old = before.rows[id] {
                let changed = row.values.filter { old.values[$0.key] != $0.value }.keys.sorted()
                guard !changed.isEmpty else { continue }
                changes.updatedCount += 1
                if let key = recordKey(row) { changes.updated.append(.init(key: key, changedAttributes: changed)) }
            } else {
                changes.insertedCount += 1
                if let key = recordKey(row) { changes.inserted.append(key) }
            }
            result.entities[row.entity.name] = changes
        }
        for (id, row) in before.rows where rows[id] == nil {
            var changes = result[row.entity.name]
            changes.deletedCount += 1
            if let key = before.recordKey(row) { changes.deleted.append(key) }
            result.entities[row.entity.name] = changes
        }
        result.pendingReferences = unresolvedReferences()
        return result
    }

    /// Returns all pending references, including those of earlier payloads.
    package func unresolvedReferences() -> [SyncResult.Link] {
        pending.compactMap { pending in
            guard let row = rows[pending.side.row], let key = recordKey(row),
                let target = Self.recordKey(pending.target.key)
            else { return nil }
            return SyncResult.Link(
                entity: row.entity.name, key: key, relationship: pending.relationship.name, target: target)
        }
    }

    func recordKey(_ row: ReferenceRow) -> PrimaryKeyValue? { key(of: row).flatMap { Self.recordKey($0) } }

    private static func recordKey(_ value: StoredValue) -> PrimaryKeyValue? {
        switch value.jsonForm {
        case .number(let text):
            switch value {
            case .integer(let number): .integer(number)
            case .double(let number): .double(number)
            default: .text(text)
            }
        case .string(let text): .text(text)
        case .array(let parts): .composite(parts.compactMap(recordKey(ofPart:)))
        default: nil
        }
    }

    private static func recordKey(ofPart part: JSONValue) -> PrimaryKeyValue? {
        switch part {
        case .number(let text): Int64(text).map(PrimaryKeyValue.integer) ?? Double(text).map(PrimaryKeyValue.double)
        case .string(let text): PrimaryKeyValue.text(text)
        case .array(let parts): PrimaryKeyValue.composite(parts.compactMap(recordKey(ofPart:)))
        default: nil
        }
    }
}

// MARK: - Sync

extension ReferenceStore {
    /// Syncs a payload. If this method throws, the store is unchanged.
    ///
    /// - Returns: The keys of the inserted, updated and deleted rows, the pending references, and the counts of root,
    ///   duplicate and inconsistent records. The result has no links, no diagnostics and no counts of unchanged rows.
    @discardableResult
    package mutating func sync(
        _ json: JSONValue, inEntity name: String, predicate: RowPredicate? = nil,
        parent: SyncParent? = nil, operations: SyncOperations = .all, options: SyncOptions = SyncOptions()
    ) throws -> SyncResult {
        let call = try ReferenceCall(
            self, json, name, predicate: predicate, parent: parent, operations: operations, options: options)
        let before = self
        var refused: Set<ReferenceSync.RowName> = []
        var inserted: Set<ReferenceSync.RowName> = []
        while true {
            var attempt = ReferenceSync(self, operations: operations, refused: refused, inserted: inserted)
            let root = try call.run(&attempt)
            let origins = Set(attempt.origins.values)
            guard origins.isSubset(of: inserted) else {
                inserted.formUnion(origins)
                continue
            }
            let lacking = attempt.rowsWithMissingValues()
            guard lacking.isEmpty else {
                refused.formUnion(lacking)
                inserted = []
                continue
            }
            let fallen = try call.delete(&attempt)
            if options.isStrict, let path = attempt.misfits.first {
                throw SyncError(.typeMismatch, "a value is not of the type of its attribute", entity: name, path: path)
            }
            let repeats = call.repeats(ReferenceSync(self, operations: operations, refused: [], inserted: []))
            if options.isStrict, repeats.inconsistentRecordCount > 0 {
                throw SyncError(.inconsistentRecords, "inconsistent records", entity: name)
            }
            self = attempt.store
            var result = result(since: before, name)
            result.root = root
            result.root.deleted = fallen
            result.duplicateRecordCount = repeats.duplicateRecordCount
            result.inconsistentRecordCount = repeats.inconsistentRecordCount
            return result
        }
    }
}

extension ReferenceSync {
    /// Returns the new rows that lack a required value or a part of their key.
    func rowsWithMissingValues() -> Set<RowName> {
        Set(
            origins.compactMap { id, origin in
                guard let row = store.rows[id] else { return nil }
                let lacks = row.entity.slots.contains { slot in
                    let attribute = model.compiled[row.entity.table].attributes[slot]
                    return !attribute.isOptional && !row.entity.keySlots.contains(slot)
                        && row.values[attribute.name]?.isNull != false
                }
                let isPart = row.entity.relationships.contains { relationship in
                    model.compiled.isKeyPart(relationship) && store.targets(of: id, relationship).isEmpty
                }
                return lacks || isPart ? origin : nil
            })
    }
}
