import Foundation
public import SyncCalls
public import SyncCore
public import SyncSQLite

// Calls inside the caller's transaction.
extension Sync {
    /// Inserts, updates and deletes rows so that the entity matches the payload, in the caller's transaction.
    ///
    /// ```swift
    /// try await pool.write { db in
    ///     let result = try Sync.changes(data, inEntity: "User", stack: stack, in: db)
    ///     try Cursor(name: "users", etag: response.etag, changed: result["User"].updatedCount).save(db)
    /// }
    /// ```
    /// If the caller rolls back the transaction, the writes of the sync are rolled back too. If the sync throws an
    /// error, only the writes of the sync are rolled back, and the transaction stays open.
    ///
    /// - Parameters:
    ///   - payload: `Data` (UTF-8 JSON), the `URL` of a file, a ``JSONValue``, dictionaries from `JSONSerialization`,
    ///     or a ``SyncPayload`` that is not a stream.
    ///   - entity: The entity of the root records.
    ///   - stack: The stack whose database the connection is to.
    ///   - predicate: The condition for rows in scope, as in a call without a connection.
    ///   - parent: The row whose children the payload lists; nil for none.
    ///   - operations: The allowed operations.
    ///   - options: The options of the sync. The payload cannot be a page of a paged import, because a rollback would
    ///     lose the page.
    ///   - db: A connection to the stack's database. If the connection is not in a transaction, the sync starts a
    ///     transaction.
    /// - Returns: The inserted, updated and deleted rows, the links, and the diagnostics.
    /// - Throws: The errors of
    ///   ``changes(_:inEntity:stack:predicate:parent:operations:options:)-(SyncPayloadConvertible,_,_,_,_,_,_)``;
    ///   `incompatibleConnection` if foreign keys are off; `invalidOption` for a page or a stream.
    @discardableResult
    public static func changes(
        _ payload: some SyncPayloadConvertible, inEntity entity: String, stack: DataStack,
        predicate: RowPredicate? = nil, parent: SyncParent? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entity, stack, predicate, parent, operations, options).run(payload, by: stack.writer(db))
    }

    /// Syncs a payload of JSON values, such as a literal, in the caller's transaction.
    @discardableResult
    package static func changes(
        _ payload: JSONValue, inEntity entity: String, stack: DataStack, predicate: RowPredicate? = nil,
        parent: SyncParent? = nil, operations: SyncOperations = .all, options: SyncOptions = SyncOptions(),
        in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entity, stack, predicate, parent, operations, options).run(payload, by: stack.writer(db))
    }

    /// Inserts, updates and deletes rows so that several entities match one payload, in the caller's transaction.
    @discardableResult
    public static func changes(
        _ payload: some SyncPayloadConvertible, inEntities entities: [String: String], stack: DataStack,
        operations: SyncOperations = .all, options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entities, stack, operations, options).run(payload, by: stack.writer(db))
    }

    /// Computes the changes of a sync in the caller's transaction, and writes nothing. The result takes the earlier
    /// writes of the transaction into account.
    public static func plan(
        _ payload: some SyncPayloadConvertible, inEntity entity: String, stack: DataStack,
        predicate: RowPredicate? = nil, parent: SyncParent? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entity, stack, predicate, parent, operations, options)
            .run(payload, by: stack.writer(db), isDryRun: true)
    }

    /// Computes the changes of a sync of several entities in the caller's transaction, and writes nothing.
    public static func plan(
        _ payload: some SyncPayloadConvertible, inEntities entities: [String: String], stack: DataStack,
        operations: SyncOperations = .all, options: SyncOptions = SyncOptions(), in db: DataStack.Connection
    ) throws -> SyncResult {
        try SyncCall(entities, stack, operations, options).run(payload, by: stack.writer(db), isDryRun: true)
    }
}

// MARK: - DataStack+SyncStack

extension DataStack: SyncStack {
    /// The object through which the ``Sync`` functions access the store.
    public var host: SyncHost { SyncHost(self) }
}

// MARK: - Swift types

extension SyncOptions {
    /// Returns a copy of the options with a Swift type whose properties must be able to hold the values of the payload.
    fileprivate func checking(_ type: any SyncEntity.Type) -> SyncOptions {
        var options = self
        options.types.append(type)
        return options
    }
}

// Calls that take a Swift type instead of the name of an entity. The calls with a name document the details.
extension Sync {
    /// Inserts, updates and deletes rows so that the entity of a type matches a payload.
    ///
    /// ```swift
    /// let result = try await Sync.changes(data, as: User.self, stack: stack)
    /// print(result[User.self].inserted)
    /// ```
    /// The sync skips each value that does not fit the Swift type of its property, and reports a diagnostic. For
    /// example, a string does not fit an enumeration if no case has this raw value. If ``SyncOptions/isStrict`` is set,
    /// the sync throws `typeMismatch` instead.
    ///
    /// - Throws: The errors of
    ///   ``changes(_:inEntity:stack:predicate:parent:operations:options:)-(SyncPayloadConvertible,_,_,_,_,_,_)``. If
    ///   the call throws an error, the store is unchanged, unless ``SyncOptions/commitsEachChunk`` is set.
    @discardableResult
    public nonisolated(nonsending) static func changes<Value: EntityRecord>(
        _ payload: some SyncPayloadConvertible, as type: Value.Type, stack: DataStack, predicate: RowPredicate? = nil,
        parent: SyncParent? = nil, operations: SyncOperations = .all, options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        try await changes(
            payload, inEntity: Value.entityName, stack: stack, predicate: predicate, parent: parent,
            operations: operations, options: options.checking(Value.self))
    }

    /// Inserts, updates and deletes rows so that the entity of a type matches a payload, in the caller's transaction.
    @discardableResult
    public static func changes<Value: EntityRecord>(
        _ payload: some SyncPayloadConvertible, as type: Value.Type, stack: DataStack, predicate: RowPredicate? = nil,
        parent: SyncParent? = nil, operations: SyncOperations = .all, options: SyncOptions = SyncOptions(),
        in db: DataStack.Connection
    ) throws -> SyncResult {
        try changes(
            payload, inEntity: Value.entityName, stack: stack, predicate: predicate, parent: parent,
            operations: operations, options: options.checking(Value.self), in: db)
    }

    /// Inserts or updates a row for each value of an array. Of a value that the stack fetched, the sync writes what the
    /// app changed since the value was fetched or last saved.
    ///
    /// A value whose primary key is nil becomes a row with a temporary key, or with a random UUID. If an engine has
    /// replaced the temporary key of a value, the sync updates the row with the current key. The sync handles
    /// relationships as follows:
    ///
    /// - The rows that the app removed from a fetched list lose their link. If the relationship is one-to-many, the sync
    ///   deletes them, except rows with a temporary key or pending changes. Rows that others added, moved or deleted
    ///   since the fetch stay so.
    /// - A list that was passed to an initializer replaces the stored list in the same way.
    /// - A list that is not loaded stays unchanged. Rows that were added to it come last.
    /// - A to-one relationship that is loaded sets the link of the row.
    /// - For a to-one relationship that is not loaded, the property with the key of the related row, such as
    ///   `companyID`, specifies the link. If this property contains a ``RowNumber``, the link stays unchanged.
    ///
    /// The sync also inserts or updates the loaded related rows. Of rows that the stack fetched, it writes what the app
    /// changed since they were fetched or last saved. Other rows of the entity stay, unless ``SyncOptions/payloadKind`` is
    /// ``PayloadKind/snapshot``. To write values without options, use ``DataStack/save(_:)-(Value)``.
    ///
    /// - Throws: ``SyncError`` `typeMismatch` if a value cannot be encoded, or if an attribute or relationship of the
    ///   type cannot be exported. Also the errors of
    ///   ``changes(_:inEntity:stack:predicate:parent:operations:options:)-(SyncPayloadConvertible,_,_,_,_,_,_)``.
    ///   `invalidOption` for a page of a paged import.
    @discardableResult
    public static func changes<Value: EntityRecord>(
        _ values: [Value], stack: DataStack, predicate: RowPredicate? = nil, operations: SyncOperations = .all,
        options: SyncOptions = SyncOptions()
    ) async throws -> SyncResult {
        var options = options
        if case .automatic = options.payloadKind { options.payloadKind = .delta }
        var result = try await stack.publishing { [options] stack, db in
            // The keys of new rows and the former keys of rows are known only inside the transaction.
            // A snapshot deletes the rows that it omits, so it has unchanged related rows too.
            let payload = try stack.payload(
                of: values, in: db, replacesLists: true,
                isWhole: predicate != nil || options.payloadKind.isSnapshot)
            var result = try changes(
                payload.json, inEntity: Value.entityName, stack: stack, predicate: predicate, operations: operations,
                options: payload.options(options), in: db)
            result.entity = Value.entityName
            let isComplete = operations == .all && predicate == nil && result.diagnostics.isEmpty
            try stack.recordSave(of: payload, isCertain: isComplete, in: db)
            return result
        }
        if operations.isDisjoint(with: [.insertRelationships, .updateRelationships, .deleteRelationships]) {
            result.diagnostics += try stack.ignoredRelationships(of: values)
        }
        return result
    }
}

extension SyncParent {
    /// Creates a parent from a row and its to-many relationship to the children.
    ///
    /// ```swift
    /// try await Sync.changes(data, as: Note.self, stack: stack, parent: SyncParent(user, \.notes))
    /// ```
    /// - Throws: ``SyncError`` `unknownRelationship` if the key path does not lead to a relationship.
    public init<Row: EntityRecord, Child: EntityRecord>(_ row: Row, _ relationship: KeyPath<Row, [Child]>) throws {
        guard let property = Row.syncProperties[relationship] else {
            throw SyncError(
                .unknownRelationship, "\(relationship) is not a relationship of \(Row.entityName)",
                entity: Row.entityName)
        }
        self.init(Row.entityName, id: row.syncID, relationship: property.name)
    }
}
