import GRDB
import SyncCore
import Testing

@testable import SyncSQLite
@testable import SyncStore

@Suite("Ways of matching rows")
struct RowMatchingTests {
    private static let payload = #"""
        [{"id": 30, "name": "c", "shelf_id": 2}, {"id": 10, "name": "a", "shelf_id": 2}, {"id": 20, "name": "x"},
         {"id": 40, "name": "d"}]
        """#

    /// Returns SQL that inserts rows with these keys.
    private static func more(_ keys: ClosedRange<Int>) -> String {
        keys.map { "INSERT OR IGNORE INTO Song (id, name, shelfID) VALUES (\($0), 'more', 2);" }.joined()
    }

    /// Checks that the rows 10, 20 and 30 are matched, and that 20 has another name.
    private func check(_ more: String, isScanned: Bool) throws {
        let rows = """
            INSERT INTO Shelf (id) VALUES (1), (2);
            INSERT INTO Song (id, name, shelfID, sync_shelf_order)
              VALUES (10, 'a', 2, 5), (20, 'b', 1, NULL), (30, 'c', 2, 0);
            """
        try MatchingStore.with(rows + more, Self.payload) { store in
            let songs = try store.table("Song")
            try store.session.match(songs, .both, .none(songs))
            #expect(songs.matches.rowStates == [.stored, .stored, .stored, .missing])
            #expect((0..<4).map { songs.differing($0) } == [[], [], ["name"], []])
            let relationship = try #require(try store.model.entity(named: "Song").relationship(named: "shelf"))
            let shelf = try #require(songs.foreignKey(relationship.link))
            #expect(
                songs.matches.foreignKeys[shelf].targets == [
                    LinkTarget(NodeID(0)), LinkTarget(NodeID(0)), .unmatched, .nowhere,
                ])
            #expect(songs.matches.foreignKeys[shelf].positions == [0, 5, nil, nil])
            #expect(songs.matches.isScanned == isScanned && songs.matches.unmatchedRows.rows.isEmpty)
        }
    }

    @Test("A small table is scanned")
    func scansSmallTable() throws { try check("", isScanned: true) }

    @Test("The key range of a large table is scanned if the keys are close to each other")
    func scansKeyRange() throws {
        let more = Self.more(1...9) + Self.more(100...200)
        try check(more, isScanned: false)
    }

    @Test("Distant keys of a large table are looked up one by one")
    func looksUpDistantKeys() throws {
        let sparse = #"[{"id": 3000, "name": "c"}, {"id": 10, "name": "a"}, {"id": 20, "name": "x"}]"#
        try MatchingStore.with(
            "INSERT INTO Shelf (id) VALUES (2); INSERT INTO Song (id, name) VALUES (10, 'a'), (3000, 'b');"
                + Self.more(100...200), sparse
        ) { store in
            let songs = try store.table("Song")
            try store.session.match(songs, .both, .none(songs))
            #expect(songs.matches.rowStates == [.stored, .stored, .missing] && !songs.matches.isScanned)
            #expect((0..<3).map { songs.differing($0) } == [["name"], [], []])
        }
    }

    @Test("Rows with text keys are matched in a small and in a large table", arguments: [0, 100])
    func matchesTextKeys(more: Int) throws {
        let rows = (0..<more).map { "INSERT INTO Album (code, name) VALUES ('m\($0)', 'x');" }.joined()
        try MatchingStore.with(
            "INSERT INTO Album (code, name) VALUES ('b', 'B'), ('a', 'A');" + rows,
            #"[{"code": "a", "name": "A"}, {"code": "c"}, {"code": "b", "name": null}]"#, of: "Album"
        ) { store in
            let albums = try store.table("Album")
            try store.session.match(albums, .both, .none(albums))
            #expect(albums.matches.rowStates == [.stored, .missing, .stored])
            #expect(albums.matches.isScanned == (more == 0))
            #expect((0..<3).map { albums.differing($0) } == [[], [], ["name"]])
        }
    }

    @Test(
        "Rows under surrogate keys are matched by their primary key, separately for each entity", arguments: [0, 100])
    func matchesSurrogateKeys(more: Int) throws {
        let rows = (0..<more).map { "INSERT INTO Media (sync_entity, code) VALUES ('Film', \($0 + 100));" }.joined()
        try MatchingStore.with(
            """
            INSERT INTO Media (sync_id, sync_entity, code) VALUES (7, 'Film', 2), (8, 'Film', 1);
            INSERT INTO Media (sync_id, sync_entity, isbn) VALUES (9, 'Book', '1');
            """ + rows, #"[{"code": 1}, {"code": 3}, {"code": 2}]"#, of: "Film"
        ) { store in
            let media = try store.table("Film")
            try store.session.match(media, .both, .none(media))
            #expect(media.matches.rowStates == [.stored, .missing, .stored])
            #expect((0..<3).map { media.rowKey(NodeID($0)) } == [.integer(8), nil, .integer(7)])
            #expect(media.node(of: .integer(9)) == nil)
        }
    }

    @Test("Rows that are matched through their owners are read by row key")
    func readsOwnedRowsByRowKey() throws {
        try MatchingStore.with(
            "INSERT INTO Booklet (sync_id, pages) VALUES (4, 8), (5, 16)",
            #"[{"id": 1, "booklet": {"pages": 9}}, {"id": 2, "booklet": {"pages": 16}}]"#
        ) { store in
            let booklets = try store.table("Booklet")
            try store.session.match(booklets, .both, .none(booklets))
            #expect(booklets.matches.rowStates == [.missing, .missing])
            try store.session.match([(NodeID(1), .integer(5)), (NodeID(0), .integer(4))], booklets, .both)
            #expect(booklets.matches.rowStates == [.stored, .stored])
            #expect(booklets.differing(0) == ["pages"] && booklets.differing(1) == [])
        }
    }
}
