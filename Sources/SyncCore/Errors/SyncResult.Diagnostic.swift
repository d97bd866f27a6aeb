extension SyncResult {
    /// A recoverable problem: something in the payload that the sync skipped, or dangling links that it removed from
    /// the store.
    public struct Diagnostic: Sendable, Hashable, Codable {
        /// The kind of a diagnostic: stable, for programs.
        public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
            /// A value does not fit the type of its attribute. The stored value stays.
            case valueDoesNotFit
            /// A record has no readable key, and its entity has a primary key. The sync skips the record.
            case recordWithoutKey
            /// The key of a root record cannot be read. The record may describe any row, so the sync deletes no omitted
            /// rows. Correct the record, or set ``SyncOptions/deletesBesideUnread``.
            case deletionsSkipped
            /// A value of a relationship is neither a record nor an ID, nor a list of them. The links stay.
            case shapeDoesNotFit
            /// A record for a new row lacks a required value. The sync rejects the record.
            case requiredValueMissing
            /// The stored row with this key is of another entity. The sync skips the record.
            case entityMismatch
            /// A nested record has no key, and keys of its entity cannot be generated. The sync skips the record.
            case keyCannotBeMade
            /// The key of a new row contains the key of a row that is not stored. The sync rejects the record.
            case keyPartMissing
            /// The discriminator value of a record, or the type of a reference, is unknown to the model. The sync skips
            /// it.
            case unknownKind
            /// A record has a value that differs from its member name, or from the members of its resource. The name,
            /// or the resource, applies.
            case contradictingName
            /// A record differs from an earlier record with the same key. The later value is stored. Only validation
            /// reports the place; ``SyncResult/contradictions`` has the count.
            case contradictingRecord
            /// Stored links referenced rows that are not stored. The sync removes the links.
            case linksToMissingRows

            /// Whether the diagnostic is about the store instead of the payload.
            public var isAboutStore: Bool { self == .linksToMissingRows }
        }

        /// The kind of the diagnostic.
        public var kind: Kind
        /// The entity of the record.
        public var entity: String
        /// The key of the row as text, if it is known.
        public var key: String?
        /// The JSON path from the root of the payload: `[3].notes[0].created_at`.
        public var path: String
        /// The problem, and what the sync did about it.
        public var message: String

        /// Creates a diagnostic.
        public init(_ kind: Kind, entity: String, key: String? = nil, path: String, message: String) {
            self.kind = kind
            self.entity = entity
            self.key = key
            self.path = path
            self.message = message
        }
    }
}
