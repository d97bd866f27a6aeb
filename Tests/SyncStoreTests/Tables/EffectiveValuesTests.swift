import SyncCore
import Testing

@testable import SyncStore

@Suite("Effective values")
struct EffectiveValuesTests {
    /// Returns the effective name and length of a song if the records of these indexes are effective.
    private func values(
        of key: Int64, _ json: String, counting: Set<Int32>? = nil
    ) throws -> [String] {
        let graph = try SongModel.graph(json, operations: [.insert])
        let song = try graph.model.entity(named: "Song")
        let batch = graph[song.table]
        let node = NodeID(try #require(batch.nodes.firstIndex { $0.key.integer == key }))
        var values = EffectiveValues(batch)
        if let counting { values.resolve(batch) { counting.contains($0) } }
        return try graph.withTexts { pool in
            try ["name", "length"].map { name in
                let slot = values.slot(try #require(song.slotByName[name]), of: node, batch)
                return RowKey(slot, pool).map { "\($0.recordKey(nil))" } ?? "\(slot.kind)"
            } + [values.exist(for: node) ? "counts" : "does not count"]
        }
    }

    private static let three = """
        [{"id": 1, "name": "a", "length": 1.5}, {"id": 1, "name": "b"}, {"id": 2, "name": "x"},
         {"id": 1, "length": null}]
        """

    @Test("The values of the first record apply until the records are weighed")
    func firstRecordAppliesUnweighed() throws {
        #expect(try values(of: 1, Self.three) == ["a", "1.5", "counts"])
        #expect(try values(of: 2, Self.three) == ["x", "absent", "counts"])
    }

    @Test(
        "Values of later effective records win, and absent values keep earlier ones",
        arguments: [
            ([0, 1, 2, 3], ["b", "null", "counts"]), ([0, 1], ["b", "1.5", "counts"]),
            ([0, 3], ["a", "null", "counts"]), ([1, 3], ["b", "null", "counts"]), ([1], ["b", "absent", "counts"]),
            ([0], ["a", "1.5", "counts"]), ([3], ["absent", "null", "counts"]),
            ([2], ["absent", "absent", "does not count"]),
        ] as [(Set<Int32>, [String])])
    func laterEffectiveRecordsWin(counting: Set<Int32>, expected: [String]) throws {
        #expect(try values(of: 1, Self.three, counting: counting) == expected)
    }

    @Test("A row that is only referenced has no effective values")
    func referencedRowHasNoValues() throws {
        let graph = try SongModel.graph(#"[{"id": 1, "shelf_id": 7}]"#)
        let values = EffectiveValues(graph[try graph.model.entity(named: "Shelf").table])
        #expect(!values.exist(for: NodeID(0)))
        #expect(EffectiveValues(graph[try graph.model.entity(named: "Song").table]).exist(for: NodeID(0)))
    }

    @Test("Records may be weighed again")
    func weighsAgain() throws {
        let graph = try SongModel.graph(Self.three, operations: [.insert])
        let song = try graph.model.entity(named: "Song")
        let batch = graph[song.table]
        let length = try #require(song.slotByName["length"])
        var values = EffectiveValues(batch)
        for _ in 0..<2 {
            values.resolve(batch) { _ in true }
            #expect(values.slot(length, of: NodeID(0), batch).kind == .null)
            #expect(values.merged.count == 2 * batch.stride)
        }
        values.resolve(batch) { $0 < 2 }
        #expect(values.slot(length, of: NodeID(0), batch).real == 1.5 && values.merged.count == batch.stride)
    }
}
