import Foundation
public import GRDB
public import SyncCore
import SyncStore

extension DataStack {
    /// Creates a row from values by local name.
    ///
    /// ```swift
    /// let tag = try stack.insert("Tag", values: ["remoteID": 1, "name": "red"])
    /// let note = try stack.insert("Note", values: ["text": "Hello"], links: ["tags": [tag]])
    /// ```
    /// Missing values are those of the model's defaults. A row without a key gets one from ``newKey(for:)``.
    /// - Parameters:
    ///   - values: By attribute name; brought to the attribute's type as a sync does.
    ///   - links: By relationship name, on either end of a link; targets of a to-one way back move to the new row.
    /// - Returns: The row as stored.
    /// - Throws: ``SyncError`` `unknownEntity`, `abstractEntity`, `unknownAttribute`, `unknownRelationship`,
    ///   `valueDoesNotFit`, `primaryKeyMissing`, `keyTaken`, `rowNotFound` for a target that is gone, or
    ///   `storeFailure`. Nothing is written then.
    @discardableResult
    public func insert(
        _ entity: String, values: [String: JSONValue] = [:], links: [String: [SyncRecord]] = [:]
    ) throws -> SyncRecord {
        try writing { db in try self.insert(entity, values: values, links: links, in: db) }
    }

    /// Creates a row from values by local name.
    @discardableResult
    public func insert(
        _ entity: String, values: [String: JSONValue] = [:], links: [String: [SyncRecord]] = [:]
    ) async throws -> SyncRecord {
        try await writing { db in try self.insert(entity, values: values, links: links, in: db) }
    }

    /// Creates a row from stored values by local name, which must be of the attributes' types.
    @discardableResult
    public func insert(
        _ entity: String, storedValues: [String: StoredValue], links: [String: [SyncRecord]] = [:]
    ) throws -> SyncRecord {
        try writing { db in try self.insert(entity, storedValues: storedValues, links: links, in: db) }
    }

    /// A key for a new row that has none of the service's yet.
    ///
    /// Integers count up from the smallest there is; strings are `local-` and a UUID; UUIDs are just new. As an
    /// attribute a key below −2⁶² or with this prefix reads as nil.
    /// - Throws: ``SyncError`` `keylessEntity`, `primaryKeyMissing` if keys of this type cannot be made here,
    ///   `unknownEntity` or `storeFailure`.
    public func newKey(for entity: String) throws -> JSONValue {
        let compiled = try model.compiled.entity(named: entity)
        let key = try reading { db in try self.newKey(for: compiled, in: db) }
        return switch key.storage {
        case .int64(let value): JSONValue(value)
        case .string(let text): .string(text)
        case .null, .double, .blob: .null
        }
    }

    // MARK: In one write

    /// Creates a row from values by local name, inside ``write(_:)-(_)``.
    @discardableResult
    public func insert(
        _ entity: String, values: [String: JSONValue] = [:], links: [String: [SyncRecord]] = [:], in db: Database
    ) throws -> SyncRecord {
        try RowInserter(self, entity, db).insert(values, links)
    }

    package func insert(
        _ entity: String, storedValues: [String: StoredValue], links: [String: [SyncRecord]] = [:], in db: Database
    ) throws -> SyncRecord {
        try RowInserter(self, entity, db).insert(storedValues, links)
    }

    package func newKey(for entity: CompiledEntity, in db: Database) throws -> DatabaseValue {
        guard entity.compositeKey == nil else {
            throw SyncError(
                .primaryKeyMissing, "a key of several parts cannot be made here; give one", entity: entity.name)
        }
        guard let slot = entity.keySlot, let owner = entity.keyOwner else {
            throw SyncError(.keylessEntity, "the entity has no key attribute", entity: entity.name)
        }
        let attribute = model.compiled[entity.table].attributes[slot]
        switch attribute.type {
        case .integer:
            let column = SchemaSQL.quoted(attribute.columnName)
            let table = SchemaSQL.quoted(layout[entity.table].name)
            let stored = try Int64.fetchOne(
                db, sql: "SELECT max(\(column)) FROM \(table) WHERE \(column) < ?", arguments: [LocalKey.integerBound])
            let former = try lastFormerKey(of: entity, in: db)
            return localKeys.withLock { given in
                let last = [stored, former, given[owner]].compactMap(\.self).max()
                let next = last.map { $0 + 1 } ?? .min
                given[owner] = next
                return next
            }.databaseValue
        case .string:
            return LocalKey.text().databaseValue
        case .uuid:
            return UUID().uuidString.databaseValue
        case .date, .decimal, .double, .boolean, .url, .binary, .json, .transformable:
            throw SyncError(
                .primaryKeyMissing, "a key of type \(attribute.type.rawValue) cannot be made here; give one",
                entity: entity.name, path: attribute.name)
        }
    }

    // MARK: Errors

    func writing<T>(_ body: (Database) throws -> T) throws -> T {
        try StoreFailure.mapped(.storeFailure, "the store cannot be written") {
            try database.write { db in
                try watch.check(db)
                return try DeferredForeignKeys.during(db, isAdopted) { try body(db) }
            }
        }
    }

    func writing<T: Sendable>(_ body: @escaping @Sendable (Database) throws -> T) async throws -> T {
        let (watch, isAdopted) = (watch, isAdopted)
        return try await StoreFailure.mapped(.storeFailure, "the store cannot be written") {
            try await database.write { db in
                try watch.check(db)
                return try DeferredForeignKeys.during(db, isAdopted) { try body(db) }
            }
        }
    }
}
