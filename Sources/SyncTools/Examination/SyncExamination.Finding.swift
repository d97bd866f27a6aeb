extension SyncExamination {
    /// One thing that an examination found, with its place and what to change.
    public struct Finding: Sendable, Hashable, Codable {
        /// What kind of thing it is, stable and meant for programs.
        public enum Kind: String, Sendable, Hashable, CaseIterable, Codable {
            /// A key of the payload that no attribute and no relationship takes.
            case unmappedKey
            /// A value that does not fit the type of its attribute.
            case valueDoesNotFit
            /// A record of a keyed entity without a readable key.
            case recordWithoutKey
            /// JSON that fits neither objects nor ids of its relationship.
            case shapeDoesNotFit
            /// A record or a row that lacks a value its entity requires.
            case requiredValueMissing
            /// A record whose key belongs to a row of another entity.
            case entityMismatch
            /// A record or a reference of a kind that the model does not know.
            case unknownKind
            /// A record that says another value than the name under which it stands.
            case contradictingName
            /// A record that says something else of its row than an earlier one of the same key.
            case contradictingRecords
            /// Several keys of one record fill the same attribute with different values.
            case conflictingKeys
            /// A store that is not sound.
            case damage
            /// Keys written as another type than that of the key attribute; they are converted.
            case keyOfAnotherType
            /// An attribute that no record of the payload gives.
            case attributeNeverSeen
            /// A reference to a row that is not stored yet; it is linked when the row arrives.
            case unresolvedReference
            /// A JSON key that several attributes or relationships could be read from.
            case ambiguousName
            /// A relationship that may lack its inverse.
            case missingInverse
            /// A transformer that the model names and nobody registered: values are read without it.
            case missingTransformer
            /// An attribute or a relationship that exports leave out although the model does not say so.
            case leftOutOfExports

            /// Whether something of the payload or the store is lost or missing. The others are worth a look.
            public var losesData: Bool {
                switch self {
                case .unmappedKey, .valueDoesNotFit, .recordWithoutKey, .shapeDoesNotFit, .requiredValueMissing,
                    .entityMismatch, .unknownKind, .contradictingName, .contradictingRecords, .conflictingKeys,
                    .damage:
                    true
                case .keyOfAnotherType, .attributeNeverSeen, .unresolvedReference, .ambiguousName, .missingInverse,
                    .missingTransformer, .leftOutOfExports:
                    false
                }
            }
        }

        /// What kind of thing it is.
        public var kind: Kind
        /// The entity it is about, if it is about one.
        public var entity: String?
        /// Its first place: a JSON path in the payload (`[3].notes[0].created_at`) or in the model
        /// (`entities.User.relationships.notes`); nil for what has none.
        public var path: String?
        /// What was found.
        public var message: String
        /// What to change.
        public var advice: String
        /// How often it was found.
        public var count: Int

        /// A finding with its place.
        public init(_ kind: Kind, entity: String?, path: String?, message: String, advice: String, count: Int = 1) {
            self.kind = kind
            self.entity = entity
            self.path = path
            self.message = message
            self.advice = advice
            self.count = count
        }
    }
}
