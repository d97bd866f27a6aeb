import SyncCore
import SyncStore

/// Asks for the place after all others in the ordered list of a row: after the rows that are linked, and after those that
/// the list still waits for, whose places are kept for them.
enum FreePlaceSQL {
    /// A query whose only parameter is the key of the row; nil if its end of the link is not ordered.
    static func query(_ link: LinkID, _ end: Link.End, _ layout: StoreLayout) -> String? {
        let names = LinkTable(layout.model[link], end, layout)
        let side = layout.model[link].side(end)
        guard let place = names.place, let relationship = side.relationship else { return nil }
        return """
            SELECT max(
              (SELECT ifnull(max(\(place)) + 1, 0) FROM \(names.table) WHERE \(names.mine) = ?1),
              (SELECT ifnull(max(position) + 1, 0) FROM sync_pending
               WHERE owner_entity IN (\(layout.entityNames(of: [side.table]))) AND owner_key = ?1
               AND relationship = \(relationship.name.literal)))
            """
    }
}
