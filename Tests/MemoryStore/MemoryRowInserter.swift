import Foundation
import SyncCore
import SyncStore

/// Inserts single rows into a store in memory, by the rules of `DataStack.insert`.
struct MemoryRowInserter {
    private let session: MemorySession
    private let entity: CompiledEntity
    private let hierarchy: EntityHierarchy

    private var model: CompiledModel { session.model }

    /// - Throws: ``SyncError`` `unknownEntity` or `abstractEntity`.
    init(_ session: MemorySession, _ name: String) throws {
        self.session = session
        entity = try session.model.entity(named: name)
        hierarchy = session.model[entity.table]
        guard !entity.isAbstract else {
            throw SyncError(.abstractEntity, "'\(name)' is abstract", entity: name)
        }
    }

    // MARK: Rows

    /// Inserts a row with values in JSON, and links it to stored rows.
    ///
    /// - Returns: The row key of the new row.
    func insert(_ values: [String: JSONValue], _ relationships: [String: [SyncRow]]) throws -> RowKey {
        var stored: [String: StoredValue] = [:]
        for (name, value) in values {
            let type = try attribute(name).type
            let converted = type == .transformable ? StoredValue.json(value) : Coercion.storedValue(value, as: type)
            guard let converted else {
                throw error(.typeMismatch, "the value of '\(name)' is not of type \(type.rawValue)", name)
            }
            stored[name] = converted
        }
        return try insert(stored, relationships)
    }

    /// Inserts a row with values that have the types of the attributes, and links it to stored rows.
    func insert(_ values: [String: StoredValue], _ relationships: [String: [SyncRow]] = [:]) throws -> RowKey {
        var row = MemoryRow(entity.id, in: hierarchy)
        for slot in entity.slots { row.values[slot] = try value(of: slot, in: values) }
        let key = try self.key(of: &row, relationships)
        if let unknown = relationships.keys.first(where: { entity.relationship(named: $0) == nil }) {
            throw error(.unknownRelationship, "unknown relationship '\(unknown)'", unknown)
        }
        session.contents.removeLinks(to: StoredRow(table: entity.table, key: key))
        try session.contents.insert(row, at: key, in: entity.table)
        for relationship in entity.relationships {
            if let targets = relationships[relationship.name] { try link(key, by: relationship, to: targets) }
        }
        for relationship in entity.relationships {
            removeReferences(replacedByLinksOf: key, relationship, to: relationships[relationship.name] ?? [])
        }
        return key
    }

    private func attribute(_ name: String) throws -> SyncModel.Attribute {
        guard let slot = entity.slotByName[name] else {
            throw error(.unknownAttribute, "unknown attribute '\(name)'", name)
        }
        return hierarchy.attributes[slot]
    }

    private func value(of slot: Int, in values: [String: StoredValue]) throws -> StoredValue {
        let attribute = hierarchy.attributes[slot]
        let limit = session.contents.capabilities.limit(of: attribute.type, isKey: entity.keySlots.contains(slot))
        if let limit, let value = values[attribute.name], !limit.admits(value) {
            throw error(.typeMismatch, "'\(attribute.name)' is not a \(attribute.type)\(limit.text)", attribute.name)
        }
        if entity.keySlots.contains(slot) { return values[attribute.name]?.afterWriting(as: attribute.type) ?? .null }
        let given = values[attribute.name].map { $0.afterWriting(as: attribute.type) } ?? attribute.initialValue
        if !given.isNull || attribute.isOptional { return given }
        guard !attribute.initialValue.isNull else {
            throw error(.typeMismatch, "a value for '\(attribute.name)' is required", attribute.name)
        }
        return attribute.initialValue
    }

    private func error(_ code: SyncError.Code, _ message: String, _ path: String) -> SyncError {
        SyncError(code, message, entity: entity.name, path: path)
    }

    // MARK: Keys

    /// Returns the row key of a new row. Sets its key attribute to a temporary key if it has no value.
    ///
    /// - Throws: ``SyncError`` `duplicateKey` or `primaryKeyMissing`.
    private func key(of row: inout MemoryRow, _ relationships: [String: [SyncRow]]) throws -> RowKey {
        let surrogate = RowKey.integer(session.contents.nextKey(of: entity.table))
        guard let slot = entity.keySlot else {
            try checkCompositeKey(of: row, relationships)
            return surrogate
        }
        if let key = RowKey(row.values[slot]) {
            try session.contents.checkIsFree(key, of: entity)
        } else {
            row.values[slot] = try temporaryKey(slot)
        }
        guard hierarchy.keySlot != nil, let key = RowKey(row.values[slot]) else { return surrogate }
        return key
    }

    private func temporaryKey(_ slot: Int) throws -> StoredValue {
        switch hierarchy.attributes[slot].type {
        case .integer:
            let taken = session.contents.rowKeys(of: entity).keys.compactMap { key -> Int64? in
                guard case .integer(let number) = key, key.isLocal else { return nil }
                return number
            }
            return .integer(taken.max().map { $0 + 1 } ?? .min)
        case .string: return .string(TemporaryKey.text())
        case .uuid: return .uuid(UUID())
        default: throw error(.primaryKeyMissing, "a key cannot be generated", hierarchy.attributes[slot].name)
        }
    }

    private func checkCompositeKey(of row: MemoryRow, _ relationships: [String: [SyncRow]]) throws {
        guard let key = entity.compositeKey else { return }
        let parts = try key.parts.map { part -> PrimaryKeyValue in
            switch part {
            case .attribute(let slot):
                let attribute = hierarchy.attributes[slot]
                guard let value = RowKey(row.values[slot]) else {
                    throw error(.primaryKeyMissing, "a new row requires '\(attribute.name)'", attribute.name)
                }
                return value.recordKey(.single(attribute.type))
            case .relationship(let index):
                let name = entity.relationships[index].name
                guard let target = relationships[name]?.first else {
                    throw error(.primaryKeyMissing, "a new row requires '\(name)'", name)
                }
                return target.key
            }
        }
        let type = model.keyType(of: entity.id)
        let primaryKey = RowKey(.composite(parts), type)
        guard session.contents.capabilities.keeps(primaryKey, type) else {
            throw SyncError(.typeMismatch, "the key is too long for the store", entity: entity.name)
        }
        try session.contents.checkIsFree(primaryKey, of: entity)
    }

    // MARK: Links

    private func link(_ row: RowKey, by relationship: CompiledRelationship, to targets: [SyncRow]) throws {
        guard relationship.isToMany || targets.count <= 1 else {
            throw error(.typeMismatch, "a to-one relationship takes one row", relationship.name)
        }
        for target in targets {
            guard model.entity(target.type.id, isKindOf: relationship.destination) else {
                throw error(.typeMismatch, "a row is of entity \(target.entity)", relationship.name)
            }
            guard session.contents[StoredRow(table: target.type.table, key: target.rowKey)] != nil else {
                throw error(.rowNotFound, "a row to link is no longer stored", relationship.name)
            }
        }
        try RowLinker(session, model).link(row, by: relationship, to: targets.map(\.rowKey))
    }

    private func removeReferences(
        replacedByLinksOf row: RowKey, _ relationship: CompiledRelationship, to targets: [SyncRow]
    ) {
        guard !targets.isEmpty else { return }
        let link = model[relationship.link]
        removeReferences(ofAndTo: StoredRow(table: entity.table, key: row), link, relationship.end)
        for target in targets {
            let row = StoredRow(table: target.type.table, key: target.rowKey)
            removeReferences(ofAndTo: row, link, relationship.end.other)
        }
    }

    /// Deletes the pending references of and to a row that its new link at an end replaces. Does nothing if the row can
    /// have several links there.
    private func removeReferences(
        ofAndTo row: StoredRow, _ link: CompiledAssociation, _ end: CompiledAssociation.End
    ) {
        guard !link.side(end).isToMany, let stored = session.contents[row] else { return }
        let key = session.contents.primaryKey(of: row)
        for reference in session.contents.pendingReferences.keys {
            let relationship = model.entities[reference.ownerEntity].relationship(named: reference.relationship)
            guard let relationship, relationship.link == link.id else { continue }
            let isOwner = reference.owner == row && (link.isSymmetric || relationship.end == end)
            let isTarget =
                reference.target == key && model.entity(stored.entity, isKindOf: reference.targetEntity)
                && (link.isSymmetric || relationship.end.other == end)
            if isOwner || isTarget { session.contents.removePending(reference) }
        }
    }
}

extension MemoryContents {
    /// - Throws: ``SyncError`` `duplicateKey` if a row has the key.
    func checkIsFree(_ key: RowKey, of entity: CompiledEntity) throws {
        guard rowKey(key, of: entity) == nil else {
            throw SyncError(.duplicateKey, "another row has this key", entity: entity.name)
        }
    }
}
