import SyncCore
import Testing

@testable import SyncStore

@Suite("Loading of links")
struct LinkReadingTests {
    @Test("Links are loaded in one operation, each row once")
    func loadsEachRowOnce() throws {
        let songs = try SongLinks()
        songs.fill(7, with: [1, 2])
        try songs.links.load(songs.keys(7, 8, 7), songs.shelf.id, from: .second)
        try songs.links.load(songs.keys(8, 9, 7), songs.shelf.id, from: .second)
        try songs.links.load([], songs.shelf.id, from: .second)
        #expect(try songs.songs(7) == songs.keys(1, 2) && songs.songs(8) == [] && songs.songs(9) == [])
        #expect(songs.store.takeOperations() == ["links of 7, 8 from second", "links of 9 from second"])
    }

    @Test("Links are loaded separately for each end and each association")
    func loadsEachEndSeparately() throws {
        let songs = try SongLinks()
        for (link, end) in [(songs.shelf, CompiledAssociation.End.first), (songs.shelf, .second), (songs.tags, .first)]
        {
            try songs.links.load(songs.keys(1), link.id, from: end)
        }
        let expected = ["links of 1 from first", "links of 1 from second", "links of 1 from first"]
        #expect(songs.store.takeOperations() == expected)
    }

    @Test("Links that were not loaded are read on demand")
    func readsOnDemand() throws {
        let songs = try SongLinks()
        songs.fill(7, with: [1])
        #expect(try songs.links.target(of: .integer(1), songs.shelf.id) == .integer(7))
        #expect(try songs.songs(7) == songs.keys(1))
        #expect(songs.store.takeOperations() == ["links of 1 from first", "links of 7 from second"])
    }

    @Test("Join rows are looked up in one operation, without the known ones")
    func looksUpUnknownJoinRows() throws {
        let songs = try SongLinks()
        songs.store.link(1, 5, songs.tags)
        try songs.links.load(songs.keys(2), songs.tags.id, from: .first)
        try songs.links.load([.of(1, 5), .of(2, 5), .of(1, 6)], songs.tags.id)
        try songs.links.load([.of(1, 6), .of(1, 5)], songs.tags.id)
        #expect(try !songs.links.add(.of(1, 5), songs.tags.id) && songs.links.add(.of(2, 5), songs.tags.id))
        #expect(songs.store.takeOperations() == ["links of 2 from first", "stored 1–5, 1–6"])
    }

    @Test("Preserved positions are loaded in one operation, for ordered lists only")
    func loadsPreservedPositionsOfOrderedLists() throws {
        let songs = try SongLinks()
        try songs.links.loadReservedPositions(in: songs.keys(7, 8, 7), songs.shelf.id, .second)
        try songs.links.loadReservedPositions(in: songs.keys(8, 9), songs.shelf.id, .second)
        try songs.links.loadReservedPositions(in: songs.keys(1), songs.shelf.id, .first)
        try songs.links.loadReservedPositions(in: songs.keys(1), songs.tags.id, .first)
        #expect(songs.store.takeOperations() == ["kept places of 7, 8", "kept places of 9"])
    }

    @Test("Links are read again after removeAll")
    func readsAgainAfterRemoveAll() throws {
        let songs = try SongLinks()
        #expect(try songs.songs(7) == [])
        songs.fill(7, with: [1])
        #expect(try songs.songs(7) == [])
        songs.links.removeAll()
        #expect(try songs.songs(7) == songs.keys(1))
    }
}
