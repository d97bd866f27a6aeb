import SyncCore

/// The arguments of a sync, checked.
struct ReferenceCall {
    private let records: [JSONValue]
    /// Whether the payload is one object in no array.
    private let isLoneObject: Bool
    /// Whether a record has a key that cannot be read, so that it may be of any row.
    private var isDoubtful = false
    private let entity: CompiledEntity
    private let predicate: RecordPredicate?
    private let parent: (row: ReferenceRow.ID, key: StoredValue, relationship: CompiledRelationship)?
    private let operations: SyncOperations
    private let options: SyncOptions

    init(
        _ store: ReferenceStore, _ json: JSONValue, _ name: String, predicate: RecordPredicate?,
        parent: (entity: String, id: JSONValue)?, relationship: String?, operations: SyncOperations,
        options: SyncOptions
    ) throws {
        let compiled = store.model.compiled
        entity = try compiled.entity(named: name)
        guard entity.isKeyed else { throw SyncError(.keylessEntity, "it has no key", entity: name) }
        switch json {
        case .array(let elements): (records, isLoneObject) = (elements, false)
        case .object: (records, isLoneObject) = ([json], true)
        default: throw SyncError(.recordExpected, "an array of records is expected", entity: name)
        }
        for record in records {
            guard case .object = record else { throw SyncError(.recordExpected, "a record is expected", entity: name) }
        }
        self.predicate = predicate
        self.operations = operations
        self.options = options
        let sync = ReferenceSync(store, operations: operations, refused: [], inserted: [])
        guard let parent else {
            self.parent = nil
            try sync.requireRecords(records, of: entity, supplied: nil)
            try readKeys(sync, supplied: nil)
            return
        }
        let owner = try compiled.entity(named: parent.entity)
        let relationship = try Self.relationship(relationship, from: owner, to: entity, compiled)
        let key = store.key(parent.id, of: owner)
        try sync.requireRecords(records, of: entity, supplied: key.map { (relationship, $0) })
        guard let key, let row = store.row(owner, key: key), store.isKind(row, of: owner.id)
        else { throw SyncError(.parentNotFound, "the parent is not stored", entity: parent.entity) }
        self.parent = (row, key, relationship)
        try readKeys(sync, supplied: (relationship, key))
    }

    /// - Throws: `primaryKeyMissing` if the sync is strict and a record has no readable key.
    private mutating func readKeys(
        _ sync: ReferenceSync, supplied: (by: CompiledRelationship, key: StoredValue)?
    ) throws {
        let (entity, options) = (entity, options)
        isDoubtful =
            !options.deletesBesideUnread
            && records.contains { sync.isUnread($0, of: entity, supplied: supplied) }
        guard options.isStrict, !records.allSatisfy({ sync.hasKey($0, of: entity, supplied: supplied) }) else { return }
        throw SyncError(.primaryKeyMissing, "a record has no readable key", entity: entity.name)
    }

    private static func relationship(
        _ name: String?, from owner: CompiledEntity, to entity: CompiledEntity, _ model: CompiledModel
    ) throws -> CompiledRelationship {
        if let name {
            guard let found = owner.relationship(named: name) else {
                throw SyncError(.unknownRelationship, "there is no '\(name)'", entity: owner.name)
            }
            return found
        }
        let candidates = owner.relationships.filter { model.entity(entity.id, isKindOf: $0.destination) }
        guard let found = candidates.first else {
            throw SyncError(.unknownRelationship, "none leads to \(entity.name)", entity: owner.name)
        }
        guard candidates.count == 1 else {
            let names = candidates.map(\.name).joined(separator: ", ")
            throw SyncError(.ambiguousRelationship, names, entity: owner.name)
        }
        return found
    }

    // MARK: Running

    /// What becomes of records that share a key.
    func repeats(_ sync: ReferenceSync) -> ReferenceRepeats {
        ReferenceRepeats(records, of: entity, childrenOf: parent.map { ($0.key, $0.relationship) }, in: sync)
    }

    /// Stores and links the records.
    func run(_ sync: inout ReferenceSync) throws -> SyncResult.RootCounts {
        var counts = SyncResult.RootCounts()
        if isDoubtful { sync.doubtfulTable = entity.table }
        var mentions: [ReferenceMention] = []
        var listed: [ReferenceMention.Statement.Target] = []
        var skipped: [ReferenceMention.Statement.Target] = []
        for (index, record) in records.enumerated() {
            let context = parent.map { ReferenceSync.Context.child(of: $0.row, $0.relationship) } ?? .root
            sync.noteMentions(in: record, as: entity, context)
            switch sync.mention(record, as: entity, at: "[\(index)]", context) {
            case .mention(let mention):
                mentions.append(mention)
                listed.append(.row(mention.row, links: true))
                if sync.isNew(mention.row) { counts.inserted += 1 } else { counts.matched += 1 }
            case .skipped(let id): if let id { skipped.append(.row(id, links: false)) }
            case .unreadable(let inner): mentions += inner
            }
        }
        if let parent {
            sync.touched.insert(parent.row)
            var list = ReferenceMention.Statement(relationship: parent.relationship)
            list.targets = listed + skipped
            list.removes = deletesUnlisted
            let children = sync.store.targets(of: parent.row, parent.relationship)
            list.removable = Set(
                try children.filter { id in
                    try sync.store.isKind(id, of: entity.id)
                        && predicate.map { try sync.store.matches(id, $0, of: entity) } ?? true
                })
            list.inner = mentions
            mentions = [ReferenceMention(row: parent.row, statements: [list])]
        }
        sync.link(mentions)
        return counts
    }

    /// A lone object says nothing of others, unless a predicate or a parent says what it speaks for.
    private var deletesUnlisted: Bool {
        guard operations.contains(.delete), case .snapshot = options.payload else { return false }
        return !isDoubtful && (!isLoneObject || predicate != nil || parent != nil)
    }

    func delete(_ sync: inout ReferenceSync) throws -> Int {
        let before = sync.before
        guard deletesUnlisted else { return try sync.delete { _ in [] } }
        return try sync.delete { store in
            var rows = store.rows(of: entity)
            if let parent {
                guard store.hasOneOwner(parent.relationship) else { return [] }
                let end = store.farEnd(parent.relationship)
                rows = before.targets(of: parent.row, parent.relationship).filter {
                    store.isKind($0, of: entity.id)
                        && !store.isOwned($0, byOtherThan: parent.row, parent.relationship.link, end)
                }
            } else if predicate == nil, options.scope == .automatic, let roots = entity.rootScope {
                rows = rows.filter { store.targets(of: $0, roots).isEmpty }
            }
            guard let predicate else { return rows }
            return try rows.filter { try store.matches($0, predicate, of: entity) }
        }
    }
}

extension ReferenceSync {
    /// Every key that stands anywhere in a record, whatever becomes of it.
    ///
    /// - Parameter supplied: The relationship that leads to the record, and the key of its owner.
    mutating func noteMentions(
        in record: JSONValue, as entity: CompiledEntity, _ context: Context? = nil,
        supplied: (by: CompiledRelationship, key: StoredValue)? = nil
    ) {
        let kind = store.entity(of: record, as: entity)
        let reading = ReferenceReading(record, as: kind ?? entity, of: store)
        let own = key(of: reading, entity, context, supplied: supplied)
        if let own { mentionedKeys.insert(.key(owner: entity.keyOwner, own)) }
        // Of a record of unknown kind only the row stays.
        guard kind != nil else { return }
        for (relationship, said, destination) in reading.statements {
            let supplied = own.map { (relationship, $0) }
            switch said {
            case .null, .nothing: break
            case .object(let record): noteMentions(in: record, as: destination, supplied: supplied)
            case .objects(let records):
                for record in records { noteMentions(in: record, as: destination, supplied: supplied) }
            case .id(let id): note(store.key(id, of: destination), destination)
            case .ids(let ids):
                for id in ids { note(key(id, relationship, listedBy: own), destination) }
            }
        }
    }

    private mutating func note(_ key: StoredValue?, _ entity: CompiledEntity) {
        if let key { mentionedKeys.insert(.key(owner: entity.keyOwner, key)) }
    }
}
