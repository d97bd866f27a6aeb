extension SyncModel {
    /// The member of a record that says of which entity it is, of an entity and those that have it as parent.
    public struct Discriminator: Sendable, Hashable {
        /// What becomes of a record whose kind is unknown.
        public enum Otherwise: String, Sendable, Hashable, CaseIterable {
            /// It is skipped and reported. The row it has stays.
            case skip
            /// It is taken as a record of the entity that has the discriminator.
            case parent
        }

        /// A kind and its entity.
        public struct Kind: Sendable, Hashable {
            /// What the member says; a number as it is written.
            public var value: String
            /// The entity that is meant.
            public var entity: String

            /// A kind and its entity.
            public init(_ value: String, _ entity: String) {
                self.value = value
                self.entity = entity
            }
        }

        /// The key of the member; dots walk into nested objects.
        public var key: String
        /// The kinds there are. Of several for one entity, exports write the first.
        public var kinds: [Kind]
        /// What becomes of a record whose kind is none of them. A record without the member is one of the entity itself.
        public var otherwise: Otherwise

        /// - Parameter values: Each kind and its entity: `["dog": "Dog"]`.
        public init(
            _ key: String, values: KeyValuePairs<String, String>, otherwise: Otherwise = .skip
        ) {
            self.init(key, kinds: values.map { Kind($0.key, $0.value) }, otherwise: otherwise)
        }

        /// The kinds that the member of this key tells apart.
        public init(_ key: String, kinds: [Kind], otherwise: Otherwise = .skip) {
            self.key = key
            self.kinds = kinds
            self.otherwise = otherwise
        }
    }
}
