/// The values of a row as text, all in one buffer, which the next row uses again.
struct TextRow {
    private(set) var bytes: [UInt8] = []
    private var ends: [Int] = []
    private var nulls: [Bool] = []

    var count: Int { ends.count }

    mutating func clear() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
        nulls.removeAll(keepingCapacity: true)
    }

    /// Adds a value.
    ///
    /// - Parameter body: Appends its text; false if there is no value.
    mutating func add(_ body: (inout [UInt8]) -> Bool) {
        let isValue = body(&bytes)
        ends.append(bytes.count)
        nulls.append(!isValue)
    }

    mutating func add(_ text: String) {
        add { bytes in
            bytes += text.utf8
            return true
        }
    }

    func isNull(_ column: Int) -> Bool { nulls[column] }

    subscript(column: Int) -> ArraySlice<UInt8> { bytes[(column == 0 ? 0 : ends[column - 1])..<ends[column]] }
}

/// Lays out rows of text, one after the other.
protocol TextRowWriter: Sendable {
    mutating func begin()
    mutating func append(_ row: TextRow) throws
    /// Writes what there still is to write.
    mutating func end() throws
}

/// What stands above the values of a row.
struct RowColumn {
    let title: String
    /// Numbers are easier to compare with their last digits below each other.
    var isNumeric = false
}
