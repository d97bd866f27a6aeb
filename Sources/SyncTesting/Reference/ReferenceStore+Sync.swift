public import SyncCore

extension ReferenceStore {
    /// Makes the rows what a payload says, or throws and changes nothing.
    ///
    /// - Returns: The keys inserted, updated and deleted, the references that wait, and how many records share a key. Counts of what is unchanged, of
    ///   links, and diagnostics are left to the real store.
    @discardableResult
    public mutating func sync(
        _ json: JSONValue, inEntity name: String, predicate: RecordPredicate? = nil,
        parent: (entity: String, id: JSONValue)? = nil, relationship: String? = nil,
        operations: SyncOperations = .all, options: SyncOptions = SyncOptions()
    ) throws -> SyncResult {
        let call = try ReferenceCall(
            self, json, name, predicate: predicate, parent: parent, relationship: relationship,
            operations: operations, options: options)
        let before = self
        var refused: Set<ReferenceSync.Refusal> = []
        var inserted: Set<ReferenceSync.Refusal> = []
        while true {
            var attempt = ReferenceSync(self, operations: operations, refused: refused, inserted: inserted)
            let root = try call.run(&attempt)
            let origins = Set(attempt.origins.values)
            guard origins.isSubset(of: inserted) else {
                inserted.formUnion(origins)
                continue
            }
            let lacking = attempt.lackingRows()
            guard lacking.isEmpty else {
                refused.formUnion(lacking)
                inserted = []
                continue
            }
            let fallen = try call.delete(&attempt)
            if options.isStrict, let path = attempt.misfits.first {
                throw SyncError(.valueDoesNotFit, "a value does not fit", entity: name, path: path)
            }
            let repeats = call.repeats(ReferenceSync(self, operations: operations, refused: [], inserted: []))
            if options.isStrict, repeats.contradictions > 0 {
                throw SyncError(.contradictingRecords, "records contradict each other", entity: name)
            }
            self = attempt.store
            var result = result(since: before, name)
            result.root = root
            result.root.deleted = fallen
            result.repeatedRecords = repeats.repeatedRecords
            result.contradictions = repeats.contradictions
            return result
        }
    }
}

extension ReferenceSync {
    /// The new rows without a value that their entity requires.
    func lackingRows() -> Set<Refusal> {
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
