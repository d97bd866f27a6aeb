extension SyncModel {
    /// A link from the rows of one entity to rows of another, or of the same.
    public struct Relationship: Sendable, Hashable {
        /// The local name.
        public var name: String
        /// The name of the entity it leads to.
        public var destination: String
        /// Whether a row can have several targets.
        public var isToMany: Bool
        /// Whether the targets of a to-many relationship keep the order of the payload.
        public var isOrdered: Bool
        /// The relationship of the destination that leads back. A to-many without one is many-to-many.
        public var inverse: String?
        /// What happens to the targets when their owner is deleted.
        public var deleteRule: SyncModel.DeleteRule
        /// The only JSON key the relationship is read from, instead of its names, with dots as in
        /// ``SyncModel/Attribute/remoteKey``.
        public var remoteKey: String?
        /// Where its targets may be the members of an object, `{"de": {…}, "fr": {…}}`: the attribute their names fill.
        public var keyedBy: MemberNames?
        /// Whether exports contain it.
        public var isExportable: Bool
        /// Documentation only: a missing link is never an error.
        public var isOptional: Bool
        /// The name this relationship had in an earlier model.
        public var renamedFrom: String?
        /// The join table of a many-to-many relationship; nil for one called as the entity and the relationship. Enough
        /// on one side.
        public var table: String?
        /// The column with the key of the row that this leads to: the foreign key of a to-one relationship, or in the
        /// join table of a many-to-many one.
        public var column: String?
        /// The column with the key of this row, in the join table of a many-to-many relationship.
        public var inverseColumn: String?

        /// A relationship to the rows of an entity; to-one unless said otherwise.
        public init(
            _ name: String, to destination: String, many isToMany: Bool = false, ordered isOrdered: Bool = false,
            inverse: String? = nil, deleteRule: SyncModel.DeleteRule = .nullify, remoteKey: String? = nil,
            isExportable: Bool = true, isOptional: Bool = true, renamedFrom: String? = nil, keyedBy: MemberNames? = nil,
            table: String? = nil, column: String? = nil, inverseColumn: String? = nil
        ) {
            self.name = name
            self.destination = destination
            self.isToMany = isToMany
            self.isOrdered = isOrdered
            self.inverse = inverse
            self.deleteRule = deleteRule
            self.remoteKey = remoteKey
            self.isExportable = isExportable
            self.isOptional = isOptional
            self.renamedFrom = renamedFrom
            self.keyedBy = keyedBy
            self.table = table
            self.column = column
            self.inverseColumn = inverseColumn
        }
    }
}
