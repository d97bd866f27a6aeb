public import SyncCore

// Calls that take Swift types and key paths instead of names.
extension SyncEngine {
    /// Pulls remote changes of the entities of the given types, resolves conflicts and pushes local changes. See
    /// ``sync(only:)-([String]?)``.
    @discardableResult
    public func sync(only types: [any SyncEntity.Type]) async throws -> SyncReport {
        try await sync(only: types.map { $0.entityName })
    }

    /// Pulls remote changes of the entities of the given types. See ``pull(only:)-([String]?)``.
    @discardableResult
    public func pull(only types: [any SyncEntity.Type]) async throws -> SyncReport {
        try await pull(only: types.map { $0.entityName })
    }

    /// Pushes local changes of the entities of the given types. See ``push(only:)-([String]?)``.
    @discardableResult
    public func push(only types: [any SyncEntity.Type]) async throws -> SyncReport {
        try await push(only: types.map { $0.entityName })
    }

    /// Returns the sync status of the entities of the given types. See ``status(only:)-([String]?)``.
    public func status(only types: [any SyncEntity.Type]) async throws -> [EntityStatus] {
        try await status(only: types.map { $0.entityName })
    }

    /// Returns the blocked changes of the entities of the given types. See ``blockedChanges(only:)-([String]?)``.
    public func blockedChanges(only types: [any SyncEntity.Type]) async throws -> [BlockedChange] {
        try await blockedChanges(only: types.map { $0.entityName })
    }

    /// Returns the conflicts of the entities of the given types. See ``conflicts(only:)-([String]?)``.
    public func conflicts(only types: [any SyncEntity.Type]) async throws -> [SyncConflict] {
        try await conflicts(only: types.map { $0.entityName })
    }

    /// Resolves an open conflict of a row. See ``resolve(_:key:field:keeping:)-(String,_,_,_)``.
    ///
    /// ```swift
    /// try await engine.resolve(Todo.self, key: 4, field: \.title, keeping: .remote)
    /// ```
    public nonisolated(nonsending) func resolve<Value: SyncEntity>(
        _ type: Value.Type, key: some AttributeValue, field: PartialKeyPath<Value>? = nil,
        keeping side: SyncConflict.Side
    ) async throws {
        try await resolve(
            Value.entityName, key: key.storedValue.jsonForm, field: field.map(Value.modelPath), keeping: side)
    }
}

// MARK: - SyncedEntity+Types

extension SyncedEntity {
    /// Creates a synced entity from a Swift type.
    ///
    /// ```swift
    /// SyncedEntity(Todo.self, conflictPolicy: .serverWins, naturalKey: [\.title])
    /// ```
    /// For the parameters, see
    /// ``init(_:conflictPolicy:deleteConflictPolicy:mergesWholeRow:fieldGroups:naturalKey:cascades:)-(String,_,_,_,_,_,_)``.
    /// If a key path is not valid for its parameter, the initializer of ``SyncEngine`` throws `unknownAttribute`.
    public init<Value: SyncEntity>(
        _ type: Value.Type, conflictPolicy: ConflictPolicy? = nil, deleteConflictPolicy: DeleteConflictPolicy? = nil,
        mergesWholeRow: Bool = false, fieldGroups: [[PartialKeyPath<Value>]] = [],
        naturalKey: [PartialKeyPath<Value>] = [], cascades: Cascades? = nil
    ) {
        self.init(
            Value.entityName, conflictPolicy: conflictPolicy, deleteConflictPolicy: deleteConflictPolicy,
            mergesWholeRow: mergesWholeRow, fieldGroups: fieldGroups.map { $0.map(Value.modelPath) },
            naturalKey: naturalKey.map(Value.modelPath), cascades: cascades)
    }
}
