package import SyncCore
import SyncStore

// Primary keys of rows. The key of a row is its row key, or in a table with surrogate keys the key that its values
// form.
extension MemoryContents {
    /// Returns the primary key of a row, which may be temporary; nil for a keyless row, and if a part of the key has no
    /// value.
    package func primaryKey(of row: StoredRow) -> RowKey? {
        guard let stored = self[row] else { return nil }
        let entity = model.entities[stored.entity]
        guard entity.isKeyed else { return nil }
        if model[row.table].keySlot != nil { return row.key }
        if let slot = entity.keySlot { return RowKey(stored.values[slot]) }
        var text = CompositeKeyText()
        return append(stored, as: entity, to: &text) ? .text(text.text) : nil
    }

    /// Appends the composite key of a row.
    ///
    /// - Returns: Whether all parts have a value.
    private func append(_ row: MemoryRow, as entity: CompiledEntity, to text: inout CompositeKeyText) -> Bool {
        text.open()
        for part in entity.compositeKey?.parts ?? [] {
            switch part {
            case .attribute(let slot):
                guard let value = RowKey(row.values[slot]) else { return false }
                text.append(value)
            case .relationship(let index):
                guard append(row, keyOf: entity.relationships[index], to: &text) else { return false }
            }
        }
        text.close()
        return true
    }

    /// Appends the key of the row that a to-one relationship references.
    private func append(
        _ row: MemoryRow, keyOf relationship: CompiledRelationship, to text: inout CompositeKeyText
    ) -> Bool {
        let target = model.entities[relationship.destination]
        guard let index = foreignKey(model[relationship.link]), let key = row.targets[index] else { return false }
        guard model[target.table].keySlot == nil else {
            text.append(key)
            return true
        }
        guard let other = self[StoredRow(table: target.table, key: key)] else { return false }
        if target.compositeKey != nil { return append(other, as: target, to: &text) }
        guard let slot = target.keySlot, let value = RowKey(other.values[slot]) else { return false }
        text.append(value)
        return true
    }

    /// Returns the row key of each row whose entity has the same ``CompiledEntity/keyOwner`` as `entity`, by primary
    /// key. For a keyless entity, returns the rows of its table by row key.
    package func rowKeys(of entity: CompiledEntity) -> [RowKey: RowKey] {
        var found: [RowKey: RowKey] = [:]
        for (key, row) in rows(of: entity.table) {
            guard let owner = entity.keyOwner else {
                found[key] = key
                continue
            }
            guard model.entities[row.entity].keyOwner == owner else { continue }
            if let primary = primaryKey(of: StoredRow(table: entity.table, key: key)) { found[primary] = key }
        }
        return found
    }

    /// Returns the row key of the row with a primary key; nil if no row has it.
    package func rowKey(_ key: RowKey, of entity: CompiledEntity) -> RowKey? { rowKeys(of: entity)[key] }

    /// Returns the key of the next new row: after all surrogate keys, or after all temporary integer keys.
    func nextKey(of table: TableID) -> Int64 {
        let isSurrogate = model[table].keySlot == nil
        let taken = rows(of: table).keys.compactMap { key -> Int64? in
            guard case .integer(let number) = key else { return nil }
            return isSurrogate || number < TemporaryKey.integerBound ? number : nil
        }
        return taken.max().map { $0 + 1 } ?? (isSurrogate ? 1 : Int64.min + 1)
    }

    /// Changes the primary key of a row. Links to the row and its pending references follow.
    ///
    /// - Returns: The row key afterwards.
    /// - Throws: ``SyncError`` `rowNotFound` if the new key includes the key of a row that is not stored.
    mutating func setKey(of row: StoredRow, _ entity: CompiledEntity, to key: RowKey) throws -> RowKey {
        guard entity.isKeyed else { return row.key }
        let hierarchy = model[row.table]
        if let slot = hierarchy.keySlot {
            removeLinks(to: StoredRow(table: row.table, key: key))
            guard var moved = self[row] else { return key }
            moved.values[slot] = StoredValue(key, as: hierarchy.attributes[slot].type)
            delete(row)
            try insert(moved, at: key, in: row.table)
            try renameLinks(of: row, to: key)
            return key
        }
        if let slot = entity.keySlot {
            update(row) { $0.values[slot] = StoredValue(key, as: hierarchy.attributes[slot].type) }
        } else {
            try setParts(of: row, entity, key)
        }
        return row.key
    }

    private mutating func setParts(of row: StoredRow, _ entity: CompiledEntity, _ key: RowKey) throws {
        guard let composite = entity.compositeKey, case .composite(let types)? = model.keyType(of: entity.id),
            let parts = key.parts(types), parts.count == composite.parts.count
        else {
            throw SyncError(.typeMismatch, "the value is not a valid key", entity: entity.name)
        }
        for (part, value) in zip(composite.parts, parts) {
            switch part {
            case .attribute(let slot):
                let type = model[row.table].attributes[slot].type
                update(row) { $0.values[slot] = StoredValue(value, as: type) }
            case .relationship(let index):
                let relationship = entity.relationships[index]
                guard let target = rowKey(value, of: model.entities[relationship.destination]) else {
                    throw SyncError(.rowNotFound, "a row referenced by the key is not stored", entity: entity.name)
                }
                guard let foreignKey = foreignKey(model[relationship.link]) else { continue }
                update(row) { $0.targets[foreignKey] = target }
            }
        }
    }

    /// Gives the links and pending references of a row its new row key.
    private mutating func renameLinks(of row: StoredRow, to key: RowKey) throws {
        for link in model.links {
            for (old, positions) in links(link) {
                var new = old
                if link.second.table == row.table, old.second == row.key { new.second = key }
                if link.storage == .joinTable, link.first.table == row.table, old.first == row.key { new.first = key }
                guard new != old else { continue }
                if link.storage == .foreignKey {
                    setTarget(new.second, at: positions.second, of: new.first, link)
                } else {
                    remove(old, link)
                    try insert(new, positions, link)
                }
            }
        }
        for (reference, position) in pendingReferences where reference.owner == row {
            removePending(reference)
            var renamed = reference
            renamed.owner.key = key
            setPending(renamed, at: position)
        }
    }

    /// Removes the links that reference a row, and its pending references.
    mutating func removeLinks(to row: StoredRow) {
        removeJoinRows(of: row)
        for link in model.links where link.storage == .foreignKey && link.second.table == row.table {
            for key in links(link).keys where key.second == row.key { remove(key, link) }
        }
        for reference in pendingReferences.keys where reference.owner == row { removePending(reference) }
    }

    /// Removes the links of a row that are stored in join tables.
    mutating func removeJoinRows(of row: StoredRow) {
        for link in model.links where link.storage == .joinTable {
            guard link.first.table == row.table || link.second.table == row.table else { continue }
            for key in links(link).keys {
                let isFirst = link.first.table == row.table && key.first == row.key
                let isSecond = link.second.table == row.table && key.second == row.key
                if isFirst || isSecond { remove(key, link) }
            }
        }
    }
}

// MARK: - Values as keys

extension RowKey {
    /// Creates a key from the value of an attribute; nil for a value that cannot be a key.
    package init?(_ value: StoredValue) {
        var arena: [UInt8] = []
        let packed = value.slot(arena: &arena)
        let key = arena.withUnsafeBufferPointer { bytes in
            RowKey(packed, TextPool(payload: UnsafeBufferPointer(start: nil, count: 0), arena: bytes))
        }
        guard let key else { return nil }
        self = key
    }

    /// Returns whether a key comes before another one: numbers by value, then texts by their bytes.
    package func isBefore(_ other: RowKey) -> Bool {
        switch (self, other) {
        case (.integer(let left), .integer(let right)): left < right
        case (.real(let left), .real(let right)): left < right
        case (.integer(let left), .real(let right)): Double(left) < right
        case (.real(let left), .integer(let right)): left < Double(right)
        case (.text(let left), .text(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
        case (.text, _): false
        case (_, .text): true
        }
    }
}

extension StoredValue {
    /// Creates the value of a key attribute from a row key.
    package init(_ key: RowKey, as type: AttributeType) {
        switch key {
        case .integer(let number): self = type == .boolean ? .boolean(number != 0) : .integer(number)
        case .real(let number): self = .double(number)
        case .text(let text): self = StoredValue(text: text, as: type) ?? .string(text)
        }
    }

    /// Returns the value as it is read after it was written. JSON null is null.
    func afterWriting(as type: AttributeType) -> StoredValue {
        if self == .json(.null) { return .null }
        var arena: [UInt8] = []
        let packed = slot(arena: &arena)
        let stored = arena.withUnsafeBufferPointer { bytes in
            StoredValue(packed, as: type, TextPool(payload: UnsafeBufferPointer(start: nil, count: 0), arena: bytes))
        }
        return stored ?? .null
    }
}
