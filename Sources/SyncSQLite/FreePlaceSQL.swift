import SyncCore
import SyncStore

/// Asks for the place after all others in the ordered list of a row: after the rows that are linked, and after those that
/// the list still waits for, whose places are kept for them.
enum FreePlaceSQL {
    /// A query whose only parameter is the key of the row; nil if its end of the link is not ordered.
    static func query(_ link: LinkID, _ end: Link.End, _ layout: StoreLayout) -> String? {
        let (table, mine, order) =
            switch layout[link] {
            case .foreignKey(let table, let column, let order): (table, column, end == .second ? order : nil)
            case .joinTable(let name, let first, let second, let firstOrder, let secondOrder):
                end == .first ? (name, first, firstOrder) : (name, second, secondOrder)
            }
        let side = layout.model[link].side(end)
        guard let order = order.map(SchemaSQL.quoted), let relationship = side.relationship else { return nil }
        let owners = layout.model[side.table].entities.map { SchemaSQL.literal(layout.model.entities[$0].name) }
        return """
            SELECT max(
              (SELECT ifnull(max(\(order)) + 1, 0) FROM \(SchemaSQL.quoted(table)) WHERE \(SchemaSQL.quoted(mine)) = ?1),
              (SELECT ifnull(max(position) + 1, 0) FROM sync_pending
               WHERE owner_entity IN (\(owners.joined(separator: ", "))) AND owner_key = ?1
               AND relationship = \(SchemaSQL.literal(relationship.name))))
            """
    }
}
