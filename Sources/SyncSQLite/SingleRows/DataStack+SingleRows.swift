public import GRDB
public import SyncCore
import SyncStore

extension DataStack {
    /// Inserts a row from a JSON record, or updates the stored row with the same primary key.
    ///
    /// The call also syncs nested records. If a nested list of a one-to-many relationship omits a child, the call
    /// deletes the child. A child with a temporary key or pending changes stays. Rows that are not related to the
    /// record stay unchanged.
    ///
    /// ```swift
    /// try await stack.write { db in
    ///     let user = try stack.insertOrUpdate("User", with: ["id": 6, "name": "Ann"], in: db).row
    /// }
    /// ```
    /// - Returns: The stored row and the changes.
    /// - Throws: ``SyncError`` `recordExpected` if `record` is not a JSON object. `primaryKeyMissing` if the record has
    ///   no readable key. `typeMismatch` if the record lacks a value that a new row requires. `entityMismatch` if a row
    ///   of another entity has the key. `deletionDenied` or `deletionLimitExceeded` if a delete rule or the deletion
    ///   limit forbids a deletion. `unknownEntity`, `abstractEntity` or `keylessEntity`. Errors of SQLite may be thrown
    ///   as GRDB's `DatabaseError`. If the call throws an error, it writes nothing.
    @discardableResult
    public func insertOrUpdate(
        _ entity: String, with record: JSONValue, options: SyncOptions = SyncOptions(), in db: Database
    ) throws -> (row: SyncRow, result: SyncResult) {
        try syncingRow(options, in: db) { try $0.insertOrUpdate(entity, with: record) }
    }

    /// Runs a write of a single row in a savepoint. If it throws an error, it is rolled back.
    ///
    /// - Parameter isOwn: Whether the transaction belongs to the stack.
    private func syncingRow<Result>(
        _ options: SyncOptions, in db: Database, isOwn: Bool = false, _ body: (SingleRowSync) throws -> Result
    ) throws -> Result {
        try savepoint(db) {
            let session = try self.session(watch.visit(db, isOwn: isOwn), SyncRequest(options: options))
            return try body(SingleRowSync(session, SQLiteReader(db, self), model, capabilities))
        }
    }

    /// Runs writes of a single row in a savepoint with deferred foreign keys, and returns their result. If they throw an
    /// error, they are rolled back.
    func savepoint<Result>(_ db: Database, _ body: () throws -> Result) throws -> Result {
        try DeferredForeignKeys.during(db, isAppDatabase) { try db.savepoint(body) }
    }
}

// MARK: - Update

extension DataStack {
    /// Updates a row with the attributes and relationships that a JSON record contains.
    ///
    /// An attribute or relationship that is absent from the record stays unchanged. Null clears an optional attribute
    /// or a relationship. Null for a part of a composite key is a diagnostic, and the part stays unchanged. Nested
    /// records are synced as in ``insertOrUpdate(_:with:options:in:)``. If the record contains a different primary key,
    /// the call changes the key of the row and the foreign keys that reference the row. Pending references to the new
    /// key are then resolved, and replace links that the row has.
    ///
    /// - Parameters:
    ///   - id: The primary key, which may be a temporary key. The call converts the key to the type of the key
    ///     attribute. A composite key is an array of its parts in the order of the model.
    ///   - values: A JSON object, which need not contain the primary key.
    /// - Returns: The stored row and the changes; nil if no row has the key.
    /// - Throws: ``SyncError`` `recordExpected` if `values` is not a JSON object. `duplicateKey` if another row has the
    ///   new primary key. `rowNotFound` if the new primary key includes the key of a related row that is not stored.
    ///   `deletionDenied` or `deletionLimitExceeded` if a delete rule or the deletion limit forbids a deletion.
    ///   `unknownEntity` or `keylessEntity`. Errors of SQLite may be thrown as GRDB's `DatabaseError`. If the call
    ///   throws an error, it writes nothing.
    @discardableResult
    public func update(
        _ entity: String, id: JSONValue, with values: JSONValue, options: SyncOptions = SyncOptions(), in db: Database
    ) throws -> (row: SyncRow, result: SyncResult)? {
        try syncingRow(options, in: db) { try $0.update(entity, id: id, with: values) }
    }
}

// MARK: - Attributes

extension DataStack {
    /// Sets the attributes of one row from a JSON record, by the rules of a sync. The relationships of the row stay
    /// unchanged.
    ///
    /// - Parameter predicate: The condition that selects the row; nil to insert a new row with the defaults of the
    ///   model.
    /// - Returns: The stored row, and a diagnostic for each value that did not fit.
    /// - Throws: ``SyncError`` `rowNotFound` unless exactly one row matches. `duplicateKey`, `recordExpected`, and the
    ///   errors of ``insert(_:storedValues:relationships:)``. If the call throws an error, it writes nothing.
    @discardableResult
    package func updateAttributes(
        _ entity: String, with record: JSONValue, where predicate: RowPredicate? = nil
    ) throws -> (row: SyncRow, diagnostics: [SyncDiagnostic]) {
        try writing { db in try self.updateAttributes(entity, with: record, where: predicate, in: db) }
    }

    /// Sets the attributes of one row from a JSON record.
    @discardableResult
    package func updateAttributes(
        _ entity: String, with record: JSONValue, where predicate: RowPredicate? = nil
    ) async throws -> (row: SyncRow, diagnostics: [SyncDiagnostic]) {
        try await writing { db in try self.updateAttributes(entity, with: record, where: predicate, in: db) }
    }

    /// Sets the attributes of one row from a JSON record, inside ``write(_:)-eoq9``.
    @discardableResult
    package func updateAttributes(
        _ entity: String, with record: JSONValue, where predicate: RowPredicate? = nil, in db: Database
    ) throws -> (row: SyncRow, diagnostics: [SyncDiagnostic]) {
        guard let predicate else {
            let mapped = try AttributeMapper(record, of: model.compiled.entity(named: entity), in: model)
            return (try insert(entity, storedValues: mapped.values, in: db), mapped.diagnostics)
        }
        let rows = try fetch(entity, where: predicate, limit: 2, in: db)
        guard rows.count == 1, let row = rows.first else {
            throw SyncError(
                .rowNotFound, "\(rows.isEmpty ? "no row matches" : "several rows match"); exactly one must match",
                entity: entity)
        }
        let mapped = try AttributeMapper(record, of: row.type, in: model)
        let key = try write(mapped.values, to: row, row.type, db)
        guard let filled = try self.row(row.type, key, db) else {
            throw SyncError(.rowNotFound, "the row is no longer stored", entity: entity)
        }
        return (filled, mapped.diagnostics)
    }

    private func row(_ entity: CompiledEntity, _ rowKey: RowKey, _ db: Database) throws -> SyncRow? {
        try RecordSQL(entity, layout).fetch(db, rowKey: rowKey.databaseValue)
    }

    /// Writes the values that differ. Returns the row key afterwards.
    private func write(
        _ values: [String: StoredValue], to row: SyncRow, _ entity: CompiledEntity, _ db: Database
    ) throws -> RowKey {
        let hierarchy = model.compiled[entity.table]
        let table = layout[entity.table]
        let keyNames = Set(entity.keySlots.map { hierarchy.attributes[$0].name })
        var names: [String] = []
        var arguments: [DatabaseValue] = []
        var key = row.rowKey
        let given = values.filter { keyNames.contains($0.key) && !$0.value.isNull && row[$0.key] != $0.value }
        if !given.isEmpty {
            let record = JSONValue.object(given.map { .init($0.key, $0.value.jsonForm) })
            let current = RowKey(row.key, model.compiled.keyType(of: entity.id))
            let changed = model.compiled.key(of: entity, in: record, else: current)
            try checkIsFree(changed, of: entity, in: db)
            key = try KeyUpdate(layout, key, entity, db).rekey(to: changed)
        }
        for (name, value) in values.sorted(by: { $0.key < $1.key })
        where row[name] != value && !keyNames.contains(name) {
            guard let slot = entity.slotByName[name] else { continue }
            let stored = ColumnValue.databaseValue(value, as: hierarchy.attributes[slot].type)
            names.append("\(table.columns[slot].quoted) = ?")
            arguments.append(stored)
        }
        guard !names.isEmpty else { return key }
        try db.run(
            "UPDATE \(table.name.quoted) SET \(names.joined(separator: ", ")) WHERE \(table.keyColumn.quoted) = ?",
            list: arguments + [key.databaseValue])
        return key
    }
}

// MARK: - Delete

extension DataStack {
    /// Deletes a row by its key, and applies the delete rules of the model. If no row has the key, nothing changes.
    ///
    /// - Parameter id: The primary key, which the call converts to the type of the key attribute. A composite key is an
    ///   array of its parts in the order of the model.
    /// - Returns: The changes, which are the deleted rows and the rows that lost a link.
    /// - Throws: ``SyncError`` `deletionDenied` if the delete rule `deny` protects the row. `unknownEntity` or
    ///   `keylessEntity`. Errors of SQLite may be thrown as GRDB's `DatabaseError`. If the call throws an error, it
    ///   writes nothing.
    @discardableResult
    public func delete(_ entity: String, id: JSONValue, in db: Database) throws -> SyncResult {
        try delete(entity, id: id, in: db, isOwn: false)
    }

    /// - Parameter isOwn: Whether the transaction belongs to the stack.
    func delete(
        _ entity: String, id: JSONValue, in db: Database, isOwn: Bool
    ) throws -> SyncResult {
        try syncingRow(SyncOptions(deletionLimit: nil), in: db, isOwn: isOwn) { try $0.delete(entity, id: id) }
    }
}

// MARK: - Keys

/// Changes the key of a stored row. Foreign keys that reference the row are updated by `ON UPDATE CASCADE`, or by
/// statements in existing tables.
struct KeyUpdate {
    private let layout: StoreLayout
    private let row: RowKey
    private let entity: CompiledEntity
    private let db: Database

    init(_ layout: StoreLayout, _ row: RowKey, _ entity: CompiledEntity, _ db: Database) {
        self.layout = layout
        self.row = row
        self.entity = entity
        self.db = db
    }

    /// Changes the key of the row to a key that no row has. Returns the row key afterwards: the new key, or the
    /// unchanged surrogate key.
    ///
    /// - Throws: ``SyncError`` `rowNotFound` if the key references a row that is not stored.
    @discardableResult
    func rekey(to key: RowKey) throws -> RowKey {
        let hierarchy = layout.model[entity.table]
        guard let columns = KeyColumns(entity, layout) else { return row }
        let isRowKey = hierarchy.keySlot != nil
        if isRowKey {
            try DanglingLinks(layout: layout, db: db).remove(linksTo: key.databaseValue, in: hierarchy.id)
        }
        let values = try columns.values(of: key, entity: entity.name, in: db)
        let bound = values.map(ColumnValue.bound)
        let set = zip(columns.columns, bound).map { "\($0.quoted) = \($1.sql)" }.joined(separator: ", ")
        let references = isRowKey ? try AppReferences(to: columns.table, layout, in: db) : nil
        try DeferredForeignKeys.during(db, references?.isEmpty == false) {
            try db.run(
                "UPDATE \(columns.table.name.quoted) SET \(set) WHERE \(columns.table.keyColumn.quoted) = ?",
                list: bound.map(\.value) + [row.databaseValue])
            try references?.replace(row.databaseValue, by: key.databaseValue)
        }
        guard isRowKey else { return row }
        if layout.hasExistingTables { try updateReferences(to: key.databaseValue, in: hierarchy) }
        try renameOwner(to: key.databaseValue, in: hierarchy)
        try notifyReferring(to: hierarchy)
        return key
    }

    private func updateReferences(to key: DatabaseValue, in hierarchy: EntityHierarchy) throws {
        for link in layout.model.links {
            for end in [CompiledAssociation.End.first, .second] where link.side(end).table == hierarchy.id {
                // The foreign key column at the first end references only rows at the second end.
                if link.storage == .foreignKey, end == .first { continue }
                let names = LinkTable(link, end, layout)
                try db.run(
                    "UPDATE \(names.table) SET \(names.mine) = ? WHERE \(names.mine) = ?", key, row.databaseValue)
            }
        }
    }

    /// Moves the pending references of the row to its new key.
    private func renameOwner(to key: DatabaseValue, in hierarchy: EntityHierarchy) throws {
        let names = hierarchy.entities.map { layout.model.entities[$0].name.literal }.joined(separator: ", ")
        try db.run(
            "UPDATE sync_pending SET owner_key = ? WHERE owner_entity IN (\(names)) AND owner_key = ?", key,
            row.databaseValue)
    }

    /// Notifies observers of the tables whose foreign keys follow the new key.
    private func notifyReferring(to hierarchy: EntityHierarchy) throws {
        var region = DatabaseRegion()
        for link in layout.model.links
        where link.first.table == hierarchy.id || link.second.table == hierarchy.id {
            switch layout[link.id] {
            case .foreignKey(let table, _, _) where link.second.table == hierarchy.id:
                region = region.union(try Table(table).databaseRegion(db))
            case .foreignKey: break
            case .joinTable(let table, _, _, _, _): region = region.union(try Table(table).databaseRegion(db))
            }
        }
        if !region.isEmpty { try db.notifyChanges(in: region) }
    }
}

extension DataStack {
    /// Throws `duplicateKey` if a row has the key and its entity has the same ``CompiledEntity/keyOwner``.
    func checkIsFree(_ key: RowKey, of entity: CompiledEntity, in db: Database) throws {
        guard let columns = KeyColumns(entity, layout), let values = columns.bound(key) else { return }
        let condition = columns.condition(of: columns.table.name, equals: values.map(\.sql))
        let sql = "SELECT 1 FROM \(columns.table.name.quoted) WHERE \(condition)"
        guard try Row.fetchOne(db, sql: sql, arguments: StatementArguments(values.map(\.value))) != nil else { return }
        throw model.compiled.duplicateKey(of: entity)
    }
}
