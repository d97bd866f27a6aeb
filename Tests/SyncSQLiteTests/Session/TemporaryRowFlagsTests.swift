import SyncCore
import Testing

@testable import SyncSQLite

@Suite("Row flags in a temporary database")
struct TemporaryRowFlagsTests {
    private static let keys: [RowKey] = [
        .integer(0), .integer(-1), .integer(.min), .integer(.max), .real(0.5), .real(1e300), .text(""), .text("7"),
        .text("a\u{0}b"), .text(String(repeating: "long", count: 20)),
    ]

    @Test("The flags of a row are the union of those that were added")
    func unitesFlags() throws {
        let store = try TemporaryRowFlags()
        for flags in [.mentioned, [.counted, .listed], [.root, .inserted]] as [RowFlags] {
            var table = RowFlagTable()
            for key in Self.keys { table.insert(flags, for: StoredRow(table: TableID(2), key: key)) }
            table.insert(.written, for: StoredRow(table: TableID(3), key: .integer(7)))
            try store.add(table)
        }
        for key in Self.keys {
            #expect(
                try store.flags(of: StoredRow(table: TableID(2), key: key)) == [
                    .mentioned, .counted, .listed, .root, .inserted,
                ],
                "\(key)")
            #expect(try store.flags(of: StoredRow(table: TableID(1), key: key)) == [])
        }
        // The text "7" and the integer 7 are different keys.
        #expect(try store.flags(of: StoredRow(table: TableID(3), key: .integer(7))) == .written)
        #expect(try store.flags(of: StoredRow(table: TableID(3), key: .text("7"))) == [])
    }

    @Test("Flags are moved only above the limit, and are the same afterwards")
    func movesFlagsAboveLimit() throws {
        var state = PagedImportState()
        let rows = (0..<1000).map { StoredRow(table: TableID(0), key: .text("key \($0)")) }
        for row in rows { #expect(try state.add(.mentioned, to: row) == []) }
        try state.spillRowFlags(above: 1 << 20) { try TemporaryRowFlags() }
        #expect(state.spilledRowFlags == nil)
        let unmoved = state
        try state.spillRowFlags(above: 0) { try TemporaryRowFlags() }
        #expect(state.spilledRowFlags != nil && state.rowFlags.size == 0)
        for row in rows {
            #expect(try state.flags(of: row) == .mentioned)
            #expect(try unmoved.flags(of: row) == .mentioned)
            #expect(try state.add(.counted, to: row) == .mentioned)
            #expect(try state.flags(of: row) == [.mentioned, .counted])
        }
        try state.spillRowFlags(above: 0) {
            Issue.record("the store of the import exists")
            return try TemporaryRowFlags()
        }
        #expect(try state.flags(of: rows[7]) == [.mentioned, .counted])
    }
}
