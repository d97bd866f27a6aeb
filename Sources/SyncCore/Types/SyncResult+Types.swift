extension SyncResult {
    /// What happened to the rows of a type's entity, by the keys of its values.
    public struct TypedChanges<Key: AttributeValue>: Sendable {
        /// The keys of new rows, in key order.
        public let inserted: [Key]
        /// The keys of stored rows that were written, in key order.
        public let updated: [Key]
        /// The keys of rows deleted, cascades included.
        public let deleted: [Key]
    }

    /// What happened to the rows of an entity, by keys of a Swift type. Keys that are none of it are left out; of a key of
    /// several parts use ``JSONValue``.
    public func typedChanges<Key: AttributeValue>(of entity: String, by type: Key.Type) -> TypedChanges<Key> {
        func key(_ key: RecordKey) -> Key? {
            Coercion.storedValue(key.json, as: Key.attributeType).flatMap { Key(storedValue: $0) }
        }
        let changes = self[entity]
        return TypedChanges(
            inserted: changes.inserted.compactMap(key), updated: changes.updated.compactMap { key($0.key) },
            deleted: changes.deleted.compactMap(key))
    }
}
