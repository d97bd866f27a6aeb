import Foundation
package import SyncCore
package import SyncStore

// Pending references, and the row flags of paged imports.
extension MemorySession {
    /// Returns the pending references between the tables of the payload.
    package func pendingReferences() throws -> [PositionedReference] {
        guard let tables else { return [] }
        return contents.sortedPendingReferences.filter { known in
            !tables[known.reference.owner.table].isEmpty
                || !tables[model.entities[known.reference.targetEntity].table].isEmpty
        }
    }

    package func insertPendingReferences(_ references: [PositionedReference]) throws {
        for new in references { contents.setPending(new.reference, at: new.position) }
    }

    package func deletePendingReferences(_ references: [PendingReference]) throws {
        for reference in references { contents.removePending(reference) }
    }

    package func deletePendingReferences(of rows: [StoredRow]) throws {
        let rows = Set(rows)
        for reference in contents.pendingReferences.keys where rows.contains(reference.owner) {
            contents.removePending(reference)
        }
    }

    package func deletePendingReferencesOfNewNodes() throws {
        guard let tables else { return }
        try deletePendingReferences(of: tables.flatMap { table in table.nodes(.new).compactMap(table.row) })
    }
}

extension MemoryContents {
    /// The pending references by owner, relationship and position, then by target.
    var sortedPendingReferences: [PositionedReference] {
        pendingReferences.map { PositionedReference($0.key, at: $0.value) }.sorted { left, right in
            let (l, r) = (left.reference, right.reference)
            if l.ownerEntity != r.ownerEntity {
                return model.entities[l.ownerEntity].name.isBefore(model.entities[r.ownerEntity].name)
            }
            if l.owner.key != r.owner.key { return l.owner.key.isBefore(r.owner.key) }
            if l.relationship != r.relationship { return l.relationship.isBefore(r.relationship) }
            if left.position != right.position { return left.position < right.position }
            if l.target != r.target { return l.target.isBefore(r.target) }
            return model.entities[l.targetEntity].name.isBefore(model.entities[r.targetEntity].name)
        }
    }
}

extension String {
    /// Returns whether the string comes before another one, by bytes.
    fileprivate func isBefore(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
