package import SyncCore

/// The entity and key of a stored row.
package struct StoredIdentity: Sendable {
    package var entity: Int
    /// The primary key; nil for a keyless row, or if a part of the key has no value.
    package var key: RowKey?

    package init(entity: Int, key: RowKey?) {
        self.entity = entity
        self.key = key
    }
}

/// The values of a stored row.
package struct StoredValues: Sendable {
    /// The values of the attributes, with their slots. Temporary keys are null.
    package var attributes: [(slot: Int, value: StoredValue)]
    /// The foreign keys that are not null, by their index in ``EntityHierarchy/foreignKeys``.
    package var targets: [(foreignKey: Int, row: RowKey)]

    package init(attributes: [(slot: Int, value: StoredValue)], targets: [(foreignKey: Int, row: RowKey)]) {
        self.attributes = attributes
        self.targets = targets
    }
}

/// A reference by ID to a row that is not stored yet.
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

    /// Hashes only the keys, which differ between nearly all references.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(owner.key)
        hasher.combine(target)
    }
}

/// A pending reference with the position that is reserved for its row.
package struct PositionedReference: Sendable {
    package var reference: PendingReference
    /// The index in the list of IDs that contains the reference; -1 for a to-one relationship, as in the store.
    package var position: Int64

    package init(_ reference: PendingReference, at position: Int64) {
        self.reference = reference
        self.position = position
    }
}
