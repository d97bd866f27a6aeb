import SyncCore
import Testing

@testable import SyncStore

/// Tracked links of songs over a fake store. Songs have a foreign key to shelves. Join tables link lists with songs,
/// ordered at both ends, and songs with tags, unordered.
struct SongLinks {
    let store = FakeStore()
    let model: CompiledModel
    let links: LinkChangeTracker
    let shelf: CompiledAssociation
    let lists: CompiledAssociation
    let tags: CompiledAssociation

    init() throws {
        model = try SongModel.model().compiled
        links = LinkChangeTracker(store, model)
        shelf = try model.link("Song", "shelf").link
        lists = try model.link("List", "songs").link
        tags = try model.link("Song", "tags").link
        let firsts = try [model.link("Song", "shelf"), model.link("List", "songs"), model.link("Song", "tags")]
        try #require(firsts.allSatisfy { $0.end == .first })
    }

    /// Returns the songs of a shelf, in order.
    func songs(_ shelf: Int64) throws -> [RowKey] {
        try links.targets(of: .integer(shelf), self.shelf.id, from: .second)
    }

    /// Returns the songs of a list, in order.
    func listed(_ list: Int64) throws -> [RowKey] { try links.targets(of: .integer(list), lists.id, from: .first) }

    func put(_ song: Int64, on shelf: Int64) throws {
        try links.setTarget(.integer(shelf), of: .integer(song), self.shelf.id)
    }

    /// Stores songs on a shelf, at the positions 0, 1, 2 and so on.
    func fill(_ shelf: Int64, with songs: [Int64]) {
        for (place, song) in songs.enumerated() { store.link(song, shelf, self.shelf, .init(second: Int64(place))) }
    }

    /// Writes all changes and returns the operations of the store.
    func written() throws -> [String] {
        _ = store.takeOperations()
        try links.write { _ in }
        return store.takeOperations()
    }

    func keys(_ keys: Int64...) -> [RowKey] { keys.map { .integer($0) } }
}
