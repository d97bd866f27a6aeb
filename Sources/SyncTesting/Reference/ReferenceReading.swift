import SyncCore

/// The values and link assertions of one JSON record, by the names of the model.
struct ReferenceReading: Sendable {
    /// The value of one relationship.
    enum Statement: Sendable {
        case object(JSONValue)
        case objects([JSONValue])
        /// Null for a to-many relationship, under its object key.
        case nothing
        /// Null for a to-one relationship, under its object or ID key.
        case null
        case id(JSONValue)
        case ids([JSONValue])
    }

    private(set) var values: [String: StoredValue] = [:]
    /// The link assertions, in document order. Each has the entity of its rows: the destination entity, or the entity
    /// that the type member of a polymorphic relationship names.
    private(set) var statements: [(relationship: CompiledRelationship, statement: Statement, entity: CompiledEntity)] =
        []
    private(set) var misfits: [String] = []

    init(_ record: JSONValue, as entity: CompiledEntity, of store: ReferenceStore) {
        readAttributes(record, entity, store.model)
        readRelationships(record, entity, store)
    }

    // MARK: Attributes

    private mutating func readAttributes(_ record: JSONValue, _ entity: CompiledEntity, _ model: SyncModel) {
        var best: [Int: (strength: Int, value: JSONValue)] = [:]
        let attributes = model.compiled[entity.table].attributes
        let roots = Set(entity.slots.compactMap { attributes[$0].remoteKey }.flatMap(Self.prefixes))
        func read(_ value: JSONValue, path: String) {
            guard case .object(let members) = value else { return }
            for (index, member) in members.enumerated() {
                guard !members[(index + 1)...].contains(where: { $0.key == member.key }) else { continue }
                let key = path + RemoteKeyPath.escaped(member.key)
                let names = model.compiled.names(of: entity)
                if let found = path.isEmpty ? names.attribute(forKey: member.key) : names.attribute(forPath: key),
                    path.isEmpty || Self.path(of: attributes[found.slot]) == key,
                    !Self.isOnlyAround(member.value, key, attributes[found.slot])
                {
                    if best[found.slot].map({ found.strength <= $0.strength }) ?? true {
                        best[found.slot] = (found.strength, member.value)
                    }
                }
                guard roots.contains(key) else { continue }
                if member.value == .null {
                    for slot in entity.slots where attributes[slot].remoteKey?.hasPrefix(key + ".") == true {
                        best[slot] = (0, .null)
                    }
                }
                read(member.value, path: key + ".")
            }
        }
        read(record, path: "")
        for (slot, found) in best {
            let attribute = attributes[slot]
            let conversion = found.value == .null ? nil : model.conversion(of: attribute)
            let value =
                conversion.map { $0.storedValue(found.value) }
                ?? Coercion.storedValue(found.value, as: attribute.type)
            if let value { values[attribute.name] = value } else { misfits.append(attribute.name) }
        }
    }

    /// Returns whether a value is only an enclosing object on the remote key path of an attribute, and not its value.
    private static func isOnlyAround(_ value: JSONValue, _ key: String, _ attribute: SyncModel.Attribute) -> Bool {
        guard case .object = value, attribute.type != .json, attribute.transformer == nil else { return false }
        return attribute.remoteKey?.hasPrefix(key + ".") ?? false
    }

    /// Returns the remote key path in canonical notation.
    private static func path(of attribute: SyncModel.Attribute) -> String? {
        attribute.remoteKey.map { RemoteKeyPath.text(RemoteKeyPath.keys($0)) }
    }

    /// Returns the ancestors of a path: `a.b.c` → `a`, `a.b`.
    private static func prefixes(of key: String) -> [String] {
        let parts = RemoteKeyPath.keys(key)
        return (1..<max(parts.count, 1)).map { RemoteKeyPath.text(parts.prefix($0)) }
    }

    // MARK: Relationships

    private mutating func readRelationships(
        _ record: JSONValue, _ entity: CompiledEntity, _ store: ReferenceStore
    ) {
        var found: [(indexPath: [Int], relationship: CompiledRelationship, Statement, CompiledEntity)] = []
        for relationship in entity.relationships {
            let keys = store.names.keys(of: relationship, as: entity, in: store.model.compiled)
            let hasParts = store.model.compiled.entities[relationship.destination].compositeKey != nil
            guard let (indexPath, statement) = Self.statement(about: relationship, in: record, keys, hasParts) else {
                continue
            }
            // A reference with an unknown type asserts no link. A null needs no type.
            let destination = store.model.compiled.entities[relationship.destination]
            var kind = statement.isNull ? destination : store.entity(beside: relationship, in: record)
            // In a relationship that is part of the primary key, the ID alone identifies the row.
            if case .id = statement, store.model.compiled.isKeyPart(relationship) { kind = kind ?? destination }
            if let kind { found.append((indexPath, relationship, statement, kind)) }
        }
        statements = found.sorted { $0.indexPath.lexicographicallyPrecedes($1.indexPath) }.map {
            ($0.relationship, $0.2, $0.3)
        }
    }

    /// Returns the assertion about a relationship; nil if the record has none. The value of an object key takes
    /// precedence over that of an ID key, unless it is null or does not fit the relationship.
    private static func statement(
        about relationship: CompiledRelationship, in record: JSONValue, _ keys: ReferenceNames.Keys, _ hasParts: Bool
    ) -> (indexPath: [Int], Statement)? {
        var null: (indexPath: [Int], Statement)?
        for key in keys.objects {
            guard let (indexPath, value) = member(key, of: record) else { continue }
            if value == .null {
                null = null ?? (indexPath, relationship.isToMany ? .nothing : .null)
            } else if let statement = statement(value, relationship, hasParts) {
                return (indexPath, statement)
            }
        }
        for key in keys.ids {
            guard let (indexPath, value) = member(key, of: record) else { continue }
            if let statement = idStatement(value, relationship, hasParts, areOnlyIDs: true) {
                return (indexPath, statement)
            }
        }
        return null
    }

    private static func statement(
        _ value: JSONValue, _ relationship: CompiledRelationship, _ hasParts: Bool
    ) -> Statement? {
        switch value {
        case .object: return relationship.isToMany ? nil : .object(value)
        case .array(let elements) where relationship.isToMany:
            let present = elements.filter { $0 != .null }
            if elements.isEmpty || !present.isEmpty && present.allSatisfy(\.isObject) { return .objects(present) }
            return idStatement(value, relationship, hasParts)
        default: return idStatement(value, relationship, hasParts)
        }
    }

    /// Returns the assertion for a value with IDs; nil if the value does not fit the relationship.
    ///
    /// - Parameters:
    ///   - hasParts: Whether IDs are composite. A composite ID is an array of parts. Under an ID key, it may also be an
    ///     object of parts.
    ///   - areOnlyIDs: Whether the value is under an ID key.
    private static func idStatement(
        _ value: JSONValue, _ relationship: CompiledRelationship, _ hasParts: Bool, areOnlyIDs: Bool = false
    ) -> Statement? {
        func isID(_ value: JSONValue) -> Bool {
            value.isScalar || hasParts && (value.isArray || areOnlyIDs && value.isObject)
        }
        switch (value, relationship.isToMany) {
        case (.null, true): return .ids([])
        case (.null, false): return .null
        case (.array(let elements), true):
            let present = elements.filter { $0 != .null }
            let isOneKind = present.allSatisfy(\.isScalar) || present.allSatisfy { !$0.isScalar && isID($0) }
            return isOneKind ? .ids(present) : nil
        case (_, false) where isID(value): return .id(value)
        default: return nil
        }
    }

    /// Returns the value at a key path with dots, and the index of the member at each level; nil if there is no value.
    private static func member(_ key: String, of record: JSONValue) -> (indexPath: [Int], JSONValue)? {
        var value = record
        var indexPath: [Int] = []
        for part in RemoteKeyPath.keys(key) {
            guard case .object(let members) = value,
                let index = members.lastIndex(where: { $0.key == part })
            else { return nil }
            value = members[index].value
            indexPath.append(index)
            if value == .null { break }
        }
        return (indexPath, value)
    }
}

extension ReferenceReading.Statement {
    fileprivate var isNull: Bool {
        guard case .null = self else { return false }
        return true
    }
}

extension JSONValue {
    fileprivate var isObject: Bool {
        guard case .object = self else { return false }
        return true
    }

    fileprivate var isArray: Bool {
        guard case .array = self else { return false }
        return true
    }

    fileprivate var isScalar: Bool {
        switch self {
        case .object, .array, .null, .bool: false
        case .number, .string: true
        }
    }
}

/// One call of a sync, with checked arguments.
struct ReferenceCall {
    private let records: [JSONValue]
    /// Whether the payload is one object outside of an array.
    private let isSingleRecord: Bool
    /// Whether a record has an unreadable key, so that it may describe any row of the entity.
    private var hasUnreadableKey = false
    private let entity: CompiledEntity
    private let predicate: RowPredicate?
    private let parent: (row: ReferenceRow.ID, key: StoredValue, relationship: CompiledRelationship)?
    private let operations: SyncOperations
    private let options: SyncOptions

    init(
        _ store: ReferenceStore, _ json: JSONValue, _ name: String, predicate: RowPredicate?,
        parent: SyncParent?, operations: SyncOperations, options: SyncOptions
    ) throws {
        let compiled = store.model.compiled
        entity = try compiled.entity(named: name)
        guard entity.isKeyed else { throw SyncError(.keylessEntity, "the entity has no primary key", entity: name) }
        switch json {
        case .array(let elements): (records, isSingleRecord) = (elements, false)
        case .object: (records, isSingleRecord) = ([json], true)
        default: throw SyncError(.recordExpected, "expected an array of records", entity: name)
        }
        for record in records {
            guard case .object = record else {
                throw SyncError(.recordExpected, "expected a record (JSON object)", entity: name)
            }
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
        let relationship = try Self.relationship(parent.relationship, from: owner, to: entity, compiled)
        let key = store.key(parent.id, of: owner)
        try sync.requireRecords(records, of: entity, supplied: key.map { (relationship, $0) })
        guard let key, let row = store.row(owner, key: key), store.isKind(row, of: owner.id)
        else { throw SyncError(.parentNotFound, "the parent is not stored", entity: parent.entity) }
        self.parent = (row, key, relationship)
        try readKeys(sync, supplied: (relationship, key))
    }

    /// Checks whether the root records have readable keys.
    ///
    /// - Throws: `primaryKeyMissing` if the sync is strict and a record has no readable key.
    private mutating func readKeys(
        _ sync: ReferenceSync, supplied: (by: CompiledRelationship, key: StoredValue)?
    ) throws {
        let (entity, options) = (entity, options)
        hasUnreadableKey =
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
                throw SyncError(.unknownRelationship, "\(owner.name) has no relationship '\(name)'", entity: owner.name)
            }
            return found
        }
        let candidates = owner.relationships.filter { model.entity(entity.id, isKindOf: $0.destination) }
        guard let found = candidates.first else {
            throw SyncError(
                .unknownRelationship, "\(owner.name) has no relationship to \(entity.name)", entity: owner.name)
        }
        guard candidates.count == 1 else {
            let names = candidates.map(\.name).joined(separator: ", ")
            throw SyncError(.ambiguousRelationship, names, entity: owner.name)
        }
        return found
    }

    // MARK: Execution

    /// Returns the counts of duplicate and inconsistent records.
    func repeats(_ sync: ReferenceSync) -> ReferenceDuplicates {
        ReferenceDuplicates(records, of: entity, childrenOf: parent.map { ($0.key, $0.relationship) }, in: sync)
    }

    /// Stores and links the records, and returns the counts of root records.
    func run(_ sync: inout ReferenceSync) throws -> SyncResult.RootCounts {
        var counts = SyncResult.RootCounts()
        if hasUnreadableKey { sync.tableWithUnreadableKeys = entity.table }
        var occurrences: [ReferenceOccurrence] = []
        var listed: [ReferenceOccurrence.Statement.Target] = []
        var skipped: [ReferenceOccurrence.Statement.Target] = []
        for (index, record) in records.enumerated() {
            let context = parent.map { ReferenceSync.Context.child(of: $0.row, $0.relationship) } ?? .root
            sync.addOccurrences(in: record, as: entity, context)
            switch sync.add(record, as: entity, at: "[\(index)]", context) {
            case .occurrence(let occurrence):
                occurrences.append(occurrence)
                listed.append(.row(occurrence.row, links: true))
                if sync.isNew(occurrence.row) { counts.inserted += 1 } else { counts.matched += 1 }
            case .skipped(let id): if let id { skipped.append(.row(id, links: false)) }
            case .unreadable(let inner): occurrences += inner
            }
        }
        if let parent {
            sync.touched.insert(parent.row)
            var list = ReferenceOccurrence.Statement(relationship: parent.relationship)
            list.targets = listed + skipped
            list.removes = deletesUnlisted
            let children = sync.store.targets(of: parent.row, parent.relationship)
            list.removable = Set(
                try children.filter { id in
                    try sync.store.isKind(id, of: entity.id)
                        && predicate.map { try sync.store.matches(id, $0, of: entity) } ?? true
                })
            list.inner = occurrences
            occurrences = [ReferenceOccurrence(row: parent.row, statements: [list])]
        }
        sync.link(occurrences)
        return counts
    }

    /// Whether the sync deletes rows in scope that the payload omits. For a single object outside an array it deletes
    /// none, unless a predicate or a parent sets the scope.
    private var deletesUnlisted: Bool {
        guard operations.contains(.delete), options.payloadKind.isSnapshot else { return false }
        return !hasUnreadableKey && (!isSingleRecord || predicate != nil || parent != nil)
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
    /// Adds the keys of a record, its nested records and its IDs to `givenKeys`, whether the records are effective or
    /// not.
    ///
    /// - Parameter supplied: The relationship from the owner to the record, and the owner's key; nil for a root record.
    mutating func addOccurrences(
        in record: JSONValue, as entity: CompiledEntity, _ context: Context? = nil,
        supplied: (by: CompiledRelationship, key: StoredValue)? = nil
    ) {
        let kind = store.entity(of: record, as: entity)
        let reading = ReferenceReading(record, as: kind ?? entity, of: store)
        let own = key(of: reading, entity, context, supplied: supplied)
        if let own { givenKeys.insert(.key(owner: entity.keyOwner, own)) }
        // If the entity of the record is unknown, add only its own key.
        guard kind != nil else { return }
        for (relationship, said, destination) in reading.statements {
            let supplied = own.map { (relationship, $0) }
            switch said {
            case .null, .nothing: break
            case .object(let record): addOccurrences(in: record, as: destination, supplied: supplied)
            case .objects(let records):
                for record in records { addOccurrences(in: record, as: destination, supplied: supplied) }
            case .id(let id): addOccurrence(store.key(id, of: destination), destination)
            case .ids(let ids):
                for id in ids { addOccurrence(key(id, relationship, listedBy: own), destination) }
            }
        }
    }

    private mutating func addOccurrence(_ key: StoredValue?, _ entity: CompiledEntity) {
        if let key { givenKeys.insert(.key(owner: entity.keyOwner, key)) }
    }
}
