import SyncCore
import Testing

@testable import SyncStore

@Suite("Tracked links")
struct TrackedLinksTests {
    private func list(_ memory: TrackedLinks, _ row: Int64, _ end: CompiledAssociation.End = .second) -> [RowKey] {
        memory.list(of: .integer(row), end).map(\.row)
    }

    private func link(_ row: Int64, _ other: Int64, at place: Int64? = nil, otherAt: Int64? = nil) -> StoredLink {
        StoredLink(row: .integer(row), other: .integer(other), position: place, otherPosition: otherAt)
    }

    @Test("A list is sorted by position, then by key, with missing positions last")
    func sortsListsByPosition() {
        let memory = TrackedLinks()
        memory.record(
            [link(9, 1), link(9, 5, at: 2), link(9, 4, at: 0), link(9, 3, at: 2), link(9, 2)], of: [.integer(9)],
            .second)
        #expect(list(memory, 9) == [.integer(4), .integer(3), .integer(5), .integer(1), .integer(2)])
        #expect(memory.list(of: .integer(9), .second).map(\.position) == [0, 2, 2, nil, nil])
        #expect(memory.positions(in: .integer(9), .second).compactMap(\.self).sorted() == [0, 2, 2])
        #expect(list(memory, 4, .first) == [.integer(9)])
    }

    @Test("Keys are sorted like a SQLite column: numbers, then texts by their bytes")
    func sortsKeysLikeSQLite() {
        let keys: [RowKey] = [.integer(-2), .real(-0.5), .integer(3), .real(3.5), .text(""), .text("Z"), .text("a")]
        let mixed = [5, 2, 6, 0, 4, 1, 3].map { keys[$0] }
        #expect(mixed.sorted { $0.precedes($1) } == keys)
        #expect(!RowKey.text("a").precedes(.text("a")) && !RowKey.integer(1).precedes(.real(1)))
        #expect(RowKey.text("e\u{301}").precedes(.text("z")) && RowKey.text("z").precedes(.text("\u{E9}")))
    }

    @Test("A row without links has no positions")
    func rowWithoutLinksHasNoPositions() {
        let memory = TrackedLinks()
        memory.record([link(9, 1)], of: [.integer(9), .integer(8)], .second)
        #expect(memory.positions(in: .integer(8), .second) == [] && memory.positions(in: .integer(9), .second) == [nil])
        #expect(memory.isLoaded(.integer(8), .second) && !memory.isLoaded(.integer(8), .first))
        #expect(memory.isKnown(.of(7, 8)) && !memory.isKnown(.of(8, 7)))
    }

    @Test("Loaded links do not overwrite changes")
    func loadingKeepsChanges() {
        let memory = TrackedLinks()
        memory.record([link(9, 1, at: 0), link(9, 2, at: 1)], of: [.integer(9)], .second)
        memory.remove(.of(1, 9))
        memory.set(.of(2, 9), LinkPositions(second: 5))
        memory.set(.of(3, 9), LinkPositions(second: 6))
        memory.record([link(1, 9, otherAt: 0), link(2, 9, otherAt: 1)], of: [.integer(1), .integer(2)], .first)
        memory.record([.of(1, 9)], stored: [.of(1, 9)])
        #expect(list(memory, 9) == [.integer(2), .integer(3)])
        #expect(memory.list(of: .integer(9), .second).map(\.position) == [5, 6])
    }

    @Test("A change remembers the stored state, however often it changes")
    func changeRemembersStoredState() {
        let memory = TrackedLinks()
        memory.record([link(9, 1, at: 4, otherAt: 3)], of: [.integer(9)], .second)
        memory.set(.of(1, 9), LinkPositions(first: 8, second: 8))
        memory.remove(.of(1, 9))
        memory.set(.of(2, 9), LinkPositions())
        memory.remove(.of(7, 7))
        guard case .present(let places) = memory.changed[.of(1, 9)], case .absent = memory.changed[.of(2, 9)] else {
            Issue.record("\(memory.changed)")
            return
        }
        #expect(places == LinkPositions(first: 3, second: 4) && memory.changed.count == 2)
        memory.clearChanges()
        #expect(memory.changed.isEmpty && list(memory, 9) == [.integer(2)])
    }

    @Test("A join row that was looked up has positions only after one of its rows is loaded")
    func lookedUpJoinRowsHaveNoPositions() {
        let memory = TrackedLinks()
        memory.record([.of(1, 9), .of(2, 9)], stored: [.of(1, 9)])
        #expect(memory.isKnown(.of(1, 9)) && memory.isKnown(.of(2, 9)) && !memory.isKnown(.of(3, 9)))
        #expect(memory.contains(.of(1, 9)) && !memory.contains(.of(2, 9)))
        #expect(memory.positions[.of(1, 9)] == LinkPositions())
        memory.record([link(1, 9, otherAt: 3)], of: [.integer(1)], .first)
        memory.record([.of(1, 9)], stored: [.of(1, 9)])
        #expect(memory.positions[.of(1, 9)] == LinkPositions(second: 3))
    }

    @Test("Forgetting a row drops its join rows and their changes, and no others")
    func forgettingRowDropsItsJoinRows() {
        let memory = TrackedLinks()
        memory.record([link(9, 1, at: 0), link(9, 2, at: 1)], of: [.integer(9)], .second)
        memory.set(.of(1, 9), LinkPositions(second: 2))
        memory.set(.of(1, 8), LinkPositions(second: 0))
        memory.set(.of(2, 9), LinkPositions(second: 3))
        memory.removeRow(.integer(1), .first)
        #expect(list(memory, 9) == [.integer(2)] && list(memory, 8).isEmpty)
        #expect(Set(memory.changed.keys) == [.of(2, 9)])
        memory.removeRow(.integer(2), .second)
        #expect(list(memory, 9) == [.integer(2)])
        memory.removeRow(.integer(9), .second)
        #expect(memory.positions.isEmpty && memory.changed.isEmpty)
    }

    @Test("Positions are reserved only if the preserved positions were loaded")
    func reservesOnlyIfLoaded() {
        let memory = TrackedLinks()
        memory.reserve(3, in: .integer(9), .second)
        #expect(memory.reservedPositions(.integer(9), .second) == nil)
        memory.setReservedPositions([1, 4, 1], in: .integer(9), .second)
        memory.reserve(6, in: .integer(9), .second)
        memory.releasePosition(1, in: .integer(9), .second)
        memory.releasePosition(5, in: .integer(9), .second)
        #expect(memory.reservedPositions(.integer(9), .second) == [4, 1, 6])
        #expect(memory.reservedPositions(.integer(9), .first) == nil)
    }
}
