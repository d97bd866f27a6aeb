package import SyncCore
package import SyncStore

/// The rows, links and pending references of a store in memory. It is a value, so a copy undoes the writes of a
/// transaction.
package struct MemoryContents: Sendable {
    package let model: CompiledModel
    /// The values that the store can keep.
    package let capabilities: StoreCapabilities
    /// The rows of each table, by its ``TableID``.
    private var tables: [[RowKey: MemoryRow]]
    /// The links of each association that is stored as a join table, by its ``AssociationID``.
    private var joinRows: [[JoinKey: LinkPositions]]
    /// The pending references, with the positions that are reserved for their rows.
    package private(set) var pendingReferences: [PendingReference: Int64] = [:]
    /// The number of rows, links and pending references that were written.
    package private(set) var changeCount = 0

    package init(_ model: CompiledModel, _ capabilities: StoreCapabilities = .unlimited) {
        self.model = model
        self.capabilities = capabilities
        tables = model.hierarchies.map { _ in [:] }
        joinRows = model.links.map { _ in [:] }
    }

    // MARK: Rows

    package subscript(row: StoredRow) -> MemoryRow? { tables[row.table.index][row.key] }

    package func rows(of table: TableID) -> [RowKey: MemoryRow] { tables[table.index] }

    /// Returns the keys of the rows of an entity and its subentities, in ascending order.
    package func rows(of entity: CompiledEntity) -> [RowKey] {
        tables[entity.table.index].filter { model.entity($0.value.entity, isKindOf: entity.id) }.keys
            .sorted { $0.isBefore($1) }
    }

    /// - Throws: ``SyncError`` `databaseError` if a row has the key.
    mutating func insert(_ row: MemoryRow, at key: RowKey, in table: TableID) throws {
        guard tables[table.index][key] == nil else {
            throw SyncError(
                .databaseError, "a row with the key \(key.recordKey(nil)) is stored already",
                entity: model.entities[row.entity].name)
        }
        tables[table.index][key] = row
        changeCount += 1
    }

    /// Changes a row, if it is stored.
    mutating func update(_ row: StoredRow, _ change: (inout MemoryRow) -> Void) {
        guard var changed = self[row] else { return }
        change(&changed)
        tables[row.table.index][row.key] = changed
        changeCount += 1
    }

    /// Deletes a row, and leaves its links.
    mutating func delete(_ row: StoredRow) {
        if tables[row.table.index].removeValue(forKey: row.key) != nil { changeCount += 1 }
    }

    mutating func deleteAllRows() {
        let (model, count) = (model, changeCount)
        self = MemoryContents(model, capabilities)
        changeCount = count + 1
    }

    // MARK: Links

    /// Returns all links of an association, with the keys of missing rows. A foreign key is a link from the row that
    /// has it.
    package func links(_ link: CompiledAssociation) -> [JoinKey: LinkPositions] {
        guard let index = foreignKey(link) else { return joinRows[link.id.index] }
        var found: [JoinKey: LinkPositions] = [:]
        for (key, row) in tables[link.first.table.index] {
            guard let target = row.targets[index] else { continue }
            found[JoinKey(first: key, second: target)] = LinkPositions(second: row.positions[index])
        }
        return found
    }

    /// Returns the index of an association in ``MemoryRow/targets``; nil for a join table.
    func foreignKey(_ link: CompiledAssociation) -> Int? {
        link.storage == .foreignKey ? model[link.first.table].foreignKeys.firstIndex(of: link.id) : nil
    }

    /// Sets a foreign key; nil for no link.
    ///
    /// - Parameter position: The position in the list of the referenced row.
    mutating func setTarget(_ target: RowKey?, at position: Int64?, of row: RowKey, _ link: CompiledAssociation) {
        guard let index = foreignKey(link) else { return }
        update(StoredRow(table: link.first.table, key: row)) { changed in
            changed.targets[index] = target
            changed.positions[index] = link.hasPositions(.second) ? position : nil
        }
    }

    /// - Throws: ``SyncError`` `databaseError` if the link is stored.
    mutating func insert(_ key: JoinKey, _ positions: LinkPositions, _ link: CompiledAssociation) throws {
        guard joinRows[link.id.index][key] == nil else {
            throw SyncError(.databaseError, "a link is stored already", entity: model.entities[link.first.entity].name)
        }
        var stored = LinkPositions()
        for end in [CompiledAssociation.End.first, .second] where link.hasPositions(end) {
            stored[end] = positions[end]
        }
        joinRows[link.id.index][key] = stored
        changeCount += 1
    }

    /// Removes a link, if it is stored.
    mutating func remove(_ key: JoinKey, _ link: CompiledAssociation) {
        if link.storage == .foreignKey {
            setTarget(nil, at: nil, of: key.first, link)
        } else if joinRows[link.id.index].removeValue(forKey: key) != nil {
            changeCount += 1
        }
    }

    /// Sets the position of a link in the list of its row at an end, if the link is stored.
    mutating func setPosition(
        _ position: Int64, of key: JoinKey, _ link: CompiledAssociation, _ end: CompiledAssociation.End
    ) {
        guard link.hasPositions(end), contains(key, link) else { return }
        if link.storage == .foreignKey {
            setTarget(key.second, at: position, of: key.first, link)
        } else {
            joinRows[link.id.index][key]?[end] = position
            changeCount += 1
        }
    }

    /// Returns whether a link is stored.
    package func contains(_ key: JoinKey, _ link: CompiledAssociation) -> Bool {
        guard let index = foreignKey(link) else { return joinRows[link.id.index][key] != nil }
        return self[StoredRow(table: link.first.table, key: key.first)]?.targets[index] == key.second
    }

    // MARK: Pending references

    /// Adds a pending reference, or changes its position.
    mutating func setPending(_ reference: PendingReference, at position: Int64) {
        pendingReferences[reference] = position
        changeCount += 1
    }

    mutating func removePending(_ reference: PendingReference) {
        if pendingReferences.removeValue(forKey: reference) != nil { changeCount += 1 }
    }
}

/// The values and foreign keys of a row.
package struct MemoryRow: Sendable, Hashable {
    package var entity: Int
    /// One value for each attribute of the table; null for the attributes of other entities. A temporary key is kept.
    package var values: [StoredValue]
    /// The foreign keys of the table, in the order of ``EntityHierarchy/foreignKeys``.
    package var targets: [RowKey?]
    /// The position in the list of each referenced row.
    package var positions: [Int64?]

    init(_ entity: Int, in hierarchy: EntityHierarchy) {
        self.entity = entity
        values = hierarchy.attributes.map { _ in .null }
        targets = hierarchy.foreignKeys.map { _ in nil }
        positions = targets.map { _ in nil }
    }
}
