/// The row flags of many rows, in memory. Integer keys that are close to each other take little memory.
package struct RowFlagTable: Sendable {
    /// The flags of 64 consecutive integer keys. Each flag has one bit for each key.
    private struct Block: Sendable {
        var mentioned: UInt64 = 0
        var counted: UInt64 = 0
        var written: UInt64 = 0
        var root: UInt64 = 0
        var listed: UInt64 = 0
        var inserted: UInt64 = 0

        func flags(at bit: UInt64) -> RowFlags {
            var flags: RowFlags = []
            if mentioned & bit != 0 { flags.insert(.mentioned) }
            if counted & bit != 0 { flags.insert(.counted) }
            if written & bit != 0 { flags.insert(.written) }
            if root & bit != 0 { flags.insert(.root) }
            if listed & bit != 0 { flags.insert(.listed) }
            if inserted & bit != 0 { flags.insert(.inserted) }
            return flags
        }

        mutating func insert(_ flags: RowFlags, _ bit: UInt64) {
            if flags.contains(.mentioned) { mentioned |= bit }
            if flags.contains(.counted) { counted |= bit }
            if flags.contains(.written) { written |= bit }
            if flags.contains(.root) { root |= bit }
            if flags.contains(.listed) { listed |= bit }
            if flags.contains(.inserted) { inserted |= bit }
        }
    }

    /// The blocks of integer keys, for each table by the key divided by 64.
    private var blocks: [[Int64: Block]] = []
    private var others: [StoredRow: RowFlags] = [:]

    package init() {}

    /// The approximate size in bytes.
    package var size: Int { blocks.reduce(0) { $0 + $1.capacity * 57 } + others.capacity * 34 + textSize }
    private var textSize = 0

    package subscript(row: StoredRow) -> RowFlags {
        guard case .integer(let key) = row.key else { return others[row] ?? [] }
        guard row.table.index < blocks.count else { return [] }
        return blocks[row.table.index][key >> 6]?.flags(at: 1 << UInt64(key & 63)) ?? []
    }

    /// Adds flags to a row.
    ///
    /// - Returns: The flags that the row had before.
    @discardableResult
    package mutating func insert(_ flags: RowFlags, for row: StoredRow) -> RowFlags {
        guard case .integer(let key) = row.key else { return insertOther(flags, for: row) }
        while blocks.count <= row.table.index { blocks.append([:]) }
        let bit: UInt64 = 1 << UInt64(key & 63)
        var block = blocks[row.table.index][key >> 6] ?? Block()
        let before = block.flags(at: bit)
        if before.isSuperset(of: flags) { return before }
        block.insert(flags, bit)
        blocks[row.table.index][key >> 6] = block
        return before
    }

    private mutating func insertOther(_ flags: RowFlags, for row: StoredRow) -> RowFlags {
        let before = others[row]
        if let before, before.isSuperset(of: flags) { return before }
        others[row] = flags.union(before ?? [])
        if before == nil, case .text(let text) = row.key, text.utf8.count > 15 { textSize += text.utf8.count + 48 }
        return before ?? []
    }

    /// Calls `body` with each row and its flags.
    package func forEach(_ body: (StoredRow, RowFlags) throws -> Void) rethrows {
        for table in blocks.indices {
            // Inserts into a table are fastest in key order.
            for (high, block) in blocks[table].sorted(by: { $0.key < $1.key }) {
                for low in 0..<64 {
                    let flags = block.flags(at: 1 << UInt64(low))
                    if flags.isEmpty { continue }
                    try body(StoredRow(table: TableID(table), key: .integer(high << 6 | Int64(low))), flags)
                }
            }
        }
        for (row, flags) in others { try body(row, flags) }
    }
}

/// The ways in which pages of an import contain a row and the import has counted the row.
package struct RowFlags: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A page contains the row, as a record or only as a reference by ID.
    package static let mentioned = RowFlags(rawValue: 1)
    /// The row was counted as inserted, updated or unchanged.
    package static let counted = RowFlags(rawValue: 2)
    /// The row was counted as inserted or updated.
    package static let written = RowFlags(rawValue: 4)
    /// The row was counted as inserted.
    package static let inserted = RowFlags(rawValue: 32)
    /// The row was counted as a root record.
    package static let root = RowFlags(rawValue: 8)
    /// A page listed the row as a child of the parent.
    package static let listed = RowFlags(rawValue: 16)
}

// MARK: - RowFlagStore

/// Row flags that a large paged import keeps outside memory, on the client. A transaction of the synced store does not
/// change them.
package protocol RowFlagStore: AnyObject, Sendable {
    /// Adds flags to those of their rows.
    func add(_ flags: RowFlagTable) throws

    /// Returns the flags of a row.
    func flags(of row: StoredRow) throws -> RowFlags
}
