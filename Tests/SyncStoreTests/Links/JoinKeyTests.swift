import SyncCore
import Testing

@testable import SyncStore

@Suite("Single join row changes")
struct JoinKeyTests {
    @Test("A join row is added once, at the end of both lists")
    func addsJoinRowsOnce() throws {
        let songs = try SongLinks()
        songs.store.link(1, 5, songs.lists, LinkPositions(first: 3, second: 0))
        #expect(try songs.links.add(.of(1, 6), songs.lists.id))
        #expect(try songs.links.add(.of(2, 5), songs.lists.id))
        #expect(try !songs.links.add(.of(1, 5), songs.lists.id))
        #expect(try !songs.links.add(.of(1, 6), songs.lists.id))
        #expect(try songs.listed(1) == songs.keys(5, 6) && songs.listed(2) == songs.keys(5))
        #expect(try songs.links.targets(of: .integer(5), songs.lists.id, from: .second) == songs.keys(1, 2))
        #expect(try songs.written() == ["insert 1–6, 2–5"])
        #expect(songs.store.pairs(songs.lists) == ["1–5 at 3, 0", "1–6 at 4, 0", "2–5 at 0, 1"])
        #expect(try !songs.links.add(.of(1, 6), songs.lists.id))
        #expect(try songs.written() == [])
    }

    @Test("Unordered join rows are looked up one by one, and no list is read")
    func looksUpUnorderedJoinRows() throws {
        let songs = try SongLinks()
        songs.store.link(1, 5, songs.tags)
        #expect(try songs.links.add(.of(1, 6), songs.tags.id) && !songs.links.add(.of(1, 5), songs.tags.id))
        #expect(songs.store.takeOperations() == ["stored 1–6", "stored 1–5"])
        #expect(try songs.written() == ["insert 1–6"])
        #expect(songs.store.pairs(songs.tags) == ["1–5", "1–6"])
    }

    @Test("A join row is removed once, from either end")
    func removesJoinRowsOnce() throws {
        let songs = try SongLinks()
        for (list, song) in [(1, 5), (1, 6), (2, 5), (2, 6)] as [(Int64, Int64)] {
            songs.store.link(list, song, songs.lists, LinkPositions(first: song, second: list))
        }
        #expect(try songs.links.remove(.of(1, 6), songs.lists.id))
        #expect(try !songs.links.remove(.of(1, 6), songs.lists.id))
        #expect(try !songs.links.remove(.of(3, 6), songs.lists.id))
        try songs.links.removeJoinRows(of: .integer(5), songs.lists.id, at: .second)
        #expect(try songs.listed(1) == [] && songs.listed(2) == songs.keys(6))
        #expect(try songs.written() == ["remove 1–5, 1–6, 2–5"])
        #expect(songs.store.pairs(songs.lists) == ["2–6 at 6, 2"])
    }

    @Test("A join row change that is reverted is not written", arguments: [false, true])
    func revertedChangeIsNotWritten(isStored: Bool) throws {
        let songs = try SongLinks()
        if isStored { songs.store.link(1, 5, songs.lists, LinkPositions(first: 0, second: 0)) }
        func add() throws { _ = try songs.links.add(.of(1, 5), songs.lists.id) }
        func remove() throws { _ = try songs.links.remove(.of(1, 5), songs.lists.id) }
        if isStored { try remove() } else { try add() }
        if isStored { try add() } else { try remove() }
        #expect(try songs.written() == [])
    }

    @Test("A join row that is removed and added again moves to the end")
    func addedAgainMovesToEnd() throws {
        let songs = try SongLinks()
        songs.store.link(1, 5, songs.lists, LinkPositions(first: 0, second: 0))
        songs.store.link(1, 6, songs.lists, LinkPositions(first: 1, second: 0))
        #expect(try songs.links.remove(.of(1, 5), songs.lists.id))
        #expect(try songs.links.add(.of(1, 5), songs.lists.id))
        #expect(try songs.written() == ["set places of 1–5 at first"])
        #expect(songs.store.pairs(songs.lists) == ["1–5 at 2, 0", "1–6 at 1, 0"])
    }

    @Test("Removals, moves and insertions take one operation each, sorted by key")
    func writesInOneOperationEach() throws {
        let songs = try SongLinks()
        for song in 1...4 as ClosedRange<Int64> {
            songs.store.link(1, song, songs.lists, LinkPositions(first: song, second: 0))
        }
        for song in [4, 3] as [Int64] { #expect(try songs.links.remove(.of(1, song), songs.lists.id)) }
        for song in [9, 8] as [Int64] { #expect(try songs.links.add(.of(1, song), songs.lists.id)) }
        for song in [2, 1] as [Int64] {
            for end in [CompiledAssociation.End.first, .second] {
                let pair = JoinKey.of(1, song)
                try songs.links.setPosition(10 + song, of: pair.row(end.other), in: pair.row(end), songs.lists.id, end)
            }
        }
        #expect(
            try songs.written() == [
                "remove 1–3, 1–4", "set places of 1–1, 1–2 at first", "set places of 1–1, 1–2 at second",
                "insert 1–8, 1–9",
            ])
        #expect(
            songs.store.pairs(songs.lists) == ["1–1 at 11, 11", "1–2 at 12, 12", "1–8 at 4, 0", "1–9 at 3, 0"])
    }

    @Test("Join rows of a deleted row are not written")
    func deletedRowHasNoChanges() throws {
        let songs = try SongLinks()
        songs.store.link(1, 5, songs.lists, LinkPositions(first: 0, second: 0))
        songs.store.link(2, 5, songs.lists, LinkPositions(first: 0, second: 1))
        try songs.links.setPosition(7, of: .integer(5), in: .integer(1), songs.lists.id, .first)
        try songs.links.setPosition(7, of: .integer(5), in: .integer(2), songs.lists.id, .first)
        #expect(try songs.links.add(.of(1, 6), songs.lists.id))
        songs.links.removeRows([try songs.model.row("List", .integer(1)), try songs.model.row("Tag", .integer(2))])
        #expect(try songs.links.targets(of: .integer(6), songs.lists.id, from: .second) == [])
        #expect(try songs.written() == ["set places of 2–5 at first"])
    }
}
