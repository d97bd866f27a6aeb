import GRDB
public import SyncCore

extension DataStack {
    /// The references to rows that are not stored yet, as the store remembers them: by entity, key, relationship and
    /// position.
    ///
    /// - Throws: ``SyncError`` `storeFailure`.
    public func unresolvedReferences() throws -> [SyncResult.UnresolvedReference] {
        try reading { db in try EngineDamage.located(in: db) { try self.unresolvedReferences(in: db) } }
    }

    /// The references to rows that are not stored yet.
    public func unresolvedReferences() async throws -> [SyncResult.UnresolvedReference] {
        try await reading { db in try EngineDamage.located(in: db) { try self.unresolvedReferences(in: db) } }
    }

    private func unresolvedReferences(in db: Database) throws -> [SyncResult.UnresolvedReference] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT owner_entity, owner_key, relationship, target_entity, target_key FROM sync_pending
                ORDER BY owner_entity, owner_key, relationship, position
                """)
        return try rows.compactMap { row in
            guard let owner = RowKey(row[1] as DatabaseValue), let target = RowKey(row[4] as DatabaseValue) else {
                return nil
            }
            return SyncResult.UnresolvedReference(
                entity: try row.decode(atIndex: 0), key: owner.recordKey(keyType(of: try row.decode(atIndex: 0))),
                relationship: try row.decode(atIndex: 2),
                target: target.recordKey(keyType(of: try row.decode(atIndex: 3))))
        }
    }

    /// Those of the references that are still waiting for their rows.
    func waiting(
        _ references: [SyncResult.UnresolvedReference], in db: Database
    ) throws -> [SyncResult.UnresolvedReference] {
        let statement = try RawStatement(
            db,
            """
            SELECT 1 FROM sync_pending
            WHERE owner_entity = ? AND owner_key = ? AND relationship = ? AND target_key = ?
            """)
        return try references.filter { reference in
            let target = model.compiled.entityID(reference.entity)
                .flatMap { model.compiled.entities[$0].relationship(named: reference.relationship) }
                .map { model.compiled.entities[$0.destination].name }
            statement.bind(.text(reference.entity), at: 1)
            statement.bind(RowKey(reference.key, keyType(of: reference.entity)), at: 2)
            statement.bind(.text(reference.relationship), at: 3)
            statement.bind(RowKey(reference.target, target.flatMap(keyType)), at: 4)
            defer { statement.reset() }
            return try statement.step()
        }
    }

    private func keyType(of entity: String) -> KeyType? {
        model.compiled.entityID(entity).flatMap { model.compiled.keyType(of: $0) }
    }
}
