/// Integer keys so close to each other that reading all rows between them costs less than looking up each.
struct KeyRange {
    let keys: ClosedRange<Int64>

    /// Nil if there may be more than `factor` rows to a key, or there are no keys.
    init?(_ keys: some Collection<Int64>, factor: Int) {
        guard let low = keys.min(), let high = keys.max(),
            UInt64(bitPattern: high &- low) < UInt64(keys.count * factor)
        else { return nil }
        self.keys = low...high
    }

    /// A condition with two places to bind.
    static func condition(_ column: String) -> String { " WHERE \(column) BETWEEN ? AND ?" }

    func bind(to statement: RawStatement) {
        statement.bind(keys.lowerBound, at: 1)
        statement.bind(keys.upperBound, at: 2)
    }
}
