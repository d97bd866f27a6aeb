import Testing

@testable import SyncCore

@Suite("Row flags")
struct RowFlagTableTests {
    private static let keys: [RowKey] = [
        .integer(0), .integer(63), .integer(64), .integer(-1), .integer(.min), .integer(.max), .text("a"),
        .text(String(repeating: "long", count: 20)), .real(0.5),
    ]

    @Test("Row flags are kept for every kind of key, separately for each table", arguments: keys)
    func keepsFlagsPerTable(_ key: RowKey) {
        var marks = RowFlagTable()
        let row = StoredRow(table: 2, key: key)
        #expect(marks[row] == [])
        let added: [RowFlags] = [.mentioned, [.counted, .listed], [.root, .written, .inserted]]
        let before = added.map { marks.insert($0, for: row) }
        #expect(before == [[], .mentioned, [.mentioned, .counted, .listed]])
        #expect(marks[row] == [.mentioned, .counted, .listed, .root, .written, .inserted])
        #expect(marks[StoredRow(table: 1, key: key)] == [] && marks[StoredRow(table: 3, key: key)] == [])
        for other in Self.keys where other != key { #expect(marks[StoredRow(table: 2, key: other)] == []) }
    }

    @Test("forEach passes each row once, integer keys in order")
    func forEachPassesEachRowOnce() {
        var marks = RowFlagTable()
        for key in [130, -5, 7, 64] as [Int64] { marks.insert(.listed, for: StoredRow(table: 0, key: .integer(key))) }
        marks.insert(.root, for: StoredRow(table: 1, key: .text("x")))
        var found: [RowKey: RowFlags] = [:]
        var order: [Int64] = []
        marks.forEach { row, mark in
            found[row.key] = mark
            if case .integer(let key) = row.key { order.append(key) }
        }
        #expect(order == [-5, 7, 64, 130])
        #expect(found[.text("x")] == .root && found[.integer(7)] == .listed && found.count == 5)
    }

    @Test("Integer keys that are close to each other take little memory")
    func denseKeysTakeLittleMemory() {
        var dense = RowFlagTable()
        var sparse = RowFlagTable()
        for key in 0..<6_400 as Range<Int64> {
            dense.insert(.mentioned, for: StoredRow(table: 0, key: .integer(key)))
            sparse.insert(.mentioned, for: StoredRow(table: 0, key: .integer(key << 7)))
        }
        #expect(dense.size < 6_400 * 4 && sparse.size > dense.size * 10)
    }
}
