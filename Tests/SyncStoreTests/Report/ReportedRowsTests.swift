import SyncCore
import Testing

@testable import SyncStore

@Suite("Rows of a payload in a result")
struct ReportedRowsTests {
    private static let json = """
        [{"id": 3, "shelf": {"id": 7}}, {"id": 1, "shelf": {"id": 6}}, {"id": 2, "place": "here"}]
        """

    private func report(
        _ json: String = Self.json, collectsKeys: Bool = true,
        _ body: (inout ResultBuilder, SyncTables, CompiledModel) throws -> Void
    ) throws -> SyncResult {
        let graph = try SongModel.graph(json)
        var report = ResultBuilder(graph, collectsKeys: collectsKeys)
        try SongModel.withTables(graph) { try body(&report, $0, graph.model) }
        return report.makeResult(pendingReferences: [])
    }

    @Test("Inserted rows are counted, root rows separately, and their keys are sorted")
    func countsInsertedRows() throws {
        let result = try report { report, tables, model in
            for entity in ["Song", "Shelf"] {
                let table = try tables[model.entity(named: entity).table]
                report.inserted(Array(table.nodes), table)
            }
        }
        #expect(result.entities.keys.sorted() == ["Shelf", "Song"] && result.entity == "Song")
        #expect(result["Song"].insertedCount == 3 && result["Song"].inserted == [1, 2, 3].map { .integer($0) })
        #expect(result["Shelf"].insertedCount == 2 && result["Shelf"].inserted == [6, 7].map { .integer($0) })
        #expect(result.root.inserted == 3 && result.root.matched == 0)
    }

    @Test("Stored rows are updated or unchanged, and matched if a root record is effective")
    func countsStoredRows() throws {
        let result = try report { report, tables, model in
            let songs = try tables[model.entity(named: "Song").table]
            let shelves = try tables[model.entity(named: "Shelf").table]
            songs.skipNew(NodeID(0))
            report.updated(NodeID(0), songs, ["shelf"])
            report.updated(NodeID(1), songs, ["name", "shelf"])
            report.unchanged([NodeID(2)], songs)
            report.unchanged([NodeID(0), NodeID(1)], shelves)
        }
        #expect(
            result["Song"].updated == [
                .init(key: .integer(1), changedAttributes: ["name", "shelf"]),
                .init(key: .integer(3), changedAttributes: ["shelf"]),
            ])
        #expect(result["Song"].updatedCount == 2 && result["Song"].unchangedCount == 1)
        #expect(result["Shelf"].unchangedCount == 2 && result["Shelf"].isEmpty)
        #expect(result.root.matched == 2 && result.root.inserted == 0)
    }

    @Test("Rows are counted for the entity that is stored")
    func countsRowsOfStoredEntity() throws {
        let result = try report { report, tables, model in
            let songs = try tables[model.entity(named: "Song").table]
            songs.matches.entities[2] = Int32(try model.entity(named: "Live").id)
            songs.matches.entities[0] = songs.matches.entities[2]
            report.unchanged([NodeID(1), NodeID(2)], songs)
            report.updated(NodeID(0), songs, [])
        }
        #expect(result["Song"].unchangedCount == 1 && result["Live"].unchangedCount == 1)
        #expect(result["Live"].updatedCount == 1 && result["Song"].updatedCount == 0)
        #expect(result.entities.keys.sorted() == ["Live", "Song"])
    }

    @Test("Rows are only counted if keys are not collected")
    func countsWithoutKeys() throws {
        let result = try report(collectsKeys: false) { report, tables, model in
            let songs = try tables[model.entity(named: "Song").table]
            report.inserted([NodeID(0)], songs)
            report.updated(NodeID(1), songs, ["name"])
            let song = try model.entity(named: "Song").id
            report.updated(.init(entity: song, key: .integer(9)), ["shelf"], inPlan: .notGiven)
            report.updated(.init(entity: song, key: .integer(1)), ["shelf"], inPlan: .written)
            report.deleted(.init(entity: song, key: .integer(5)), isRoot: true)
        }
        let songs = result["Song"]
        #expect([songs.insertedCount, songs.updatedCount, songs.deletedCount] == [1, 2, 1])
        #expect(songs.inserted.isEmpty && songs.updated.isEmpty && songs.deleted.isEmpty)
        #expect(result.root.deleted == 1)
    }

    @Test("A row is reported under the key of the payload, or else under its row key")
    func reportsKeyOfPayload() throws {
        let graph = try SongModel.graph(#"[{"id": 1, "sleeve": {"colour": "red"}}]"#)
        try SongModel.withTables(graph) { tables in
            let (songs, sleeves) = try (
                tables[graph.model.entity(named: "Song").table], tables[graph.model.entity(named: "Sleeve").table]
            )
            songs.keys.own(NodeID(0), .integer(-7))
            #expect(songs.reportedKey(of: NodeID(0)) == .integer(1) && sleeves.reportedKey(of: NodeID(0)) == .text(""))
            sleeves.keys.own(NodeID(0), .integer(4))
            #expect(sleeves.reportedKey(of: NodeID(0)) == .integer(4))
        }
    }

    @Test("A row is written, unchanged or unmentioned")
    func fateDependsOnStateAndChanges() throws {
        let graph = try SongModel.graph(#"[{"id": 1, "shelf_id": 7}, {"id": 2}, {"id": 3}, {"id": 4}]"#)
        try SongModel.withTables(graph) { tables in
            let songs = try tables[graph.model.entity(named: "Song").table]
            let shelves = try tables[graph.model.entity(named: "Shelf").table]
            songs.matches.rowStates = [.missing, .new, .stored, .stored]
            songs.matches.changed.insert(0, of: NodeID(3))
            shelves.matches.rowStates = [.stored]
            #expect((0..<4).map { songs.outcome(of: NodeID($0)) } == [.notGiven, .written, .unchanged, .written])
            #expect(shelves.outcome(of: NodeID(0)) == .notGiven)
        }
    }
}
