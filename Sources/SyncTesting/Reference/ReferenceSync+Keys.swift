import SyncCore

// Keys of several parts, some of which are keys of other rows.
extension ReferenceSync {
    /// The key of a record, part by part: what it says, and for the way back to its owner that one's key.
    ///
    /// - Parameter supplied: The relationship that leads to the record, and the key of its owner, where no row of it is known.
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
                // Of a record of unknown kind the key is known all the same.
                let kind = store.entity(of: record, as: said.entity) ?? said.entity
                return key(of: ReferenceReading(record, as: kind, of: store), kind, nil)
            default: return nil
            }
        }
    }

    /// - Parameter supplied: The relationship of the parent, and its key.
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

    /// Whether the key of a record can be read.
    func hasKey(
        _ record: JSONValue, of entity: CompiledEntity, supplied: (by: CompiledRelationship, key: StoredValue)?
    ) -> Bool {
        let kind = store.entity(of: record, as: entity) ?? entity
        return key(of: ReferenceReading(record, as: kind, of: store), kind, nil, supplied: supplied) != nil
    }

    /// Whether a record has a key that cannot be read, or only a part of one.
    func isUnread(
        _ record: JSONValue, of entity: CompiledEntity, supplied: (by: CompiledRelationship, key: StoredValue)?
    ) -> Bool {
        let kind = store.entity(of: record, as: entity)
        let reading = ReferenceReading(record, as: kind ?? entity, of: store)
        guard key(of: reading, kind ?? entity, nil, supplied: supplied) == nil else { return false }
        return store.keyNames(of: entity).contains(where: reading.misfits.contains) || hasSomePart(reading, entity)
            || kind == nil && entity.compositeKey != nil
    }

    /// Whether a record has a part of its key.
    func hasSomePart(_ reading: ReferenceReading, _ entity: CompiledEntity) -> Bool {
        entity.compositeKey != nil && store.keyNames(of: entity).contains { reading.values[$0]?.isNull == false }
    }

    /// The key that an id in a list is. It need not name the owner of the list; one that does names no other.
    func key(
        _ id: JSONValue, _ relationship: CompiledRelationship, listedBy owner: ReferenceRow.ID?
    ) -> StoredValue? {
        key(id, relationship, listedBy: owner.flatMap { store.rows[$0] }.flatMap { store.key(of: $0) })
    }

    /// The same where only the key of the owner is known.
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
