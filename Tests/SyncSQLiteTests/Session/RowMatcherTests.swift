import GRDB
import SyncCore
import Testing

@testable import SyncSQLite
@testable import SyncStore

@Suite("Row matching")
struct RowMatcherTests {
    /// Returns the columns in which song 1 differs from a payload.
    private func differing(_ values: String, _ json: String) throws -> [String] {
        var found: [String] = []
        try MatchingStore.with("INSERT INTO Song (id, name, length, price, extra, made) VALUES (1, \(values))", json) {
            let songs = try $0.table("Song")
            try $0.session.match(songs, .both, .none(songs))
            found = songs.differing(0).sorted()
        }
        return found
    }

    private static let stored = "'a', 1.5, '2.5', '{\"a\":[1]}', '2024-02-29 18:29:59.999'"

    @Test(
        "A column differs if the payload has another value",
        arguments: [
            (#"{"id": 1}"#, []), (#"{"id": 1, "name": "a", "length": 1.5, "price": 2.5}"#, []),
            (#"{"id": 1, "name": "A"}"#, ["name"]), (#"{"id": 1, "name": null, "length": 2}"#, ["length", "name"]),
            (#"{"id": 1, "price": "2.50", "extra": {"a": [1]}}"#, []), (#"{"id": 1, "price": 2.51}"#, ["price"]),
            (#"{"id": 1, "extra": {"a": [2]}}"#, ["extra"]), (#"{"id": 1, "extra": null}"#, ["extra"]),
            (#"{"id": 1, "made": "2024-02-29T18:29:59.999Z"}"#, []),
            (#"{"id": 1, "made": "2024-02-29T18:29:59.998Z"}"#, ["made"]),
        ] as [(String, [String])])
    func columnsDifferByValue(json: String, expected: [String]) throws {
        #expect(try differing(Self.stored, "[\(json)]") == expected)
    }

    @Test("JSON and decimals in another spelling are equal")
    func otherSpellingsAreEqual() throws {
        let values = "NULL, NULL, '2.500', ' { \"b\" : 1.0, \"a\" : [ ] } ', NULL"
        #expect(try differing(values, #"[{"id": 1, "price": 2.5, "extra": {"a": [], "b": 1.0}}]"#) == [])
        #expect(
            try differing(values, #"[{"id": 1, "price": 2.6, "extra": {"a": [1], "b": 1}}]"#) == ["extra", "price"])
        #expect(
            try differing("NULL, NULL, 'much', '{', NULL", #"[{"id": 1, "price": 1, "extra": {}}]"#) == [
                "extra", "price",
            ])
    }

    @Test("Rows are matched first, and compared when the effective values are known")
    func matchesBeforeComparing() throws {
        try MatchingStore.with(
            "INSERT INTO Song (id, name) VALUES (1, 'a'), (2, 'a')",
            #"[{"id": 1, "name": "b"}, {"id": 2, "name": "b"}]"#
        ) { store in
            let songs = try store.table("Song")
            try store.session.match(songs, .diff, .none(songs))
            #expect(songs.matches.rowStates == [.missing, .missing] && !songs.matches.changed.contains(NodeID(0)))
            try store.session.match(songs, .match, .none(songs))
            #expect(songs.matches.rowStates == [.stored, .stored] && !songs.matches.changed.contains(NodeID(0)))
            songs.skipNew(NodeID(1))
            try store.session.match(songs, .diff, .none(songs))
            #expect(songs.differing(0) == ["name"] && songs.differing(1) == [])
        }
    }

    @Test("A row of another entity is reported, and its node gets the stored entity")
    func reportsEntityMismatch() throws {
        try MatchingStore.with(
            "INSERT INTO Animal (id, sync_entity) VALUES (1, 'Cat'), (2, 'Dog'), (3, 'Animal')",
            #"[{"id": 1}, {"id": 2}, {"id": 3}, {"id": 4}]"#, of: "Dog"
        ) { store in
            let animals = try store.table("Animal")
            try store.session.match(animals, .both, .none(animals))
            let kinds = try ["Cat", "Dog", "Animal", "Dog"].map { try store.model.entity(named: $0).id }
            #expect((0..<4).map { animals.entity(of: NodeID($0)) } == kinds)
            #expect(animals.matches.mismatches.map(\.node) == [NodeID(0), NodeID(2)])
            #expect(animals.matches.mismatches.map(\.entity) == [kinds[0], kinds[2]])
        }
    }

    @Test("A row of an entity that the model lacks is rejected")
    func rejectsUnknownEntity() throws {
        try MatchingStore.with(
            "PRAGMA ignore_check_constraints = 1; INSERT INTO Animal (id, sync_entity) VALUES (1, 'Bird')",
            #"[{"id": 1}]"#, of: "Dog"
        ) { store in
            let animals = try store.table("Animal")
            #expect(throws: SyncError.self) { try store.session.match(animals, .both, .none(animals)) }
            #expect(animals.matches.rowStates.count == 1)
        }
    }
}
