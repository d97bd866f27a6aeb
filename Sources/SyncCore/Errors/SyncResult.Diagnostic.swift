extension SyncResult {
    /// Something in a payload that was skipped or kept as it was, or something in the store that was mended, while the rest
    /// of the sync went on.
    public struct Diagnostic: Sendable, Hashable, Codable {
        /// What kind of thing it is, stable and meant for programs.
        public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
            /// A value does not fit the type of its attribute; the stored value stays.
            case valueDoesNotFit
            /// A record of a keyed entity has no readable key; it is skipped.
            case recordWithoutKey
            /// Rows that the payload leaves out stay, because a root record has a key that cannot be read: it may be of one of
            /// them. Mend the record, or set ``SyncOptions/deletesBesideUnread``.
            case deletionsSkipped
            /// A JSON shape fits neither objects nor ids of its relationship; the links stay.
            case shapeDoesNotFit
            /// A new record lacks a value its entity requires; it is refused.
            case requiredValueMissing
            /// A stored row with this key is of another entity; the record is skipped.
            case entityMismatch
            /// An object without a key, of an entity whose keys cannot be made here; it is skipped.
            case keyCannotBeMade
            /// A new row's key is made of another row, which is not stored.
            case keyPartMissing
            /// A record, or a reference, is of a kind or type that the model does not know; it is skipped.
            case unknownKind
            /// A record says another value than the name under which it stands; the name counts.
            case contradictingName
            /// A record says something else of its row than an earlier record of the payload; what comes later counts. Only
            /// an examination reports where; ``SyncResult/contradictions`` counts them.
            case contradictingRecord
            /// Stored links led to rows that are not stored; they are removed.
            case linksToMissingRows

            /// Whether it is about the store, which was mended, and not about the payload.
            public var isAboutStore: Bool { self == .linksToMissingRows }
        }

        /// What kind of thing it is.
        public var kind: Kind
        /// The entity of the record.
        public var entity: String
        /// The row's key as text, if it is known.
        public var key: String?
        /// The JSON path from the root of the payload: `[3].notes[0].created_at`.
        public var path: String
        /// What was found, and what became of it.
        public var message: String

        /// A diagnostic and its place.
        public init(_ kind: Kind, entity: String, key: String? = nil, path: String, message: String) {
            self.kind = kind
            self.entity = entity
            self.key = key
            self.path = path
            self.message = message
        }
    }
}
