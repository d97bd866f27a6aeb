package import SyncCore

/// What a stored row is.
package struct StoredIdentity: Sendable {
    package var entity: Int
    /// The value of its key attribute; nil if it has none.
    package var key: RowKey?

    package init(entity: Int, key: RowKey?) {
        self.entity = entity
        self.key = key
    }
}

/// What a stored row holds.
package struct StoredValues: Sendable {
    /// By slot of its entity; null for keys that were made here.
    package var attributes: [(slot: Int, value: StoredValue)]
    /// Its foreign keys, by their position in ``EntityHierarchy/foreignKeys``; those that are null left out.
    package var targets: [(foreignKey: Int, row: RowKey)]

    package init(attributes: [(slot: Int, value: StoredValue)], targets: [(foreignKey: Int, row: RowKey)]) {
        self.attributes = attributes
        self.targets = targets
    }
}

/// A reference by id to a row that is not there yet, as a store remembers it.
package struct PendingReference: Hashable, Sendable {
    package var owner: StoredRow
    package var ownerEntity: Int
    package var relationship: String
    package var targetEntity: Int
    package var target: RowKey

    package init(owner: StoredRow, ownerEntity: Int, relationship: String, targetEntity: Int, target: RowKey) {
        self.owner = owner
        self.ownerEntity = ownerEntity
        self.relationship = relationship
        self.targetEntity = targetEntity
        self.target = target
    }

    /// The keys tell nearly all references apart.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(owner.key)
        hasher.combine(target)
    }
}

/// A late reference with the place that is kept for its row.
package struct PositionedReference: Sendable {
    package var reference: PendingReference
    /// Its position in the list of ids that has it; -1 for one of a to-one relationship, as it is stored.
    package var position: Int64

    package init(_ reference: PendingReference, at position: Int64) {
        self.reference = reference
        self.position = position
    }
}
