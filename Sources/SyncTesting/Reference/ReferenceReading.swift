import SyncCore

/// What one JSON record says, by the names of the model.
struct ReferenceReading: Sendable {
    /// What a key says about a relationship.
    enum Statement: Sendable {
        case object(JSONValue)
        case objects([JSONValue])
        /// Null under a to-many relationship's own name.
        case nothing
        /// Null under a to-one relationship, by either way.
        case null
        case id(JSONValue)
        case ids([JSONValue])
    }

    private(set) var values: [String: StoredValue] = [:]
    /// In document order, with the entity that the rows are of: the relationship's, or the one that stands beside it.
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

    /// Whether an object is only what the attribute's remote key walks into.
    private static func isOnlyAround(_ value: JSONValue, _ key: String, _ attribute: SyncModel.Attribute) -> Bool {
        guard case .object = value, attribute.type != .json, attribute.transformer == nil else { return false }
        return attribute.remoteKey?.hasPrefix(key + ".") ?? false
    }

    /// The remote key in the one way that paths are written here.
    private static func path(of attribute: SyncModel.Attribute) -> String? {
        attribute.remoteKey.map { RemoteKeyPath.text(RemoteKeyPath.keys($0)) }
    }

    /// `a.b.c` → `a`, `a.b`.
    private static func prefixes(of key: String) -> [String] {
        let parts = RemoteKeyPath.keys(key)
        return (1..<max(parts.count, 1)).map { RemoteKeyPath.text(parts.prefix($0)) }
    }

    // MARK: Relationships

    private mutating func readRelationships(
        _ record: JSONValue, _ entity: CompiledEntity, _ store: ReferenceStore
    ) {
        var found: [(place: [Int], relationship: CompiledRelationship, Statement, CompiledEntity)] = []
        for relationship in entity.relationships {
            let keys = store.names.keys(of: relationship, as: entity, in: store.model.compiled)
            let hasParts = store.model.compiled.entities[relationship.destination].compositeKey != nil
            guard let (place, statement) = Self.statement(about: relationship, in: record, keys, hasParts) else {
                continue
            }
            // An unknown kind says nothing of the link; null is of every kind.
            let destination = store.model.compiled.entities[relationship.destination]
            var kind = statement.isNull ? destination : store.entity(beside: relationship, in: record)
            // But the row that a key is made of is known by its id.
            if case .id = statement, store.model.compiled.isKeyPart(relationship) { kind = kind ?? destination }
            if let kind { found.append((place, relationship, statement, kind)) }
        }
        statements = found.sorted { $0.place.lexicographicallyPrecedes($1.place) }.map {
            ($0.relationship, $0.2, $0.3)
        }
    }

    /// An object beats an id key, an id key beats a null object.
    private static func statement(
        about relationship: CompiledRelationship, in record: JSONValue, _ keys: ReferenceNames.Keys, _ hasParts: Bool
    ) -> (place: [Int], Statement)? {
        var null: (place: [Int], Statement)?
        for key in keys.objects {
            guard let (place, value) = member(key, of: record) else { continue }
            if value == .null {
                null = null ?? (place, relationship.isToMany ? .nothing : .null)
            } else if let statement = statement(value, relationship, hasParts) {
                return (place, statement)
            }
        }
        for key in keys.ids {
            guard let (place, value) = member(key, of: record) else { continue }
            if let statement = idStatement(value, relationship, hasParts, areOnlyIDs: true) {
                return (place, statement)
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

    /// - Parameters:
    ///   - hasParts: Whether an id is a list of parts, or where only ids may stand also an object of them.
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

    /// The value below a dotted key, with its place in the document.
    private static func member(_ key: String, of record: JSONValue) -> (place: [Int], JSONValue)? {
        var value = record
        var place: [Int] = []
        for part in RemoteKeyPath.keys(key) {
            guard case .object(let members) = value,
                let index = members.lastIndex(where: { $0.key == part })
            else { return nil }
            value = members[index].value
            place.append(index)
            if value == .null { break }
        }
        return (place, value)
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
