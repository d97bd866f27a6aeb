import Foundation
public import GRDB
public import SyncCore
import SyncStore

extension DataStack {
    /// Inserts a row with the given values and related rows.
    @discardableResult
    package func insert(
        _ entity: String, values: [String: JSONValue] = [:], relationships: [String: [SyncRow]] = [:]
    ) throws -> SyncRow {
        try writing { db in try self.insert(entity, values: values, relationships: relationships, in: db) }
    }

    /// Inserts a row with the given values and related rows.
    ///
    /// ```swift
    /// let tag = try await stack.insert("Tag", values: ["remoteID": 1, "name": "red"])
    /// let note = try await stack.insert("Note", values: ["text": "Hello"], relationships: ["tags": [tag]])
    /// ```
    /// An attribute without a value gets the default value in the model. If an integer or string primary key has no
    /// value, the row gets a temporary key. If a UUID primary key has no value, the row gets a random UUID. Primary
    /// keys of other types, and all parts of a composite key, require a value.
    ///
    /// - Parameters:
    ///   - values: The values by attribute name. The call converts each value to the type of the attribute, without
    ///     transformers and formats.
    ///   - relationships: The related rows by relationship name. If the inverse is to-one, a related row loses its
    ///     previous link. Pending references that would replace a new link are deleted.
    /// - Returns: The stored row.
    /// - Throws: ``SyncError`` `unknownEntity`, `abstractEntity`, `unknownAttribute`, `unknownRelationship` or
    ///   `databaseError`. `typeMismatch` for a value or related row that does not fit the model, or for a missing
    ///   required value. `primaryKeyMissing` for a missing key that the call cannot generate. `duplicateKey` if another
    ///   row has the key. `rowNotFound` for a related row that is no longer stored. If the call throws an error, it
    ///   writes nothing.
    @discardableResult
    public func insert(
        _ entity: String, values: [String: JSONValue] = [:], relationships: [String: [SyncRow]] = [:]
    ) async throws -> SyncRow {
        try await writing { db in try self.insert(entity, values: values, relationships: relationships, in: db) }
    }

    /// Inserts a row with stored values by attribute name. The values must have the types of the attributes.
    @discardableResult
    package func insert(
        _ entity: String, storedValues: [String: StoredValue], relationships: [String: [SyncRow]] = [:]
    ) throws -> SyncRow {
        try writing { db in try self.insert(entity, storedValues: storedValues, relationships: relationships, in: db) }
    }

    /// Returns a temporary key for a new row that has no remote ID.
    ///
    /// Integer keys count up from `Int64.min`. String keys consist of `local-` and a UUID. An integer below −2⁶², or a
    /// string of this form, is a temporary key. The key attribute of a row with a temporary key is nil. UUID keys are
    /// random and do not count as temporary.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`, `keylessEntity` or `databaseError`. `primaryKeyMissing` if the primary
    ///   key is composite, or if its type is not integer, string or UUID.
    package func makeTemporaryKey(for entity: String) throws -> JSONValue {
        let compiled = try model.compiled.entity(named: entity)
        let key = try reading { db in try self.makeTemporaryKey(for: compiled, in: db) }
        return switch key.storage {
        case .int64(let value): JSONValue(value)
        case .string(let text): .string(text)
        case .null, .double, .blob: .null
        }
    }

    // MARK: In one write

    /// Inserts a row with the given values and related rows, inside ``write(_:)-eoq9``.
    ///
    /// - Throws: The errors of ``insert(_:values:relationships:)``. Errors of SQLite are thrown as GRDB's
    ///   `DatabaseError`.
    @discardableResult
    public func insert(
        _ entity: String, values: [String: JSONValue] = [:], relationships: [String: [SyncRow]] = [:], in db: Database
    ) throws -> SyncRow {
        try savepoint(db) { try RowInserter(self, entity, db).insert(values, relationships) }
    }

    package func insert(
        _ entity: String, storedValues: [String: StoredValue], relationships: [String: [SyncRow]] = [:], in db: Database
    ) throws -> SyncRow {
        try RowInserter(self, entity, db).insert(storedValues, relationships)
    }

    package func makeTemporaryKey(for entity: CompiledEntity, in db: Database) throws -> DatabaseValue {
        guard entity.compositeKey == nil else {
            throw SyncError(
                .primaryKeyMissing, "a composite key cannot be generated; pass one", entity: entity.name)
        }
        guard let slot = entity.keySlot, let owner = entity.keyOwner else {
            throw SyncError(.keylessEntity, "'\(entity.name)' has no primary key", entity: entity.name)
        }
        let attribute = model.compiled[entity.table].attributes[slot]
        switch attribute.type {
        case .integer:
            let column = SchemaSQL.quoted(attribute.columnName)
            let table = SchemaSQL.quoted(layout[entity.table].name)
            let stored = try Int64.fetchOne(
                db, sql: "SELECT max(\(column)) FROM \(table) WHERE \(column) < ?",
                arguments: [TemporaryKey.integerBound])
            let former = try lastFormerKey(of: entity, in: db)
            return localKeys.withLock { given in
                let last = [stored, former, given[owner]].compactMap(\.self).max()
                let next = last.map { $0 + 1 } ?? .min
                given[owner] = next
                return next
            }.databaseValue
        case .string:
            return try TemporaryKey.text(db.randomUUID()).databaseValue
        case .uuid:
            return try db.randomUUID().uuidString.databaseValue
        case .date, .decimal, .double, .boolean, .url, .binary, .json, .transformable:
            throw SyncError(
                .primaryKeyMissing, "a key of type \(attribute.type.rawValue) cannot be generated; pass one",
                entity: entity.name, path: attribute.name)
        }
    }

    // MARK: Errors

    func writing<T>(_ body: (Database) throws -> T) throws -> T {
        try DatabaseErrorMapper.mapped(.databaseError, "cannot write to the store") {
            try database.write { db in
                try watch.check(db)
                return try DeferredForeignKeys.during(db, isAppDatabase) { try body(db) }
            }
        }
    }

    func writing<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        let (watch, isAppDatabase) = (watch, isAppDatabase)
        return try await DatabaseErrorMapper.mapped(.databaseError, "cannot write to the store") {
            try await database.write { db in
                try watch.check(db)
                return try DeferredForeignKeys.during(db, isAppDatabase) { try body(db) }
            }
        }
    }
}

/// Inserts one row of an entity.
struct RowInserter {
    private let stack: DataStack
    private let entity: CompiledEntity
    private let hierarchy: EntityHierarchy
    private let session: SQLiteSession
    private let db: Database

    /// - Throws: ``SyncError`` `unknownEntity` or `abstractEntity`; the errors of ``StoreMonitor/check(_:isOwn:)``.
    init(_ stack: DataStack, _ name: String, _ db: Database) throws {
        try stack.checkTables(db)
        let entity = try stack.model.compiled.entity(named: name)
        guard !entity.isAbstract else {
            throw SyncError(
                .abstractEntity, "'\(name)' is abstract; insert a row of one of its subentities", entity: name)
        }
        self.stack = stack
        self.entity = entity
        self.db = db
        hierarchy = stack.model.compiled[entity.table]
        session = SQLiteSession(StoreMonitor.unwatched(db), stack.layout)
    }

    func insert(_ values: [String: JSONValue], _ relationships: [String: [SyncRow]]) throws -> SyncRow {
        var stored: [String: StoredValue] = [:]
        for (name, value) in values {
            let type = try attribute(name).type
            if type == .transformable {
                stored[name] = .json(value)
            } else if let value = Coercion.storedValue(value, as: type) {
                stored[name] = value
            } else {
                throw misfit(name, type)
            }
        }
        return try insert(stored, relationships)
    }

    func insert(_ values: [String: StoredValue], _ relationships: [String: [SyncRow]]) throws -> SyncRow {
        for (name, value) in values {
            let type = try attribute(name).type
            guard ColumnValue.fits(value, type) else { throw misfit(name, type) }
        }
        var slots = try entity.slots.map { slot in (slot: slot, value: try value(of: slot, in: values)) }
        if let keySlot = entity.keySlot, let position = slots.firstIndex(where: { $0.slot == keySlot }) {
            if slots[position].value.isNull {
                slots[position].value = try stack.makeTemporaryKey(for: entity, in: db)
            } else if let key = RowKey(slots[position].value) {
                try stack.checkIsFree(key, of: entity, in: db)
            }
        }
        try checkCompositeKey(values, relationships)
        let rowKey = try session.insert(slots, of: entity)
        try DanglingLinks(layout: stack.layout, db: db).remove(linksTo: rowKey, in: hierarchy.id)
        for relationship in entity.relationships {
            if let targets = relationships[relationship.name] { try link(rowKey, by: relationship, to: targets) }
        }
        if let unknown = relationships.keys.first(where: { entity.relationship(named: $0) == nil }) {
            throw SyncError.unknownRelationship(unknown, of: entity)
        }
        let row = try stored(rowKey)
        for relationship in entity.relationships {
            guard let targets = relationships[relationship.name], !targets.isEmpty else { continue }
            try session.deletePendingReferences(replacedByLinksOf: row, relationship, to: targets)
        }
        return row
    }

    /// Checks that a composite key is complete and that no row has it.
    private func checkCompositeKey(_ values: [String: StoredValue], _ relationships: [String: [SyncRow]]) throws {
        guard let key = entity.compositeKey else { return }
        let parts = try key.parts.map { part -> PrimaryKeyValue in
            let (name, part): (String, PrimaryKeyValue?) =
                switch part {
                case .attribute(let slot): (hierarchy.attributes[slot].name, recordKey(slot, values))
                case .relationship(let index):
                    (entity.relationships[index].name, relationships[entity.relationships[index].name]?.first?.key)
                }
            guard let part else {
                throw SyncError(
                    .primaryKeyMissing, "a new row requires '\(name)', a part of its key", entity: entity.name,
                    path: name)
            }
            return part
        }
        try stack.checkIsFree(
            RowKey(.composite(parts), stack.model.compiled.keyType(of: entity.id)), of: entity, in: db)
    }

    private func recordKey(_ slot: Int, _ values: [String: StoredValue]) -> PrimaryKeyValue? {
        let attribute = hierarchy.attributes[slot]
        guard let value = values[attribute.name] else { return nil }
        return ColumnValue.recordKey(ColumnValue.databaseValue(value, as: attribute.type), as: attribute.type)
    }

    // MARK: Values

    private func attribute(_ name: String) throws -> SyncModel.Attribute {
        guard let slot = entity.slotByName[name] else { throw SyncError.unknownAttribute(name, of: entity) }
        return hierarchy.attributes[slot]
    }

    private func value(of slot: Int, in values: [String: StoredValue]) throws -> DatabaseValue {
        let attribute = hierarchy.attributes[slot]
        let isKey = entity.keySlots.contains(slot)
        let given = values[attribute.name]
        let fallback = isKey ? nil : attribute.defaultValue
        var value = ColumnValue.databaseValue(given ?? fallback ?? .null, as: attribute.type)
        guard value.isNull, !attribute.isOptional, !isKey else { return value }
        value = ColumnValue.databaseValue(fallback ?? .null, as: attribute.type)
        guard !value.isNull else {
            throw SyncError(
                .typeMismatch, "a value for '\(attribute.name)' is required", entity: entity.name,
                path: attribute.name)
        }
        return value
    }

    private func misfit(_ name: String, _ type: AttributeType) -> SyncError {
        SyncError(
            .typeMismatch, "the value of '\(name)' is not of type \(type.rawValue)", entity: entity.name, path: name)
    }

    // MARK: Links

    private func link(_ row: DatabaseValue, by relationship: CompiledRelationship, to targets: [SyncRow]) throws {
        guard relationship.isToMany || targets.count <= 1 else {
            throw misfit("a to-one relationship takes one row, not \(targets.count)", relationship)
        }
        for target in targets { try check(target, relationship) }
        guard let row = RowKey(row) else { return }
        try RowLinker(session, stack.model.compiled)
            .link(row, by: relationship, to: targets.map(\.rowKey))
    }

    private func check(_ target: SyncRow, _ relationship: CompiledRelationship) throws {
        let model = stack.model.compiled
        guard model.entity(target.type.id, isKindOf: relationship.destination) else {
            let expected = model.entities[relationship.destination].name
            throw misfit("the rows must be of entity \(expected), not \(target.entity)", relationship)
        }
        let stored = try session.identities(of: [target.rowKey], in: target.type.table)[0]
        guard stored != nil else {
            throw SyncError(
                .rowNotFound, "a row to link is no longer stored", entity: target.entity, path: relationship.name)
        }
    }

    private func misfit(_ message: String, _ relationship: CompiledRelationship) -> SyncError {
        SyncError(.typeMismatch, message, entity: entity.name, path: relationship.name)
    }

    // MARK: Row

    private func stored(_ rowKey: DatabaseValue) throws -> SyncRow {
        guard let record = try RecordSQL(entity, stack.layout).fetch(db, rowKey: rowKey) else {
            throw SyncError(.databaseError, "the new row was not stored", entity: entity.name)
        }
        return record
    }
}
