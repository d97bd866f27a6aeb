/// The order of the rows that a relationship leads to: by their places in it, rows that have none after those that do, then
/// by key.
enum LinkOrderSQL {
    /// What follows `ORDER BY`.
    ///
    /// - Parameters:
    ///   - place: The column of places, quoted; nil if the relationship is in no order.
    ///   - key: What tells rows of the same place apart.
    static func terms(place: String?, key: String) -> String {
        guard let place else { return key }
        return "\(place) NULLS LAST, \(key)"
    }
}
