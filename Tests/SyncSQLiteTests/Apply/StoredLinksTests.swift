import Foundation
import GRDB
import SyncCore
import Testing

@testable import SyncSQLite

/// Links of single rows, as a foreign key or as pairs: the calls are the same.
@Suite("Stored links")
struct StoredLinksTests {
    /// Lists of songs in order; a song is on one shelf, in order too, and has one sleeve.
    private static let schema = """
        { "entities": {
          "List": { "attributes": { "id": "integer" },
                    "relationships": { "songs": { "entity": "Song", "many": true, "ordered": true, "inverse": "lists" } } },
          "Shelf": { "attributes": { "id": "integer" },
                     "relationships": { "songs": { "entity": "Song", "many": true, "ordered": true, "inverse": "shelf" } } },
          "Song": { "attributes": { "id": "integer" },
                    "relationships": { "lists": { "entity": "List", "many": true, "inverse": "songs" },
                                       "shelf": { "entity": "Shelf", "inverse": "songs" } } } } }
        """

    /// What the tests share: the links, and where a link leads from.
    private struct Store {
        let links: StoredLinks
        let model: CompiledModel
        let db: Database

        /// The link of a relationship, and the end it leads from.
        func link(_ entity: String, _ name: String) throws -> (id: LinkID, end: Link.End) {
            let found = try #require(try model.entity(named: entity).relationship(named: name))
            return (found.link, found.end)
        }

        func row(_ entity: String, _ key: Int64) throws -> StoredRow {
            StoredRow(table: try model.entity(named: entity).table, key: .integer(key))
        }

        func targets(_ entity: String, _ key: Int64, _ name: String) throws -> [Int64] {
            let (id, end) = try link(entity, name)
            return try links.targets(of: row(entity, key), id, from: end).map {
                guard case .integer(let key) = $0 else { return -1 }
                return key
            }
        }
    }

    private func withStore(_ body: @escaping @Sendable (Store) throws -> Void) throws {
        let stack = try DataStack.inMemory(Model(schema: Data(Self.schema.utf8)))
        try stack.write { db in
            try db.execute(
                sql: """
                    INSERT INTO List (id) VALUES (1), (2);
                    INSERT INTO Shelf (id) VALUES (1), (2);
                    INSERT INTO Song (id) VALUES (1), (2), (3);
                    """)
            let layout = stack.layout
            let columns = layout.model.trees.map { RowColumns($0, layout) }
            let links = StoredLinks(db, layout, columns, StatementCache(db))
            try body(Store(links: links, model: layout.model, db: db))
        }
    }

    @Test("A foreign key is set as the last of its target's, moved and cleared")
    func foreignKey() throws {
        try withStore { store in
            let (id, _) = try store.link("Song", "shelf")
            for song in [2, 1, 3] as [Int64] { try store.links.setTarget(.integer(1), of: store.row("Song", song), id) }
            #expect(try store.targets("Shelf", 1, "songs") == [2, 1, 3])
            #expect(try store.targets("Song", 2, "shelf") == [1])
            #expect(try store.links.freePlace(id, .second, .integer(1)) == 3)
            try store.links.setTarget(.integer(2), of: store.row("Song", 2), id)
            #expect(try store.targets("Shelf", 2, "songs") == [2])
            #expect(try store.links.list(of: .integer(2), id, .second)?.map(\.place) == [0])
            try store.links.clearTarget(of: store.row("Song", 1), id)
            #expect(try store.targets("Shelf", 1, "songs") == [3])
            #expect(try store.links.target(of: store.row("Song", 1), id) == nil)
        }
    }

    @Test("Pairs are added once, as the last of both rows, and removed from either end")
    func pairs() throws {
        try withStore { store in
            let (id, end) = try store.link("List", "songs")
            func add(_ list: Int64, _ song: Int64) throws -> Bool {
                let (first, second) = end == .first ? (list, song) : (song, list)
                return try store.links.addPair(.integer(first), .integer(second), id)
            }
            #expect(try add(1, 3) && add(1, 1) && add(2, 3))
            #expect(try !add(1, 3))
            #expect(try store.targets("List", 1, "songs") == [3, 1])
            #expect(try store.targets("Song", 3, "lists") == [1, 2])
            #expect(try store.links.removePair(of: .integer(3), id, at: end.other, to: .integer(1)))
            #expect(try !store.links.removePair(of: .integer(1), id, at: end, to: .integer(3)))
            #expect(try store.targets("List", 1, "songs") == [1])
            try store.links.removePairs(of: .integer(3), id, at: end.other)
            #expect(try store.targets("List", 2, "songs") == [])
            #expect(store.links.pairTables.count == 1)
        }
    }

    @Test("A row takes its place in a list; what has it moves away", arguments: ["List", "Shelf"])
    func places(_ entity: String) throws {
        try withStore { store in
            let (id, end) = try store.link(entity, "songs")
            for song in [1, 2, 3] as [Int64] {
                if entity == "Shelf" {
                    try store.links.setTarget(.integer(1), of: store.row("Song", song), id)
                } else {
                    _ =
                        try end == .first
                        ? store.links.addPair(.integer(1), .integer(song), id)
                        : store.links.addPair(.integer(song), .integer(1), id)
                }
            }
            try store.links.takePlace(0, of: .integer(3), in: .integer(1), id, end)
            #expect(try store.targets(entity, 1, "songs") == [3, 1, 2])
            #expect(try store.links.list(of: .integer(1), id, end)?.map(\.place) == [0, 1, 2])
            try store.links.setPlace(7, of: .integer(1), in: .integer(1), id, end)
            #expect(try store.targets(entity, 1, "songs") == [3, 2, 1])
            #expect(try store.links.freePlace(id, end, .integer(1)) == 8)
            // Places that nobody gave come last.
            let table = entity == "Shelf" ? "Song SET sync_shelf_order" : "List_songs SET sync_order"
            let song = entity == "Shelf" ? "id" : "songID"
            try store.db.execute(sql: "UPDATE \(table) = NULL WHERE \(song) = 3")
            #expect(try store.targets(entity, 1, "songs") == [2, 1, 3])
            #expect(try store.links.list(of: .integer(1), id, end.other) == nil)
        }
    }

    @Test("A link to a row that is not stored is none")
    func dangling() throws {
        try withStore { store in
            let shelf = try store.link("Song", "shelf").id
            try store.db.execute(sql: "INSERT INTO List_songs (listID, songID) VALUES (1, 9)")
            try store.links.setTarget(.integer(9), of: store.row("Song", 1), shelf)
            #expect(try store.targets("List", 1, "songs") == [])
            #expect(try store.links.target(of: store.row("Song", 1), shelf) == nil)
            try store.db.execute(sql: "DELETE FROM List_songs; UPDATE Song SET shelfID = NULL")
        }
    }
}
