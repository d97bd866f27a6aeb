import SyncCore

// A save writes only the related rows that the app changed. Otherwise it would write stale values of rows that were only
// fetched with the saved value, over newer values in the store.
extension EntityRowEncoder {
    /// Removes the related rows that are as they were fetched for this owner. For a to-one relationship, the key of the
    /// row remains. An ordered relationship keeps all rows if one of them changed, because the rows determine the order.
    ///
    /// - Parameters:
    ///   - owner: The primary key of the encoded value. A copy with another key needs all links.
    ///   - replacesLists: Whether a list replaces the stored links. A changed list then keeps all rows.
    mutating func removeUnchangedRows(of owner: JSONValue, _ entity: CompiledEntity, replacesLists: Bool) throws {
        for (name, rows) in related {
            guard owner != .null, let fetched = fetched[name], fetched.owner == owner,
                let relationship = entity.relationship(named: name)
            else { continue }
            let known = Dictionary(fetched.rows.map { ($0.syncID, $0) }) { first, _ in first }
            let changed = try rows.filter { row in
                guard row.syncID != .null, let before = known[row.syncID] else { return true }
                return try !row.hasSameContents(as: before)
            }
            let isInPlace = rows.map(\.syncID) == fetched.rows.map(\.syncID)
            if changed.isEmpty, isInPlace {
                removeRelated(name)
            } else if relationship.isToMany, !relationship.relationship.isOrdered, !replacesLists {
                changed.isEmpty ? removeRelated(name) : setRelated(changed, for: name)
            }
        }
    }
}

extension EntityRecord {
    /// Returns whether another value has the same type, attributes, links and loaded related rows.
    fileprivate func hasSameContents(as other: any EntityRecord) throws -> Bool {
        guard let other = other as? Self else { return false }
        let (own, others) = (try EntityRowEncoder(encoding: self), try EntityRowEncoder(encoding: other))
        guard own.attributes.elementsEqual(others.attributes, by: { Self.isSame($0.value, $1.value) }),
            own.references.elementsEqual(others.references, by: { $0.key == $1.key }),
            own.related.keys == others.related.keys
        else { return false }
        return try own.related.allSatisfy { name, rows in
            guard let before = others.related[name], rows.count == before.count else { return false }
            return try zip(rows, before).allSatisfy { try $0.hasSameContents(as: $1) }
        }
    }

    /// Compares the stored forms of values, because `JSONEncoder` writes the members of an object in any order.
    private static func isSame(_ value: StoredValue, _ other: StoredValue) -> Bool {
        ColumnValue.databaseValue(value, as: .json).isExactly(ColumnValue.databaseValue(other, as: .json))
    }
}
