package import SyncCore

/// A reference by id to a row that is not there yet, as a store remembers it.
package struct LateReference: Hashable, Sendable {
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
