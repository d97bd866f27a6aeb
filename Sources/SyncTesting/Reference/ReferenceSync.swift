import SyncCore

/// One sync of a reference store. It finds or adds the rows of records, links them, and deletes rows.
struct ReferenceSync {
    /// The identity of a row: its key, or the path of its record if the record has no key.
    enum RowName: Hashable {
        case key(owner: Int?, StoredValue)
        case path(String)
    }

    /// The context of a record in the payload: the enclosing row, and the relationship to the record.
    enum Context {
        case root
        /// A root record of a sync with a parent.
        case child(of: ReferenceRow.ID, CompiledRelationship)
        case toOne(of: ReferenceRow.ID, CompiledRelationship)
        /// A record in a to-one relationship that leads back to the owner of the enclosing row. It asserts no link.
        case overruled(by: ReferenceRow.ID)
        case toMany(of: ReferenceRow.ID, CompiledRelationship, position: Int)
        /// A record inside a record without a readable key, so there is no enclosing row.
        case unowned(isListed: Bool)
    }

    enum Outcome {
        case occurrence(ReferenceOccurrence)
        /// The operations do not allow the record, or the sync rejects it. The value is its stored row; nil if there is
        /// none, or if it is of another entity.
        case skipped(ReferenceRow.ID?)
        /// The record has no readable key, or its entity is unknown. The value has the records nested in a record
        /// without a readable key.
        case unreadable([ReferenceOccurrence])
    }

    /// The row of a record without a key.
    enum OwnedRow {
        case known(ReferenceRow.ID)
        /// A new row: the owner has fewer rows than records.
        case missing
        /// No row, because a record in this context needs a key.
        case unreadable
    }

    let before: ReferenceStore
    let operations: SyncOperations
    var store: ReferenceStore
    /// The new rows that earlier attempts rejected.
    let refused: Set<RowName>
    /// The new rows that earlier attempts inserted. For these rows, records that may only update are effective too.
    let inserted: Set<RowName>
    var origins: [ReferenceRow.ID: RowName] = [:]
    /// The rows for which the payload has effective records.
    var touched: Set<ReferenceRow.ID> = []
    /// The keys of all rows that the payload contains, as a record or as an ID.
    var givenKeys: Set<RowName> = []
    /// The rows of an owner that records without a key describe, by their index in the list.
    var ownedRows: [ReferenceSide: [ReferenceRow.ID]] = [:]
    /// The contexts of rows whose records have no key. Such a row stays linked to its owner, whatever its record
    /// asserts.
    var contexts: [ReferenceRow.ID: Context] = [:]
    /// The linked rows that replaced lists omit, by the owner of the list.
    var unlisted: [ReferenceSide: Set<ReferenceRow.ID>] = [:]
    /// Whether the last list of an owner deletes the rows that it omits.
    var deletesUnlisted: [ReferenceSide: Bool] = [:]
    var misfits: [String] = []
    /// The table of a record with an unreadable key, which may describe any row of the table; nil if there is none.
    var tableWithUnreadableKeys: TableID?

    init(
        _ store: ReferenceStore, operations: SyncOperations, refused: Set<RowName>, inserted: Set<RowName>
    ) {
        before = store
        self.store = store
        self.operations = operations
        self.refused = refused
        self.inserted = inserted
    }

    var model: SyncModel { store.model }
    func isNew(_ row: ReferenceRow.ID) -> Bool { before.rows[row] == nil }

    // MARK: Records

    mutating func add(
        _ record: JSONValue, as entity: CompiledEntity, at path: String, _ context: Context
    ) -> Outcome {
        guard let entity = store.entity(of: record, as: entity) else { return .unreadable([]) }
        let reading = ReferenceReading(record, as: entity, of: store)
        misfits += reading.misfits.map { "\(path).\($0)" }
        let key = self.key(of: reading, entity, context)
        var id: ReferenceRow.ID?
        if store.keyNames(of: entity).contains(where: reading.misfits.contains) {
            return .unreadable(records(in: reading, at: path, context))
        }
        if let key {
            id = store.row(entity, key: key)
        } else {
            switch hasSomePart(reading, entity) ? .unreadable : ownedRow(entity, context) {
            case .known(let row): id = row
            case .missing: id = nil
            case .unreadable: return .unreadable(records(in: reading, at: path, context))
            }
        }
        if let id, !store.isKind(id, of: entity.id) {
            guard let row = store.rows[id], isNew(id), model.compiled.entity(entity.id, isKindOf: row.entity.id) else {
                return .skipped(nil)
            }
            store.setEntity(id, as: entity)
        }
        let origin = key.map { RowName.key(owner: entity.keyOwner, $0) } ?? .path(path)
        guard may(id, context) || mayUpdate(context) && inserted.contains(origin) else { return .skipped(id) }
        if id == nil, refused.contains(origin) { return .skipped(nil) }
        let row = id ?? store.addRow(of: entity, key: key)
        if id == nil {
            origins[row] = origin
            if key == nil, let side = context.side(in: store) { ownedRows[side, default: []].append(row) }
        }
        if key == nil, context.owner != nil { contexts[row] = context }
        touched.insert(row)
        fill(row, with: reading, as: entity)
        return .occurrence(
            ReferenceOccurrence(row: row, statements: statements(of: row, reading, at: path, context)))
    }

    /// Adds the records that are nested in a record without a readable key, and returns them. Returns none if the
    /// operations allow no record in this context.
    private mutating func records(
        in reading: ReferenceReading, at path: String, _ context: Context
    ) -> [ReferenceOccurrence] {
        guard may(nil, context) || mayUpdate(context) else { return [] }
        var found: [ReferenceOccurrence] = []
        for (relationship, said, destination) in reading.statements {
            let records: [JSONValue] =
                switch said {
                case .object(let record): [record]
                case .objects(let records): records
                default: []
                }
            for (index, record) in records.enumerated() {
                let path = "\(path).\(relationship.name)[\(index)]"
                switch add(record, as: destination, at: path, .unowned(isListed: relationship.isToMany)) {
                case .occurrence(let inner): found.append(inner)
                case .unreadable(let inner): found += inner
                case .skipped: break
                }
            }
        }
        return found
    }

    private func mayUpdate(_ context: Context) -> Bool {
        switch context {
        case .root, .child: operations.contains(.update)
        case .toOne, .overruled, .unowned(isListed: false): true
        case .toMany, .unowned(isListed: true): operations.contains(.updateRelationships)
        }
    }

    /// Returns the row of a record without a key: the row with the same index among the rows of its owner.
    private mutating func ownedRow(_ entity: CompiledEntity, _ context: Context) -> OwnedRow {
        if case .overruled(let owner) = context { return .known(owner) }
        guard let side = context.side(in: store) else { return .unreadable }
        let position: Int
        switch context {
        case .toOne: position = 0
        case .toMany(_, _, let index) where !entity.isKeyed: position = index
        default: return .unreadable
        }
        let rows = ownedRows[side] ?? before.targets[side] ?? []
        ownedRows[side] = rows
        return position < rows.count ? .known(rows[position]) : .missing
    }

    private func may(_ id: ReferenceRow.ID?, _ context: Context) -> Bool {
        if let id, !isNew(id) { return mayUpdate(context) }
        switch context {
        case .root, .child: return operations.contains(.insert)
        case .toOne, .overruled, .unowned(isListed: false): return true
        case .toMany, .unowned(isListed: true): return operations.contains(.insertRelationships)
        }
    }

    private mutating func fill(_ row: ReferenceRow.ID, with reading: ReferenceReading, as entity: CompiledEntity) {
        for (name, value) in reading.values {
            guard let slot = entity.slotByName[name] else { continue }
            let attribute = model.compiled[entity.table].attributes[slot]
            if value.isNull, !attribute.isOptional || entity.keySlots.contains(slot) { continue }
            store.rows[row]?.values[name] = value
        }
    }

    // MARK: Relationships

    private mutating func statements(
        of row: ReferenceRow.ID, _ reading: ReferenceReading, at path: String, _ context: Context
    ) -> [ReferenceOccurrence.Statement] {
        reading.statements.compactMap { relationship, said, destination in
            let path = "\(path).\(relationship.name)"
            if relationship.isToMany {
                var statement = statement(of: row, relationship, destination, said, at: path, overruledBy: nil)
                // If the list is that of the owners of a row without a key, the row keeps its owner and loses none.
                if let owner = owner(relationship, contexts[row]) {
                    statement?.targets.append(.row(owner, links: true))
                    statement?.removes = false
                    statement?.deletes = false
                }
                return statement
            }
            let owner = owner(relationship, context) ?? owner(relationship, contexts[row])
            var statement = statement(of: row, relationship, destination, said, at: path, overruledBy: owner)
            if owner != nil { statement?.isOverruled = true }
            return statement
        }
    }

    /// Returns the owner of a row if a relationship of the row leads back to the owner; nil otherwise.
    func owner(_ relationship: CompiledRelationship, _ context: Context?) -> ReferenceRow.ID? {
        guard let given = context?.relationship, relationship.link == given.link,
            relationship.end == store.farEnd(given)
        else { return nil }
        return context?.owner
    }

    private mutating func statement(
        of row: ReferenceRow.ID, _ relationship: CompiledRelationship, _ destination: CompiledEntity,
        _ said: ReferenceReading.Statement, at path: String, overruledBy owner: ReferenceRow.ID?
    ) -> ReferenceOccurrence.Statement? {
        var statement = ReferenceOccurrence.Statement(relationship: relationship)
        let ownsRows = relationship.isToMany && store.hasOneOwner(relationship)
        switch said {
        case .null: statement.removes = true
        case .nothing:
            statement.removes = true
            statement.deletes = ownsRows
        case .id(let id):
            guard let key = store.key(id, of: destination) else { return nil }
            statement.targets = [.key(.init(key: key, kind: destination.id))]
        case .ids(let ids):
            if !destination.isKeyed, !ids.isEmpty { return nil }
            statement.removes = true
            statement.targets = ids.compactMap { self.key($0, relationship, listedBy: row) }.map {
                .key(.init(key: $0, kind: destination.id))
            }
        case .object(let record):
            let context = owner.map { Context.overruled(by: $0) } ?? .toOne(of: row, relationship)
            switch add(record, as: destination, at: path, context) {
            case .occurrence(let child):
                statement.targets = [.row(child.row, links: true)]
                statement.inner = [child]
            // If the record is skipped, the link stays unchanged.
            case .skipped: break
            case .unreadable(let inner):
                statement.inner = inner
                statement.isOverruled = true
                // In a relationship that is part of the primary key, the key alone identifies the referenced row.
                if model.compiled.isKeyPart(relationship),
                    let key = key(of: ReferenceReading(record, as: destination, of: store), destination, nil)
                {
                    statement.targets = [.key(.init(key: key, kind: destination.id))]
                    statement.isOverruled = owner != nil
                }
            }
        case .objects(let records):
            var readable = 0
            for (index, record) in records.enumerated() {
                let context = Context.toMany(of: row, relationship, position: readable)
                switch add(record, as: destination, at: "\(path)[\(index)]", context) {
                case .unreadable(let inner):
                    statement.inner += inner
                    continue
                case .skipped(let id):
                    if let id { statement.targets.append(.row(id, links: false)) }
                case .occurrence(let child):
                    statement.targets.append(.row(child.row, links: true))
                    statement.inner.append(child)
                }
                readable += 1
            }
            statement.isOverruled = readable == 0 && !records.isEmpty
            statement.removes = operations.contains(.deleteRelationships)
            statement.deletes = statement.removes && ownsRows
        }
        return statement
    }
}

extension ReferenceSync.Context {
    var relationship: CompiledRelationship? {
        switch self {
        case .root, .overruled, .unowned: nil
        case .child(_, let relationship), .toOne(_, let relationship), .toMany(_, let relationship, _): relationship
        }
    }

    var owner: ReferenceRow.ID? {
        switch self {
        case .root, .overruled, .unowned: nil
        case .child(let row, _), .toOne(let row, _), .toMany(let row, _, _): row
        }
    }

    func side(in store: ReferenceStore) -> ReferenceSide? {
        switch self {
        case .root, .overruled, .unowned: nil
        case .child(let row, let relationship), .toOne(let row, let relationship),
            .toMany(let row, let relationship, _):
            store.side(row, relationship)
        }
    }
}
