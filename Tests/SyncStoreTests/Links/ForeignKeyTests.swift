import SyncCore
import Testing

@testable import SyncStore

@Suite("Single foreign key changes")
struct ForeignKeyTests {
    @Test("A foreign key is set at the end of the referenced row's list, moved and cleared")
    func setsMovesAndClearsForeignKeys() throws {
        let songs = try SongLinks()
        songs.fill(7, with: [4])
        for song in [2, 1, 3] as [Int64] { try songs.put(song, on: 7) }
        #expect(try songs.songs(7) == songs.keys(4, 2, 1, 3))
        try songs.put(2, on: 8)
        try songs.links.clearTarget(of: .integer(4), songs.shelf.id)
        #expect(try songs.songs(7) == songs.keys(1, 3) && songs.songs(8) == songs.keys(2))
        #expect(try songs.links.target(of: .integer(2), songs.shelf.id) == .integer(8))
        #expect(try songs.links.target(of: .integer(4), songs.shelf.id) == nil)
        #expect(songs.store.pairs(songs.shelf) == ["4–7 at -, 0"])
        #expect(try songs.written() == ["set targets of 1, 2, 3, 4"])
        #expect(songs.store.pairs(songs.shelf) == ["1–7 at -, 2", "2–8 at -, 0", "3–7 at -, 3"])
    }

    @Test("A foreign key is cleared if the referenced row is deleted, even if it was just set")
    func deletedTargetClearsForeignKey() throws {
        let songs = try SongLinks()
        songs.fill(7, with: [1])
        try songs.put(1, on: 8)
        songs.links.removeRows([try songs.model.row("Shelf", .integer(8))])
        #expect(try songs.links.target(of: .integer(1), songs.shelf.id) == nil)
        #expect(try songs.written() == ["set targets of 1"])
        #expect(songs.store.pairs(songs.shelf).isEmpty)
    }

    @Test("The caller receives the changed rows before they are written, all of one association at once")
    func passesRowsBeforeWriting() throws {
        let songs = try SongLinks()
        try songs.put(2, on: 7)
        try songs.put(1, on: 7)
        var told: [[StoredRow]] = []
        try songs.links.write { rows in
            #expect(songs.store.pairs(songs.shelf).isEmpty)
            told.append(rows)
        }
        #expect(try told == [[songs.model.row("Song", .integer(1)), songs.model.row("Song", .integer(2))]])
    }

    @Test("A foreign key has no position if the inverse list is unordered")
    func unorderedForeignKeysHaveNoPosition() throws {
        let songs = try SongLinks()
        let (link, end) = try songs.model.link("Song", "sleeve")
        let (row, target): (RowKey, RowKey) = end == .first ? (.integer(1), .integer(2)) : (.integer(2), .integer(1))
        try songs.links.setTarget(target, of: row, link.id)
        #expect(try songs.written() == ["set targets of \([row].text)"])
        #expect(songs.store.pairs(link) == ["\([row].text)–\([target].text)"])
    }

    @Test("A foreign key that does not change is not written")
    func unchangedForeignKeysAreNotWritten() throws {
        let songs = try SongLinks()
        songs.fill(7, with: [1, 2])
        try songs.put(2, on: 7)
        #expect(try songs.written() == [])
        try songs.put(1, on: 7)
        #expect(try songs.written() == ["set targets of 1"])
        #expect(songs.store.pairs(songs.shelf) == ["1–7 at -, 2", "2–7 at -, 1"])
        #expect(try songs.written() == [])
    }
}
