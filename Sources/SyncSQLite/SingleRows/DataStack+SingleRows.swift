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
        try insertOrUpdate(entity, with: record, options, in: db, isOwn: false)
    }

    /// - Parameter isOwn: Whether the transaction belongs to the stack.
    private func insertOrUpdate(
        _ entity: String, with record: JSONValue, _ options: SyncOptions, in db: Database, isOwn: Bool
    ) throws -> (row: SyncRow, result: SyncResult) {
        let builder = try singleRowGraphBuilder(entity, options)
        return try sync(singleRecord: try builder.map(singleRecord: record), options, in: db, isOwn: isOwn)
    }

    /// Inserts a row from a JSON record, or updates the stored row with the same primary key, in one transaction.
    @discardableResult
    package func insertOrUpdate(
        _ entity: String, with record: JSONValue, options: SyncOptions = SyncOptions()
    ) async throws -> (row: SyncRow, result: SyncResult) {
        let stored = try await writing { db in
            try self.insertOrUpdate(entity, with: record, options, in: db, isOwn: true)
        }
        feed.publish(stored.result)
        return stored
    }

    // MARK: Graphs of one record

    func singleRowGraphBuilder(_ entity: String, _ options: SyncOptions) throws -> PayloadGraphBuilder {
        try PayloadGraphBuilder(
            inEntity: entity, of: model, parent: nil,
            operations: .all.subtracting(.delete), options: options)
    }

    /// Applies a payload graph whose only root record has a key. If the sync rejects that record, everything is rolled
    /// back.
    ///
    /// - Parameter rekeyed: The row of the record, if it has just been given another key.
    func sync(
        singleRecord payload: MappedPayload, _ options: SyncOptions, in db: Database, isOwn: Bool,
        rekeyed: StoredRow? = nil
    ) throws -> (row: SyncRow, result: SyncResult) {
        let plan = payload.plan
        let entity = model.compiled.entities[plan.entity]
        guard let key = plan.rootKey else {
            throw SyncError(
                .primaryKeyMissing, plan.diagnostics.first?.message ?? "the record has no readable key",
                entity: entity.name, path: plan.diagnostics.first?.path)
        }
        return try savepoint(db) {
            var request = SyncRequest(options: options)
            request.rekeyedRow = rekeyed
            let result = try session(watch.visit(db, isOwn: isOwn), request).apply(payload)
            guard result.root.inserted + result.root.matched > 0, let row = try fetch(entity, key: key, in: db) else {
                throw rejection(of: entity, result)
            }
            return (row, result)
        }
    }

    /// Runs writes of a single row in a savepoint with deferred foreign keys, and returns their result. If they throw an
    /// error, they are rolled back.
    func savepoint<Result>(_ db: Database, _ body: () throws -> Result) throws -> Result {
        try DeferredForeignKeys.during(db, hasExistingTables) { try db.savepoint(body) }
    }

    /// Returns the error for a record that a sync rejected, with the diagnostic that explains it.
    func rejection(of entity: CompiledEntity, _ result: SyncResult) -> SyncError {
        let reason =
            result.diagnostics.first { $0.kind == .missingRequiredValue || $0.kind == .entityMismatch }
            ?? result.diagnostics.first
        let code: SyncError.Code = reason?.kind == .entityMismatch ? .entityMismatch : .typeMismatch
        return SyncError(
            code, reason?.message ?? "the record was rejected: after the sync, no row has its key", entity: entity.name,
            path: reason?.path ?? "[0]")
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
        try update(entity, id: id, with: values, options, in: db, isOwn: false)
    }

    /// - Parameter isOwn: Whether the transaction belongs to the stack.
    private func update(
        _ entity: String, id: JSONValue, with values: JSONValue, _ options: SyncOptions, in db: Database,
        isOwn: Bool
    ) throws -> (row: SyncRow, result: SyncResult)? {
        guard let row = try fetch(entity, id: id, in: db), row.type.isKeyed else { return nil }
        let current = RowKey(row.key, model.compiled.keyType(of: row.type.id))
        let key = try model.key(of: row.type, in: values, else: current)
        let payload = try singleRowGraphBuilder(row.entity, options).map(singleRecord: values, key: key)
        var updated = try savepoint(db) {
            guard key != current else { return try sync(singleRecord: payload, options, in: db, isOwn: isOwn) }
            try checkIsFree(key, of: row.type, in: db)
            let rowKey = try KeyUpdate(layout, row.rowKey, row.type, db).rekey(to: key)
            return try sync(
                singleRecord: payload, options, in: db, isOwn: isOwn,
                rekeyed: StoredRow(table: row.type.table, key: rowKey))
        }
        if key != current {
            for (name, change) in changes(of: row.type, row.key, updated.row.key) {
                updated.result.addUpdate(
                    of: name, entity: row.entity, key: updated.row.key, values: options.collectsValues ? change : nil)
            }
        }
        return updated
    }

    /// Returns the changed parts of a key.
    private func changes(
        of entity: CompiledEntity, _ old: PrimaryKeyValue, _ new: PrimaryKeyValue
    ) -> [(name: String, change: SyncResult.ValueChange)] {
        let names = model.compiled.keyNames(of: entity)
        guard case .composite(let before) = old, case .composite(let after) = new else {
            return names.prefix(1).map { ($0, SyncResult.ValueChange(old: old.json, new: new.json)) }
        }
        return zip(names, zip(before, after)).filter { $0.1.0 != $0.1.1 }.map { name, parts in
            (name, SyncResult.ValueChange(old: parts.0.json, new: parts.1.json))
        }
    }

    /// Updates a row with the attributes and relationships that a JSON record contains, in one transaction.
    @discardableResult
    package func update(
        _ entity: String, id: JSONValue, with values: JSONValue, options: SyncOptions = SyncOptions()
    ) async throws -> (row: SyncRow, result: SyncResult)? {
        let updated = try await writing { db in
            try self.update(entity, id: id, with: values, options, in: db, isOwn: true)
        }
        if let updated { feed.publish(updated.result) }
        return updated
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
        let select = RecordSQL(entity, layout)
        return try select.fetch(
            db, "SELECT \(select.columns) FROM \(select.from) WHERE \(select.rowKey) = ?",
            [rowKey.databaseValue]
        ).first
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
        try db.execute(
            sql: "UPDATE \(table.name.quoted) SET \(names.joined(separator: ", ")) WHERE \(table.keyColumn.quoted) = ?",
            arguments: StatementArguments(arguments + [key.databaseValue]))
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
        guard let row = try fetch(entity, id: id, in: db) else {
            return SyncResult(entity: entity)
        }
        return try savepoint(db) {
            try session(watch.visit(db, isOwn: isOwn), SyncRequest())
                .delete([StoredRow(table: row.type.table, key: row.rowKey)], of: row.type)
        }
    }

    /// Deletes a row by its key, in one transaction.
    @discardableResult
    package func delete(_ entity: String, id: JSONValue) async throws -> SyncResult {
        try await publishing { stack, db in try stack.delete(entity, id: id, in: db, isOwn: true) }
    }
}
