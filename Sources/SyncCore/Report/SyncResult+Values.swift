// What a result has besides keys and counts if ``SyncOptions/collectsValues`` asks for it. Values are as JSON that reads
// as them (a date as `2024-02-29T18:29:59.999Z`, bytes as base64); a to-one relationship has the key of its target.
extension SyncResult {
    /// A value before and after.
    public struct ValueChange: Sendable, Hashable, Codable {
        /// What the row had; null for nil.
        public var old: JSONValue
        /// What it has now; null for nil.
        public var new: JSONValue

        /// A change from one value to another.
        public init(old: JSONValue, new: JSONValue) {
            self.old = old
            self.new = new
        }
    }

    /// The values of a row that is new, or of one that was deleted.
    public struct Row: Sendable, Hashable, Codable {
        /// The key of the row.
        public var key: RecordKey
        /// Attributes and to-one relationships by name. Those that are nil are left out.
        public var values: [String: JSONValue]

        /// A row and what it has.
        public init(key: RecordKey, values: [String: JSONValue]) {
            self.key = key
            self.values = values
        }
    }

    /// Two rows that were linked, or are linked no more.
    public struct Link: Sendable, Hashable, Codable {
        /// The entity of the row that has the relationship.
        public var entity: String
        /// The key of that row.
        public var key: RecordKey
        /// The relationship; of two that are inverse the to-one one, else the one that the payload speaks of, or that its
        /// entity has.
        public var relationship: String
        /// The key of the row it leads to.
        public var target: RecordKey

        /// A link between two rows.
        public init(entity: String, key: RecordKey, relationship: String, target: RecordKey) {
            self.entity = entity
            self.key = key
            self.relationship = relationship
            self.target = target
        }
    }
}

extension SyncResult.Link: Comparable {
    /// By entity, key, relationship and target.
    public static func < (left: Self, right: Self) -> Bool {
        (left.entity, left.key, left.relationship, left.target)
            < (right.entity, right.key, right.relationship, right.target)
    }
}
