import Foundation
import GRDB
import SyncCore
import Testing

@testable import SyncSQLite
@testable import SyncStore

/// Changes of single links, as foreign keys and as join rows. They are visible before they are written, and stored
/// afterwards.
@Suite("Stored links")
struct StoredLinksTests {
    /// Lists and shelves with ordered songs. A song is on one shelf.
    private static let schema = """
        { "entities": {
          "List": { "attributes": { "id": "integer" },
                    "relationships": { "songs": { "entity": "Song", "many": true, "ordered": true,
                                                  "inverse": "lists" } } },
          "Shelf": { "attributes": { "id": "integer" },
                     "relationships": { "songs": { "entity": "Song", "many": true, "ordered": true,
                                                   "inverse": "shelf" } } },
          "Song": { "attributes": { "id": "integer" },
                    "relationships": { "lists": { "entity": "List", "many": true, "inverse": "songs" },
                                       "shelf": { "entity": "Shelf", "inverse": "songs" } } } } }
        """

    /// The tracked links of a store.
    private struct Links {
        let store: SessionStore
        let links: LinkChangeTracker

        init(_ store: SessionStore) {
            self.store = store
            links = LinkChangeTracker(store.session, store.model)
        }

        /// Returns the association of a relationship, and the end of the relationship's entity.
        func link(_ entity: String, _ name: String) throws -> (id: AssociationID, end: CompiledAssociation.End) {
            let found = try #require(try store.model.entity(named: entity).relationship(named: name))
            return (found.link, found.end)
        }

        func targets(_ entity: String, _ key: Int64, _ name: String) throws -> [Int64] {
            let (id, end) = try link(entity, name)
            return try links.targets(of: .integer(key), id, from: end).map {
                guard case .integer(let key) = $0 else { return -1 }
                return key
            }
        }

        /// Adds a song to a list.
        func add(_ list: Int64, _ song: Int64) throws -> Bool {
            let (id, end) = try link("List", "songs")
            return try links.add(TrackedLinks.key(.integer(list), .integer(song), end), id)
        }

        /// Puts a song on a shelf.
        func put(_ song: Int64, on shelf: Int64) throws {
            try links.setTarget(.integer(shelf), of: .integer(song), link("Song", "shelf").id)
        }

        /// Writes all changes, and forgets the loaded links.
        func write() throws {
            try links.write { _ in }
            links.removeAll()
        }

        /// Returns the stored links with their positions.
        func rows(_ columns: String, _ table: String) throws -> [String] {
            try Row.fetchAll(store.db, sql: "SELECT \(columns) FROM \(table) ORDER BY 1, 2").map { row in
                row.map { "\($0.1)" }.joined(separator: " ")
            }
        }

        func shelved() throws -> [String] { try rows("id, shelfID, sync_shelf_order", "Song") }
        func listed() throws -> [String] { try rows("listID, songID, sync_order", "List_songs") }
    }

    private func withStore(_ body: (Links) throws -> Void) throws {
        let sql = """
            INSERT INTO List (id) VALUES (1), (2);
            INSERT INTO Shelf (id) VALUES (1), (2);
            INSERT INTO Song (id) VALUES (1), (2), (3);
            """
        try SessionStore.with(SyncModel(schemaData: Data(Self.schema.utf8)), sql) { try body(Links($0)) }
    }

    @Test("A foreign key is set at the end of the referenced row's list, moved and cleared")
    func setsMovesAndClearsForeignKeys() throws {
        try withStore { store in
            let (id, _) = try store.link("Song", "shelf")
            for song in [2, 1, 3] as [Int64] { try store.put(song, on: 1) }
            #expect(try store.shelved() == ["1 NULL NULL", "2 NULL NULL", "3 NULL NULL"])
            try store.write()
            #expect(try store.shelved() == ["1 1 1", "2 1 0", "3 1 2"])
            #expect(try store.targets("Shelf", 1, "songs") == [2, 1, 3])
            #expect(try store.targets("Song", 2, "shelf") == [1])
            #expect(
                try store.store.session.nextPositions(in: [.integer(1), .integer(2)], store.store.model[id], .second)
                    == [
                        3, 0,
                    ])
            try store.put(2, on: 2)
            try store.links.clearTarget(of: .integer(1), id)
            #expect(try store.targets("Shelf", 2, "songs") == [2] && store.targets("Shelf", 1, "songs") == [3])
            try store.write()
            #expect(try store.shelved() == ["1 NULL NULL", "2 2 0", "3 1 2"])
            #expect(try store.links.target(of: .integer(1), id) == nil)
        }
    }

    @Test("A join row is added once, at the end of both lists, and removed from either end")
    func addsAndRemovesJoinRows() throws {
        try withStore { store in
            let (id, end) = try store.link("List", "songs")
            #expect(try store.add(1, 3) && store.add(1, 1) && store.add(2, 3))
            #expect(try !store.add(1, 3))
            try store.write()
            #expect(try store.listed() == ["1 1 1", "1 3 0", "2 3 0"])
            #expect(try !store.add(1, 3))
            #expect(try store.targets("List", 1, "songs") == [3, 1])
            #expect(try store.targets("Song", 3, "lists") == [1, 2])
            let pair = TrackedLinks.key(.integer(1), .integer(3), end)
            #expect(try store.links.remove(pair, id))
            #expect(try !store.links.remove(pair, id))
            try store.write()
            #expect(try store.listed() == ["1 1 1", "2 3 0"] && store.targets("List", 1, "songs") == [1])
            try store.links.removeJoinRows(of: .integer(3), id, at: end.other)
            try store.write()
            #expect(try store.listed() == ["1 1 1"] && store.targets("List", 2, "songs") == [])
        }
    }

    @Test("A row takes a position in a list, and the row there moves on", arguments: ["List", "Shelf"])
    func takesPosition(_ entity: String) throws {
        try withStore { store in
            let (id, end) = try store.link(entity, "songs")
            for song in [1, 2, 3] as [Int64] {
                if entity == "Shelf" { try store.put(song, on: 1) } else { #expect(try store.add(1, song)) }
            }
            try store.write()
            try store.links.moveToPosition(0, of: .integer(3), in: .integer(1), id, end)
            try store.write()
            #expect(try store.targets(entity, 1, "songs") == [3, 1, 2])
            #expect(try store.links.list(of: .integer(1), id, end).map(\.position) == [0, 1, 2])
            try store.links.setPosition(7, of: .integer(1), in: .integer(1), id, end)
            try store.write()
            #expect(try store.targets(entity, 1, "songs") == [3, 2, 1])
            #expect(try store.store.session.nextPositions(in: [.integer(1)], store.store.model[id], end) == [8])
            // Rows without a position come last.
            let table = entity == "Shelf" ? "Song SET sync_shelf_order" : "List_songs SET sync_order"
            let song = entity == "Shelf" ? "id" : "songID"
            try store.store.db.execute(sql: "UPDATE \(table) = NULL WHERE \(song) = 3")
            store.links.removeAll()
            #expect(try store.targets(entity, 1, "songs") == [2, 1, 3])
            #expect(try store.links.list(of: .integer(1), id, end).map(\.position) == [2, 7, nil])
        }
    }

    @Test("A dangling link is not read, and fails the check of links")
    func ignoresDanglingLinks() throws {
        try withStore { store in
            let shelf = try store.link("Song", "shelf").id
            try store.store.db.execute(
                sql: "INSERT INTO List_songs (listID, songID) VALUES (1, 9); UPDATE Song SET shelfID = 9 WHERE id = 1")
            #expect(try store.targets("List", 1, "songs") == [])
            #expect(try store.links.target(of: .integer(1), shelf) == nil)
            #expect(throws: SyncError.self) { _ = try store.store.session.checkLinks() }
            try store.store.db.execute(sql: "DELETE FROM List_songs; UPDATE Song SET shelfID = NULL")
            #expect(try store.store.session.checkLinks().isEmpty)
        }
    }

    @Test("Lists reserve the positions of pending references")
    func reservesPendingPositions() throws {
        try withStore { store in
            let (id, end) = try store.link("List", "songs")
            let (link, session) = (store.store.model[id], store.store.session)
            let list = try store.store.model.entity(named: "List")
            let reference = PendingReference(
                owner: StoredRow(table: list.table, key: .integer(1)), ownerEntity: list.id, relationship: "songs",
                targetEntity: try store.store.model.entity(named: "Song").id, target: .integer(9))
            #expect(try session.reservedPositions(in: [.integer(1)], link, end) == [[]])
            try session.insertPendingReferences([PositionedReference(reference, at: 4)])
            #expect(try session.reservedPositions(in: [.integer(2), .integer(1)], link, end) == [[], [4]])
            #expect(try session.nextPositions(in: [.integer(2), .integer(1)], link, end) == [0, 5])
            #expect(try store.add(1, 2) && store.add(2, 2))
            try store.write()
            #expect(try store.listed() == ["1 2 5", "2 2 0"])
            try session.deletePendingReferences([reference])
            #expect(try session.reservedPositions(in: [.integer(1)], link, end) == [[]])
        }
    }

    @Test("Only stored join rows are returned as stored")
    func returnsStoredJoinRows() throws {
        try withStore { store in
            let (id, end) = try store.link("List", "songs")
            try store.store.db.execute(sql: "INSERT INTO List_songs (listID, songID) VALUES (1, 3), (2, 1)")
            let asked = [(1, 3), (3, 1), (2, 1), (2, 3)].map {
                TrackedLinks.key(.integer($0.0), .integer($0.1), end)
            }
            #expect(try store.store.session.stored(asked, store.store.model[id]) == [asked[0], asked[2]])
        }
    }
}
