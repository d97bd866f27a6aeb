import SyncCore
import SyncStore

/// The table that has a link, as seen from one of its ends. Names are quoted.
struct LinkTable {
    let table: String
    /// The columns of the row at this end, and of the one at the other.
    let mine: String
    let other: String
    /// The columns of its place in the list of the row at this end, and of the one at the other; nil if there is none.
    let place: String?
    let otherPlace: String?

    init(_ link: Link, _ end: Link.End, _ layout: StoreLayout) {
        switch layout[link.id] {
        case .foreignKey(let table, let column, let place):
            let key = layout[link.first.table].keyColumn.quoted
            self.table = table.quoted
            (mine, other) = end == .first ? (key, column.quoted) : (column.quoted, key)
            (self.place, otherPlace) = end == .first ? (nil, place?.quoted) : (place?.quoted, nil)
        case .joinTable(let name, let first, let second, let firstPlace, let secondPlace):
            table = name.quoted
            let (columns, places) = ((first.quoted, second.quoted), (firstPlace?.quoted, secondPlace?.quoted))
            (mine, other) = end == .first ? columns : (columns.1, columns.0)
            (place, otherPlace) = end == .first ? places : (places.1, places.0)
        }
    }
}
