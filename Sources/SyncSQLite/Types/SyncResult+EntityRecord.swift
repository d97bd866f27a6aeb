public import SyncCore

extension SyncResult {
    /// What happened to the rows of a type: `result[User.self].inserted` has `Int`s where those are its keys.
    public subscript<Value: EntityRecord>(type: Value.Type) -> TypedChanges<Value.SyncKey> {
        typedChanges(of: Value.entityName, by: Value.SyncKey.self)
    }
}
