import SyncCore
import Testing

@testable import SyncStore

@Suite("Single position changes")
struct LinkPositionTests {
    private func places(_ songs: SongLinks, _ shelf: Int64 = 7) throws -> [Int64?] {
        try songs.links.list(of: .integer(shelf), songs.shelf.id, .second).map(\.position)
    }

    @Test("A row that takes a used position shifts the row there and all behind it")
    func usedPositionShiftsRows() throws {
        let songs = try SongLinks()
        songs.fill(7, with: [1, 2, 3, 4])
        try songs.links.moveToPosition(1, of: .integer(4), in: .integer(7), songs.shelf.id, .second)
        #expect(try songs.songs(7) == songs.keys(1, 4, 2, 3) && places(songs) == [0, 1, 2, 3])
        #expect(try songs.written() == ["set targets of 2, 3, 4"])
        #expect(songs.store.pairs(songs.shelf) == ["1–7 at -, 0", "2–7 at -, 2", "3–7 at -, 3", "4–7 at -, 1"])
    }

    @Test("A row that takes a free position shifts no other row")
    func freePositionShiftsNoRow() throws {
        let songs = try SongLinks()
        songs.fill(7, with: [1, 2])
        songs.store.link(3, 7, songs.shelf, LinkPositions(second: 9))
        songs.store.link(4, 7, songs.shelf)
        try songs.links.moveToPosition(4, of: .integer(1), in: .integer(7), songs.shelf.id, .second)
        #expect(try songs.songs(7) == songs.keys(2, 1, 3, 4) && places(songs) == [1, 4, 9, nil])
        #expect(try songs.written() == ["set targets of 1"])
    }

    @Test("A row takes no position that it already has, and none in an unlinked or unordered list")
    func ignoresNeedlessPositions() throws {
        let songs = try SongLinks()
        songs.fill(7, with: [1, 2])
        songs.store.link(1, 5, songs.tags)
        try songs.links.moveToPosition(0, of: .integer(1), in: .integer(7), songs.shelf.id, .second)
        try songs.links.moveToPosition(0, of: .integer(9), in: .integer(7), songs.shelf.id, .second)
        try songs.links.moveToPosition(-1, of: .integer(2), in: .integer(7), songs.shelf.id, .second)
        try songs.links.moveToPosition(0, of: .integer(7), in: .integer(2), songs.shelf.id, .first)
        try songs.links.setPosition(5, of: .integer(9), in: .integer(7), songs.shelf.id, .second)
        try songs.links.setPosition(5, of: .integer(5), in: .integer(1), songs.tags.id, .first)
        #expect(try songs.written() == [])
    }

    @Test("Positions of pending references are not given to other rows")
    func pendingPositionsAreReserved() throws {
        let songs = try SongLinks()
        songs.fill(7, with: [1])
        songs.store.keep([4, 2], in: .integer(7), songs.shelf, .second)
        try songs.put(2, on: 7)
        #expect(try places(songs) == [0, 5])
        songs.links.reservePosition(8, in: .integer(7), songs.shelf.id, .second)
        try songs.put(3, on: 7)
        #expect(try places(songs) == [0, 5, 9])
        songs.links.releasePosition(8, in: .integer(7), songs.shelf.id, .second)
        try songs.put(3, on: 7)
        #expect(try places(songs) == [0, 5, 6])
    }

    @Test("Pending positions of join rows are reserved at the end of their list")
    func reservesPositionsAtTheirEnd() throws {
        let songs = try SongLinks()
        songs.store.keep([3], in: .integer(1), songs.lists, .first)
        songs.store.keep([6], in: .integer(1), songs.lists, .second)
        #expect(try songs.links.add(.of(1, 5), songs.lists.id) && songs.links.add(.of(2, 1), songs.lists.id))
        #expect(try songs.written() == ["insert 1–5, 2–1"])
        #expect(songs.store.pairs(songs.lists) == ["1–5 at 4, 0", "2–1 at 0, 7"])
    }
}
