import SyncCore
import Testing

@testable import SyncSQLite

@Suite("Rows that are read in sets")
struct RowSetTests {
    /// Ten songs, with lengths that do not ascend with the keys.
    private static let songs = """
        INSERT INTO Song (id, name, length) VALUES
          (1, 'a', 3), (2, 'b', 9), (3, 'a', 1), (4, 'b', 8), (5, 'a', 7),
          (6, 'b', 2), (7, 'a', 6), (8, 'b', 5), (9, 'a', 4), (10, 'b', 10);
        """

    private func keys(_ numbers: some Sequence<Int64>) -> Set<RowKey> { Set(numbers.map { RowKey.integer($0) }) }

    /// Reads all rows that satisfy a condition.
    private func sets(
        _ store: SessionStore, of entity: String = "Song", where condition: String? = nil, limit: Int
    ) throws -> [[RowKey]] {
        let entity = try store.model.entity(named: entity)
        let predicate = try condition.map { try RowPredicate(parsing: $0) }
        var sets: [[RowKey]] = []
        repeat {
            sets.append(
                try store.session.rows(of: entity, where: predicate, after: sets.last?.last, limit: limit))
        } while sets.last?.count == limit
        return sets
    }

    @Test(
        "All sets except the last have as many rows as the limit",
        arguments: [(1, 11), (3, 4), (5, 3), (10, 2), (11, 1)])
    func limitsSets(limit: Int, count: Int) throws {
        try MatchingStore.with(Self.songs, "[]") { store in
            let sets = try sets(store, limit: limit)
            #expect(sets.count == count)
            #expect(sets.dropLast().allSatisfy { $0.count == limit })
            #expect(sets.joined().count == 10)
            #expect(Set(sets.joined()) == keys(1...10))
            let isClosed = store.session.openRows == nil
            #expect(isClosed)
        }
    }

    @Test("Rows that are read by an index are read once", arguments: [false, true])
    func usesIndex(hasIndex: Bool) throws {
        let index = hasIndex ? "CREATE INDEX song_length ON Song (length);" : ""
        try MatchingStore.with(Self.songs + index, "[]") { store in
            let sets = try sets(store, where: "length > 2 AND length < 9", limit: 2)
            #expect(sets.map(\.count) == [2, 2, 2, 0])
            #expect(Set(sets.joined()) == keys([1, 4, 5, 7, 8, 9]))
        }
    }

    @Test("Rows of other entities of the table are not read")
    func readsRowsOfEntity() throws {
        try MatchingStore.with(
            "INSERT INTO Animal (id, sync_entity) VALUES (1, 'Cat'), (2, 'Dog'), (3, 'Animal'), (4, 'Dog')", "[]"
        ) { store in
            let dogs = try sets(store, of: "Dog", limit: 1)
            #expect(dogs.map(\.count) == [1, 1, 0])
            #expect(Set(dogs.joined()) == keys([2, 4]))
            let animals = try sets(store, of: "Animal", limit: 4)
            #expect(animals.map(\.count) == [4, 0])
        }
    }

    @Test(
        "Sets of two conditions are read in turn",
        arguments: [("name == 'a'", "name == 'b'"), ("name == 'a'", "length > 0"), ("length > 0", "length > 0")])
    func readsInTurn(first: String, second: String) throws {
        try MatchingStore.with(Self.songs, "[]") { store in
            let song = try store.model.entity(named: "Song")
            let predicates = try [first, second].map { try RowPredicate(parsing: $0) }
            let expected = try [first, second].map { Array(try sets(store, where: $0, limit: 100).joined()) }
            var read: [[RowKey]] = [[], []]
            for _ in 0..<6 {
                for (index, predicate) in predicates.enumerated() {
                    read[index] += try store.session.rows(of: song, where: predicate, after: read[index].last, limit: 2)
                }
            }
            #expect(read == expected)
        }
    }

    @Test("Nothing is read after a row that is not stored")
    func readsNothingAfterMissingRow() throws {
        try MatchingStore.with(Self.songs, "[]") { store in
            let song = try store.model.entity(named: "Song")
            let found = try store.session.rows(of: song, where: nil, after: .integer(99), limit: 4)
            #expect(found.isEmpty)
        }
    }
}
