import GRDB
import SyncCore
import Testing

@testable import SyncSQLite
@testable import SyncStore

@Suite("Unmatched rows")
struct UnmatchedRowTests {
    private static let rows = """
        INSERT INTO Shelf (id) VALUES (1), (2), (3);
        INSERT INTO Song (id, shelfID) VALUES (10, 1), (11, 2), (12, 1), (13, NULL), (14, 3);
        """
    private static let json = #"[{"id": 10, "shelf_id": 1}, {"id": 20, "shelf_id": 3}]"#

    private func keys(_ table: SyncTable) -> [RowKey] { table.matches.unmatchedRows.rows.map(\.key) }

    @Test("Unmatched rows that reference a node are collected")
    func collectsRowsThatReferenceNodes() throws {
        try MatchingStore.with(Self.rows, Self.json) { store in
            let songs = try store.table("Song")
            try store.session.match(songs, .both, .pointing(songs))
            #expect(keys(songs) == [.integer(12), .integer(14)])
            #expect(songs.matches.unmatchedRows.references.map(\.row) == [0, 1])
            #expect(songs.matches.unmatchedRows.references.map(\.target) == [NodeID(0), NodeID(1)])
            #expect(store.session.danglingCandidates.isEmpty)
        }
    }

    @Test("Unmatched rows in scope are collected, in the first pass only")
    func collectsRowsInScopeOnce() throws {
        try MatchingStore.with(Self.rows, Self.json) { store in
            let songs = try store.table("Song")
            let watch = UnmatchedRowFilter(
                watched: songs.hierarchy.foreignKeys.map { _ in false }, scope: songs.hierarchy.root, coversAll: false)
            try store.session.match(songs, .match, watch)
            #expect(
                keys(songs) == [11, 12, 13, 14].map { .integer($0) } && songs.matches.unmatchedRows.references.isEmpty)
            #expect(songs.matches.isScanned && songs.matches.rowStates == [.stored, .missing])
            try store.session.match(songs, .diff, watch)
            #expect(keys(songs).count == 4)
        }
    }

    @Test("Unmatched rows in scope are collected from a table that is much larger than the payload")
    func collectsFromLargeTable() throws {
        let more = (100..<200).map { "INSERT INTO Song (id) VALUES (\($0));" }.joined()
        try MatchingStore.with(Self.rows + more, Self.json) { store in
            let songs = try store.table("Song")
            try store.session.match(songs, .both, .pointing(songs, scope: songs.hierarchy.root))
            #expect(keys(songs).count == 104)
        }
        try MatchingStore.with(Self.rows + more, Self.json) { store in
            let songs = try store.table("Song")
            try store.session.match(songs, .both, .pointing(songs))
            #expect(keys(songs).isEmpty && songs.matches.rowStates == [.stored, .missing])
        }
    }

    @Test("An association is doubtful if the payload covers all rows and an unmatched row references another row")
    func findsDoubtfulEnds() throws {
        try MatchingStore.with(Self.rows, Self.json) { store in
            let songs = try store.table("Song")
            try store.session.match(songs, .both, .pointing(songs, coversAll: true))
            let shelf = try store.model.entity(named: "Song").relationship(named: "shelf")?.link
            #expect(Set(store.session.danglingCandidates.keys) == Set([shelf].compactMap { $0 }))
        }
    }

    @Test("Unmatched rows of other entities than that of the scope are not collected")
    func collectsEntityOfScope() throws {
        try MatchingStore.with(
            "INSERT INTO Animal (id, sync_entity) VALUES (1, 'Cat'), (2, 'Dog'), (3, 'Animal'), (4, 'Dog')",
            #"[{"id": 4}]"#, of: "Dog"
        ) { store in
            let animals = try store.table("Animal")
            let dog = try store.model.entity(named: "Dog").id
            try store.session.match(animals, .both, .pointing(animals, scope: dog))
            #expect(keys(animals) == [.integer(2)] && animals.matches.unmatchedRows.rows.map(\.entity) == [dog])
        }
    }
}
