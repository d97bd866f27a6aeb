import SyncCore
import Testing

@testable import SyncStore

@Suite("Reverted foreign keys")
struct RevertedLinkTests {
    @Test("A foreign key that is set and reverted is not written", arguments: [false, true])
    func revertedForeignKeyIsNotWritten(isStored: Bool) throws {
        let songs = try SongLinks()
        if isStored { songs.fill(7, with: [1]) }
        try songs.put(1, on: 8)
        if isStored { try songs.put(1, on: 7) } else { try songs.links.clearTarget(of: .integer(1), songs.shelf.id) }
        #expect(try songs.written() == [])
    }
}
