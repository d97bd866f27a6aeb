/// A primary key of several parts, or of one that is a relationship: rows are stored under a hidden key.
package struct CompositeKey: Sendable {
    package enum Part: Sendable, Hashable {
        /// An attribute, by its slot.
        case attribute(Int)
        /// A to-one relationship, by its position in the entity: the key of the row it leads to.
        case relationship(Int)
    }

    package let parts: [Part]

    /// The slots of the parts that are attributes.
    package var slots: [Int] {
        parts.compactMap { part in
            guard case .attribute(let slot) = part else { return nil }
            return slot
        }
    }

    /// Whether an attribute is a part.
    package func contains(slot: Int) -> Bool { slots.contains(slot) }
}
