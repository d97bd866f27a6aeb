import GRDB
import Sync
import Testing

@Suite("Observed changes of rows", .timeLimit(.minutes(60)))
struct RowChangesTests {
    private func stack() async throws -> DataStack {
        try DataStack.inMemory(
            SyncModel(entities: [
                SyncModel.Entity(
                    "Item", attributes: [SyncModel.Attribute("id", .integer), SyncModel.Attribute("place", .integer)])
            ]))
    }

    private func sync(_ places: [(id: Int, place: Int)], _ stack: DataStack) async throws {
        let records = places.map {
            JSONValue.object([.init("id", JSONValue($0.id)), .init("place", JSONValue($0.place))])
        }
        try await Sync.changes(JSONValue.array(records), inEntity: "Item", stack: stack)
    }

    @Test("Observed changes are all rows first, and then removed, inserted, moved and updated rows")
    func kindsOfChanges() async throws {
        let stack = try await stack()
        try await sync([(1, 10), (2, 20), (3, 30), (4, 40)], stack)
        var changes = stack.observeChanges("Item", orderedBy: "place").makeAsyncIterator()
        let first = try #require(try await changes.next())
        #expect(
            first.inserted == [0, 1, 2, 3] && first.removed.isEmpty && first.moved.isEmpty && first.updated.isEmpty)
        // Row 2 is deleted, 5 is inserted, 4 moves to the front, and 3 is updated in place.
        try await sync([(4, 5), (1, 10), (5, 15), (3, 35)], stack)
        let second = try #require(try await changes.next())
        #expect(second.rows.map(\.key) == [.integer(4), .integer(1), .integer(5), .integer(3)])
        #expect(second.removed == [1])
        #expect(second.inserted == [2])
        #expect(second.moved == [.init(old: 3, new: 0)])
        #expect(second.updated == [.init(old: 3, new: 0), .init(old: 2, new: 3)])
        #expect("\(second.updated)" == "[3 → 0, 2 → 3]")
    }

    @Test("Observed changes lead from any list to the next, with as few moves as possible")
    func changesHaveFewMoves() async throws {
        let stack = try await stack()
        var changes = stack.observeChanges("Item", orderedBy: "place").makeAsyncIterator()
        var shown = try #require(try await changes.next()).rows.map(\.key)
        #expect(shown.isEmpty)
        var random = Numbers()
        var made = Set<[Int]>()
        for round in 0..<200 {
            let ids = (1...12).filter { _ in Bool.random(using: &random) }
            let places = ids.map { (id: $0, place: Int.random(in: round * 100..<round * 100 + 6, using: &random)) }
            guard !places.isEmpty, made.insert(places.flatMap { [$0.id, $0.place] }).inserted else { continue }
            let before = shown
            try await sync(places, stack)
            let change = try #require(try await changes.next())
            // A table view applies deletions by old indexes, then insertions and moves by new ones.
            let moving = Set(change.moved.map(\.old))
            var list = before.enumerated().filter { !change.removed.contains($0.offset) && !moving.contains($0.offset) }
                .map(\.element)
            let arriving =
                change.inserted.map { ($0, change.rows[$0].key) } + change.moved.map { ($0.new, before[$0.old]) }
            for (index, key) in arriving.sorted(by: { $0.0 < $1.0 }) { list.insert(key, at: index) }
            shown = change.rows.map(\.key)
            #expect(list == shown)
            #expect(shown.count == ids.count)
            // The standard library's difference finds as few moves.
            let kept = before.filter(shown.contains)
            let steps = shown.filter(before.contains).difference(from: kept)
            #expect(change.moved.count == steps.insertions.count)
        }
    }
}

/// A generator of the same numbers in every run.
private struct Numbers: RandomNumberGenerator {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

    mutating func next() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }
}
