import SyncCore
import SyncStore

/// Rows at the ends of a link of which the payload does not speak: they may not be stored.
struct DoubtfulEnds {
    private(set) var first: Set<RowKey> = []
    private(set) var second: Set<RowKey> = []
    /// Whether these are all such rows that stored links lead to, so that there is no need to look through the links.
    private(set) var areAll: Bool

    init(areAll: Bool = true) { self.areAll = areAll }

    /// - Parameter row: Nil for a value that is no key.
    mutating func note(_ row: RowKey?, at end: Link.End) {
        guard let row else {
            areAll = false
            return
        }
        switch end {
        case .first: first.insert(row)
        case .second: second.insert(row)
        }
    }
}
