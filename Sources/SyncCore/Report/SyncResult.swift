/// What a sync changed, or, for a dry run, would change.
public struct SyncResult: Sendable, Hashable, Codable {
    /// A stored row that differs from the payload, with the names of the attributes and to-one relationships written.
    public struct Update: Sendable, Hashable, Codable {
        public var key: RecordKey
        public var changed: [String]

        public init(key: RecordKey, changed: [String]) {
            self.key = key
            self.changed = changed
        }
    }

    /// What happened to the rows of one entity.
    public struct EntityChanges: Sendable, Hashable, Codable {
        /// Counts, kept also when keys are not collected.
        public var insertedCount = 0
        public var updatedCount = 0
        public var deletedCount = 0
        /// Rows the payload gives in full or in part that are stored just so.
        public var unchangedCount = 0
        /// The keys of new rows, in key order.
        public var inserted: [RecordKey] = []
        public var updated: [Update] = []
        /// The keys of rows deleted, cascades included.
        public var deleted: [RecordKey] = []

        public init() {}

        /// Whether nothing was written to the entity's rows.
        public var isEmpty: Bool { insertedCount == 0 && updatedCount == 0 && deletedCount == 0 }
    }

    /// The root records of the payload: how many were new, how many met a stored row (changed or not),
    /// and how many stored rows in scope they left out.
    public struct RootCounts: Sendable, Hashable, Codable {
        public var inserted = 0
        public var matched = 0
        public var deleted = 0

        public init() {}
    }

    /// Links to a row that is not stored; it is linked when it arrives.
    public struct UnresolvedReference: Sendable, Hashable, Codable {
        public var entity: String
        public var key: RecordKey
        public var relationship: String
        public var target: RecordKey

        public init(entity: String, key: RecordKey, relationship: String, target: RecordKey) {
            self.entity = entity
            self.key = key
            self.relationship = relationship
            self.target = target
        }
    }

    /// A key of the payload that nothing in the model takes.
    public struct UnmappedKey: Sendable, Hashable, Codable {
        public var entity: String
        public var key: String
        /// In how many records it was seen.
        public var count: Int

        public init(entity: String, key: String, count: Int) {
            self.entity = entity
            self.key = key
            self.count = count
        }
    }

    /// The entity that was synced.
    public var entity: String
    public var root = RootCounts()
    /// By entity name; entities the payload does not reach are missing.
    public var entities: [String: EntityChanges] = [:]
    public var linksAdded = 0
    public var linksRemoved = 0
    public var diagnostics: [Diagnostic] = []
    /// How many more diagnostics there were than are listed.
    public var omittedDiagnostics = 0
    public var unresolved: [UnresolvedReference] = []
    public var unmappedKeys: [UnmappedKey] = []

    public init(entity: String) { self.entity = entity }

    /// What happened to one entity's rows; all zero if the payload did not reach it.
    public subscript(entity: String) -> EntityChanges { entities[entity] ?? EntityChanges() }

    /// Whether the store is as it was.
    public var isEmpty: Bool {
        entities.values.allSatisfy(\.isEmpty) && linksAdded == 0 && linksRemoved == 0
    }
}
