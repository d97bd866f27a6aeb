import SyncCore
import SyncStore

/// The table that stores the links of an association, as seen from one of its ends. The names are quoted.
struct LinkTable {
    let table: String
    /// The columns with the keys of the linked rows: `mine` for this end, `other` for the other end.
    let mine: String
    let other: String
    /// The columns with the positions of a link in the lists of its two rows; nil for a list that is not ordered.
    let position: String?
    let otherPosition: String?

    init(_ link: CompiledAssociation, _ end: CompiledAssociation.End, _ layout: StoreLayout) {
        switch layout[link.id] {
        case .foreignKey(let table, let column, let position):
            let key = layout[link.first.table].keyColumn.quoted
            self.table = table.quoted
            (mine, other) = end == .first ? (key, column.quoted) : (column.quoted, key)
            (self.position, otherPosition) = end == .first ? (nil, position?.quoted) : (position?.quoted, nil)
        case .joinTable(let name, let first, let second, let firstPlace, let secondPlace):
            table = name.quoted
            let (columns, positions) = ((first.quoted, second.quoted), (firstPlace?.quoted, secondPlace?.quoted))
            (mine, other) = end == .first ? columns : (columns.1, columns.0)
            (position, otherPosition) = end == .first ? positions : (positions.1, positions.0)
        }
    }
}

// MARK: - NextPositionSQL

/// A query for the next position in the ordered list of a row. This position follows those of linked rows and those
/// that are reserved for pending references.
enum NextPositionSQL {
    /// Returns a query whose only parameter is the key of the row; nil if this end of the association is not ordered.
    static func query(_ link: AssociationID, _ end: CompiledAssociation.End, _ layout: StoreLayout) -> String? {
        let names = LinkTable(layout.model[link], end, layout)
        let side = layout.model[link].side(end)
        guard let position = names.position, let relationship = side.relationship else { return nil }
        return """
            SELECT max(
              (SELECT ifnull(max(\(position)) + 1, 0) FROM \(names.table) WHERE \(names.mine) = ?1),
              (SELECT ifnull(max(position) + 1, 0) FROM sync_pending
               WHERE owner_entity IN (\(layout.entityNames(of: [side.table]))) AND owner_key = ?1
               AND relationship = \(relationship.name.literal)))
            """
    }
}

// MARK: - LinkOrderingSQL

/// The order of related rows: by position, then by key. Rows without a position come last.
enum LinkOrderingSQL {
    /// Returns the terms of the `ORDER BY` clause.
    ///
    /// - Parameters:
    ///   - position: The quoted column of positions; nil if the relationship is not ordered.
    ///   - key: The terms that order rows with the same position.
    static func terms(position: String?, key: String) -> String {
        guard let position else { return key }
        return "\(position) NULLS LAST, \(key)"
    }
}
