import SyncCore
import Testing

@testable import SyncStore

@Suite("Updates outside of the payload graph")
struct LateUpdateTests {
    /// Returns the reported changes of song 1, which the payload has, and of other songs.
    private func changes(
        _ body: (inout ResultBuilder, SyncTable, (Int64) -> ResultBuilder.Identity) throws -> Void
    ) throws -> SyncResult.EntityChanges {
        let graph = try SongModel.graph(#"[{"id": 1}]"#)
        var report = ResultBuilder(graph, collectsKeys: true)
        let song = try graph.model.entity(named: "Song")
        try SongModel.withTables(graph) { tables in
            try body(&report, tables[song.table]) { .init(entity: song.id, key: .integer($0)) }
        }
        return report.makeResult(pendingReferences: [])["Song"]
    }

    @Test("An unchanged row that is updated later counts as updated")
    func laterUpdateChangesUnchangedRow() throws {
        let changes = try changes { report, table, row in
            report.unchanged([NodeID(0)], table)
            report.updated(row(1), ["shelf"], inPlan: .unchanged)
            report.updated(row(1), ["name", "shelf"], inPlan: .unchanged)
        }
        #expect(changes.unchangedCount == 0 && changes.updatedCount == 1)
        #expect(changes.updated == [.init(key: .integer(1), changedAttributes: ["name", "shelf"])])
    }

    @Test("An updated row that is updated later counts once")
    func laterUpdateCountsOnce() throws {
        let changes = try changes { report, table, row in
            report.updated(NodeID(0), table, ["name"])
            report.updated(row(1), ["shelf", "length", "name"], inPlan: .written)
        }
        #expect(changes.updatedCount == 1 && changes.unchangedCount == 0)
        #expect(changes.updated == [.init(key: .integer(1), changedAttributes: ["name", "length", "shelf"])])
    }

    @Test("An inserted row that is updated later counts as inserted")
    func laterUpdateKeepsInsertedRow() throws {
        let changes = try changes { report, table, row in
            report.inserted([NodeID(0)], table)
            report.updated(row(1), ["shelf"], inPlan: .written)
        }
        #expect(changes.insertedCount == 1 && changes.updatedCount == 0 && changes.updated.isEmpty)
    }

    @Test("Rows outside of the payload are updated, in the order of their keys")
    func sortsRowsOutsidePayload() throws {
        let changes = try changes { report, table, row in
            report.unchanged([NodeID(0)], table)
            for key in [9, 8] as [Int64] { report.updated(row(key), ["shelf"], inPlan: .notGiven) }
        }
        #expect(changes.unchangedCount == 1 && changes.updatedCount == 2)
        #expect(changes.updated.map(\.key) == [.integer(8), .integer(9)])
    }

    @Test("Rows that are deleted in the end do not count as updated")
    func deletedRowsAreNotUpdated() throws {
        let changes = try changes { report, _, row in
            for key in [9, 8, 7] as [Int64] { report.updated(row(key), ["shelf"], inPlan: .notGiven) }
            report.deleted(row(9), isRoot: false)
            report.deleted(row(8), isRoot: false)
        }
        #expect(changes.updated.map(\.key) == [.integer(7)] && changes.updatedCount == 1)
        #expect(changes.deleted == [.integer(8), .integer(9)] && changes.deletedCount == 2)
    }
}
