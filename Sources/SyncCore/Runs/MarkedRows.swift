/// The marks of many rows. Whole numbers that are close to each other, as most keys are, take next to no memory.
package struct MarkedRows: Sendable {
    /// The marks of 64 neighbouring numbers, a bit each.
    private struct Block: Sendable {
        var mentioned: UInt64 = 0
        var counted: UInt64 = 0
        var written: UInt64 = 0
        var root: UInt64 = 0
        var listed: UInt64 = 0
        var inserted: UInt64 = 0

        func mark(_ bit: UInt64) -> RowMark {
            var mark: RowMark = []
            if mentioned & bit != 0 { mark.insert(.mentioned) }
            if counted & bit != 0 { mark.insert(.counted) }
            if written & bit != 0 { mark.insert(.written) }
            if root & bit != 0 { mark.insert(.root) }
            if listed & bit != 0 { mark.insert(.listed) }
            if inserted & bit != 0 { mark.insert(.inserted) }
            return mark
        }

        mutating func insert(_ mark: RowMark, _ bit: UInt64) {
            if mark.contains(.mentioned) { mentioned |= bit }
            if mark.contains(.counted) { counted |= bit }
            if mark.contains(.written) { written |= bit }
            if mark.contains(.root) { root |= bit }
            if mark.contains(.listed) { listed |= bit }
            if mark.contains(.inserted) { inserted |= bit }
        }
    }

    /// By table.
    private var blocks: [[Int64: Block]] = []
    private var others: [StoredRow: RowMark] = [:]

    package init() {}

    /// How many bytes they take, about.
    package var size: Int { blocks.reduce(0) { $0 + $1.capacity * 57 } + others.capacity * 34 + textSize }
    private var textSize = 0

    package subscript(row: StoredRow) -> RowMark {
        guard case .integer(let key) = row.key else { return others[row] ?? [] }
        guard row.table.index < blocks.count else { return [] }
        return blocks[row.table.index][key >> 6]?.mark(1 << UInt64(key & 63)) ?? []
    }

    /// Adds a mark to those of a row.
    ///
    /// - Returns: Those it had.
    @discardableResult
    package mutating func insert(_ mark: RowMark, for row: StoredRow) -> RowMark {
        guard case .integer(let key) = row.key else { return insertOther(mark, for: row) }
        while blocks.count <= row.table.index { blocks.append([:]) }
        let bit: UInt64 = 1 << UInt64(key & 63)
        var block = blocks[row.table.index][key >> 6] ?? Block()
        let before = block.mark(bit)
        if before.isSuperset(of: mark) { return before }
        block.insert(mark, bit)
        blocks[row.table.index][key >> 6] = block
        return before
    }

    private mutating func insertOther(_ mark: RowMark, for row: StoredRow) -> RowMark {
        let before = others[row]
        if let before, before.isSuperset(of: mark) { return before }
        others[row] = mark.union(before ?? [])
        if before == nil, case .text(let text) = row.key, text.utf8.count > 15 { textSize += text.utf8.count + 48 }
        return before ?? []
    }

    /// Calls `body` with each row and its marks, and forgets them.
    package mutating func removeAll(_ body: (StoredRow, RowMark) throws -> Void) rethrows {
        for table in blocks.indices {
            // In order, as a table takes them best.
            for (high, block) in blocks[table].sorted(by: { $0.key < $1.key }) {
                for low in 0..<64 {
                    let mark = block.mark(1 << UInt64(low))
                    if mark.isEmpty { continue }
                    try body(StoredRow(table: TableID(table), key: .integer(high << 6 | Int64(low))), mark)
                }
            }
        }
        for (row, mark) in others { try body(row, mark) }
        self = MarkedRows()
    }
}
