extension SyncOptions {
    /// A record that is about to become a new row, as ``SyncOptions/willInsert`` is shown it.
    public struct Insertion: Sendable, Hashable {
        /// The row that a record is nested under.
        public struct Parent: Sendable, Hashable {
            /// The entity of the parent.
            public var entity: String
            /// Its key; nil if it has none.
            public var key: RecordKey?
        }

        /// The entity of the new row.
        public var entity: String
        /// The record as the payload has it. If the payload has several with this key, their members together, later ones
        /// over earlier ones.
        public var record: JSONValue
        /// The record that this one is nested in, or the parent of the sync; nil for others.
        public var parent: Parent?
    }
}
